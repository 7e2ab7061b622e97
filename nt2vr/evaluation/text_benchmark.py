"""The benchmark of texts: retrieval, questions and classes."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import groupby
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.benchmark import Benchmark
from nt2vr.evaluation.embed_media import EmbeddedVideos, Vectors, unreadable_remark
from nt2vr.evaluation.measures import Measured, joined
from nt2vr.evaluation.queries import KIND_NAMES, JudgedQuery, Rows, renumbered
from nt2vr.evaluation.report import Presentation, Report, Result
from nt2vr.evaluation.scoring import caption_ranks, choices_of, measure_block, measure_choices
from nt2vr.evaluation.text_presentation import TEXTS
from nt2vr.evaluation.text_systems import PLAIN, Asked, ask_systems, parse_query, system_spec
from nt2vr.media.gallery import Video
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, silent
from nt2vr.search.strategies import System

BLOCK = 1024  # queries per block: 12 MB of scores for 3,000 videos


@dataclass(frozen=True, eq=False)
class TextBenchmark(Benchmark[EmbeddedVideos]):
    """Queries that are texts, each about one video or searching all of them.

    `embed` returns a row per video; of videos in words further ones, see `JudgedQuery.instead`.
    """

    presentation: ClassVar[Presentation] = TEXTS

    references: Mapping[str, Mapping[str, float]] = field(
        default_factory=dict
    )  # metrics such as an oracle's, by name
    texts: tuple[str, ...] = ()  # candidate answers of questions
    captions: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # those that stand for videos, by id, if any
    averaged: Mapping[str, tuple[str, ...]] = field(
        default_factory=dict
    )  # texts that stand for the mean of several
    # whether videos whose files cannot be read are left out, instead of ranking last
    leaves_out_unreadable: bool = False
    unreadable: Mapping[str, str] = field(
        default_factory=dict
    )  # known before `embed`, by id, with the reasons
    videos: tuple[Video, ...] = ()  # files of one's own, where it has any; not part of the digest
    gaps: tuple[
        str, ...
    ] = ()  # sentences that say what could not be measured, and why; not part of the digest

    def __post_init__(self) -> None:
        if not self.queries or not self.video_ids:
            raise ConfigError(f"{self.name} has no queries or no videos. Choose other data.")
        if lost := next((query for query in self.queries if not len(query.relevant)), None):
            raise ConfigError(
                f"{self.name} has no relevant video for {quoted(lost.text)}. Leave the query out."
            )

    @property
    def digest(self) -> str:
        """Hash of queries and videos: equal for equal benchmarks."""
        known = (self.name, sorted(self.source.items()), self.video_ids, self.texts)
        digest = blake2b(repr(known).encode(), digest_size=12)
        if self.averaged:
            digest.update(repr(sorted(self.averaged.items())).encode())
        for query in self.queries:
            digest.update(
                repr(
                    (query.kind, query.text, query.wanted, query.unwanted, query.original)
                ).encode()
            )
            for numbers in (query.relevant, query.hard, query.violating, query.others):
                digest.update(
                    np.int64(len(numbers)).tobytes() + np.asarray(numbers, "<i4").tobytes()
                )
        return digest.hexdigest()

    def report(
        self, results: Sequence[Result], notes: Sequence[str] = (), named: Sequence[str] = ()
    ) -> Report:
        return replace(
            super().report(results, notes, named),
            references=self.references,
            texts=self.texts,
            captions=self.captions,
            videos=self.videos,
            gaps=self.gaps,
        )

    def measure(
        self,
        encoder: Encoder,
        systems: Sequence[System],
        media: EmbeddedVideos | None = None,
        progress: Progress = silent,
    ) -> list[Result]:
        """Measure strategies of one model in bounded memory, encoding each text once per block.

        Ranks of captions are those of `plain`, which alone searches for captions as they are; of
        other strategies, 0.
        """
        media = self.embed(encoder, progress) if media is None else media
        videos = media.vectors
        strategies = [system.strategy for system in systems]
        measured: list[list[Measured]] = [[] for _ in systems]  # of each block
        captions: list[
            Vectors
        ] = []  # what `plain` searches for with original queries, of each block
        num_done = 0
        for block in _blocks(self.queries):
            step = partial(self._tell, progress, encoder.name, num_done, len(block))
            step(0)
            wrong, places = choices_of(block, self.texts)
            asked = ask_systems(
                encoder, systems, [*block, *wrong], parse_query, step, self.averaged
            )
            for parts, of_system in zip(measured, asked, strict=True):
                step(1)
                parts.append(self._measure_block(of_system, videos, block, places))
            if PLAIN in strategies:
                is_original = [query.kind == "original" for query in block]
                plain = asked[strategies.index(PLAIN)]
                captions.append(plain.vectors[: len(block)][is_original])
            num_done += len(block)
        self._tell(progress, encoder.name, num_done, 0, 1)

        caption_ranks_of_plain = self._caption_ranks(videos, captions)
        results = []
        for system, parts in zip(systems, measured, strict=True):
            whole = joined(parts)
            if caption_ranks_of_plain is not None:
                video_ranks = caption_ranks_of_plain
                if system.strategy != PLAIN:
                    video_ranks = np.zeros(len(self.video_ids), np.int32)
                whole = replace(whole, video_ranks=video_ranks)
            results.append(Result(system.name, system_spec(system, encoder.card), whole))
        return results

    def _tell(
        self, progress: Progress, model: str, num_done: int, num_more: int, share: float
    ) -> None:
        """Report that the given share of some more queries is done."""
        progress(num_done + int(share * num_more), len(self.queries), f"queries, {model}")

    def _measure_block(
        self, asked: Asked, videos: Vectors, block: Sequence[JudgedQuery], places: Rows
    ) -> Measured:
        vectors, exclusions = asked
        if block[0].is_question:
            return measure_choices(vectors, videos, block, places, exclusions)
        return measure_block(vectors, videos, block, len(self.video_ids), exclusions)

    def _caption_ranks(
        self, videos: Vectors, captions: Sequence[Vectors]
    ) -> NDArray[np.int32] | None:
        """Return the rank of each video's best caption; zeros if `plain` is not measured.

        None if no caption is a query, or if videos are in words: they are made of the captions that
        they would rank.
        """
        originals = [query for query in self.queries if query.kind == "original"]
        if not originals or self.captions:
            return None
        if not captions:
            return np.zeros(len(self.video_ids), np.int32)
        return caption_ranks(videos, np.concatenate(captions), originals)

    def without(self, unreadable: Mapping[str, str]) -> "TextBenchmark":
        """Leave unreadable videos out of the gallery, and queries without a video or a pair out of the queries."""
        if not unreadable:
            return self
        is_left = np.array([video_id not in unreadable for video_id in self.video_ids])
        rows = np.flatnonzero(is_left)
        new_row: Rows = np.cumsum(is_left, dtype=np.int32) - 1

        def left(some: Rows) -> Rows:
            found: Rows = new_row[some[is_left[some]]]
            return found

        def embed(encoder: Encoder, progress: Progress) -> EmbeddedVideos:
            return EmbeddedVideos(self.embed(encoder, progress).vectors[rows])

        kept: dict[int, JudgedQuery] = {}
        for place, query in enumerate(self.queries):
            relevant, hard, violating = map(left, (query.relevant, query.hard, query.violating))
            if len(relevant) and (len(hard) or query.kind != "picture"):
                kept[place] = replace(query, relevant=relevant, hard=hard, violating=violating)
        queries = renumbered(kept)
        lost = len(self.queries) - len(queries)
        remark = unreadable_remark(unreadable, len(self.video_ids), lost, len(self.queries))
        kinds_left = {query.kind for query in queries}
        kinds_lost = dict.fromkeys(
            query.kind for query in self.queries if query.kind not in kinds_left
        )
        gaps = [
            f"No query of the kind “{KIND_NAMES.get(kind, kind)}” is left without these."
            for kind in kinds_lost
        ]
        return replace(
            self,
            video_ids=tuple(self.video_ids[row] for row in rows),
            queries=queries,
            embed=embed,
            source={**self.source, "remarks": [*self.source.get("remarks", ()), remark]},
            unreadable={},
            videos=tuple(video for video in self.videos if video.video_id not in unreadable),
            gaps=(*self.gaps, *gaps),
        )


def _blocks(queries: Sequence[JudgedQuery]) -> Iterator[Sequence[JudgedQuery]]:
    """Yield at most BLOCK queries at a time, either questions or searches."""
    for _, group in groupby(queries, lambda query: query.is_question):
        alike = list(group)
        for start in range(0, len(alike), BLOCK):
            yield alike[start : start + BLOCK]
