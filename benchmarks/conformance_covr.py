"""The part of `benchmarks.conformance` about a picture plus a text: WebVid-CoVR, CIRR, FashionIQ and CIRCO.

Embeddings are random but related to the truth: a query is its target, its reference and noise.
"""

import tempfile
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

import numpy as np

from nt2vr.datasets.covr import CovrSample, CovrSet, load_covr
from nt2vr.errors import DatasetError
from nt2vr.evaluation.covr.protocol import ALL, CIRR_MEAN, KS, MAP_KS, EmbeddedQueries, measure, summarise
from nt2vr.evaluation.covr.sources import covr_files
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder
from nt2vr.search.references import CovrVectors

MARKS = ("*covr*.csv", "cap.rc2.*.json", "cap.*.json", "val.json", "test.json")
HEAD = 4096  # characters that hold a file's first entry
COVR = ("relative_caption", "reference", "candidate", "pth2")  # one of which it has
WIDTH, NOISE = 32, 2.0
SPLITS = ("val", "test")
OTHER_FOLDER = "captions"  # next to the one with the galleries
Plain = dict[str, list[float]]


@dataclass(frozen=True)
class Row:
    """What was found in one file; figures are percentages, None where there is nothing to measure."""

    file: str
    read: str
    measure: str = ""
    ours: float | None = None
    plain: float | None = None


class Everything(Collection[str]):
    """Ids with embeddings: all that a file names, and no others."""

    def __contains__(self, key: object) -> bool:
        return True

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0


def covr_rows(folder: Path) -> Iterator[Row]:
    """Read the splits of every dataset below a folder, without its media."""
    places = dict.fromkeys(_place(path) for mark in MARKS for path in sorted(folder.rglob(mark)) if _is_covr(path))
    for place in places:
        for split in SPLITS:
            try:
                dataset = load_covr(place, split, Everything())
            except DatasetError as error:
                if "has no split" not in str(error):
                    raise
                continue
            yield from _rows(dataset)


def _place(path: Path) -> Path:
    return path.parent.parent if path.parent.name == OTHER_FOLDER else path.parent


def _is_covr(path: Path) -> bool:
    with path.open(encoding="utf-8-sig", errors="replace") as file:
        head = file.read(HEAD)
    return any(name in head for name in COVR)


def _rows(dataset: CovrSet) -> Iterator[Row]:
    for name, ids in dataset.galleries.items():
        read = f"{len(ids):,} · {sum(sample.gallery == name for sample in dataset.samples):,}"
        yield Row(" ".join(filter(None, (dataset.name, name))), read)
    if not any(sample.targets for sample in dataset.samples):
        return
    rng = np.random.default_rng(0)
    vectors = dict(zip(dataset.media, _unit(rng.normal(size=(len(dataset.media), WIDTH))), strict=True))
    made = [vectors[each.target or each.targets[0]] + vectors[each.reference] for each in dataset.samples]
    asked = _unit(np.stack(made) + NOISE * _unit(rng.normal(size=(len(made), WIDTH))))
    for keep in (False, True) if dataset.name.startswith("FashionIQ") else (False,):
        plain = {key: 100 * float(np.mean(some)) for key, some in _plain(dataset, vectors, asked, keep).items()}
        for key, ours in _ours(dataset, vectors, asked, keep).items():
            yield Row(dataset.name, "", key + ", reference kept" * keep, ours, plain.get(key))


def _ours(dataset: CovrSet, vectors: Mapping[str, Any], asked: np.ndarray, keep_reference: bool) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as place, Decoder() as decoder, Cache(Path(place)) as cache:
        benchmark = covr_files(dataset, decoder, cache, keep_reference)
    none = np.zeros_like(asked)
    clips = np.stack([vectors[clip] for clip in benchmark.clip_ids])
    embedded = EmbeddedQueries(benchmark.queries, CovrVectors(none, none, none, none), none, clips, asked)
    table = summarise(benchmark.queries, measure(asked, embedded))
    kinds = {query.kind for query in benchmark.queries}
    return {
        f"{kind} {name}": value
        for kind, metrics in table.items()
        for name, value in metrics.items()
        if kind in kinds or (kind != ALL and name == "mAP@10")  # of CIRCO's aspects
    }


def _plain(dataset: CovrSet, vectors: Mapping[str, Any], asked: np.ndarray, keep_reference: bool) -> Plain:
    """Walk down the sorted list of every query, by ids."""
    found: Plain = {}
    galleries = {name: (ids, np.stack([vectors[key] for key in ids])) for name, ids in dataset.galleries.items()}
    for sample, vector in zip(dataset.samples, asked, strict=True):
        ids, clips = galleries[sample.gallery]
        ranked = [ids[place] for place in np.argsort(-clips @ vector)]
        for key, value in _walk(sample, [key for key in ranked if keep_reference or key != sample.reference]):
            found.setdefault(key, []).append(value)
    if (inside := found.get("CIRR subset R@1")) is not None:
        found[f"CIRR {CIRR_MEAN}"] = [(fmean(found["CIRR R@5"]) + fmean(inside)) / 2]
    return found


def _walk(sample: CovrSample, ranked: list[str]) -> Iterator[tuple[str, float]]:
    right = {sample.target} if sample.target else set(sample.targets)
    yield from ((f"{sample.kind} R@{k}", float(not right.isdisjoint(ranked[:k]))) for k in KS)
    if sample.subset:
        inside = [key for key in ranked if key in sample.subset]
        yield from ((f"{sample.kind} subset R@{k}", float(not right.isdisjoint(inside[:k]))) for k in (1, 2, 3))
    if not sample.target:
        return
    hits = np.isin(ranked[: max(MAP_KS)], sample.targets)
    at = np.cumsum(hits) / np.arange(1, len(hits) + 1) * hits
    for k in MAP_KS:
        precision = float(at[:k].sum() / min(k, len(sample.targets)))
        yield f"{sample.kind} mAP@{k}", precision
        if k == 10:
            yield from ((f"{label} mAP@10", precision) for label in sample.labels)


def _unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)
