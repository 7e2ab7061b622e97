"""The queries of a dataset with their videos: captions, negated captions and composed queries."""

from collections import Counter
from collections.abc import Iterable, Mapping

from nt2vr.evaluation.queries import JudgedQueries, JudgedQuery, Rows, cue_of, row_array
from nt2vr.negation.generate.absences import AbsenceQuery
from nt2vr.negation.generate.composer import ComposedQuery
from nt2vr.negation.generate.query_sets import QuerySets

KINDS = ("original", "negated", "composed")
# Why queries are left out.
LEFT_OUT = {
    "original": "have no text, or their video is not here",
    "negated": "have no text, or no original query that they deny",
    "composed": "have no relevant video here",
}


def judged_queries(sets: QuerySets, row_of: Mapping[str, int]) -> tuple[JudgedQueries, list[str]]:
    """Find the videos of queries; also return remarks that count the queries left out."""
    queries = _judged_captions(sets, row_of)
    for composed in sets.composed:
        query = judged_composed(composed, row_of)
        if len(query.relevant):
            queries.append(query)

    counts = Counter(query.kind for query in queries)
    # A set of composed queries may have those for absent content, too.
    counts["composed"] = len(queries) - counts["original"] - counts["negated"]
    remarks = []
    for kind in KINDS:
        total = len(getattr(sets, kind))
        num_left_out = total - counts[kind]
        if num_left_out:
            remarks.append(
                f"{num_left_out} of {total} {kind} queries {LEFT_OUT[kind]}; they are left out."
            )
    return tuple(queries), remarks


def _judged_captions(sets: QuerySets, row_of: Mapping[str, int]) -> list[JudgedQuery]:
    """Find the videos of captions, and the captions that negated ones deny."""
    queries: list[JudgedQuery] = []
    # Of captions, by their ids.
    position_of = {}
    for caption in sets.original:
        video_id = caption.cap_id.rpartition("#enc#")[0] or caption.video_id
        row = row_of.get(video_id)
        if row is None or not caption.text:
            continue
        position_of[caption.cap_id] = len(queries)
        query = JudgedQuery(
            kind="original",
            text=caption.text,
            relevant=row_array((row,)),
            query_id=caption.cap_id,
        )
        queries.append(query)

    for caption in sets.negated:
        # In nT2VR's own files, the id of a negated caption is that of the original, and #N.
        original_id = caption.cap_id.rpartition("#")[0]
        original = position_of.get(caption.cap_id, position_of.get(original_id))
        if original is None or not caption.text:
            continue
        query = JudgedQuery(
            kind="negated",
            text=caption.text,
            relevant=queries[original].relevant,
            wanted=caption.wanted,
            unwanted=(caption.unwanted,) if caption.unwanted else (),
            original=original,
            cue=cue_of(caption.text),
            query_id=caption.cap_id,
        )
        queries.append(query)
    return queries


def judged_composed(query: ComposedQuery, row_of: Mapping[str, int]) -> JudgedQuery:
    """Find the videos of a composed query, or of one for absent content."""
    kind = query.kind if isinstance(query, AbsenceQuery) else "composed"
    wanted: str | None = query.wanted
    # The parts are missing from nT2VR's own files.
    if kind == "composed" and not query.wanted:
        wanted = None

    def rows_of(video_ids: Iterable[str]) -> Rows:
        return row_array(row_of[video_id] for video_id in video_ids if video_id in row_of)

    return JudgedQuery(
        kind=kind,
        text=query.caption,
        relevant=rows_of(query.video_ids),
        hard=rows_of(query.hard_ids),
        violating=rows_of(query.violating_ids),
        wanted=wanted,
        unwanted=(query.unwanted,) if query.unwanted else (),
        cue=cue_of(query.caption),
        query_id=query.cap_id,
    )
