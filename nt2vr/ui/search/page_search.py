"""Searches of the page: from what a person has entered to the answer."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

from nt2vr.errors import NotIndexedError
from nt2vr.library.galleries import Galleries
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.search.plan import MAX_K, SearchPlan
from nt2vr.ui.search.columns import Marked
from nt2vr.ui.search.corrections import with_corrections
from nt2vr.ui.search.learning_columns import LearningColumns
from nt2vr.ui.search.near_duplicates import fold_near_duplicates
from nt2vr.ui.search.references import References
from nt2vr.ui.search.state import SearchState

# Returns the relevant clips of a report's query, given its name in links, its text and the gallery.
MarkedOf = Callable[[str, str, str], Marked]


class SearchOutcome(NamedTuple):
    """An answer and the plan of its search, or why a library could not be searched.

    Attributes:
        answer: without rankings if the library could not be searched.
        plan: None if the library could not be searched.
        not_indexed: which models have not indexed the library.
    """

    answer: Answer
    plan: SearchPlan | None = None
    not_indexed: NotIndexedError | None = None


@dataclass(frozen=True)
class PageSearch:
    """A search on the page, and what came of it.

    Attributes:
        state: the request, as the address will have it.
        query: the query as a person corrected it.
        parsed: the query as it was understood.
        outcome: the answer.
        flipped: the answer with the negation taken away, or put back, if that is what the page
            shows or has just shown.
        marked: the relevant clips of a judged query.
    """

    state: SearchState
    query: Query
    parsed: Query
    outcome: SearchOutcome
    flipped: Answer | None
    marked: Marked


@dataclass(frozen=True)
class PageSearcher:
    """Searches as the page asks."""

    galleries: Galleries
    references: References
    learning: LearningColumns
    marked: MarkedOf

    def search(self, state: SearchState, previous: Answer | None) -> PageSearch:
        """Search for a query, with and without its negation if that was just taken away or put back.

        Args:
            previous: the answer on display.
        """
        gallery = state.gallery
        searcher = self.galleries.searcher(gallery)
        state, query, parsed = with_corrections(state, searcher.understand)
        if state.flip or not self.learning.has_recording(state.q, gallery):
            state = replace(state, replay="")
        outcome = self._outcome(state, query)
        was_flipped = previous is not None and previous.denied == query
        flipped = None
        # The negation is taken away, or has just been put back.
        if state.flip or (query.unwanted and was_flipped and not state.replay):
            opposite = replace(state, flip="" if state.flip else "1")
            flipped = self._outcome(opposite, query).answer

        marked = Marked()
        if not state.flip:
            marked = self.marked(state.judged, state.q, gallery)
            if not marked.video_ids:
                state = replace(state, judged="")
        return PageSearch(state, query, parsed, outcome, flipped, marked)

    def first_answer(self) -> Answer:
        return self.search(SearchState(), previous=None).outcome.answer

    def _outcome(self, state: SearchState, query: Query) -> SearchOutcome:
        """Search for a query, or for what it is without its negation."""
        denied = None
        if state.flip:
            denied = query
            query = query.affirmed
        try:
            answer, plan = self._answer(state, query)
        except NotIndexedError as error:
            answer = Answer(query, (), gallery=state.gallery, denied=denied)
            return SearchOutcome(answer, not_indexed=error)
        return SearchOutcome(replace(answer, denied=denied), replace(plan, k=state.k))

    def _answer(self, state: SearchState, query: Query) -> tuple[Answer, SearchPlan]:
        searcher = self.galleries.searcher(state.gallery)
        references = self.references.resolve(state.references, state.gallery)
        # Near-duplicates of a library are folded, so more clips than k are needed.
        k = MAX_K if searcher.is_library else state.k
        checked = searcher.checked(query, references)
        plan = searcher.plan(
            state.systems, k, references, state.strengths, state.literal.split("|")
        )
        answer = searcher.answer(checked, plan)
        if searcher.is_library:
            rankings = [fold_near_duplicates(ranking, state.k) for ranking in answer.rankings]
            answer = replace(answer, rankings=tuple(rankings))
        return answer, plan
