"""The columns of models that learn: runs with their epochs, and the recorded run."""

from dataclasses import dataclass, field

import gradio as gr

from nt2vr.errors import ConfigError
from nt2vr.models.catalog import Catalog
from nt2vr.search.answers import Answer
from nt2vr.search.epochs import RankingCache, Recording
from nt2vr.search.plan import SearchPlan
from nt2vr.search.searcher import Searcher
from nt2vr.ui.search.run_columns import RunColumns, ViewOf, replayed
from nt2vr.ui.view import Link, View
from nt2vr.ui.web.inputs import event_value
from nt2vr.ui.web.permissions import Visitor


@dataclass(frozen=True)
class LearningColumns:
    """Adds to an answer what its models have learnt, epoch by epoch.

    Attributes:
        models: the runs are among them.
        recording: a training to replay; None if there is none of the built-in gallery.
        cache: rankings of earlier searches.
    """

    models: Catalog
    recording: Recording | None = None
    cache: RankingCache = field(default_factory=RankingCache)

    def add(
        self,
        view: View,
        answer: Answer,
        key: str,
        searcher: Searcher,
        plan: SearchPlan | None,
        view_of: ViewOf,
        is_replayed: bool,
    ) -> View:
        """Add the epochs of runs to a view of columns, and the recorded run if it is to be replayed.

        Args:
            view: as from `columns_view`.
            answer: what the view shows.
            key: identifies the query, with everything but its systems; see `key_of`.
            searcher: searches with the epochs that have no ranking yet.
            plan: of the answer's search; None if the answer has no columns.
            view_of: returns the `columns_view` of an answer.
            is_replayed: whether the recorded run is shown.
        """
        run_columns = RunColumns(
            answer,
            key,
            self.models.entries(),
            cache=self.cache,
            view_of=view_of,
            searcher=searcher,
            plan=plan,
        )
        columns = run_columns.with_epochs(view["columns"])
        if is_replayed and self.recording is not None:
            rankings = self.recording.rankings(answer.query, searcher.judge, searcher.video)
            # The recorded run stands next to the baseline.
            columns.insert(1, replayed(self.recording, rankings, answer, view_of))
        return {**view, "columns": columns, "key": key, "q": answer.sentence}

    def replay_offer(self, text: str, gallery: str) -> View:
        """Say whether a recorded training is offered, and of which query if it is another one."""
        if self.recording is None or gallery:
            return {"can_replay": False, "replayed_query": ""}
        query = _recorded_query(self.recording, text)
        return {"can_replay": True, "replayed_query": "" if query == text else query}

    def has_recording(self, text: str, gallery: str) -> bool:
        """Return True if there is a recording of a sentence in a gallery."""
        return self.recording is not None and not gallery and text in self.recording.queries

    def replay_link(self, event: gr.EventData, _: Visitor = None) -> Link:
        """Return the link of the recorded run for the query on display, or for the first that was recorded."""
        if self.recording is None:
            raise ConfigError("There is no recorded training of this gallery.")
        query = _recorded_query(self.recording, event_value(event, "query", str))
        return {"q": query, "systems": self.recording.base, "k": "8", "replay": "1"}


def _recorded_query(recording: Recording, text: str) -> str:
    """Return a query if it was recorded, otherwise the first that was."""
    return text if text in recording.queries else next(iter(recording.queries))
