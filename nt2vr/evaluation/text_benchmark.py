"""Benchmarks of texts: retrieval, questions and classes, over a set of videos."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from hashlib import blake2b
from typing import Any

import numpy as np

from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.embed_media import Embed, unreadable_remark
from nt2vr.evaluation.queries import KIND_NAMES, JudgedQuery, Rows, renumbered
from nt2vr.media.gallery import Video


@dataclass(frozen=True, eq=False)
class TextBenchmark:
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

    def without_unreadable(self) -> "TextBenchmark":
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
