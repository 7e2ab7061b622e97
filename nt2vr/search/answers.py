"""Search results as data: rankings, answers, and the scores of one clip."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from itertools import chain
from typing import Any, Self, get_args

import numpy as np
from markupsafe import Markup

from nt2vr.files import JsonObject
from nt2vr.negation.parse.query import Query
from nt2vr.notebook import MAX_PICTURES, SHOWN, data_frame, hits_html, parts_html, side_by_side
from nt2vr.search.embedded_gallery import EmbeddedGallery, Excerpt, SearchedClip
from nt2vr.search.exclusion import Exclusion
from nt2vr.search.hits import Hit
from nt2vr.search.judge import Verdict
from nt2vr.search.strategies import System, Vector

NUM_BEST_FRAMES = 3
# Clips whose embeddings a pickled ranking keeps: 2.5 MB of 12 frames of 512 numbers.
PICKLED = 100
# Fields that a deep copy shares: embeddings of a whole gallery, and a decoder.
SHARED = ("gallery", "thumbnail")
# Columns of a data frame of hits.
COLUMNS = ("system", "rank", "video_id", "score", "verdict", "start", "end")


@dataclass(frozen=True)
class _SharingCopies:
    """A ranking or an answer: its copies share what pickling would leave out, deep ones too."""

    def __copy__(self) -> Self:
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        copied = {
            attribute.name: deepcopy(getattr(self, attribute.name), memo)
            for attribute in fields(self)
            if attribute.name not in SHARED
        }
        return replace(self, **copied)


@dataclass(frozen=True)
class Ranking(_SharingCopies):
    """The result of one system.

    A pickled one keeps the embeddings of at most PICKLED clips, and no small pictures. A copy
    shares all of both.

    Attributes:
        hits: the best k, best first; empty if the strategy leaves nothing to search for.
        unseen: words that never occurred in the model's training, and were not substituted.
        read_as: substituted words and their substitutes.
        reads: the words that the model reads of the sentence, if it searches for the sentence and
            leaves out some.
        low: whether the best score is below the model's scores for clips that fit.
        strength: of the system's strategy; 0 if it has none.
        vector: (D,); None if nothing is left to search for.
        exclusion: what is taken from the vector's scores.
        ranks: by clip, of more clips than the hits.
        epoch: the epoch that answered, if the system's model is a run's newest.
        notice: why a newer checkpoint, or the index that was asked for, is not used.
        gallery: as embedded by the model that answered, which may have been swapped since.
        missing: clips that were not searched, because the model has not indexed them.
        summary: what the model learnt, in two or three words, as on its card.
        explained_in: the page of the documentation that explains it, likewise.
        thumbnail: returns the small JPEG of a clip.
    """

    system: System
    hits: tuple[Hit, ...]
    unseen: tuple[str, ...] = ()
    read_as: Mapping[str, str] = field(default_factory=dict)
    reads: str = ""
    low: bool = False
    strength: float = 0.0
    vector: Vector | None = field(default=None, repr=False, compare=False)
    exclusion: Exclusion | None = field(default=None, repr=False, compare=False)
    ranks: Mapping[str, int] = field(default_factory=dict, repr=False, compare=False)
    epoch: int | None = None
    notice: str = ""
    gallery: EmbeddedGallery | None = field(default=None, repr=False, compare=False)
    missing: int = 0
    summary: str = ""
    explained_in: str = ""
    thumbnail: Callable[[str], bytes | None] | None = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self.with_excerpt(self.clips))

    def with_excerpt(self, video_ids: Sequence[str]) -> "Ranking":
        """Return the ranking as it is pickled, with the embeddings of these clips, if indexed."""
        gallery = self.gallery
        if gallery is not None and not isinstance(gallery, Excerpt):
            indexed = [video_id for video_id in video_ids if video_id in gallery.row_of]
            gallery = gallery.excerpt(indexed[:PICKLED])
        # Small pictures are decoded by the processes of a searcher.
        return replace(self, gallery=gallery, thumbnail=None)

    @property
    def clips(self) -> list[str]:
        """List the ids of all clips of the hits, best hits first."""
        return list(chain.from_iterable(hit.clips for hit in self.hits))

    def searched_clip(self, video_id: str) -> SearchedClip | None:
        """Return a clip and what was searched for; None if the system has no score for it."""
        gallery = self.gallery
        if gallery is None or self.vector is None or video_id not in gallery.row_of:
            return None
        return SearchedClip(gallery, gallery.row_of[video_id], self.vector, self.exclusion)

    @property
    def recall(self) -> float:
        """Share of the true top ten that the index finds, by a sample; 1 for exact search."""
        if self.gallery:
            return self.gallery.index.recall
        return 1.0

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        counts = Counter(hit.verdict for hit in self.hits)
        return {verdict: counts[verdict] for verdict in get_args(Verdict)}

    def as_dict(self) -> JsonObject:
        """Return plain JSON data."""
        ranking: JsonObject = {"name": self.system.name}
        if self.epoch is not None:
            ranking["epoch"] = self.epoch
        ranking |= _without_empty(
            read_as=dict(self.read_as), reads=self.reads, missing=self.missing
        )
        if self.recall < 1:
            ranking["recall"] = round(self.recall, 4)
        ranking["hits"] = [hit.as_dict() for hit in self.hits]
        return ranking

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with one row per hit."""
        return data_frame(self.rows, COLUMNS)

    @property
    def rows(self) -> list[JsonObject]:
        """The hits as rows of a table for pandas."""
        rows = []
        for hit in self.hits:
            hit_fields = {**hit.as_dict(), "system": self.system.name}
            rows.append({column: hit_fields.get(column) for column in COLUMNS})
        return rows

    def _repr_html_(self, pictures: int = SHOWN) -> Markup:
        hits = [hit.as_dict() for hit in self.hits]
        return hits_html(self.system.name, hits, self.thumbnail, pictures)


