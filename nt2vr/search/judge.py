"""Judges, which say whether a clip is right for a query, violates it or misses it."""

from collections.abc import Callable, Sequence
from typing import Literal, Protocol

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.references import Reference

Verdict = Literal["right", "violation", "miss"]
# Judges a clip for one query; None if that cannot be told.
ClipJudge = Callable[[Video], Verdict | None]


class Judge(Protocol):
    """Says whether a clip is right for a query."""

    def __call__(
        self, query: Query, video: Video, reference: Video | None = None, /
    ) -> Verdict | None:
        """Judge a clip; None if that cannot be told.

        Args:
            reference: a clip next to which the text stands. Then "right" also requires what the
                text leaves unchanged.
        """


def judge_beside(
    judge: Judge, query: Query, references: Sequence[Reference], video_of: Callable[[str], Video]
) -> ClipJudge:
    """Return a judge of clips for a query next to references.

    Next to several, or one of unknown content, it calls no clip right.
    """
    wanted = [reference for reference in references if reference.wanted]
    if len(wanted) == 1 and wanted[0].video_id:
        reference = video_of(wanted[0].video_id)
        return lambda video: judge(query, video, reference)

    def judge_text(video: Video) -> Verdict | None:
        verdict = judge(query, video)
        if wanted and verdict == "right":
            return None
        return verdict

    return judge_text
