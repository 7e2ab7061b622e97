"""A benchmark of captions alone: a video stands for the mean of the embeddings of its captions.

A caption that serves as a query, or that a query negates, is left out of every video that has it,
duplicates included, so that no query finds itself. The captions also decide which videos are
relevant; what they do not say counts as absent.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Literal

import numpy as np

from nt2vr.datasets.base import Split
from nt2vr.datasets.load import load_dataset
from nt2vr.evaluation.dataset_queries import KINDS, judged_composed, judged_queries
from nt2vr.evaluation.embed_media import Embed, EmbeddedVideos
from nt2vr.evaluation.queries import (
    NO_CAPTION,
    JudgedQueries,
    JudgedQuery,
    renumbered,
    row_numbers,
)
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.files import expanded, hash_text
from nt2vr.models.encoder import Encoder
from nt2vr.negation.generate.build import (
    cached_absences,
    cached_query_sets,
    missing_kinds,
    read_contents,
)
from nt2vr.negation.generate.query_sets import CaptionedVideos, read_captioned_videos
from nt2vr.progress import Progress, silent
from nt2vr.search.exclusion import unit

# Texts that are encoded between two steps.
CHUNK = 256
REMARK = (
    "No videos: each stands for the mean of its captions' embeddings. Finding text by text is "
    "easier than finding videos, captions decide both the gallery and what is relevant, and what "
    "they do not say counts as absent."
)


def read_words(
    path: str, split: Split | Literal[""], progress: Progress = silent
) -> CaptionedVideos:
    """Read lines of captions with their ids, or the captions of a dataset, whose videos may be missing."""
    file = expanded(path)
    if file.is_file() and file.suffix.lower() == ".txt":
        return read_captioned_videos(file)
    dataset = load_dataset(
        file, split=split or "test", with_files=False, progress=progress, or_validation=not split
    )
    return CaptionedVideos.all_as_queries(
        {video.video_id: video.captions for video in dataset.videos}
    )


def words_benchmark(
    name: str, videos: CaptionedVideos, seed: int, folder: Path, progress: Progress = silent
) -> TextBenchmark:
    """Build a benchmark of captions; the generated queries, drawn by the seed, are cached in the folder."""
    captions = {video_id: tuple(texts) for video_id, texts in videos.captions.items() if texts}
    generated, remarks = _generated_queries(
        videos, ranked=list(captions), seed=seed, folder=folder, progress=progress
    )
    gallery = _CaptionGallery(list(captions.values()))
    queries = _without_own_captions(generated, gallery)
    num_left_out = len(generated) - len(queries)
    if num_left_out:
        remarks.append(
            f"{num_left_out} queries are their video's only caption, or deny it; they are left out."
        )
    kinds = [query.kind for query in generated]
    return TextBenchmark(
        name=f"{name} in words",
        video_ids=tuple(captions),
        queries=queries,
        embed=gallery.embedder(),
        source={
            "data": "captions",
            "content": hash_text(json.dumps(list(captions.items()))),
            "captions": "all",
            "seed": seed,
            "remarks": [REMARK, *remarks],
        },
        captions=captions,
        gaps=tuple(missing_kinds((*KINDS[1:], "without", "not"), kinds)),
    )


def _generated_queries(
    videos: CaptionedVideos, ranked: Sequence[str], seed: int, folder: Path, progress: Progress
) -> tuple[list[JudgedQuery], list[str]]:
    """Generate queries with their rows among the ranked videos; also return remarks on those left out."""
    row_of = row_numbers(ranked)
    # Both parse the captions, unless both are cached; they are parsed once.
    contents = cache(partial(read_contents, videos, progress))
    query_sets = cached_query_sets(
        videos, seed=seed, folder=folder, progress=progress, contents=contents
    )
    absences = cached_absences(videos, seed, folder, contents)
    from_sets, remarks = judged_queries(query_sets, row_of)
    return [*from_sets, *(judged_composed(absence, row_of) for absence in absences)], remarks


class _CaptionGallery:
    """Videos that stand for their captions.

    The first rows are those of the videos, then come rows of videos without one of their captions,
    for single queries. Texts are embedded once.
    """

    def __init__(self, captions: Sequence[Sequence[str]]) -> None:
        """Take the captions of each video."""
        number_of = row_numbers(chain.from_iterable(captions))
        self._texts = list(number_of)
        self._keys = list(map(key_of, self._texts))
        self._texts_of_row: list[list[int]] = []
        self._videos_with: dict[str, dict[int, None]] = defaultdict(dict)
        for video, of_video in enumerate(captions):
            numbers = [number_of[text] for text in of_video]
            self._texts_of_row.append(numbers)
            for number in numbers:
                key = self._keys[number]
                self._videos_with[key][video] = None
        # Equal captions share the rows.
        self._rows_without = cache(self._add_rows)

    def rows_without(self, caption: str) -> Mapping[int, int]:
        """Return what stands for each video that has a caption, without it: a row, or NO_CAPTION."""
        return self._rows_without(key_of(caption))

    def _add_rows(self, key: str) -> dict[int, int]:
        rows = dict.fromkeys(self._videos_with[key], NO_CAPTION)
        for video in rows:
            remaining = [
                number for number in self._texts_of_row[video] if self._keys[number] != key
            ]
            if remaining:
                rows[video] = len(self._texts_of_row)
                self._texts_of_row.append(remaining)
        return rows

    def embedder(self) -> Embed:
        """Return a function that embeds all rows, as they are now, under a model."""
        texts = self._texts
        texts_of_row = [sorted(numbers) for numbers in self._texts_of_row]

        def embed(encoder: Encoder, progress: Progress) -> EmbeddedVideos:
            embeddings = np.empty((len(texts), encoder.embed_dim), np.float32)
            for start in range(0, len(texts), CHUNK):
                progress(start, len(texts), f"captions, {encoder.name}")
                chunk = slice(start, start + CHUNK)
                embeddings[chunk] = encoder.encode_text(texts[chunk])

            means = np.empty((len(texts_of_row), encoder.embed_dim), np.float32)
            for row, numbers in enumerate(texts_of_row):
                means[row] = embeddings[numbers].mean(axis=0)
            return EmbeddedVideos(unit(means))

        return embed


def _without_own_captions(queries: JudgedQueries, gallery: _CaptionGallery) -> JudgedQueries:
    """Let no caption, nor a negation of one, find the video by that caption itself.

    Queries whose video has no other caption are left out.
    """
    remaining = {}
    for position, query in enumerate(queries):
        if query.kind not in ("original", "negated"):
            remaining[position] = query
            continue
        original = query if query.original is None else queries[query.original]
        instead = gallery.rows_without(original.text)
        if instead.get(int(query.relevant[0])) != NO_CAPTION:
            remaining[position] = replace(query, instead=instead)
    return renumbered(remaining)


def key_of(caption: str) -> str:
    """Return a caption as duplicates are compared: without case, spaces and the final full stop."""
    return " ".join(caption.lower().split()).rstrip(" .")