@dataclass(frozen=True)
class ClipScore:
    """One clip's rank and score under one system.

    Attributes:
        rank: None if not in `Ranking.ranks`.
        score: in cosine units.
        best_frames: positions of the best frames in the clip, 0 to 1.
        num_frames: frames that the model saw.
    """

    system: System
    rank: int | None
    score: float | None
    best_frames: tuple[float, ...]
    num_frames: int = 0


@dataclass(frozen=True)
class LineScores:
    """The scores of one system, one per line.

    None where the line leaves it nothing to search for.
    """

    system: System
    scores: tuple[float | None, ...]

    @property
    def best(self) -> int | None:
        """Number of the line with the highest score; None if several share it or none has one."""
        scores = [score for score in self.scores if score is not None]
        if not scores:
            return None
        highest = max(scores)
        if scores.count(highest) > 1:
            return None
        return self.scores.index(highest)


@dataclass(frozen=True)
class Match:
    """Lines, as they were understood, scored for one clip or picture.

    Attributes:
        verdicts: one per line: "right" if it is true of the clip, None where that is not known.
        judged_by: "captions" if the verdicts derive from them.
    """

    queries: tuple[Query, ...]
    verdicts: tuple[Verdict | None, ...]
    systems: tuple[LineScores, ...]
    judged_by: str = ""

    def as_dict(self) -> JsonObject:
        """Return the match as the API answers it."""
        lines = [
            {"text": query.text, "verdict": verdict}
            for query, verdict in zip(self.queries, self.verdicts, strict=True)
        ]
        systems = [
            {"name": scored.system.name, "scores": list(scored.scores), "best": scored.best}
            for scored in self.systems
        ]
        return {"lines": lines, "systems": systems, **_without_empty(judged_by=self.judged_by)}


