"""Search results as data: hits, rankings, answers, and each system's view of one clip; independent of models."""

from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Literal, TypeVar

import numpy as np
from markupsafe import Markup

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.notebook import MAX_PICTURES, SHOWN, data_frame, hits_html, parts_html, side_by_side
from nt2vr.search.embedded_gallery import EmbeddedGallery, Excerpt
from nt2vr.search.exclusion import Exclusion, scores_of
from nt2vr.search.references import Reference
from nt2vr.search.strategies import System, Vector

NUM_BEST_FRAMES = 3
PICKLED = 100  # clips whose embeddings a pickled ranking keeps: 2.5 MB of 12 frames of 512 numbers
SHARED = (
    "gallery",
    "thumbnail",
)  # fields that a deep copy shares: embeddings of a whole gallery, and a decoder
GAP_S = 0.1  # windows of a film that are no further apart are adjacent
COLUMNS = ("system", "rank", "video_id", "score", "verdict", "start", "end")  # for pandas
Verdict = Literal["right", "violation", "miss"]
# of a query, a clip, and perhaps a reference, next to which "right" also requires what the text
# leaves unchanged; None if the truth is unknown
Judge = Callable[..., Verdict | None]
Copied = TypeVar("Copied", "Ranking", "Answer")
Found = tuple[Video, float]  # a clip and its score


def judge_beside(
    judge: Judge, query: Query, references: Sequence[Reference], video_of: Callable[[str], Video]
) -> Callable[[Video], Verdict | None]:
    """Judge next to references: with several, or one of unknown content, no clip can be called right."""
    wanted = [reference for reference in references if reference.wanted]
    if len(wanted) == 1 and wanted[0].video_id:
        reference = video_of(wanted[0].video_id)
        return lambda video: judge(query, video, reference)

    def verdict(video: Video) -> Verdict | None:
        found = judge(query, video)
        return None if wanted and found == "right" else found

    return verdict


@dataclass(frozen=True)
class Moment:
    """A window of a film that was found: start and end in seconds (None: the film's end)."""

    video_id: str
    start: float
    end: float | None
    score: float


@dataclass(frozen=True)
class Hit:
    """One retrieved clip, or adjacent windows of one film with the best one's id and score."""

    video_id: str
    rank: int  # from 1
    score: float  # in cosine units
    verdict: Verdict | None
    film: str = (
        ""  # that the windows belong to; like `moments`, empty for a complete video or a picture
    )
    moments: tuple[Moment, ...] = ()  # the windows, in temporal order

    @property
    def source(self) -> str:
        """The film, of which another query finds other windows, or the clip itself."""
        return self.film or self.video_id

    def as_dict(self) -> dict[str, Any]:
        """Return plain JSON data, with further fields for windows."""
        hit = {
            "video_id": self.video_id,
            "rank": self.rank,
            "score": self.score,
            "verdict": self.verdict,
        }
        if not self.moments:
            return hit
        moments = [
            {"start": each.start, "end": each.end, "score": each.score} for each in self.moments
        ]
        best = next(each for each in self.moments if each.video_id == self.video_id)
        return {**hit, "film": self.film, "start": best.start, "end": best.end, "moments": moments}


def merge_windows(found: Sequence[Found], k: int) -> list[list[Found]]:
    """Return the clips of the best k hits, best first; adjacent windows of one film form one hit."""
    hits: list[list[Found]] = []
    of_film: dict[str, list[list[Found]]] = defaultdict(list)
    for video, score in found:
        near = [
            hit
            for hit in of_film[video.film]
            if any(_is_adjacent(video, other) for other, _ in hit)
        ]
        if near:
            best, *others = near  # the window may close a gap
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


def ranks_of(groups: Sequence[Sequence[Found]], found: Sequence[Found]) -> dict[str, int]:
    """Rank clips: all of a hit alike, then those found besides, one by one."""
    ranks = {video.video_id: rank for rank, group in enumerate(groups, 1) for video, _ in group}
    others = [video.video_id for video, _ in found if video.video_id not in ranks]
    return ranks | {video_id: rank for rank, video_id in enumerate(others, len(groups) + 1)}


def hits_of(
    groups: Sequence[Sequence[Found]], judge: Callable[[Video], Verdict | None]
) -> tuple[Hit, ...]:
    """Return the clips of hits, best first, with their verdicts and windows."""
    hits = []
    for rank, group in enumerate(groups, 1):
        windows = [
            Moment(each.video_id, each.start, each.end, round(value, 4))
            for each, value in group
            if each.film
        ]
        moments, (video, score) = tuple(sorted(windows, key=lambda moment: moment.start)), group[0]
        hits.append(Hit(video.video_id, rank, round(score, 4), judge(video), video.film, moments))
    return tuple(hits)


