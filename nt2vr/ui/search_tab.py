"""The Search tab: wires its components to a Searcher, which holds all logic.

A late answer never overwrites what a person has typed since. Every search goes through one event, which runs one at a
time and last the newest, and what an answer or a link writes into inputs is applied in the browser, only where they
still hold what they held before.
"""

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import Nt2vrError
from nt2vr.language.query import Query
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.search.answers import Answer, Verdict
from nt2vr.search.searcher import Searcher
from nt2vr.ui.errors import user_errors
from nt2vr.ui.gate import Gate
from nt2vr.ui.inputs import event_value
from nt2vr.ui.link import DEFAULTS, link_values, read_link, read_strengths
from nt2vr.ui.search_layout import EXAMPLES, Controls, Results, lay_out_controls, lay_out_results
from nt2vr.ui.search_view import (
    Marked,
    columns_view,
    detail_view,
    no_marks,
    part_texts,
    picture_remark,
    understood_view,
)

CONCURRENT = 8  # searches at a time, one per page; Gradio's default is 1
BROWSER_ONLY: dict[str, Any] = {"fn": None, "api_visibility": "private"}
PRIVATE: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": CONCURRENT}
QUIET: dict[str, Any] = {"show_progress": "hidden", **PRIVATE}

# Scripts of events; an event's inputs are the arguments, and what it returns goes to its outputs.
LIKE = list(DEFAULTS).index("like")  # says where the picture is from
ASK = "() => `${performance.now()}`"
SHOW = "(visible) => ({ __type__: 'update', visible })"
DRAW = "(queries) => [queries[Math.floor(Math.random() * queries.length)], `${performance.now()}`]"
# Apply a link to the controls that still hold their defaults. Whoever has begun to type a query will ask for it.
RESTORE = f"""(link, picture, ask, ...now) => {{
  const values = [...link, picture, Boolean(picture)];
  const defaults = {json.dumps([*DEFAULTS.values(), None, False])};
  const touched = now.map((value, i) => JSON.stringify(value) !== JSON.stringify(defaults[i]));
  touched[{LIKE}] ||= touched.at(-2);
  return [touched[0] ? ask : `${{performance.now()}}`, ...now.map((value, i) => touched[i] ? value : values[i])];
}}"""
# The chip shows the picture and its weight. Without the tick or the chip there is no picture.
CHIP = "(picture, weight) => picture ? { src: picture.url, weight: `${Math.round(100 * weight)} %` } : {}"
UNTICK = "(on, ...now) => on ? now : [null, '', `${performance.now()}`]"
REMOVE = "() => [null, '', `${performance.now()}`, false]"
NOTHING = "() => [{}, { columns: [] }]"
MOVED = "(value) => [`${value}`, `${performance.now()}`]"
# Make the address a link to the answer, and show its parts and strengths unless the person changed them since asking.
SETTLE = """({ link, asked_parts, parts, sliders }, wanted, unwanted, ...strengths) => {
  const address = new URLSearchParams(link);
  const theme = new URLSearchParams(location.search).get("__theme");
  if (theme) address.set("__theme", theme);
  history.replaceState(null, "", `?${address}`);
  return [
    ...[wanted, unwanted].map((value, i) => value === asked_parts[i] ? parts[i] : value),
    ...sliders.map(({ moved, value, used }, i) => ({
      __type__: "update", visible: used || "hidden",
      ...(value !== null && moved === (strengths[i] === "" ? null : Number(strengths[i])) ? { value } : {}),
    })),
    link.literal ?? "",
  ];
}"""

OpensQueries = Callable[[Any, Callable[..., Mapping[str, str]]], None]