@dataclass(frozen=True)
class Answer(_SharingCopies):
    """A query as understood, and the ranking of each system.

    Attributes:
        judged_by: "captions" if the verdicts derive from them; "" if the truth is known, or there
            are none.
        gallery: its key.
        denied: the query whose `affirmed` one this is, if the page took its negation away.
    """

    query: Query
    rankings: tuple[Ranking, ...]
    judged_by: str = ""
    gallery: str = ""
    denied: Query | None = None

    def __getstate__(self) -> dict[str, Any]:
        # Each system sees the hits of the others, too.
        clips = list(chain.from_iterable(ranking.clips for ranking in self.rankings))
        rankings = []
        for ranking in self.rankings:
            own_clips_first = dict.fromkeys([*ranking.clips, *clips])
            rankings.append(ranking.with_excerpt(list(own_clips_first)))
        return {**vars(self), "rankings": tuple(rankings)}

    def with_thumbnails(self, thumbnail: Callable[[str], bytes | None]) -> "Answer":
        rankings = [replace(ranking, thumbnail=thumbnail) for ranking in self.rankings]
        return replace(self, rankings=tuple(rankings))

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with one row per system and hit."""
        rows = chain.from_iterable(ranking.rows for ranking in self.rankings)
        return data_frame(list(rows), COLUMNS)

    def _repr_html_(self) -> str:
        head = parts_html(self.query.text, self.query.wanted, self.query.unwanted)
        pictures = min(SHOWN, MAX_PICTURES // max(1, len(self.rankings)))
        return side_by_side(head, [ranking._repr_html_(pictures) for ranking in self.rankings])

    @property
    def sentence(self) -> str:
        return (self.denied or self.query).text

    @property
    def read_as(self) -> dict[str, str]:
        """Substituted words and their substitutes; only for systems that do not know the words."""
        substitutes: dict[str, str] = {}
        for ranking in self.rankings:
            substitutes.update(ranking.read_as)
        return substitutes

    @property
    def has_verdicts(self) -> bool:
        return any(any(ranking.counts.values()) for ranking in self.rankings)

    @property
    def moments(self) -> set[str]:
        """The ids of all windows of long videos that were found."""
        video_ids: set[str] = set()
        for ranking in self.rankings:
            for hit in ranking.hits:
                video_ids.update(moment.video_id for moment in hit.moments)
        return video_ids

    def not_substituted(self, ranking: Ranking) -> tuple[str, ...]:
        """List the words that were substituted for other systems, but which this one knows."""
        unknown = {*ranking.read_as, *ranking.unseen}
        return tuple(word for word in self.read_as if word not in unknown)

    def verdict(self, video_id: str) -> Verdict | None:
        """Return the verdict on a clip, which may be a window of a hit; None if it has none."""
        for ranking in self.rankings:
            for hit in ranking.hits:
                if video_id in hit.clips:
                    return hit.verdict
        return None

    def clip_scores(self, video_id: str) -> tuple[ClipScore, ...]:
        """Return one clip's rank and score under each system, by the models that answered."""
        return tuple(_clip_score(ranking, video_id) for ranking in self.rankings)

    # Its name in version 0.2.0.
    see = clip_scores

    def as_dict(self) -> JsonObject:
        """Return the answer as plain JSON data, the same in all APIs.

        What it does not have is left out.
        """
        query = {
            "text": self.query.text,
            "wanted": list(self.query.wanted),
            "unwanted": list(self.query.unwanted),
        }
        judged_by = self.judged_by if self.has_verdicts else ""
        return {
            "query": query | _without_empty(notice=self.query.notice, read_as=self.read_as),
            **_without_empty(gallery=self.gallery, judged_by=judged_by),
            "systems": [ranking.as_dict() for ranking in self.rankings],
        }


def _clip_score(ranking: Ranking, video_id: str) -> ClipScore:
    clip = ranking.searched_clip(video_id)
    if clip is None:
        return ClipScore(ranking.system, rank=None, score=None, best_frames=())

    frame_scores = clip.frame_scores  # (F,)
    num_frames = len(frame_scores)
    best_frames = []
    if num_frames > 1:
        best_frames = np.argsort(-frame_scores, kind="stable")[:NUM_BEST_FRAMES].tolist()
    return ClipScore(
        ranking.system,
        rank=ranking.ranks.get(video_id),
        score=round(clip.score, 4),
        best_frames=tuple((frame + 0.5) / num_frames for frame in sorted(best_frames)),
        num_frames=num_frames,
    )


def _without_empty(**values: Any) -> JsonObject:
    return {name: value for name, value in values.items() if value}
