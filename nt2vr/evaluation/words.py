"""Captions alone as a benchmark for text towers, without videos.

A video stands for the mean of the embeddings of its captions. A caption that serves as a query, or that a query
negates, is left out of every video that has it, duplicates included, so that no query finds itself. The captions also
decide which videos are relevant; what they do not say counts as absent.
"""

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path

import numpy as np

from nt2vr.datasets.base import Captions, Split, split_named
from nt2vr.datasets.files import expecting
from nt2vr.datasets.files import text as text_of
from nt2vr.datasets.load import captions_of_split, load_dataset
from nt2vr.evaluation.benchmark import NO_CAPTION, Benchmark, JudgedQuery, Vectors
from nt2vr.evaluation.captioned import judged_composed, judged_queries
from nt2vr.files import expanded
from nt2vr.models.encoder import Encoder
from nt2vr.negation.generate.build import cached_absences, cached_query_sets, read_contents
from nt2vr.negation.generate.query_sets import CaptionedVideos, read_captioned_videos
from nt2vr.progress import Progress, silent

WORDS = "words:"  # before the name of the data
DATASET_SUFFIXES = (".csv", ".tsv", ".json")  # of a dataset's own captions files
CHUNK = 256  # texts encoded between two steps
REMARK = (
    "No videos: each stands for the mean of its captions' embeddings. Finding text by text is easier than finding "
    "videos, captions decide both the gallery and what is relevant, and what they do not say counts as absent."
)


def read_words(path: str, split: Split) -> CaptionedVideos:
    """Read captions in any of the query-set formats, or those of a dataset, whose videos may be missing."""
    file = expanded(path)
    if file.is_file() and file.suffix.lower() not in DATASET_SUFFIXES:
        videos = read_captioned_videos(file)
        return _of_split(videos, file, split) if videos.splits else videos
    dataset = load_dataset(file, split, with_files=False)
    return CaptionedVideos.all_as_queries({video.video_id: video.captions for video in dataset.videos})


def _of_split(videos: CaptionedVideos, file: Path, split: Split) -> CaptionedVideos:
    """Keep the videos of a split; those that name none are for training, as in a dataset of one's own."""
    splits: dict[Split, Captions] = {}
    with expecting(file, 'captions whose "split" is train, validation or test'):
        for video_id, captions in videos.captions.items():
            part = split_named(text_of(videos.splits.get(video_id, "train")))
            splits.setdefault(part, {})[video_id] = list(captions)
    chosen = captions_of_split(file.stem, splits, split)
    queries = [each for each in videos.queries if (each.cap_id.rpartition("#enc#")[0] or each.video_id) in chosen]
    return CaptionedVideos({video_id: tuple(some) for video_id, some in chosen.items()}, tuple(queries))


def words_benchmark(
    name: str, videos: CaptionedVideos, seed: int, folder: Path, progress: Progress = silent
) -> Benchmark:
    """Build a benchmark of captions; the generated queries, drawn by the seed, are cached in the folder."""
    captions = {video_id: tuple(texts) for video_id, texts in videos.captions.items() if texts}
    row_of = {video_id: row for row, video_id in enumerate(captions)}
    contents = cache(partial(read_contents, videos, progress))  # parsed once for both, unless both are cached
    sets = cached_query_sets(videos, seed, folder, progress, contents)
    absences = cached_absences(videos, seed, folder, contents)
    judged, remarks = judged_queries(sets, row_of)
    judged = (*judged, *(judged_composed(query, row_of) for query in absences))
    words = _Words(captions)
    queries = words.without_own_captions(judged)
    if lost := len(judged) - len(queries):
        remarks.append(f"{lost} queries are their video's only caption, or deny it; they are left out.")
    content = blake2b(json.dumps(list(captions.items())).encode(), digest_size=12).hexdigest()
    known = {"data": "captions", "content": content, "captions": "all", "seed": seed}
    source = {**known, "remarks": [REMARK, *remarks]}
    return Benchmark(f"{name} in words", tuple(captions), queries, words.embed, source, captions=captions)


def key_of(caption: str) -> str:
    """Return a caption as duplicates are compared: ignoring case, spaces and the final full stop."""
    return " ".join(caption.lower().split()).rstrip(" .")


class _Words:
    """Rows of texts that stand for videos: first one per video, then further ones for single queries."""

    def __init__(self, captions: Mapping[str, Sequence[str]]) -> None:
        self._texts = list(dict.fromkeys(text for some in captions.values() for text in some))
        places = {text: place for place, text in enumerate(self._texts)}
        # for each row, positions of its texts
        self._rows = [[places[text] for text in some] for some in captions.values()]

    def without_own_captions(self, queries: Sequence[JudgedQuery]) -> tuple[JudgedQuery, ...]:
        """Add a row for each video that has the caption of a query; drop queries whose video has no other caption."""
        keys = [key_of(text) for text in self._texts]
        having = self._videos_with(keys)
        instead: dict[str, dict[int, int]] = {}
        kept: list[JudgedQuery] = []
        places: dict[int | None, int | None] = {None: None}  # of captions among `kept`, by their places before
        for place, query in enumerate(queries):
            if query.kind not in ("original", "negated"):
                kept.append(query)
                continue
            key = key_of(query.text if query.original is None else queries[query.original].text)
            if key not in instead:
                instead[key] = {video: self._row_without(video, key, keys) for video in having[key]}
            if instead[key].get(int(query.relevant[0])) != NO_CAPTION:
                places[place] = len(kept)
                kept.append(replace(query, instead=instead[key], original=places[query.original]))
        return tuple(kept)

    def _videos_with(self, keys: Sequence[str]) -> Mapping[str, list[int]]:
        having: dict[str, list[int]] = defaultdict(list)
        for video, texts in enumerate(self._rows):
            for key in dict.fromkeys(keys[text] for text in texts):
                having[key].append(video)
        return having

    def _row_without(self, video: int, key: str, keys: Sequence[str]) -> int:
        """Add the row that stands for a video without a caption."""
        left = [place for place in self._rows[video] if keys[place] != key]
        if not left:
            return NO_CAPTION
        self._rows.append(left)
        return len(self._rows) - 1

    def embed(self, encoder: Encoder, progress: Progress) -> Vectors:
        """Return one unit vector per row under a model."""
        embeddings = np.empty((len(self._texts), encoder.embed_dim), np.float32)
        for start in range(0, len(self._texts), CHUNK):
            progress(start, len(self._texts), f"captions, {encoder.name}")
            embeddings[start : start + CHUNK] = encoder.encode_text(self._texts[start : start + CHUNK])
        means = np.stack([embeddings[sorted(places)].mean(axis=0) for places in self._rows])
        return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True), np.float32)
