"""Answers of the Search tab: takes what the inputs hold, returns what each component of the results shows."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import gradio as gr

from nt2vr.errors import NotIndexedError, Nt2vrError
from nt2vr.library.galleries import Galleries
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.search.epochs import Question
from nt2vr.ui.library.indexing import Indexing, index_view
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.column_view import Marked, columns_view
from nt2vr.ui.search.epochs import key_of
from nt2vr.ui.search.layout import Results
from nt2vr.ui.search.references import References, beside, remark
from nt2vr.ui.search.state import SearchState
from nt2vr.ui.search.view import downloads, offers_view, parts_view, understood_view, with_corrections
from nt2vr.ui.search.watch import Watch
from nt2vr.ui.web.errors import problem
from nt2vr.ui.web.inputs import Updates
from nt2vr.ui.web.permissions import Permissions


@dataclass(frozen=True)
class Answering:
    """Searches, and shows the answer in `results`; for the others see `SearchTab`."""

    galleries: Galleries
    media: Media
    indexing: Indexing
    permissions: Permissions
    marked: Callable[[str, str, str], Marked]
    references: References
    watch: Watch
    results: Results

    def on_search(
        self, previous: Answer | None, wanted: str, unwanted: str, request: gr.Request, **sent: Any
    ) -> Updates:
        """Search; as long as the sentence stays the same, with its parts and words as the person corrected them.

        Args:
            previous: the answer on display.
            wanted: text of the box that shows its wanted part; `unwanted` likewise.
            sent: what `SearchState.of_page` takes.
        """
        try:
            with self.watch.kept.answering():
                return self._answered(SearchState.of_page(**sent), previous, (wanted, unwanted), request)
        except Nt2vrError as error:  # what is shown stays
            return {self.results.problem: problem(error)}

    def _answered(
        self, asked: SearchState, previous: Answer | None, boxes: tuple[str, str], request: gr.Request
    ) -> Updates:
        wanted, unwanted = boxes
        searcher = self.galleries.searcher(asked.gallery)
        state, query, parsed = self._understood(asked, previous, boxes)
        is_replayed = self.watch.replays(state.q, state.gallery) and not state.flip
        state = state if is_replayed else replace(state, replay="")
        answer, lacking = self._search(state, query)
        flips = bool(state.flip) or (query.unwanted and previous is not None and previous.denied == query)
        other = self._search(replace(state, flip="" if state.flip else "1"), query)[0] if flips else None
        marked = Marked() if state.flip else self.marked(state.judged, state.q, state.gallery)
        state = state if marked.video_ids or state.flip else replace(state, judged="")
        held = {"wanted": wanted, "unwanted": unwanted, **asked.hidden}
        understood = understood_view(answer, state, held, parsed, remark(searcher, answer, state.references))
        videos = () if state.references or searcher.is_library else searcher.gallery.videos
        r, job = self.results, self.indexing.under_way(state.gallery) if state.gallery else None
        drawings = self.indexing.drawings(state.gallery, state.systems, self.permissions, request, again=not lacking)
        return {
            r.answer: answer,
            r.marked: marked,
            r.parts: parts_view(answer, parsed),
            r.menu: downloads(answer),
            r.understood: {**understood, **offers_view(answer, videos), **self.watch.offers(request, state.gallery)},
            r.columns: self._columns(answer, state, marked, other),
            **self.watch.awake(),
            r.index: index_view(answer, lacking, job, self.permissions.refusal(request, "import"), drawings=drawings),
            r.indexing: gr.Timer(active=job is not None),
        }

    def _understood(
        self, asked: SearchState, previous: Answer | None, boxes: tuple[str, str]
    ) -> tuple[SearchState, Query, Query]:
        understand = self.galleries.searcher(asked.gallery).understand
        state, query, parsed = with_corrections(asked, previous, boxes, understand)
        return state if query.unwanted else replace(state, flip=""), query, parsed

    def _search(self, state: SearchState, query: Query) -> tuple[Answer, NotIndexedError | None]:
        """Search; an answer without columns comes with the reason."""
        searcher, literal = self.galleries.searcher(state.gallery), state.literal.split("|")
        given = self.references.resolve(state.references, state.gallery)
        asked, denied = (query.affirmed, query) if state.flip else (query, None)
        try:
            answer = searcher.search(asked, state.systems, state.k, given, state.moved, literal)
        except NotIndexedError as error:
            return Answer(asked, (), gallery=state.gallery, denied=denied), error
        return replace(answer, denied=denied), None

    def _columns(self, answer: Answer, state: SearchState, marked: Marked, other: Answer | None) -> dict[str, Any]:
        searcher, urls = self.galleries.searcher(state.gallery), partial(self.media.urls, state.gallery)
        view_of = partial(columns_view, video_of=searcher.video, urls=urls, marked=marked, other=other)
        view = view_of(answer) | beside(state.references, state.gallery, answer)
        view["flies"] = key_of(state.q, state.gallery, state.references)
        given = self.references.resolve(state.references, state.gallery)
        question = Question(searcher, answer.query, state.k, given, state.moved, state.literal.split("|"))
        key = key_of(replace(state, systems=()))
        return self.watch.columns(view, answer, key, question, view_of, bool(state.replay))
