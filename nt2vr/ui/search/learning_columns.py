"""The columns of models that learn: runs with their epochs, and the recorded run."""

from dataclasses import dataclass, field

import gradio as gr

from nt2vr.errors import ConfigError
from nt2vr.progress import duration_text
from nt2vr.search.answers import Answer
from nt2vr.search.epochs import RankingCache, Recording
from nt2vr.search.searcher import Searcher
from nt2vr.ui.search.run_columns import RunColumn, ViewOf
from nt2vr.ui.view import Link, View
from nt2vr.ui.web.inputs import event_text
from nt2vr.ui.web.permissions import Visitor


@dataclass(frozen=True)
class LearningColumns:
    """Adds to an answer what its models have learnt, epoch by epoch.

    Attributes:
        recording: a training to replay; None if there is none of the built-in gallery.
        cache: rankings of earlier searches.
    """

    recording: Recording | None
    cache: RankingCache = field(default_factory=RankingCache)

    def recorded_column(self, answer: Answer, searcher: Searcher, view_of: ViewOf) -> View:
        """Return the column of the recorded run, which plays from its base to its last epoch."""
        recording = self.recording
        assert recording is not None, "nothing else is replayed"
        rankings = recording.rankings(answer.query, searcher.judge, searcher.video)
        last = len(rankings) - 1
        duration = duration_text(recording.seconds[-1])
        note = f"{last} epochs of the preset “{recording.preset}” took {duration}. Nothing is trained now."
        extra = {
            "recorded_on": recording.date,
            "note": note,
            "is_replay": True,
            "shares": [f"{share:.0f} %" for share in recording.hard_pairs],
        }
        title = f"{recording.base}, learning"
        column = RunColumn("recorded", title, range(last + 1), rankings, extra)
        return column.view({"system": f"{recording.base}, recorded"}, last, answer, view_of)

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
        query = _recorded_query(self.recording, event_text(event, "query"))
        return {"q": query, "systems": self.recording.base, "k": "8", "replay": "1"}


def _recorded_query(recording: Recording, text: str) -> str:
    """Return a query if it was recorded, otherwise the first that was."""
    return text if text in recording.queries else next(iter(recording.queries))
