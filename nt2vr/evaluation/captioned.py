"""Captioned datasets as benchmarks: original, negated and composed queries."""

from collections import Counter
from collections.abc import Mapping

from nt2vr.datasets.base import Dataset
from nt2vr.datasets.features import Features
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, Rows, cue_of, row_array
from nt2vr.evaluation.media import content_of, embed_features, embed_files
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.negation.generate.absences import AbsenceQuery
from nt2vr.negation.generate.composer import ComposedQuery
from nt2vr.negation.generate.query_sets import Caption, QuerySets
from nt2vr.progress import Progress

LOST = {  # why queries are left out
    "original": "have no text, or their video is not here",
    "negated": "have no text, or no original query that they deny",
    "composed": "have no relevant video here",
}


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
    ids = tuple(video.video_id for video in dataset.videos)
    unreadable: dict[str, str] = {}
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
        else:
            queries.append(_negated(caption, place, queries[place].relevant))
    composed = [judged_composed(query, row_of) for query in sets.composed]
    queries += (query for query in composed if len(query.relevant))
    lost["composed"] = sum(not len(query.relevant) for query in composed)
    totals = {"original": len(sets.original), "negated": len(sets.negated), "composed": len(composed)}
    return tuple(queries), [
        f"{lost[kind]} of {totals[kind]} {kind} queries {LOST[kind]}; they are left out."
        for kind in totals
        if lost[kind]
    ]


def _negated(caption: Caption, original: int, relevant: Rows) -> JudgedQuery:
    unwanted = (caption.unwanted,) if caption.unwanted else ()
    return JudgedQuery(
        "negated",
        caption.text,
        relevant,
        wanted=caption.wanted,
        unwanted=unwanted,
        original=original,
        cue=cue_of(caption.text),
        query_id=caption.cap_id,
    )


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
