"""The Search tab: wires its components to the galleries' searchers, which hold all logic.

A late answer never overwrites what a person has typed since. Every search goes through one event, which runs one at a
time and last the newest, and what an answer or a link writes into inputs is applied in the browser, only where they
still hold what they held before.
"""

import html
import json
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import NotIndexedError, Nt2vrError
from nt2vr.language.query import Query
from nt2vr.media.decode import Decoder
from nt2vr.search.answers import Answer, Verdict
from nt2vr.search.galleries import Galleries
from nt2vr.search.searcher import Searcher
from nt2vr.ui.clip_view import detail_view, film_view
from nt2vr.ui.errors import user_errors
from nt2vr.ui.gate import Gate
from nt2vr.ui.indexing import Indexing, index_view
from nt2vr.ui.inputs import event_value
from nt2vr.ui.link import DEFAULTS, link_values, read_link, read_strengths
from nt2vr.ui.media import Media
from nt2vr.ui.search_layout import (
    EXAMPLES,
    Controls,
    Results,
    gallery_choices,
    lay_out_controls,
    lay_out_results,
)
from nt2vr.ui.search_view import (
    Marked,
    columns_view,
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
NOTHING = "() => [{}, { columns: [] }, {}]"
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
    """Search tab over the galleries.

    Attributes:
        galleries: have the searchers, which answer queries.
        media: knows the URLs of clips.
        indexing: indexes libraries that are searched by a model for the first time.
        decoder: decodes uploaded pictures, which are untrusted.
        templates: folder of the page's templates.
        gate: says who may add models and index libraries.
        marked: returns the relevant clips of a judged query, given its name in links, its text and the gallery.
        words: known words, offered while typing.
        stories: queries to draw one from.
    """

    galleries: Galleries
    media: Media
    indexing: Indexing
    decoder: Decoder
    templates: Path
    gate: Gate
    marked: Callable[[str, str, str], Marked] = no_marks
    words: Sequence[str] = ()
    stories: Sequence[str] = EXAMPLES
    _controls: Controls = field(init=False)
    _results: Results = field(init=False)

    def build(self, page: gr.Blocks, tabs: gr.Tabs) -> OpensQueries:
        """Lay the tab out inside the open page and wire it.

        Returns:
            Lets an event of another tab open a query here; takes the event and a handler that returns a link's values.
        """
        searcher = self.galleries.built_in
        self._controls = lay_out_controls(self.galleries, self.templates, self.words)
        self._results = lay_out_results(searcher, self._controls.systems, self.templates, self.gate, page)
        self._wire_searches(page)
        self._wire_clips()
        return self._opens(tabs)

    @property
    def _linked(self) -> list[Any]:
        """Components with a value in links, in the order of DEFAULTS."""
        c = self._controls
        return [c.query, c.gallery, c.systems, c.k, *self._results.strengths, c.weight, c.like, c.judged, c.literal]

    def _wire_searches(self, page: gr.Blocks) -> None:
        c, r = self._controls, self._results
        controls = [*self._linked, c.picture, c.with_picture]
        restored = page.load(self.on_load, None, [c.link, c.link_picture, c.gallery, c.systems], **QUIET)
        restored.success(
            inputs=[c.link, c.link_picture, c.ask, *controls], outputs=[c.ask, *controls], js=RESTORE, **BROWSER_ONLY
        )
        queries = json.dumps([self.stories, *([example] for example in EXAMPLES)])
        draw = f"(number) => ({DRAW})({queries}[number])"
        c.examples.click(inputs=c.examples, outputs=[c.query, c.ask], js=draw, **BROWSER_ONLY)
        liked = r.detail.like(self.on_like, r.answer, [c.picture, c.with_picture, c.like, r.detail], **PRIVATE)
        left = r.understood.literal(self.on_literal, c.literal, c.literal, **PRIVATE)
        for event in (liked, left, *r.systems_added):
            event.success(outputs=c.ask, js=ASK, **BROWSER_ONLY)
        self._wire_picture()
        new_picture = (c.picture.upload, c.picture.clear)
        gr.on(new_picture, outputs=c.like, js="() => ''", **BROWSER_ONLY)
        clicked = (c.find.click, c.query.submit, r.wanted.submit, r.unwanted.submit)
        for slider, strength in zip(r.sliders, r.strengths, strict=True):
            slider.release(inputs=slider, outputs=[strength, c.ask], js=MOVED, **BROWSER_ONLY)
        changed = (c.ask.change, c.gallery.input, c.systems.input, c.k.input, c.weight.release, *new_picture)
        answered = gr.on(
            (*clicked, *changed), self.on_search, [*self._linked, c.picture, r.answer, r.wanted, r.unwanted],
            [r.answer, r.understood, r.columns, r.index, r.indexing], trigger_mode="always_last",
            show_progress="minimal", show_progress_on=r.columns, **PRIVATE,
        )  # fmt: skip
        parts = [r.wanted, r.unwanted]
        answered.success(
            inputs=[r.understood, *parts, *r.strengths], outputs=[*parts, *r.sliders, c.literal], js=SETTLE,
            **BROWSER_ONLY,
        )  # fmt: skip
        answered.failure(outputs=[r.understood, r.columns, r.index], js=NOTHING, **BROWSER_ONLY)
        r.index.start(self.on_index, c.gallery, [r.index, r.indexing], **QUIET)
        r.indexing.tick(self.on_indexing, c.gallery, [r.index, r.indexing, c.ask], queue=False, **QUIET)

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
        for clips in (r.columns, r.detail):
            clips.pick(self.on_pick, r.answer, r.detail, **QUIET)
        r.detail.close(dict, None, r.detail, **QUIET)
        c.systems.focus(  # new models and libraries appear without a restart
            lambda chosen: gr.Dropdown(self.galleries.built_in.system_names(chosen)), c.systems, c.systems,
            queue=False, **QUIET,
        )  # fmt: skip
        c.gallery.focus(lambda: gr.Dropdown(gallery_choices(self.galleries)), None, c.gallery, queue=False, **QUIET)

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
                shown[c.gallery] = gr.Dropdown(gallery_choices(self.galleries), value=self._gallery(values["gallery"]))
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
        values["gallery"] = self._gallery(values["gallery"])
        picture = None
        try:
            picture = self._middle_frame(values["gallery"], values["like"]) if values["like"] else None
        except Nt2vrError:
            values["like"] = ""
        return {
            c.gallery: gr.Dropdown(gallery_choices(self.galleries)),
            c.systems: gr.Dropdown(names),
            c.link: list(values.values()),
            c.link_picture: picture,
        }

    def _gallery(self, name: str) -> str:
        """Return the key of a link's gallery; where it is gone, say so and take the built-in one."""
        try:
            return self.galleries.key(name)
        except Nt2vrError as error:
            gr.Warning(html.escape(str(error), quote=False))
            return ""

    def _names(self, link: Mapping[str, str]) -> list[str]:
        """List the systems to offer, with those of a link."""
        return self.galleries.built_in.system_names(link.get("systems", "").split("|"))

    @user_errors
    def on_search(
        self, text: str, gallery: str, systems: list[str], k: int, alpha: str, lambda_: str, t: str, weight: float,
        like: str, judged: str, literal: str, picture: str | None, previous: Answer | None, wanted: str,
        unwanted: str, request: gr.Request,
    ) -> dict[Any, Any]:  # fmt: skip
        """Search; as long as the sentence stays the same, with its parts and words as corrected by the person."""
        searcher, r = self.galleries.searcher(gallery), self._results
        query = searcher.understand(text)
        if previous is not None and previous.query.text != text:
            literal = ""
        if previous is not None and previous.query.text == text and (wanted, unwanted) != part_texts(query):
            query = _corrected(text, wanted, unwanted)
        strengths, like = read_strengths((alpha, lambda_, t)), like if picture else ""
        problem: NotIndexedError | None = None
        try:
            answer = self.search(searcher, query, systems, k, picture, weight, strengths, like, literal.split("|"))
        except NotIndexedError as error:
            answer, problem = Answer(query, (), gallery=gallery), error
        remark = picture_remark(query, self._verdict(searcher, query, like)) if picture else ""
        marked = self.marked(judged, text, gallery)
        values = (
            text,
            gallery,
            systems,
            k,
            alpha,
            lambda_,
            t,
            weight,
            like,
            judged if marked.video_ids else "",
            literal,
        )
        link = link_values(dict(zip(DEFAULTS, values, strict=True)))
        job = self.indexing.under_way(gallery) if gallery else None
        return {
            r.answer: answer,
            r.understood: understood_view(answer, (wanted, unwanted), link, strengths, remark),
            r.columns: columns_view(answer, searcher.video, lambda video: self.media.urls(gallery, video), marked),
            r.index: index_view(answer, problem, job, self.gate.refusal(request, "import")),
            r.indexing: gr.Timer(active=job is not None),
        }

    @user_errors
    def on_index(self, gallery: str, event: gr.EventData, request: gr.Request) -> tuple[Any, Any]:
        """Index the library that is searched, under the models that a search has named."""
        self.gate.check("import", request)
        models = event_value(event, "models", str).split("|")
        self.indexing.start(self.galleries.key(gallery), models)
        return index_view(None, None, self.indexing.under_way(gallery)), gr.Timer(active=True)

    @user_errors
    def on_indexing(self, gallery: str) -> tuple[Any, Any, Any]:
        """Follow the update of the library that is searched; search once more when it has ended."""
        job = self.indexing.under_way(gallery)
        if job is not None:
            return index_view(None, None, job), gr.skip(), gr.skip()
        last = self.indexing.jobs.of(gallery) if gallery else None
        return index_view(None, None, last), gr.Timer(active=False), f"{time.monotonic()}"

    def search(
        self, searcher: Searcher, query: Query, systems: list[str], k: int, picture: str | None, weight: float,
        strengths: Mapping[str, float], leave_out: str = "", literal: Collection[str] = (),
    ) -> Answer:  # fmt: skip
        """Search with an uploaded picture, if any; `leave_out` is the clip that it was taken from."""
        image = self.decoder.picture(Path(picture)) if picture else None
        return searcher.search(query, systems or [], k, image, weight, strengths, leave_out, literal)

    def _verdict(self, searcher: Searcher, query: Query, video_id: str) -> Verdict | None:
        """Judge a clip of the gallery, if it is one."""
        try:
            return searcher.judge(query, searcher.video(video_id))
        except Nt2vrError:
            return None

    @user_errors
    def on_pick(self, answer: Answer | None, event: gr.EventData) -> dict[str, Any]:
        """Enlarge a clip."""
        if answer is None:
            return {}
        video_id = event_value(event, "id", str)
        searcher = self.galleries.searcher(answer.gallery)
        video = searcher.video(video_id)
        verdict, urls = answer.verdict(video_id) or "", self.media.urls(answer.gallery, video)
        film = film_view(answer, video, searcher.gallery.videos)
        return detail_view(video, answer.see(video_id), verdict, urls, film, answer.judged_by)

    @user_errors
    def on_literal(self, literal: str, event: gr.EventData) -> str:
        """Take one more word as typed."""
        return "|".join(filter(None, (*literal.split("|"), event_value(event, "word", str))))

    @user_errors
    def on_like(self, answer: Answer | None, event: gr.EventData) -> dict[Any, Any]:
        """Make a clip's middle frame the reference picture."""
        c, video_id = self._controls, event_value(event, "id", str)
        return {
            c.picture: self._middle_frame(answer.gallery if answer else "", video_id),
            c.with_picture: True,
            c.like: video_id,
            self._results.detail: {},
        }

    def _middle_frame(self, gallery: str, video_id: str) -> NDArray[np.uint8]:
        video = self.galleries.searcher(gallery).video(video_id)
        if gallery:
            return self.decoder.picture(self.media.still(gallery, video))
        frames = self.decoder.frames(video.path, 1, None).result()
        return np.asarray(frames[0], np.uint8)


def _corrected(text: str, wanted: str, unwanted: str) -> Query:
    parts = tuple(part.strip() for part in unwanted.split(",") if part.strip())
    return Query(text, (wanted.strip(),) if wanted.strip() else (), parts)
