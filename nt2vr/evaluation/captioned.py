"""Captioned datasets as benchmarks, with nT2VR's original, negated and composed queries."""

from collections.abc import Iterable

from nt2vr.datasets import Dataset
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, cue_of, row_array
from nt2vr.evaluation.media import content_of, embed_files
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.progress import Progress, ShouldStop, never, silent
from nt2vr.querygen.query_sets import Caption, QuerySets


def captioned_benchmark(
    dataset: Dataset,
    sets: QuerySets,
    decoder: Decoder,
    cache: Cache,
    progress: Progress = silent,
    should_stop: ShouldStop = never,
) -> Benchmark:
    """Build a benchmark over a dataset's videos; queries without a relevant video are left out.

    Args:
        dataset: the videos.
        sets: the queries.
        decoder: decodes the videos.
        cache: stores their embeddings.
        progress: called while the files are checked.
        should_stop: polled between files.

    Raises:
        ConfigError: if no query has a relevant video.
        InterruptedError: if `should_stop` returned True.
    """
    row_of = {video.video_id: row for row, video in enumerate(dataset.videos)}
    queries: list[JudgedQuery] = []
    places: dict[str, int] = {}  # of captions, by their ids
    for caption in sets.original:
        if (row := row_of.get(_video_of(caption))) is not None:
            places[caption.cap_id] = len(queries)
            queries.append(JudgedQuery("original", caption.text, row_array((row,))))
    for negated in sets.negated:
        if (place := places.get(negated.cap_id)) is not None:
            relevant, cue = queries[place].relevant, cue_of(negated.text)
            queries.append(JudgedQuery("negated", negated.text, relevant, original=place, cue=cue))
    for composed in sets.composed:
        if answers := _known(composed.video_ids, row_of):
            hard = _known(composed.violating_ids, row_of)
            queries.append(
                JudgedQuery(
                    "composed",
                    composed.caption,
                    row_array(answers),
                    row_array(hard),
                    row_array(hard),
                    composed.wanted or None,  # missing from nT2VR's own files
                    (composed.unwanted,) if composed.unwanted else (),
                    cue=cue_of(composed.caption),
                )
            )
    source = {
        "data": dataset.name,
        "split": dataset.split,
        "content": content_of(dataset.videos, cache, progress, should_stop),
        "remarks": list(dataset.remarks),
    }
    return Benchmark(dataset.name, tuple(row_of), tuple(queries), embed_files(dataset.videos, decoder, cache), source)


def _video_of(caption: Caption) -> str:
    return caption.cap_id.rpartition("#enc#")[0] or caption.video_id


def _known(video_ids: Iterable[str], row_of: dict[str, int]) -> list[int]:
    return [row_of[video_id] for video_id in video_ids if video_id in row_of]
