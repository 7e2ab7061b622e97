"""What the Search tab's panels show of an answered search."""

from dataclasses import dataclass, replace
from functools import partial

from nt2vr.library.update import IndexJob
from nt2vr.search.answers import Answer
from nt2vr.search.searcher import Searcher
from nt2vr.ui.library.index_panel import index_view
from nt2vr.ui.library.indexing import Indexing
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.columns import columns_view, legends_view
from nt2vr.ui.search.corrections import part_texts, sliders_view
from nt2vr.ui.search.headline import headline
from nt2vr.ui.search.learning_columns import LearningColumns
from nt2vr.ui.search.page_search import PageSearch
from nt2vr.ui.search.query_view import understood_view
from nt2vr.ui.search.references import beside, remark
from nt2vr.ui.search.run_columns import RunColumns, key_of
from nt2vr.ui.search.suggest import way_out_view
from nt2vr.ui.view import View
from nt2vr.ui.web.permissions import Permissions, Visitor


@dataclass(frozen=True)
class AnswerView:
    """The panels of an answer, one method per panel."""

    search: PageSearch
    searcher: Searcher
    media: Media
    indexing: Indexing
    learning: LearningColumns
    permissions: Permissions
    visitor: Visitor

    @property
    def answer(self) -> Answer:
        return self.search.outcome.answer

    def columns(self) -> View:
        """Show each system's clips, with the epochs of runs."""
        search = self.search
        state = search.state
        answer = self.answer
        searcher = self.searcher
        view_of = partial(
            columns_view,
            video_of=searcher.video,
            urls=partial(self.media.urls, state.gallery),
            marked=search.marked,
            flipped=search.flipped,
        )
        view = view_of(answer) | beside(state.references, state.gallery, answer)
        view["flight_key"] = key_of(state.q, state.gallery, state.references)
        key = key_of(replace(state, systems=()))
        columns = view["columns"]
        plan = search.outcome.plan
        if plan is not None:
            run_columns = RunColumns(
                answer,
                key,
                searcher.models.entries(),
                cache=self.learning.cache,
                view_of=view_of,
                searcher=searcher,
                plan=plan,
            )
            columns = run_columns.with_epochs(columns)
        if state.replay:
            # It stands next to the baseline.
            columns.insert(1, self.learning.recorded_column(answer, searcher, view_of))
        return {**view, "columns": columns, "key": key, "q": answer.sentence}

    def understood(self, columns: View) -> View:
        """Show how the query was understood, what came of it, and what else can be asked.

        Args:
            columns: as from `columns`.
        """
        state = self.search.state
        answer = self.answer
        searcher = self.searcher
        picture = remark(searcher, answer, state.references)

        # Only clips of the built-in world are known well enough to suggest other queries.
        videos = searcher.gallery.videos
        if state.references or searcher.is_library:
            videos = ()
        return {
            **understood_view(answer, state, self.search.parsed, picture),
            "outcomes": headline(columns["columns"]),
            **way_out_view(answer, videos, searcher.understand, searcher.video),
            **self.learning.replay_offer(state.q, state.gallery),
            "may_train": self.permissions.may("train", self.visitor),
            **legends_view(columns),
        }

    def index(self, job: IndexJob | None) -> View:
        """Show what the index of a library lacks, or how far its update is."""
        search = self.search
        not_indexed = search.outcome.not_indexed
        drawings = self.indexing.drawings(
            search.state.gallery,
            search.state.systems,
            self.permissions,
            self.visitor,
            is_indexed=not_indexed is None,
        )
        refusal = self.permissions.refusal(self.visitor, "import")
        return index_view(self.answer, not_indexed, job, refusal, drawings)

    def for_browser(self) -> View:
        """Return the address of the search, and what the inputs are to show."""
        return {
            "link": self.search.state.link,
            "inputs": part_texts(self.search.query),
            "sliders": sliders_view(self.answer, self.search.state),
        }
