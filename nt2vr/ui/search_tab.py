"""The Search tab: lays it out and wires it to a Searcher; all logic stays there."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gradio as gr
import numpy as np
from gradio.helpers import Examples
from numpy.typing import NDArray

from nt2vr.errors import Nt2vrError
from nt2vr.language.query import Query
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.search.answers import Answer
from nt2vr.search.searcher import MAX_K, Searcher
from nt2vr.search.systems import DEFAULT_ALPHA
from nt2vr.ui.errors import user_errors
from nt2vr.ui.more_models import MoreModels
from nt2vr.ui.picture import reference_picture
from nt2vr.ui.search_view import Marked, columns_view, detail_view, no_marks, understood_view
from nt2vr.ui.theme import template

EXAMPLES = (
    "a boy is dancing and not playing the drum",
    "a man is playing the guitar, no dog",
    "a boy is snowboarding without a snowman",
    "a woman is singing but not playing the piano",
    "not dancing",
    "a girl is reading a book, and there isn't a cat",
    "a man is cooking instead of drinking coffee",
    "a woman is surfing rather than swimming",
)
DEFAULT_SYSTEMS = ("CLIP", "CLIP-bnl", "CLIP-neg")
MAX_COLUMNS = 4
DEFAULT_K = 8
SHOWN = (4, 6, 8, 12, 16, 24)  # with four columns of 24 about a hundred clips: more playing at once tires a laptop
CONCURRENT = 8  # searches at a time; Gradio's default is 1
PRIVATE: dict[str, Any] = {"api_visibility": "private", "concurrency_limit": CONCURRENT}

# Keeps the address bar a link to what is shown: query, systems, k, weights, and a picture taken from the gallery.
REMEMBER = """(q, systems, k, alpha, weight, like, judged) => {
  const link = new URLSearchParams({ q, systems: systems.join("|"), k, alpha, weight });
  if (like) link.set("like", like);
  if (judged) link.set("judged", judged);
  const theme = new URLSearchParams(location.search).get("__theme");
  if (theme) link.set("__theme", theme);
  history.replaceState(null, "", `?${link}`);
}"""


@dataclass(frozen=True)
class Controls:
    """What a person sets; for the link, the clip that the picture was taken from, and the judged query this was."""

    query: gr.Textbox
    with_picture: gr.Checkbox
    find: gr.Button
    picture_row: gr.Row
    picture: gr.Image
    weight: gr.Slider
    examples: Examples
    systems: gr.Dropdown
    k: gr.Dropdown
    like: gr.Textbox
    judged: gr.Textbox


@dataclass(frozen=True)
class Results:
    """What a person sees, and may correct; `added` are the events after which there are other systems."""

    answer: gr.State
    understood: gr.HTML
    wanted: gr.Textbox
    unwanted: gr.Textbox
    alpha: gr.Slider
    added: Sequence[Any]
    columns: gr.HTML
    detail: gr.HTML


@dataclass(frozen=True)
class SearchTab:
    """What the Search tab is wired to.

    Attributes:
        searcher: answers.
        decoder: opens strangers' pictures.
        url_of: where the page finds a video.
        templates: folder of the page's templates.
        may_download: whether people may have models downloaded, and files of this machine imported.
        marked: finds the clips that are right for a judged query, by its name in links and its text.
    """

    searcher: Searcher
    decoder: Decoder
    url_of: Callable[[Video], str]
    templates: Path
    may_download: bool = True
    marked: Callable[[str, str], Marked] = no_marks

    def build(self, page: gr.Blocks, tabs: gr.Tabs) -> Callable[[Any, Callable[..., Mapping[str, str]]], None]:
        """Lay the tab out inside the open page and wire it.

        Returns:
            What has an event of another tab open a query here: called with the event and what returns a link's values.
        """
        controls = self._lay_out_controls()
        results = self._lay_out_results(controls.systems)
        opens = self._wire_searches(page, tabs, controls, results)
        self._wire_clips(controls, results)
        return opens

    def _lay_out_controls(self) -> Controls:
        with gr.Row(equal_height=True):
            query = gr.Textbox(
                EXAMPLES[0], label="Query", container=False, lines=1, max_lines=3, elem_id="query", scale=10,
                placeholder="a man playing the guitar and not singing", autofocus=True,
            )  # fmt: skip
            with_picture = gr.Checkbox(
                False, label="+ picture", container=False, elem_id="with-picture", min_width=110, scale=1
            )
            find = gr.Button("Search", variant="primary", elem_id="search-button", scale=1)
        with gr.Row(visible=False) as picture_row:
            picture = reference_picture(sources=["upload", "clipboard"], height=180, elem_id="picture", scale=1)
            with gr.Column(scale=3):
                weight = gr.Slider(
                    0, 1, value=0.5, step=0.05, label="Weight of the picture beside the text", elem_id="weight"
                )
                gr.Markdown("The picture joins the query as a weighted mean. Take any result with “More like this”.")
        examples = gr.Examples([[example] for example in EXAMPLES], [query], label="Examples", elem_id="examples")
        with gr.Row(equal_height=True):
            systems = gr.Dropdown(
                self.searcher.system_names(), value=list(DEFAULT_SYSTEMS), multiselect=True, max_choices=MAX_COLUMNS,
                label="Systems side by side; the first is what the others are compared with",
                container=False, elem_id="systems", scale=8,
            )  # fmt: skip
            k = gr.Dropdown(
                [(f"top {count}", count) for count in SHOWN], value=DEFAULT_K, label="Results", container=False,
                elem_id="k", min_width=100, scale=1,
            )  # fmt: skip
        like, judged = (gr.Textbox(visible="hidden") for _ in range(2))  # a State would not reach the browser
        return Controls(query, with_picture, find, picture_row, picture, weight, examples, systems, k, like, judged)

    def _lay_out_results(self, systems: gr.Dropdown) -> Results:
        understood = template(self.templates, "understood", {})
        with gr.Row():
            with gr.Accordion("Correct this, weigh the unwanted part", open=False, elem_id="correct"):
                with gr.Row():
                    wanted = gr.Textbox(label="Wanted", elem_id="wanted", placeholder="a man singing")
                    unwanted = gr.Textbox(
                        label="Unwanted, separated by commas", elem_id="unwanted", placeholder="the guitar, a dog"
                    )
                alpha = gr.Slider(
                    0, 1.5, value=DEFAULT_ALPHA, step=0.05, elem_id="alpha",
                    label="α, weight of the unwanted part in “boolean”",
                )  # fmt: skip
            added = MoreModels(self.searcher, MAX_COLUMNS, self.may_download).build(systems)
        columns = template(self.templates, "columns", {"columns": []}, "pick")
        detail = template(self.templates, "detail", {})
        return Results(gr.State(), understood, wanted, unwanted, alpha, added, columns, detail)

    def _wire_searches(
        self, page: gr.Blocks, tabs: gr.Tabs, controls: Controls, results: Results
    ) -> Callable[[Any, Callable[..., Mapping[str, str]]], None]:
        """Everything that ends in a search, and then in the link to it."""
        c, r = controls, results
        asked = [c.query, c.systems, c.k, c.picture, c.weight, r.alpha, c.judged]
        found = [r.answer, r.understood, r.wanted, r.unwanted, r.columns]
        search: dict[str, Any] = {
            "fn": self.on_search, "inputs": asked, "outputs": found, "show_progress": "minimal",
            "show_progress_on": r.columns, **PRIVATE,
        }  # fmt: skip
        new_picture = (c.picture.upload, c.picture.clear)
        triggers = (c.find.click, c.query.submit, c.systems.input, c.k.input, r.alpha.release, c.weight.release)
        gr.on(new_picture, lambda: "", None, c.like, **PRIVATE)
        shown_link = [c.query, c.systems, c.k, r.alpha, c.weight, c.like, c.judged]
        from_link = [*shown_link, c.picture, c.with_picture]
        liked = [c.picture, c.with_picture, c.like, r.detail]
        edited = {**search, "fn": self.on_edit, "inputs": [*asked, r.wanted, r.unwanted]}
        searches = (
            gr.on([*triggers, *new_picture], trigger_mode="always_last", **search),
            gr.on([r.wanted.submit, r.unwanted.submit], **edited),
            c.examples.load_input_event.success(**search),
            page.load(self.on_load, None, from_link, **PRIVATE).success(**search),
            r.detail.like(self.on_like, None, liked, **PRIVATE).success(**search),
            *(event.success(**search) for event in r.added),
        )
        for event in searches:
            event.success(None, shown_link, None, js=REMEMBER, api_visibility="private")

        def opens(event: Any, link_of: Callable[..., Mapping[str, str]]) -> None:
            @user_errors
            def on_open(data: gr.EventData) -> tuple[Any, ...]:
                return *self._from_link(link_of(data)), gr.Tabs(selected="search")

            opened = event(on_open, None, [*from_link, tabs], **PRIVATE).success(**search)
            opened.success(None, shown_link, None, js=REMEMBER, api_visibility="private")

        return opens

    def _wire_clips(self, controls: Controls, results: Results) -> None:
        quiet = {"show_progress": "hidden", **PRIVATE}
        results.columns.pick(self.on_pick, results.answer, results.detail, **quiet)
        results.detail.close(dict, None, results.detail, **quiet)
        controls.systems.focus(  # new models appear without a restart
            lambda: gr.Dropdown(self.searcher.system_names()), None, controls.systems, queue=False, **quiet
        )
        controls.with_picture.change(
            lambda wanted: gr.Row(visible=wanted), controls.with_picture, controls.picture_row, **quiet
        )

    @user_errors
    def on_search(
        self, text: str, systems: list[str], k: int, picture: str | None, weight: float, alpha: float, judged: str
    ) -> tuple[Any, ...]:
        """Search for the sentence as typed."""
        return self._show(self.search(self.searcher.understand(text), systems, k, picture, weight, alpha), judged)

    @user_errors
    def on_edit(
        self, text: str, systems: list[str], k: int, picture: str | None, weight: float, alpha: float,
        judged: str, wanted: str, unwanted: str,
    ) -> tuple[Any, ...]:  # fmt: skip
        """Search with the parts that the person corrected."""
        parts = tuple(part.strip() for part in unwanted.split(",") if part.strip())
        query = Query(text, (wanted.strip(),) if wanted.strip() else (), parts)
        return self._show(self.search(query, systems, k, picture, weight, alpha), judged)

    def search(
        self, query: Query, systems: list[str], k: int, picture: str | None, weight: float, alpha: float
    ) -> Answer:
        """Search with a picture that was uploaded, if there is one."""
        image = self.decoder.picture(Path(picture)) if picture else None
        return self.searcher.search(query, systems or [], k, image, weight, alpha)

    def _show(self, answer: Answer, judged: str) -> tuple[Any, ...]:
        columns = columns_view(answer, self.searcher.video, self.url_of, self.marked(judged, answer.query.text))
        wanted, unwanted = " ".join(answer.query.wanted), ", ".join(answer.query.unwanted)
        return answer, understood_view(answer), wanted, unwanted, columns

    @user_errors
    def on_pick(self, answer: Answer | None, event: gr.EventData) -> dict[str, Any]:
        """Open a clip large."""
        if answer is None:
            return {}
        video = self.searcher.video(event.id)
        verdicts = (hit.verdict for ranking in answer.rankings for hit in ranking.hits if hit.video_id == event.id)
        seen = answer.see(event.id)
        return detail_view(video, seen, next(verdicts, None) or "", self.url_of(video))

    @user_errors
    def on_like(self, event: gr.EventData) -> tuple[Any, ...]:
        """Take a clip's picture as the reference."""
        return self._middle_frame(event.id), True, event.id, {}

    def _middle_frame(self, video_id: str) -> NDArray[np.uint8]:
        frames = self.decoder.frames(self.searcher.video(video_id).path, 1, None).result()
        return np.asarray(frames[0], np.uint8)

    @user_errors
    def on_load(self, request: gr.Request) -> tuple[Any, ...]:
        """Read what REMEMBER wrote; what is missing or wrong keeps its default."""
        return self._from_link(request.query_params)

    def _from_link(self, link: Mapping[str, str]) -> tuple[Any, ...]:
        like, picture = link.get("like", ""), None
        try:
            picture = self._middle_frame(like) if like else None
        except Nt2vrError:
            like = ""
        names = self.searcher.system_names()
        systems = [name for name in link.get("systems", "").split("|") if name in names][:MAX_COLUMNS]
        k = _number(link, "k", DEFAULT_K, 1, MAX_K)
        return (
            link.get("q", EXAMPLES[0]),
            gr.Dropdown(names, value=systems or [name for name in DEFAULT_SYSTEMS if name in names]),
            min(SHOWN, key=lambda count: abs(count - k)),
            _number(link, "alpha", DEFAULT_ALPHA, 0, 1.5),
            _number(link, "weight", 0.5, 0, 1),
            like,
            link.get("judged", ""),
            picture,
            picture is not None,
        )


def _number(link: Mapping[str, str], name: str, default: float, low: float, high: float) -> float:
    try:
        return min(max(float(link[name]), low), high)
    except (KeyError, ValueError):
        return default
