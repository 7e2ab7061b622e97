"""A recorded training: what each epoch found for some queries in the built-in gallery, to be replayed without models.

`python -m benchmarks.recording` makes the shipped one.
"""

import logging
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nt2vr.errors import reason_of
from nt2vr.files import parse_json
from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Hit, Ranking, Verdict
from nt2vr.search.systems import System

logger = logging.getLogger(__name__)
Found = Sequence[tuple[str, float]]  # ids and scores of the first clips, best first


@dataclass(frozen=True)
class Recording:
    """A run's results by query and epoch; the first epoch is the base."""

    base: str  # name of the model that the run started from
    preset: str  # name of its config
    date: str  # its day, as in "2026-11-25"
    seconds: Sequence[float]  # from the start to each epoch's checkpoint
    hard_pairs: Sequence[float]  # of each epoch on the run's validation clips, in percent
    queries: Mapping[str, Sequence[Found]]  # sentence to what each epoch found

    @classmethod
    def of_gallery(cls, path: Path, videos: Collection[str]) -> "Recording | None":
        """Read a recording of a gallery; None if there is none, it cannot be read, or it is of other clips."""
        if not path.is_file():
            return None
        try:
            recording = cls(**parse_json(path.read_text(encoding="utf-8")))
            counts = {len(recording.seconds), len(recording.hard_pairs), *map(len, recording.queries.values())}
            if not recording.queries or len(counts) != 1:
                raise ValueError("it lacks epochs")
            if missing := recording.clips - set(videos):
                raise ValueError(f"it names {len(missing):,} clips of another gallery")
        except (OSError, ValueError, TypeError, AttributeError) as error:
            advice = "Make it again: python -m benchmarks.recording."
            logger.warning("The recording %s is left out (%s). %s", path, reason_of(error), advice)
            return None
        return recording

    @property
    def clips(self) -> set[str]:
        return {clip for epochs in self.queries.values() for found in epochs for clip, _ in found}

    def rankings(
        self, query: Query, judge: Callable[[Query, Video], Verdict | None], video_of: Callable[[str], Video]
    ) -> dict[int, Ranking]:
        """Return what each epoch found, judged; nothing for a sentence that was not recorded."""
        return {
            epoch: Ranking(
                System(self.base),
                tuple(
                    Hit(clip, rank, score, judge(query, video_of(clip))) for rank, (clip, score) in enumerate(found, 1)
                ),
            )
            for epoch, found in enumerate(self.queries.get(query.text, ()))
        }