@dataclass(frozen=True)
class Ranking:
    """The result of one system.

    A pickled one keeps the embeddings of at most PICKLED clips, and no small pictures. A copy
    shares all of both.
    """

    system: System
    hits: tuple[
        Hit, ...
    ]  # the best k, best first; empty if the strategy leaves nothing to search for
    unseen: tuple[
        str, ...
    ] = ()  # words that never occurred in the model's training, and were not substituted
    read_as: Mapping[str, str] = field(
        default_factory=dict
    )  # substituted words and their substitutes
    reads: str = ""  # the words that the model reads of the sentence, if it leaves out some, and is asked for it
    low: bool = False  # whether the best score is below the model's scores for clips that fit
    strength: float = 0.0  # of the system's strategy; 0 if it has none
    vector: Vector | None = field(
        default=None, repr=False, compare=False
    )  # None if nothing is left to search for
    exclusion: Exclusion | None = field(
        default=None, repr=False, compare=False
    )  # taken from the vector's scores
    ranks: Mapping[str, int] = field(
        default_factory=dict, repr=False, compare=False
    )  # of more clips than the hits
    epoch: int | None = None  # that answered, if the system's model is a run's newest
    notice: str = ""  # why a newer checkpoint, or the index that was asked for, is not used
    # as embedded by the model that answered, which may have been swapped since
    gallery: EmbeddedGallery | None = field(default=None, repr=False, compare=False)
    missing: int = 0  # clips that were not searched, because the model has not indexed them
    thumbnail: Callable[[str], bytes | None] | None = field(
        default=None, repr=False, compare=False
    )  # small JPEGs

    def __getstate__(self) -> dict[str, Any]:
        return vars(self.with_excerpt(self.clips))

    def __copy__(self) -> "Ranking":
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Ranking":
        return _copied(self, memo)

    def with_excerpt(self, video_ids: Sequence[str]) -> "Ranking":
        """Return the ranking as it is pickled, with the embeddings of some clips, those that its model has indexed."""
        gallery = self.gallery
        if gallery is not None and not isinstance(gallery, Excerpt):
            indexed = [video_id for video_id in video_ids if video_id in gallery.row_of]
            gallery = gallery.excerpt(indexed[:PICKLED])
        # Small pictures are decoded by the processes of a searcher.
        return replace(self, gallery=gallery, thumbnail=None)

    @property
    def clips(self) -> list[str]:
        """List the ids of all clips of the hits, best hits first."""
        clips: list[str] = []
        for hit in self.hits:
            if not hit.moments:
                clips.append(hit.video_id)
            for moment in hit.moments:
                clips.append(moment.video_id)
        return clips

    @property
    def recall(self) -> float:
        """Share of the true top ten that the index finds, measured on a sample; 1 for exact search."""
        return self.gallery.index.recall if self.gallery else 1.0

    @cached_property
    def counts(self) -> dict[Verdict, int]:
        verdicts: tuple[Verdict, ...] = ("right", "violation", "miss")
        return {verdict: sum(hit.verdict == verdict for hit in self.hits) for verdict in verdicts}

    def as_dict(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return {
            "name": self.system.name,
            **({} if self.epoch is None else {"epoch": self.epoch}),
            **_given(read_as=dict(self.read_as), reads=self.reads, missing=self.missing),
            **({"recall": round(self.recall, 4)} if self.recall < 1 else {}),
            "hits": [hit.as_dict() for hit in self.hits],
        }

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with one row per hit."""
        return data_frame(self.rows, COLUMNS)

    @property
    def rows(self) -> list[dict[str, Any]]:
        """The hits as rows of a table for pandas."""
        hits = (hit.as_dict() for hit in self.hits)
        return [
            {"system": self.system.name, **{name: hit.get(name) for name in COLUMNS[1:]}}
            for hit in hits
        ]

    def _repr_html_(self, pictures: int = SHOWN) -> Markup:
        return hits_html(
            self.system.name, [hit.as_dict() for hit in self.hits], self.thumbnail, pictures
        )


@dataclass(frozen=True)
class Seen:
    """One system's view of one clip."""

    system: System
    rank: int | None  # None if not in `Ranking.ranks`
    score: float | None  # in cosine units
    moments: tuple[float, ...]  # positions of the best frames in the clip, 0 to 1
    num_frames: int = 0  # that the model saw


@dataclass(frozen=True)
class Scored:
    """The scores of one system, one per line; None where the line leaves it nothing to search for."""

    system: System
    scores: tuple[float | None, ...]

    @property
    def best(self) -> int | None:
        """Number of the line with the highest score; None if several share it, or none has a score."""
        known = [score for score in self.scores if score is not None]
        return self.scores.index(max(known)) if known and known.count(max(known)) == 1 else None


@dataclass(frozen=True)
class Match:
    """Lines, as they were understood, scored for one clip or picture."""

    queries: tuple[Query, ...]
    verdicts: tuple[
        Verdict | None, ...
    ]  # one per line, None where the truth is not known; "right" if it is true
    systems: tuple[Scored, ...]
    judged_by: str = ""  # "captions", if the verdicts derive from them

    def as_dict(self) -> dict[str, Any]:
        """Return the match as the API answers it."""
        judged = zip(self.queries, self.verdicts, strict=True)
        lines = [{"text": query.text, "verdict": verdict} for query, verdict in judged]
        systems = [
            {"name": each.system.name, "scores": [*each.scores], "best": each.best}
            for each in self.systems
        ]
        return {"lines": lines, "systems": systems} | (
            {"judged_by": self.judged_by} if self.judged_by else {}
        )


@dataclass(frozen=True)
class Answer:
    """A query as understood, and the ranking of each system."""

    query: Query
    rankings: tuple[Ranking, ...]
    judged_by: str = ""  # "captions" if the verdicts derive from them; "" if the truth is known, or there are none
    gallery: str = ""  # its key
    denied: Query | None = (
        None  # the query whose `affirmed` one this is, if the page took its negation away
    )

    def __getstate__(self) -> dict[str, Any]:
        # Each system sees the hits of the others, too.
        clips: dict[str, None] = {}
        for ranking in self.rankings:
            clips.update(dict.fromkeys(ranking.clips))
        rankings = []
        for ranking in self.rankings:
            own_clips_first = dict.fromkeys([*ranking.clips, *clips])
            rankings.append(ranking.with_excerpt(list(own_clips_first)))
        return {**vars(self), "rankings": tuple(rankings)}

    def __copy__(self) -> "Answer":
        return replace(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> "Answer":
        return _copied(self, memo)

    def with_thumbnails(self, thumbnail: Callable[[str], bytes | None]) -> "Answer":
        return replace(
            self, rankings=tuple(replace(each, thumbnail=thumbnail) for each in self.rankings)
        )

    def to_pandas(self) -> Any:
        """Return a `pandas.DataFrame` with one row per system and hit."""
        return data_frame([row for ranking in self.rankings for row in ranking.rows], COLUMNS)

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
        return {word: other for ranking in self.rankings for word, other in ranking.read_as.items()}

    @property
    def has_verdicts(self) -> bool:
        return any(hit.verdict for ranking in self.rankings for hit in ranking.hits)

    @property
    def moments(self) -> set[str]:
        """The ids of all windows of films that were found."""
        return {
            each.video_id
            for ranking in self.rankings
            for hit in ranking.hits
            for each in hit.moments
        }

    def as_typed(self, ranking: Ranking) -> tuple[str, ...]:
        """List the words that were substituted for other systems but not for this one, which knows them."""
        return tuple(
            word for word in self.read_as if word not in {*ranking.read_as, *ranking.unseen}
        )

    def verdict(self, video_id: str) -> Verdict | None:
        """Return the verdict on a clip, which may be a window of a hit; None if it has none."""
        hits = (hit for ranking in self.rankings for hit in ranking.hits)
        found = (
            hit
            for hit in hits
            if video_id in (hit.video_id, *(moment.video_id for moment in hit.moments))
        )
        return next((hit.verdict for hit in found), None)

    def see(self, video_id: str) -> tuple[Seen, ...]:
        """Return each system's view of one clip, with the models that answered."""
        seen = []
        for ranking in self.rankings:
            embedded, vector = ranking.gallery, ranking.vector
            row = embedded.row_of.get(video_id) if embedded else None
            if embedded is None or vector is None or row is None:
                seen.append(Seen(ranking.system, None, None, ()))
                continue
            frames = scores_of(embedded.frame_embeddings(row), vector, ranking.exclusion)  # (F,)
            best = np.argsort(-frames, kind="stable")[: NUM_BEST_FRAMES if len(frames) > 1 else 0]
            moments = tuple(float((frame + 0.5) / len(frames)) for frame in sorted(best))
            score = float(
                scores_of(embedded.clips(ranking.exclusion, [row])[0], vector, ranking.exclusion)
            )
            rank = ranking.ranks.get(video_id)
            seen.append(Seen(ranking.system, rank, round(score, 4), moments, len(frames)))
        return tuple(seen)

    def as_dict(self) -> dict[str, Any]:
        """Return the answer as plain JSON data, the same in all APIs; without what it does not have."""
        query = {
            "text": self.query.text,
            "wanted": list(self.query.wanted),
            "unwanted": list(self.query.unwanted),
        }
        return {
            "query": query | _given(notice=self.query.notice, read_as=self.read_as),
            **_given(gallery=self.gallery, judged_by=self.judged_by if self.has_verdicts else ""),
            "systems": [each.as_dict() for each in self.rankings],
        }


def _copied(value: Copied, memo: dict[int, Any]) -> Copied:
    """Copy a ranking or an answer in depth, but for the fields that are SHARED."""
    copied = {}
    for attribute in fields(value):
        if attribute.name not in SHARED:
            copied[attribute.name] = deepcopy(getattr(value, attribute.name), memo)
    return replace(value, **copied)


def _given(**values: Any) -> dict[str, Any]:
    """Leave out what is empty."""
    return {name: value for name, value in values.items() if value}
