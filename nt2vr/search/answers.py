"""Search results: hits, rankings, answers, and each system's view of one clip. Needs no models or files."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Any, Literal, Protocol

import numpy as np

from nt2vr.language.query import Query
from nt2vr.media.gallery import Video
from nt2vr.search.embedded import EmbeddedGallery
from nt2vr.search.references import Reference
from nt2vr.search.strategies import Vector
from nt2vr.search.systems import System

NUM_BEST_FRAMES = 3
GAP_S = 0.1  # windows of a film that are no further apart are adjacent
Verdict = Literal["right", "violation", "miss"]


class Judge(Protocol):
    """Judges a clip for a query; None if the truth is unknown."""

    def __call__(self, query: Query, video: Video, reference: Video | None = None) -> Verdict | None:
        """Judge a clip; with a reference, the clip that the text changes, "right" keeps what the text leaves alone."""
        ...


def no_verdict(query: Query, video: Video, reference: Video | None = None) -> None:
    """Give no verdict, for videos whose content is unknown."""


def judge_beside(
    judge: Judge, references: Sequence[Reference], video_of: Callable[[str], Video]
) -> Callable[[Query, Video], Verdict | None]:
    """Return a judge of clips next to references: of several, or of unknown content, none can be called right."""
    wanted = [reference for reference in references if reference.wanted]
    if len(wanted) == 1 and wanted[0].video_id:
        return partial(judge, reference=video_of(wanted[0].video_id))

    def verdict(query: Query, video: Video) -> Verdict | None:
        found = judge(query, video)
        return None if wanted and found == "right" else found

    return verdict


@dataclass(frozen=True)
class Moment:
    """One window of a film that was found: where it starts and ends in seconds (None: at the film's end)."""

    video_id: str
    start: float
    end: float | None
    score: float


@dataclass(frozen=True)
class Hit:
    """One retrieved clip, or adjacent windows of one film.

    Attributes:
        video_id: the clip's id; of several windows, the best one's.
        rank: from 1.
        score: in cosine units; of several windows, the best one's.
        verdict: None if the truth is unknown.
        film: the film that the clip is a window of; "" for a whole video or a picture.
        moments: the film's windows that were found, in the order of time; empty for a whole video or a picture.
    """

    video_id: str
    rank: int
    score: float
    verdict: Verdict | None
    film: str = ""
    moments: tuple[Moment, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """Return plain JSON data; windows have further fields."""
        hit = {"video_id": self.video_id, "rank": self.rank, "score": self.score, "verdict": self.verdict}
        if not self.moments:
            return hit
        moments = [{"start": each.start, "end": each.end, "score": each.score} for each in self.moments]
        best = next(each for each in self.moments if each.video_id == self.video_id)
        return {**hit, "film": self.film, "start": best.start, "end": best.end, "moments": moments}


Found = tuple[Video, float]  # a clip and its score


def merge_windows(found: Sequence[Found], k: int) -> list[list[Found]]:
    """Take the best k hits, where adjacent windows of one film make one hit.

    Args:
        found: clips, best first.
        k: number of hits.

    Returns:
        The clips of each hit, best first.
    """
    hits: list[list[Found]] = []
    of_film: dict[str, list[list[Found]]] = defaultdict(list)
    for video, score in found:
        near = [hit for hit in of_film[video.film] if any(_is_adjacent(video, other) for other, _ in hit)]
        if near:
            best, *others = near  # a window may close the gap between two
            best.append((video, score))
            for other in others:
                best.extend(other)
                hits = [hit for hit in hits if hit is not other]
                of_film[video.film] = [hit for hit in of_film[video.film] if hit is not other]
        elif len(hits) == k:
            break
        else:
            hits.append([(video, score)])
            of_film[video.film].append(hits[-1])
    return hits


def _is_adjacent(first: Video, second: Video) -> bool:
    if not first.film or first.film != second.film:
        return False
    ends = [float("inf") if video.end is None else video.end + GAP_S for video in (first, second)]
    return first.start <= ends[1] and second.start <= ends[0]


def moments_of(hit: Sequence[Found]) -> tuple[Moment, ...]:
    """List the windows of a hit in the order of time; none for a whole video or a picture."""
    windows = [Moment(video.video_id, video.start, video.end, round(score, 4)) for video, score in hit if video.film]
    return tuple(sorted(windows, key=lambda moment: moment.start))


@dataclass(frozen=True)
class Ranking:
    """The result of one system.

    Attributes:
        system: the system.
        hits: the best k, best first; empty if the strategy leaves nothing to search for.
        unseen: words of the query that never occurred in the model's training, and were not read differently.
        read_as: words that the model was asked for others instead, see `nt2vr.search.reading`.
        low: whether the best score is below the model's scores for clips that fit.
        strength: how strongly the system's strategy excluded; 0 if it has no strength.
        vector: the query vector, for the best frames of a clip; None if there is nothing to search for.
        ranks: video_id to rank, for more clips than the hits.
        epoch: the epoch that answered, if the system's model is a run's newest.
        notice: why a newer checkpoint was refused.
        gallery: embedded by the model that answered, which may have been swapped since.
        missing: number of clips that are not indexed by the model, and were not searched.
    """

    system: System
    hits: tuple[Hit, ...]
    unseen: tuple[str, ...] = ()
    read_as: Mapping[str, str] = field(default_factory=dict)
    low: bool = False
    strength: float = 0.0
    vector: Vector | None = field(default=None, repr=False, compare=False)
    ranks: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)
    epoch: int | None = None
    notice: str = ""
    gallery: EmbeddedGallery | None = field(default=None, repr=False, compare=False)
    missing: int = 0

    @property
    def recall(self) -> float:
        """Share of the true ten best that the index finds, as measured on a sample; 1 for exact search."""
        return self.gallery.index.recall if self.gallery else 1.0

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        """Number of hits per verdict."""
        verdicts: tuple[Verdict, ...] = ("right", "violation", "miss")
        return {verdict: sum(hit.verdict == verdict for hit in self.hits) for verdict in verdicts}


@dataclass(frozen=True)
class Seen:
    """One system's view of one clip.

    Attributes:
        system: the system.
        rank: None if not in `ranks`.
        score: in cosine units.
        moments: positions of the best frames in [0, 1].
        num_frames: number of frames that the model saw.
    """

    system: System
    rank: int | None
    score: float | None
    moments: tuple[float, ...]
    num_frames: int = 0


@dataclass(frozen=True)
class Answer:
    """A query as understood, and the ranking of each system.

    Attributes:
        query: the query.
        rankings: per system.
        judged_by: where the verdicts are from: "captions", or "" where the truth is known or there are none.
        gallery: key of the gallery; "" is the built-in one.
    """

    query: Query
    rankings: tuple[Ranking, ...]
    judged_by: str = ""
    gallery: str = ""

    @property
    def read_as(self) -> dict[str, str]:
        """Words that some systems were asked for others instead; a system that knew them was not."""
        return {word: other for ranking in self.rankings for word, other in ranking.read_as.items()}

    @property
    def has_verdicts(self) -> bool:
        """Whether any hit has a verdict."""
        return any(hit.verdict for ranking in self.rankings for hit in ranking.hits)

    def as_typed(self, ranking: Ranking) -> tuple[str, ...]:
        """List words that other systems read differently, but this one, which knows them, was asked for."""
        return tuple(word for word in self.read_as if word not in {*ranking.read_as, *ranking.unseen})

    def verdict(self, video_id: str) -> Verdict | None:
        """Return the verdict on a clip that was found, perhaps as one of several windows; None if it has none."""
        hits = (hit for ranking in self.rankings for hit in ranking.hits)
        found = (hit for hit in hits if video_id in (hit.video_id, *(moment.video_id for moment in hit.moments)))
        return next((hit.verdict for hit in found), None)

    def see(self, video_id: str) -> tuple[Seen, ...]:
        """Return every system's view of one clip, by the models that answered."""
        return tuple(_see(ranking, video_id) for ranking in self.rankings)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as the API does, in plain JSON data."""
        return {
            "query": {
                "text": self.query.text,
                "wanted": list(self.query.wanted),
                "unwanted": list(self.query.unwanted),
                **({"notice": self.query.notice} if self.query.notice else {}),
                **({"read_as": self.read_as} if self.read_as else {}),
            },
            **({"gallery": self.gallery} if self.gallery else {}),
            **({"judged_by": self.judged_by} if self.judged_by and self.has_verdicts else {}),
            "systems": [
                {
                    "name": ranking.system.name,
                    **({} if ranking.epoch is None else {"epoch": ranking.epoch}),
                    **({"read_as": dict(ranking.read_as)} if ranking.read_as else {}),
                    **({"missing": ranking.missing} if ranking.missing else {}),
                    **({"recall": round(ranking.recall, 4)} if ranking.recall < 1 else {}),
                    "hits": [hit.as_dict() for hit in ranking.hits],
                }
                for ranking in self.rankings
            ],
        }


def _see(ranking: Ranking, video_id: str) -> Seen:
    embedded, vector = ranking.gallery, ranking.vector
    row = embedded.row_of.get(video_id) if embedded else None
    if embedded is None or vector is None or row is None:
        return Seen(ranking.system, None, None, ())
    frames = embedded.frame_embeddings(row) @ vector  # (F,)
    best = np.argsort(-frames, kind="stable")[:NUM_BEST_FRAMES]
    moments = tuple(float((frame + 0.5) / len(frames)) for frame in sorted(best))
    score = float(embedded.embeddings[row] @ vector)
    return Seen(ranking.system, ranking.ranks.get(video_id), round(score, 4), moments, len(frames))
