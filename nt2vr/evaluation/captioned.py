"""Captions as benchmarks: original, negated and composed queries over videos, or over the captions alone.

Without videos, a video stands for the mean of the embeddings of its captions. A caption that serves as a query, or
that a query negates, is left out of every video that has it, duplicates included, so that no query finds itself. The
captions also decide which videos are relevant; what they do not say counts as absent.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, partial
from hashlib import blake2b
from itertools import chain
from pathlib import Path

import numpy as np

from nt2vr.datasets.base import Dataset, Split
from nt2vr.datasets.features import Features
from nt2vr.datasets.load import load_dataset
from nt2vr.evaluation.benchmark import (
    NO_CAPTION,
    Benchmark,
    JudgedQuery,
    Vectors,
    content_of,
    cue_of,
    embed_features,
    embed_files,
    row_array,
)
from nt2vr.files import expanded
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.encoder import Encoder
from nt2vr.negation.generate.absences import AbsenceQuery
from nt2vr.negation.generate.build import cached_absences, cached_query_sets, read_contents
from nt2vr.negation.generate.composer import ComposedQuery
from nt2vr.negation.generate.query_sets import CaptionedVideos, QuerySets, read_captioned_videos
from nt2vr.progress import Progress, silent

LOST = {  # why queries are left out
    "original": "have no text, or their video is not here",
    "negated": "have no text, or no original query that they deny",
    "composed": "have no relevant video here",
}
WORDS = "words:"  # before the name of data whose captions stand for the videos
CHUNK = 256  # texts encoded between two steps
REMARK = (
    "No videos: each stands for the mean of its captions' embeddings. Finding text by text is easier than finding "
    "videos, captions decide both the gallery and what is relevant, and what they do not say counts as absent."
)


def captioned_benchmark(
    dataset: Dataset,
    sets: QuerySets,
    decoder: Decoder,
    cache: Cache,
    progress: Progress,
    features: Mapping[str, Features],
    has_files: bool,
    key: str = "",
) -> Benchmark:
    """Build a benchmark over a dataset's videos; queries without a relevant video are left out, and counted.

    Args:
        features: by name, for models that read them.
        has_files: whether the videos have files, which other models need.
        key: of the library that the videos are from, whose embeddings are used again.
    """
    queries, remarks = judged_queries(sets, {video.video_id: row for row, video in enumerate(dataset.videos)})
    source = {
        "data": dataset.name,
        "split": dataset.split,
        **({"content": content_of(dataset.videos, cache, progress)} if has_files else {}),
        **({"features": {name: each.digest for name, each in sorted(features.items())}} if features else {}),
        "remarks": [*dataset.remarks, *remarks],
    }
    ids, unreadable = tuple(video.video_id for video in dataset.videos), dict[str, str]()
    of_files = embed_files(dataset.videos, decoder, cache, key, unreadable=unreadable)
    embed = embed_features(dataset.videos, features, of_files)
    return Benchmark(dataset.name, ids, queries, embed, source, unreadable=unreadable if has_files else None)


def judged_queries(sets: QuerySets, row_of: Mapping[str, int]) -> tuple[tuple[JudgedQuery, ...], list[str]]:
    """Find the videos of queries; also return remarks that count the queries left out."""
    queries: list[JudgedQuery] = []
    places: dict[str, int] = {}  # of captions, by their ids
    lost: Counter[str] = Counter()
    for caption in sets.original:
        row = row_of.get(caption.cap_id.rpartition("#enc#")[0] or caption.video_id)
        if row is None or not caption.text:
            lost["original"] += 1
            continue
        places[caption.cap_id] = len(queries)
        queries.append(JudgedQuery("original", caption.text, row_array((row,)), query_id=caption.cap_id))
    for caption in sets.negated:
        place = places.get(caption.cap_id, places.get(caption.cap_id.rpartition("#")[0]))  # nT2VR's ids: cap_id#N
        if place is None or not caption.text:
            lost["negated"] += 1
            continue
        denied = JudgedQuery(
            "negated",
            caption.text,
            queries[place].relevant,
            wanted=caption.wanted,
            unwanted=(caption.unwanted,) if caption.unwanted else (),
            original=place,
            cue=cue_of(caption.text),
            query_id=caption.cap_id,
        )
        queries.append(denied)
    composed = [judged_composed(query, row_of) for query in sets.composed]
    queries += (query for query in composed if len(query.relevant))
    lost["composed"] = sum(not len(query.relevant) for query in composed)
    totals = {"original": len(sets.original), "negated": len(sets.negated), "composed": len(composed)}
    return tuple(queries), [
        f"{lost[kind]} of {totals[kind]} {kind} queries {LOST[kind]}; they are left out."
        for kind in totals
        if lost[kind]
    ]


def judged_composed(query: ComposedQuery, row_of: Mapping[str, int]) -> JudgedQuery:
    """Find the videos of a composed query, or of one for absent content."""
    kind = query.kind if isinstance(query, AbsenceQuery) else "composed"
    relevant, hard, violating = (
        row_array(row_of[video_id] for video_id in ids if video_id in row_of)
        for ids in (query.video_ids, query.hard_ids, query.violating_ids)
    )
    return JudgedQuery(
        kind,
        query.caption,
        relevant,
        hard,
        violating,
        None if kind == "composed" and not query.wanted else query.wanted,  # missing from nT2VR's own files
        (query.unwanted,) if query.unwanted else (),
        cue=cue_of(query.caption),
        query_id=query.cap_id,
    )


def read_words(path: str, split: Split) -> CaptionedVideos:
    """Read lines of captions with their ids, or the captions of a dataset, whose videos may be missing."""
    file = expanded(path)
    if file.is_file() and file.suffix.lower() == ".txt":
        return read_captioned_videos(file)
    dataset = load_dataset(file, split, with_files=False)
    return CaptionedVideos.all_as_queries({video.video_id: video.captions for video in dataset.videos})


def words_benchmark(
    name: str, videos: CaptionedVideos, seed: int, folder: Path, progress: Progress = silent
) -> Benchmark:
    """Build a benchmark of captions; the generated queries, drawn by the seed, are cached in the folder."""
    captions = {video_id: tuple(texts) for video_id, texts in videos.captions.items() if texts}
    row_of = {video_id: row for row, video_id in enumerate(captions)}
    contents = cache(partial(read_contents, videos, progress))  # parsed once for both, unless both are cached
    judged, remarks = judged_queries(cached_query_sets(videos, seed, folder, progress, contents), row_of)
    absences = cached_absences(videos, seed, folder, contents)
    judged = (*judged, *(judged_composed(query, row_of) for query in absences))
    # rows of texts that stand for videos: first one per video, then further ones for single queries
    texts = list(dict.fromkeys(chain(*captions.values())))
    place_of, keys = {text: place for place, text in enumerate(texts)}, list(map(key_of, texts))
    rows = [[place_of[text] for text in some] for some in captions.values()]
    having: dict[str, dict[int, None]] = defaultdict(dict)  # videos that have a caption
    for video, places in enumerate(rows):
        for place in places:
            having[keys[place]][video] = None

    @cache
    def instead(key: str) -> dict[int, int]:
        """Add a row for each video that has a caption, which stands for it without that caption."""
        found = {}
        for video in having[key]:
            left = [place for place in rows[video] if keys[place] != key]
            found[video] = len(rows) if left else NO_CAPTION
            if left:
                rows.append(left)
        return found

    queries: list[JudgedQuery] = []
    new_place: dict[int | None, int | None] = {None: None}  # of originals
    for place, query in enumerate(judged):
        if query.kind not in ("original", "negated"):
            queries.append(query)
            continue
        others = instead(key_of(query.text if query.original is None else judged[query.original].text))
        if others.get(int(query.relevant[0])) != NO_CAPTION:
            new_place[place] = len(queries)
            queries.append(replace(query, instead=others, original=new_place[query.original]))
    if lost := len(judged) - len(queries):
        remarks.append(f"{lost} queries are their video's only caption, or deny it; they are left out.")

    def embed(encoder: Encoder, progress: Progress) -> Vectors:
        """Return one unit vector per row under a model."""
        embeddings = np.empty((len(texts), encoder.embed_dim), np.float32)
        for start in range(0, len(texts), CHUNK):
            progress(start, len(texts), f"captions, {encoder.name}")
            embeddings[start : start + CHUNK] = encoder.encode_text(texts[start : start + CHUNK])
        means = np.stack([embeddings[sorted(places)].mean(axis=0) for places in rows])
        return np.asarray(means / np.linalg.norm(means, axis=1, keepdims=True), np.float32)

    content = blake2b(json.dumps(list(captions.items())).encode(), digest_size=12).hexdigest()
    known = {"data": "captions", "content": content, "captions": "all", "seed": seed}
    source = {**known, "remarks": [REMARK, *remarks]}
    return Benchmark(f"{name} in words", tuple(captions), tuple(queries), embed, source, captions=captions)


def key_of(caption: str) -> str:
    """Return a caption as duplicates are compared: ignoring case, spaces and the final full stop."""
    return " ".join(caption.lower().split()).rstrip(" .")
