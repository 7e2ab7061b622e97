"""The benchmark of texts: retrieval, questions and classes."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from hashlib import blake2b
from itertools import compress, groupby
from typing import ClassVar, NamedTuple

import numpy as np

from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.benchmark import Benchmark
from nt2vr.evaluation.embed_media import EmbeddedVideos, unreadable_remark
from nt2vr.evaluation.measures import (
    Measured,
    Ranks,
    joined,
)
from nt2vr.evaluation.queries import (
    KIND_NAMES,
    JudgedQueries,
    Mask,
    Rows,
    kinds_of,
    renumbered,
)
from nt2vr.evaluation.report import Presentation, Report, Result
from nt2vr.evaluation.roles import MetricsBySystem
from nt2vr.evaluation.scoring import caption_ranks, choices_of, measure_block, measure_choices
from nt2vr.evaluation.text_presentation import TEXTS
from nt2vr.evaluation.text_systems import PLAIN, Step, search_vectors, system_spec
from nt2vr.media.gallery import Video
from nt2vr.models.card import Card
from nt2vr.models.encoder import Encoder, Vectors
from nt2vr.progress import Progress, silent
from nt2vr.search.strategies import System

# Queries per block: 12 MB of scores for 3,000 videos.
BLOCK = 1024


@dataclass(frozen=True, eq=False)
class TextBenchmark(Benchmark[EmbeddedVideos]):
    """Queries that are texts, each about one video or searching all of them.

    `embed` returns a row per video; of videos in words further ones, see `JudgedQuery.instead`.

    Attributes:
        references: metrics such as an oracle's, by name.
        texts: candidate answers of questions.
        captions: those that stand for videos, by id, if any.
        averaged: texts that stand for the mean of several.
        leaves_out_unreadable: whether videos whose files cannot be read are left out, instead of
            ranking last.
        unreadable: reasons why videos cannot be read, by id, where they are known before `embed`.
        videos: files of one's own, where it has any; not part of the digest.
        gaps: sentences that say what could not be measured, and why; not part of the digest.
    """

    presentation: ClassVar[Presentation] = TEXTS

    references: MetricsBySystem = field(default_factory=dict)
    texts: tuple[str, ...] = ()
    captions: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    averaged: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    leaves_out_unreadable: bool = False
    unreadable: Mapping[str, str] = field(default_factory=dict)
    videos: tuple[Video, ...] = ()
    gaps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not self.queries or not self.video_ids:
            raise ConfigError(f"{self.name} has no queries or no videos. Choose other data.")
        for query in self.queries:
            if not len(query.relevant):
                raise ConfigError(
                    f"{self.name} has no relevant video for {quoted(query.text)}. "
                    "Leave the query out."
                )

    @property
    def digest(self) -> str:
        """Hash of queries and videos: equal for equal benchmarks."""
        of_videos = (self.name, sorted(self.source.items()), self.video_ids, self.texts)
        digest = blake2b(repr(of_videos).encode(), digest_size=12)
        if self.averaged:
            digest.update(repr(sorted(self.averaged.items())).encode())
        for query in self.queries:
            of_query = (query.kind, query.text, query.wanted, query.unwanted, query.original)
            digest.update(repr(of_query).encode())
            for rows in (query.relevant, query.hard, query.violating, query.others):
                count = np.int64(len(rows))
                digest.update(count.tobytes())
                digest.update(np.asarray(rows, "<i4").tobytes())
        return digest.hexdigest()

    def media_key(self, card: Card) -> str:
        """Return what the embeddings of the videos depend on: those of captions on the text tower."""
        return card.text_key if self.captions else card.visual_key

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
        if media is None:
            media = self.embed(encoder, progress)
        blocks = self._measure_blocks(encoder, systems, media.vectors, progress)
        video_ranks = self._caption_ranks(media.vectors, blocks)
        results = []
        for number, system in enumerate(systems):
            measured = joined([block.measured[number] for block in blocks])
            ranks = video_ranks if system.strategy == PLAIN else np.zeros_like(video_ranks)
            measured = replace(measured, video_ranks=ranks)
            results.append(Result(system.name, system_spec(system, encoder.card), measured))
        return results

    def _measure_blocks(
        self, encoder: Encoder, systems: Sequence[System], videos: Vectors, progress: Progress
    ) -> list["_MeasuredBlock"]:
        measured = []
        block: JudgedQueries = ()
        num_done = 0

        def step(share: float) -> None:
            num_reached = num_done + int(share * len(block))
            progress(num_reached, len(self.queries), f"queries, {encoder.name}")

        for block in _blocks(self.queries):
            measured.append(self._measure_block(encoder, systems, videos, block=block, step=step))
            num_done += len(block)
        step(0)
        return measured

    def _measure_block(
        self,
        encoder: Encoder,
        systems: Sequence[System],
        videos: Vectors,
        block: JudgedQueries,
        step: Step,
    ) -> "_MeasuredBlock":
        """Measure all systems on some queries, either questions or searches."""
        step(0)
        wrong_answers, answer_rows = choices_of(block, self.texts)
        by_system = search_vectors(
            encoder,
            systems,
            queries=[*block, *wrong_answers],
            step=step,
            averaged=self.averaged,
        )

        measure: Callable[..., Measured]
        if block[0].is_question:
            measure = partial(measure_choices, questions=block, text_rows=answer_rows)
        else:
            measure = partial(measure_block, queries=block, num_videos=len(self.video_ids))
        measured = []
        captions = None
        for system, (vectors, exclusions) in zip(systems, by_system, strict=True):
            step(1)
            measured.append(measure(vectors, videos, exclusions=exclusions))
            if system.strategy == PLAIN:
                captions = vectors[: len(block)][kinds_of(block) == "original"]
        return _MeasuredBlock(measured, captions)

    def _caption_ranks(self, videos: Vectors, blocks: Sequence["_MeasuredBlock"]) -> Ranks:
        """Return the rank of each video's best caption, (V,); zeros if `plain` is not measured.

        (0,) if no caption is a query, or if videos are in words: they are made of the captions that
        they would rank.
        """
        originals = [query for query in self.queries if query.kind == "original"]
        if not originals or self.captions:
            return np.zeros(0, np.int32)
        captions = [block.captions for block in blocks if block.captions is not None]
        if not captions:
            return np.zeros(len(self.video_ids), np.int32)
        return caption_ranks(videos, np.concatenate(captions), originals)

    def without(self, unreadable: Mapping[str, str]) -> "TextBenchmark":
        """Leave out unreadable videos, and queries that then lack a video or a pair."""
        if not unreadable:
            return self
        is_readable = np.array([video_id not in unreadable for video_id in self.video_ids])
        queries = _queries_on(self.queries, is_readable)
        remark = unreadable_remark(
            unreadable,
            num_videos=len(self.video_ids),
            num_lost=len(self.queries) - len(queries),
            num_queries=len(self.queries),
        )

        def embed(encoder: Encoder, progress: Progress) -> EmbeddedVideos:
            return EmbeddedVideos(self.embed(encoder, progress).vectors[is_readable])

        return replace(
            self,
            video_ids=tuple(compress(self.video_ids, is_readable)),
            queries=queries,
            embed=embed,
            source={**self.source, "remarks": [*self.source.get("remarks", ()), remark]},
            unreadable={},
            videos=tuple(video for video in self.videos if video.video_id not in unreadable),
            gaps=(*self.gaps, *_lost_kinds(self.queries, queries)),
        )


class _MeasuredBlock(NamedTuple):
    """What is measured on a block of queries."""

    measured: list[Measured]  # of each system
    captions: Vectors | None  # (C, D) what `plain` searches for with captions; None without `plain`


def _queries_on(queries: JudgedQueries, is_readable: Mask) -> JudgedQueries:
    """Renumber the videos of queries, some of which are gone; leave out queries that lack one."""
    new_row = np.cumsum(is_readable, dtype=np.int32) - 1

    def renumber(rows: Rows) -> Rows:
        return np.asarray(new_row[rows[is_readable[rows]]])

    remaining = {}
    for position, query in enumerate(queries):
        changed = replace(
            query,
            relevant=renumber(query.relevant),
            hard=renumber(query.hard),
            violating=renumber(query.violating),
        )
        lacks_pair = query.kind == "picture" and not len(changed.hard)
        if len(changed.relevant) and not lacks_pair:
            remaining[position] = changed
    return renumbered(remaining)


def _lost_kinds(before: JudgedQueries, after: JudgedQueries) -> list[str]:
    """Say which kinds of queries no longer have any."""
    kinds = dict.fromkeys(query.kind for query in before)
    for query in after:
        kinds.pop(query.kind, None)
    names = [KIND_NAMES.get(kind, kind) for kind in kinds]
    return [f"No query of the kind “{name}” is left without these." for name in names]


def _blocks(queries: JudgedQueries) -> Iterator[JudgedQueries]:
    """Yield at most BLOCK queries at a time, either questions or searches."""
    for _, group in groupby(queries, lambda query: query.is_question):
        alike = list(group)
        for start in range(0, len(alike), BLOCK):
            yield alike[start : start + BLOCK]
