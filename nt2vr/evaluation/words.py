"""Captions alone as a benchmark for text towers, without videos.

A video stands for the mean of the embeddings of its captions. A caption that serves as a query, or that a query
negates, is left out of every video that has it, duplicates included, so that no query finds itself. The captions also
decide which videos are relevant; what they do not say counts as absent.
"""

import json
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from hashlib import blake2b
from pathlib import Path

import numpy as np

from nt2vr.datasets.base import Captions, Split, split_named
from nt2vr.datasets.files import expecting
from nt2vr.datasets.files import text as text_of
from nt2vr.datasets.load import captions_of_split, load_dataset
from nt2vr.evaluation.benchmark import NO_CAPTION, Benchmark, Embed, JudgedQuery, Vectors
from nt2vr.evaluation.captioned import judged_composed, judged_queries
from nt2vr.files import expanded
from nt2vr.models.encoder import Encoder
from nt2vr.negation.generate.build import cached_absences, cached_query_sets, read_contents
from nt2vr.negation.generate.query_sets import CaptionedVideos, read_captioned_videos
from nt2vr.progress import Progress, silent

WORDS, ONE_CAPTION = "words:", "words1:"  # before the name of the data
DATASET_SUFFIXES = (".csv", ".tsv", ".json")  # of a dataset's own captions files
CHUNK = 256  # texts encoded between two steps
REMARK = (
    "No videos: each stands for {captions}. Finding text by text is easier than finding videos, captions decide both "
    "the gallery and what is relevant, and what they do not say counts as absent."
)


def in_words(name: str) -> bool:
    return name.startswith((WORDS, ONE_CAPTION))


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
    name: str, videos: CaptionedVideos, seed: int, folder: Path, one_caption: bool = False, progress: Progress = silent
) -> Benchmark:
    """Build a benchmark of captions.

    Args:
        seed: of the generated queries, which are cached in the folder, and of the order of captions.
        one_caption: whether one caption stands for a video, instead of the mean of all: a harder task.
    """
    captions = {video_id: tuple(texts) for video_id, texts in videos.captions.items() if texts}
    row_of = {video_id: row for row, video_id in enumerate(captions)}
    contents = cache(partial(read_contents, videos, progress))  # parsed once for both, unless both are cached
    sets = cached_query_sets(videos, seed, folder, progress, contents)
    absences = cached_absences(videos, seed, folder, contents)
    queries, remarks = judged_queries(sets, row_of)
    queries = (*queries, *(judged_composed(query, row_of) for query in absences))
    words = _Words.of(captions, seed, 1 if one_caption else None)
    judged, queries = len(queries), words.without_own_captions(queries)
    if judged > len(queries):
        remarks.append(
            f"{judged - len(queries)} queries are their video's only caption, or deny it; they are left out."
        )
    content = blake2b(json.dumps(list(captions.items())).encode(), digest_size=12).hexdigest()
    stands_for = "one of its captions" if one_caption else "the mean of its captions' embeddings"
    return Benchmark(
        f"{name} in words{', one caption' if one_caption else ''}",
        tuple(captions),
        queries,
        words.embed(),
        {
            "data": "captions",
            "content": content,
            "captions": "one" if one_caption else "all",
            "seed": seed,
            "remarks": [REMARK.format(captions=stands_for), *remarks],
        },
        captions=captions,
    )


def key_of(caption: str) -> str:
    """Return a caption as duplicates are compared: ignoring case, spaces and the final full stop."""
    return " ".join(caption.lower().split()).rstrip(" .")


@dataclass
class _Words:
    """Rows of texts that stand for videos: first one per video, then further ones for single queries."""

    texts: list[str]
    rows: list[list[int]]  # for each row, positions of its captions among the texts
    videos: list[list[int]]  # for each video, positions of its captions in the order in which they are taken
    most: int | None  # captions per row; None for all

    @classmethod
    def of(cls, captions: Mapping[str, Sequence[str]], seed: int, most: int | None) -> "_Words":
        """Take the captions of each video in an order that depends on nothing but the seed and the video."""
        texts = {
            text: place for place, text in enumerate(dict.fromkeys(t for some in captions.values() for t in some))
        }
        videos = []
        for video_id, some in captions.items():
            places = [texts[text] for text in some]
            random.Random(f"{seed} {video_id}").shuffle(places)
            videos.append(places)
        return cls(list(texts), [places[:most] for places in videos], videos, most)

    def without_own_captions(self, queries: Sequence[JudgedQuery]) -> tuple[JudgedQuery, ...]:
        """Add a row for each video that has the caption of a query; drop queries whose video has no other caption."""
        keys = [key_of(text) for text in self.texts]
        having: dict[str, list[int]] = defaultdict(list)
        for video, texts in enumerate(self.videos):
            for key in dict.fromkeys(keys[text] for text in texts):
                having[key].append(video)
        instead: dict[str, dict[int, int]] = {}
        kept: list[JudgedQuery] = []
        places: dict[int, int] = {}  # of captions among `kept`, by their places before
        for place, query in enumerate(queries):
            if query.kind not in ("original", "negated"):
                kept.append(query)
                continue
            key = key_of(query.text if query.original is None else queries[query.original].text)
            if key not in instead:
                instead[key] = {video: self._row_without(video, key, keys) for video in having[key]}
            if instead[key].get(int(query.relevant[0])) != NO_CAPTION:
                original = None if query.original is None else places[query.original]
                places[place] = len(kept)
                kept.append(replace(query, instead=instead[key], original=original))
        return tuple(kept)

    def _row_without(self, video: int, key: str, keys: Sequence[str]) -> int:
        """Return the row that stands for a video without a caption, which is added if it is not there."""
        left = [place for place in self.videos[video] if keys[place] != key][: self.most]
        if left == self.rows[video]:
            return video
        if not left:
            return NO_CAPTION
        self.rows.append(left)
        return len(self.rows) - 1

    def embed(self) -> Embed:
        """Return a function computing one unit vector per row under a model."""

        def embed(encoder: Encoder, progress: Progress) -> Vectors:
            embeddings = np.empty((len(self.texts), encoder.embed_dim), np.float32)
            used = sorted({place for places in self.rows for place in places})
            for start in range(0, len(used), CHUNK):
                progress(start, len(used), f"captions, {encoder.name}")
                chunk = used[start : start + CHUNK]
                embeddings[chunk] = encoder.encode_text([self.texts[place] for place in chunk])
            means = np.stack([embeddings[sorted(places)].mean(axis=0) for places in self.rows])
            return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True), np.float32)

        return embed
