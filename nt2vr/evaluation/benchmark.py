"""Benchmarks: judged queries over a set of videos."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.datasets.features import Features
from nt2vr.errors import ConfigError, DatasetError, MediaError, quoted
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.store import Cache
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, silent, tracked
from nt2vr.search.embed_clips import embed_gallery

QUESTIONS = frozenset({"choice", "pair", "class", "negated class"})  # kinds that rank texts for a video
KIND_NAMES = {  # of queries, for readers
    "original": "original",
    "negated": "negated",
    "composed": "A and not B",
    "without": "A without N",
    "not": "not B",
    "retrieval": "caption that denies",
    "choice": "multiple choice",
    "pair": "caption and foil",
    "picture": "picture and foil",
    "class": "class",
    "negated class": "not the class",
}
NO_CAPTION = -1
NAMED = 20  # unreadable videos in a remark
Rows = NDArray[np.int32]  # (n,), row numbers of a benchmark's videos
Vectors = NDArray[np.float32]  # (N, D)
Embed = Callable[[Encoder, Progress], Vectors]
CUE = re.compile(
    r"\b(?:no one|nobody|nothing|none|never|neither|nor|without|cannot|not|no|except|rather than|instead of)\b"
    r"|n['\u2019]t\b",
    re.I,
)


def row_array(numbers: Iterable[int]) -> Rows:
    return np.array(list(numbers), np.int32)


def cue_of(text: str) -> str:
    """Return the first negation word of a sentence in lower case, "n't" for "doesn't"; "" if it has none."""
    match = CUE.search(text)
    return match[0].lower().replace("\u2019", "'") if match else ""


@dataclass(frozen=True, eq=False)
class JudgedQuery:
    """A query with its ground truth.

    Its kind is "original" (a caption), "negated" (a caption with one thing denied), "composed" (A and not B),
    "without" (A without a thing), "not" (not B, nothing wanted), "retrieval" (a true caption with a negation) or
    "picture" (a sentence with a right video and a `hard`, wrong one); the others are QUESTIONS, or kinds of change.
    """

    kind: str
    text: str  # of a question, its correct answer
    relevant: Rows  # of a negated query, the video of its caption, which is no longer relevant
    hard: Rows = field(default_factory=lambda: row_array(()))  # they show the wanted and the unwanted part, if any
    violating: Rows = field(default_factory=lambda: row_array(()))  # they show the unwanted part
    wanted: str | None = None  # "" if nothing is wanted; None if the parts are unknown
    unwanted: tuple[str, ...] = ()
    original: int | None = None  # position of the caption of a negated query
    cue: str = ""
    others: Rows = field(default_factory=lambda: row_array(()))  # places of wrong answers among the benchmark's texts
    group: str = ""  # names of subsets whose scores are reported separately, with "; " between them
    # where a video stands for other captions in this query, its row to that of what `Benchmark.embed` returns
    instead: Mapping[int, int] = field(default_factory=dict)  # or to NO_CAPTION
    query_id: str = ""  # in its file, such as "video7020#enc#0", for embeddings from elsewhere

    @property
    def is_question(self) -> bool:
        return self.kind in QUESTIONS


@dataclass(frozen=True, eq=False)
class Benchmark:
    name: str
    video_ids: tuple[str, ...]
    queries: tuple[JudgedQuery, ...]
    # returns the videos' embeddings (V, D) under a model, or those of their frames (V, F, D) if its pooling is
    # query-scored; of videos in words more rows, see `JudgedQuery.instead`; raises InterruptedError when stopped
    embed: Embed
    source: Mapping[str, Any]  # origin as plain JSON data (seeds, files, hashes); equal sources have equal videos
    references: Mapping[str, Mapping[str, float]] = field(default_factory=dict)  # metrics such as an oracle's, by name
    texts: tuple[str, ...] = ()  # candidate answers of questions
    captions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # those that stand for videos, by id, if any
    averaged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # texts that stand for the mean of several
    # ids of videos whose files cannot be read, with the reasons; None for videos without files. It is filled when
    # `embed` is called with a model that sees frames, see `without_unreadable`
    unreadable: Mapping[str, str] | None = None
    videos: tuple[Video, ...] = ()  # files of one's own, where it has any; not part of the digest
    gaps: tuple[str, ...] = ()  # sentences that say what could not be measured, and why; not part of the digest

    def __post_init__(self) -> None:
        if not self.queries or not self.video_ids:
            raise ConfigError(f"{self.name} has no queries or no videos. Choose other data.")
        if lost := next((query for query in self.queries if not len(query.relevant)), None):
            raise ConfigError(f"{self.name} has no relevant video for {quoted(lost.text)}. Leave the query out.")

    @property
    def digest(self) -> str:
        """Hash of queries and videos: equal for equal benchmarks."""
        known = (self.name, sorted(self.source.items()), self.video_ids, self.texts)
        digest = blake2b(repr(known).encode(), digest_size=12)
        if self.averaged:
            digest.update(repr(sorted(self.averaged.items())).encode())
        for query in self.queries:
            digest.update(repr((query.kind, query.text, query.wanted, query.unwanted, query.original)).encode())
            for numbers in (query.relevant, query.hard, query.violating, query.others):
                digest.update(np.int64(len(numbers)).tobytes() + np.asarray(numbers, "<i4").tobytes())
        return digest.hexdigest()

    def without_unreadable(self) -> "Benchmark":
        """Leave unreadable videos out of the gallery, and queries without a video or a pair out of the queries."""
        if not self.unreadable:
            return self
        is_left = np.array([video_id not in self.unreadable for video_id in self.video_ids])
        rows = np.flatnonzero(is_left)
        new_row: Rows = np.cumsum(is_left, dtype=np.int32) - 1

        def left(some: Rows) -> Rows:
            found: Rows = new_row[some[is_left[some]]]
            return found

        kept: dict[int, JudgedQuery] = {}
        for place, query in enumerate(self.queries):
            relevant, hard, violating = map(left, (query.relevant, query.hard, query.violating))
            if len(relevant) and (len(hard) or query.kind != "picture"):
                kept[place] = replace(query, relevant=relevant, hard=hard, violating=violating)
        queries = renumbered(kept)
        lost = len(self.queries) - len(queries)
        remark = unreadable_remark(self.unreadable, len(self.video_ids), lost, len(self.queries))
        kinds_left = {query.kind for query in queries}
        kinds_lost = dict.fromkeys(query.kind for query in self.queries if query.kind not in kinds_left)
        gaps = [f"No query of the kind “{KIND_NAMES.get(kind, kind)}” is left without these." for kind in kinds_lost]
        return replace(
            self,
            video_ids=tuple(self.video_ids[row] for row in rows),
            queries=queries,
            embed=lambda encoder, progress: self.embed(encoder, progress)[rows],
            source={**self.source, "remarks": [*self.source.get("remarks", ()), remark]},
            unreadable=None,
            videos=tuple(video for video in self.videos if video.video_id not in self.unreadable),
            gaps=(*self.gaps, *gaps),
        )


def renumbered(queries: Mapping[int, JudgedQuery]) -> tuple[JudgedQuery, ...]:
    """Renumber the originals of queries that are left, by their former positions; without one, a query goes, too."""
    found: list[JudgedQuery] = []
    new_place: dict[int | None, int | None] = {None: None}
    for place, query in queries.items():
        if query.original in new_place:
            new_place[place] = len(found)
            found.append(replace(query, original=new_place[query.original]))
    return tuple(found)


def unreadable_remark(unreadable: Mapping[str, str], num_videos: int, num_lost: int, num_queries: int) -> str:
    """Name files that cannot be read, with the reasons, and count the queries that are left out with them."""
    named = [f"{video_id} ({reason.rstrip('.')})" for video_id, reason in unreadable.items()]
    more = f", and {len(named) - NAMED:,} more" if len(named) > NAMED else ""
    return (
        f"{len(named):,} of {num_videos:,} videos cannot be read: {', '.join(named[:NAMED])}{more}. They are left "
        f"out, and {num_lost:,} of {num_queries:,} queries with them."
    )


def mask(videos: Sequence[Rows | Sequence[int]], count: int) -> NDArray[np.bool_]:
    """Convert lists of row numbers to a Boolean array (len(videos), count)."""
    table = np.zeros((len(videos), count), bool)
    for row, some in zip(table, videos, strict=True):
        row[np.asarray(some, np.int32)] = True
    return table


def embed_files(
    videos: Sequence[Video],
    decoder: Decoder,
    cache: Cache,
    key: str = "",
    of_frames: bool = False,
    unreadable: dict[str, str] | None = None,
) -> Embed:
    """Return a function computing the videos' embeddings under a model, zeros for unreadable files; see `Benchmark`.

    It raises a DatasetError if no file is readable, since the result would say nothing about the model. `unreadable`
    gets the ids of these videos, with the reasons. `key` is that of the gallery; `of_frames` gives all, (V, F, D).
    """
    rows = {video.video_id: row for row, video in enumerate(videos)}

    def embed(encoder: Encoder, progress: Progress) -> Vectors:
        def report(done: int, total: int, doing: str) -> None:
            progress(done, total, f"{doing}, {encoder.name}")

        embedded = embed_gallery(Gallery("evaluation", tuple(videos), key), encoder, decoder, cache, report)
        if unreadable is not None:
            for video_id, reason in embedded.skipped:
                unreadable.setdefault(video_id, reason)
        if not embedded.gallery.videos:
            raise DatasetError(f"None of the {len(videos)} videos can be read. The first: {embedded.skipped[0][1]}")
        found = embedded.embeddings
        if of_frames or encoder.capabilities.weighs_frames:
            found = embedded.all_frames[embedded.places]
        embeddings = np.zeros((len(videos), *found.shape[1:]), np.float32)
        embeddings[[rows[video.video_id] for video in embedded.gallery.videos]] = found
        return embeddings

    return embed


def embed_features(videos: Sequence[Video], known: Mapping[str, Features], otherwise: Embed) -> Embed:
    """Return a function that projects features, or zeros, under models that read them; others embed `otherwise`."""

    def embed(encoder: Encoder, progress: Progress) -> Vectors:
        if not encoder.capabilities.reads_features:
            return otherwise(encoder, progress)
        features = known[encoder.card.features]
        width = encoder.stored_shape[-1]
        if features.size != width:
            raise DatasetError(
                f"{encoder.name} was trained on features {quoted(features.name)} of {width} numbers, but here they "
                f"have {features.size}. Name a dataset with the same features."
            )
        there = [row for row, video in enumerate(videos) if video.video_id in features.of_video]
        embeddings = np.zeros((len(videos), encoder.embed_dim), np.float32)
        rows = np.stack([features.of_video[videos[row].video_id] for row in there])
        embeddings[there] = encoder.pool(rows[:, None])
        return embeddings

    return embed


def content_of(videos: Sequence[Video], cache: Cache, progress: Progress = silent) -> str:
    """Return a hash of the contents of all files; unreadable ones count as empty."""
    content = blake2b(digest_size=12)
    for video in tracked(videos, len(videos), "checking files", progress):
        try:
            hashed = replace(video, content=cache.content_hash(video.path))
            content.update(hashed.decoded_content.encode())
        except MediaError:
            content.update(b"-")
    return content.hexdigest()
