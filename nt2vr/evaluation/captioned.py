"""A captioned dataset as a benchmark: nT2VR's original, negated and composed queries, built or read from files."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

from nt2vr.datasets import Dataset
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, Progress, cue_of, rows
from nt2vr.evaluation.media import content_of, embed_files
from nt2vr.files import atomic_write
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.querygen.build import GENERATOR, describe, negate
from nt2vr.querygen.composer import ComposedQuery, Composer
from nt2vr.querygen.query_sets import Caption, read_captions, read_composed

T = TypeVar("T")
ORIGINAL, NEGATED, COMPOSED = "original.txt", "negated.txt", "composed.jsonl"  # as `nt2vr.queries build` names them


@dataclass(frozen=True)
class QuerySets:
    """What nT2VR searches with: captions, denials of them under the same ids, and composed queries."""

    original: Sequence[Caption]
    negated: Sequence[Caption]
    composed: Sequence[ComposedQuery]


def read_sets(folder: Path) -> QuerySets:
    """Read the three files of a folder.

    Raises:
        ConfigError: if one cannot be read.
    """
    composed = read_composed(folder / COMPOSED)
    return QuerySets(read_captions(folder / ORIGINAL), read_captions(folder / NEGATED), list(composed.values()))


def kept_sets(
    videos: Sequence[Video], seed: int, folder: Path, progress: Progress, should_stop: Callable[[], bool]
) -> QuerySets:
    """Make the three sets, or read them from `folder` where the same were made; see `build_sets`."""
    key = blake2b(json.dumps([GENERATOR, seed, [[v.video_id, v.captions] for v in videos]]).encode(), digest_size=12)
    path = folder / f"queries-{key.hexdigest()}.json"
    if path.is_file():
        sets = json.loads(path.read_text(encoding="utf-8"))
        return QuerySets(
            [Caption(*caption) for caption in sets["original"]],
            [Caption(*caption) for caption in sets["negated"]],
            [_composed(query) for query in sets["composed"]],
        )
    built = build_sets(videos, seed, progress, should_stop)
    folder.mkdir(parents=True, exist_ok=True)
    with atomic_write(path) as partial:
        partial.write_text(json.dumps(asdict(built)), encoding="utf-8")
    return built


def _composed(fields: Mapping[str, Any]) -> ComposedQuery:
    lists = {name: tuple(value) for name, value in fields.items() if isinstance(value, list)}
    return ComposedQuery(**{**fields, **lists})


def build_sets(videos: Sequence[Video], seed: int, progress: Progress, should_stop: Callable[[], bool]) -> QuerySets:
    """Make the three sets of the videos' captions: a minute for 20,000 captions.

    Args:
        videos: with their captions.
        seed: draws denials and templates.
        progress: called with steps done, steps in all, and what is being done.
        should_stop: asked again and again.

    Raises:
        InterruptedError: if `should_stop` said so.
    """
    original = [Caption(f"{v.video_id}#enc#{n}", text) for v in videos for n, text in enumerate(v.captions)]

    def counted(items: Sequence[T], what: str) -> Iterator[T]:
        for done, item in enumerate(items):
            if should_stop():
                raise InterruptedError
            progress(done, len(items), what)
            yield item

    negated = list(negate(counted(original, "negating captions"), seed))
    described = {video.video_id: describe(video.captions) for video in counted(videos, "reading captions")}
    return QuerySets(original, negated, list(Composer(described).compose(seed)))


def captioned_benchmark(dataset: Dataset, sets: QuerySets, decoder: Decoder, cache: Cache) -> Benchmark:
    """Search a dataset's videos; queries that none of them answers are left out.

    Args:
        dataset: the videos.
        sets: what is asked about them.
        decoder: decodes them.
        cache: keeps their embeddings.

    Raises:
        ConfigError: if no query has an answer among the videos.
    """
    row_of = {video.video_id: row for row, video in enumerate(dataset.videos)}
    queries: list[JudgedQuery] = []
    places: dict[str, int] = {}  # of captions among the queries
    for caption in sets.original:
        if (row := row_of.get(_video_of(caption))) is not None:
            places[caption.cap_id] = len(queries)
            queries.append(JudgedQuery("original", caption.text, rows((row,))))
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
                    rows(answers),
                    rows(hard),
                    rows(hard),
                    composed.wanted or None,  # nT2VR's own files do not tell the parts
                    (composed.unwanted,) if composed.unwanted else (),
                    cue=cue_of(composed.caption),
                )
            )
    source = {
        "data": dataset.name,
        "split": dataset.split,
        "content": content_of(dataset.videos, cache),
        "remarks": list(dataset.remarks),
    }
    return Benchmark(dataset.name, tuple(row_of), tuple(queries), embed_files(dataset.videos, decoder, cache), source)


def _video_of(caption: Caption) -> str:
    return caption.cap_id.rpartition("#enc#")[0] or caption.video_id


def _known(video_ids: Iterable[str], row_of: dict[str, int]) -> list[int]:
    return [row_of[video_id] for video_id in video_ids if video_id in row_of]