@dataclass
class SearchTab:
    """Search tab over a searcher.

    Attributes:
        searcher: answers queries.
        decoder: decodes uploaded pictures, which are untrusted.
        url_of: returns the URL of a video.
        templates: folder of the page's templates.
        gate: says who may add models.
        marked: returns the relevant clips of a judged query, given its name in links and its text.
        words: known words, offered while typing.
        stories: queries to draw one from.
    """

    searcher: Searcher
    decoder: Decoder
    url_of: Callable[[Video], str]
    templates: Path
    gate: Gate
    marked: Callable[[str, str], Marked] = no_marks
    words: Sequence[str] = ()
    stories: Sequence[str] = EXAMPLES
    _controls: Controls = field(init=False)
    _results: Results = field(init=False)

    def build(self, page: gr.Blocks, tabs: gr.Tabs) -> OpensQueries:
        """Lay the tab out inside the open page and wire it.

        Returns:
            Lets an event of another tab open a query here; takes the event and a handler that returns a link's values.
        """
        self._controls = lay_out_controls(self.searcher, self.templates, self.words)
        self._results = lay_out_results(self.searcher, self._controls.systems, self.templates, self.gate, page)
        self._wire_searches(page)
        self._wire_clips()
        return self._opens(tabs)

    @property
    def _linked(self) -> list[Any]:
        """Components with a value in links, in the order of DEFAULTS."""
        c = self._controls
        return [c.query, c.systems, c.k, *self._results.strengths, c.weight, c.like, c.judged, c.literal]

    def _wire_searches(self, page: gr.Blocks) -> None:
        c, r = self._controls, self._results
        controls = [*self._linked, c.picture, c.with_picture]
        restored = page.load(self.on_load, None, [c.link, c.link_picture, c.systems], **QUIET)
        restored.success(
            inputs=[c.link, c.link_picture, c.ask, *controls], outputs=[c.ask, *controls], js=RESTORE, **BROWSER_ONLY
        )
        queries = json.dumps([self.stories, *([example] for example in EXAMPLES)])
        draw = f"(number) => ({DRAW})({queries}[number])"
        c.examples.click(inputs=c.examples, outputs=[c.query, c.ask], js=draw, **BROWSER_ONLY)
        liked = r.detail.like(self.on_like, None, [c.picture, c.with_picture, c.like, r.detail], **PRIVATE)
        left = r.understood.literal(self.on_literal, c.literal, c.literal, **PRIVATE)
        for event in (liked, left, *r.systems_added):
            event.success(outputs=c.ask, js=ASK, **BROWSER_ONLY)
        self._wire_picture()
        new_picture = (c.picture.upload, c.picture.clear)
        gr.on(new_picture, outputs=c.like, js="() => ''", **BROWSER_ONLY)
        clicked = (c.find.click, c.query.submit, r.wanted.submit, r.unwanted.submit)
        for slider, strength in zip(r.sliders, r.strengths, strict=True):
            slider.release(inputs=slider, outputs=[strength, c.ask], js=MOVED, **BROWSER_ONLY)
        changed = (c.ask.change, c.systems.input, c.k.input, c.weight.release, *new_picture)
        answered = gr.on(
            (*clicked, *changed), self.on_search, [*self._linked, c.picture, r.answer, r.wanted, r.unwanted],
            [r.answer, r.understood, r.columns], trigger_mode="always_last", show_progress="minimal",
            show_progress_on=r.columns, **PRIVATE,
        )  # fmt: skip
        parts = [r.wanted, r.unwanted]
        answered.success(
            inputs=[r.understood, *parts, *r.strengths], outputs=[*parts, *r.sliders, c.literal], js=SETTLE,
            **BROWSER_ONLY,
        )  # fmt: skip
        answered.failure(outputs=[r.understood, r.columns], js=NOTHING, **BROWSER_ONLY)

    def _wire_picture(self) -> None:
        c = self._controls
        gone = [c.picture, c.like, c.ask]
        gr.on(
            (c.picture.change, c.weight.change), inputs=[c.picture, c.weight], outputs=c.reference, js=CHIP,
            **BROWSER_ONLY,
        )  # fmt: skip
        c.with_picture.input(inputs=[c.with_picture, *gone], outputs=gone, js=UNTICK, **BROWSER_ONLY)
        c.with_picture.change(inputs=c.with_picture, outputs=c.picture_row, js=SHOW, **BROWSER_ONLY)
        c.reference.remove(outputs=[*gone, c.with_picture], js=REMOVE, **BROWSER_ONLY)

    def _wire_clips(self) -> None:
        c, r = self._controls, self._results
        r.columns.pick(self.on_pick, r.answer, r.detail, **QUIET)
        r.detail.close(dict, None, r.detail, **QUIET)
        c.systems.focus(  # new models appear without a restart
            lambda chosen: gr.Dropdown(self.searcher.system_names(chosen)), c.systems, c.systems, queue=False, **QUIET
        )

    def _opens(self, tabs: gr.Tabs) -> OpensQueries:
        c = self._controls

        def opens(event: Any, link_of: Callable[..., Mapping[str, str]]) -> None:
            @user_errors
            def on_open(data: gr.EventData) -> dict[Any, Any]:
                link = link_of(data)
                names = self._names(link)
                values = read_link(link, names)
                shown = dict(zip(self._linked, values.values(), strict=True))
                shown[c.systems] = gr.Dropdown(names, value=values["systems"])
                return shown | {c.picture: None, c.with_picture: False, tabs: gr.Tabs(selected="search")}

            opened = event(on_open, None, [*self._linked, c.picture, c.with_picture, tabs], **PRIVATE)
            opened.success(outputs=c.ask, js=ASK, **BROWSER_ONLY)

        return opens

    @user_errors
    def on_load(self, request: gr.Request) -> dict[Any, Any]:
        """Read the link that the page was opened with, for RESTORE to apply."""
        c = self._controls
        names = self._names(request.query_params)
        values = read_link(request.query_params, names)
        picture = None
        try:
            picture = self._middle_frame(values["like"]) if values["like"] else None
        except Nt2vrError:
            values["like"] = ""
        return {c.systems: gr.Dropdown(names), c.link: list(values.values()), c.link_picture: picture}

    def _names(self, link: Mapping[str, str]) -> list[str]:
        """List the systems to offer, with those of a link."""
        return self.searcher.system_names(link.get("systems", "").split("|"))

    @user_errors
    def on_search(
        self, text: str, systems: list[str], k: int, alpha: str, lambda_: str, t: str, weight: float, like: str,
        judged: str, literal: str, picture: str | None, previous: Answer | None, wanted: str, unwanted: str,
    ) -> dict[Any, Any]:  # fmt: skip
        """Search; as long as the sentence stays the same, with its parts and words as corrected by the person."""
        query = self.searcher.understand(text)
        if previous is not None and previous.query.text != text:
            literal = ""
        if previous is not None and previous.query.text == text and (wanted, unwanted) != part_texts(query):
            query = _corrected(text, wanted, unwanted)
        strengths, like = read_strengths((alpha, lambda_, t)), like if picture else ""
        answer = self.search(query, systems, k, picture, weight, strengths, like, literal.split("|"))
        remark = picture_remark(query, self._verdict(query, like)) if picture else ""
        marked = self.marked(judged, text)
        values = (text, systems, k, alpha, lambda_, t, weight, like, judged if marked.video_ids else "", literal)
        link = link_values(dict(zip(DEFAULTS, values, strict=True)))
        return {
            self._results.answer: answer,
            self._results.understood: understood_view(answer, (wanted, unwanted), link, strengths, remark),
            self._results.columns: columns_view(answer, self.searcher.video, self.url_of, marked),
        }

    def search(
        self, query: Query, systems: list[str], k: int, picture: str | None, weight: float,
        strengths: Mapping[str, float], leave_out: str = "", literal: Collection[str] = (),
    ) -> Answer:  # fmt: skip
        """Search with an uploaded picture, if any; `leave_out` is the clip that it was taken from."""
        image = self.decoder.picture(Path(picture)) if picture else None
        return self.searcher.search(query, systems or [], k, image, weight, strengths, leave_out, literal)

    def _verdict(self, query: Query, video_id: str) -> Verdict | None:
        """Judge a clip of the gallery, if it is one."""
        try:
            return self.searcher.judge(query, self.searcher.video(video_id))
        except Nt2vrError:
            return None

    @user_errors
    def on_pick(self, answer: Answer | None, event: gr.EventData) -> dict[str, Any]:
        """Enlarge a clip."""
        if answer is None:
            return {}
        video_id = event_value(event, "id", str)
        video = self.searcher.video(video_id)
        verdicts = (hit.verdict for ranking in answer.rankings for hit in ranking.hits if hit.video_id == video_id)
        return detail_view(video, answer.see(video_id), next(verdicts, None) or "", self.url_of(video))

    @user_errors
    def on_literal(self, literal: str, event: gr.EventData) -> str:
        """Take one more word as typed."""
        return "|".join(filter(None, (*literal.split("|"), event_value(event, "word", str))))

    @user_errors
    def on_like(self, event: gr.EventData) -> dict[Any, Any]:
        """Make a clip's middle frame the reference picture."""
        c, video_id = self._controls, event_value(event, "id", str)
        return {
            c.picture: self._middle_frame(video_id),
            c.with_picture: True,
            c.like: video_id,
            self._results.detail: {},
        }

    def _middle_frame(self, video_id: str) -> NDArray[np.uint8]:
        frames = self.decoder.frames(self.searcher.video(video_id).path, 1, None).result()
        return np.asarray(frames[0], np.uint8)


def _corrected(text: str, wanted: str, unwanted: str) -> Query:
    parts = tuple(part.strip() for part in unwanted.split(",") if part.strip())
    return Query(text, (wanted.strip(),) if wanted.strip() else (), parts)
