"""Search results: hits, rankings, answers, and each system's view of one clip. No models or files are needed here."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

import numpy as np

from nt2vr.language.query import Query
from nt2vr.media.gallery import Video
from nt2vr.search.embedded import EmbeddedGallery
from nt2vr.search.strategies import Vector
from nt2vr.search.systems import System

NUM_BEST_FRAMES = 3
Verdict = Literal["right", "violation", "miss"]
Judge = Callable[[Query, Video], Verdict | None]  # None if the truth is unknown


def no_verdict(query: Query, video: Video) -> None:
    """Give no verdict, for videos whose content is unknown."""


@dataclass(frozen=True)
class Hit:
    """One retrieved clip: `score` in cosine units, `rank` from 1, `verdict` None if the truth is unknown."""

    video_id: str
    rank: int
    score: float
    verdict: Verdict | None


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

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        """Number of hits per verdict."""
        verdicts: tuple[Verdict, ...] = ("right", "violation", "miss")
        return {verdict: sum(hit.verdict == verdict for hit in self.hits) for verdict in verdicts}


@dataclass(frozen=True)
class Seen:
    """One system's view of one clip: rank (None if not in `ranks`), score, positions of the best frames in [0, 1]."""

    system: System
    rank: int | None
    score: float | None
    moments: tuple[float, ...]


@dataclass(frozen=True)
class Answer:
    """A query as understood, and the ranking of each system."""

    query: Query
    rankings: tuple[Ranking, ...]

    @property
    def read_as(self) -> dict[str, str]:
        """Words that some systems were asked for others instead; a system that knew them was not."""
        return {word: other for ranking in self.rankings for word, other in ranking.read_as.items()}

    def as_typed(self, ranking: Ranking) -> tuple[str, ...]:
        """List words that other systems read differently, but this one, which knows them, was asked for."""
        return tuple(word for word in self.read_as if word not in {*ranking.read_as, *ranking.unseen})

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
            "systems": [
                {
                    "name": ranking.system.name,
                    **({} if ranking.epoch is None else {"epoch": ranking.epoch}),
                    **({"read_as": dict(ranking.read_as)} if ranking.read_as else {}),
                    "hits": [
                        {"video_id": hit.video_id, "rank": hit.rank, "score": hit.score, "verdict": hit.verdict}
                        for hit in ranking.hits
                    ],
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
    return Seen(ranking.system, ranking.ranks.get(video_id), round(score, 4), moments)
