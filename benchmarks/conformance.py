"""Conformance to published files: `python -m benchmarks.conformance FOLDER`, on the annotation files that you have.

Reads every file below FOLDER that the product's readers know, without its videos and pictures, and prints a row each:
what was read, what is expected, and a figure on random embeddings by the product's measures and by a plain NumPy loop
of the published rule. docs/conformance.md holds the result for files of public repositories.
"""

import argparse
import tempfile
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

import numpy as np

from benchmarks.conformance_covr import Row, covr_rows
from benchmarks.harness import write_head, write_row
from nt2vr.datasets.base import Split
from nt2vr.datasets.load import DATASETS, load_dataset
from nt2vr.errors import Nt2vrError
from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, Vectors, row_array
from nt2vr.evaluation.choices import choice_values, choices_of, measure_choices
from nt2vr.evaluation.measures import Measured, averages_of, joined, measure_block, metric_values
from nt2vr.evaluation.tasks import is_task, task_benchmark
from nt2vr.evaluation.video_to_text import caption_ranks
from nt2vr.media.cache import Cache
from nt2vr.media.decode import Decoder

EXPECTED = {  # videos or pictures · queries, or queries: counted in the published files without the readers
    "COCO_val_mcq_llama3.1_rephrased.csv": "5,914",
    "VOC2007_mcq.csv": "5,031",
    "VOC2007_mcq_llama3.1_rephrased.csv": "5,031",
    "COCO_val_negated_retrieval_template.csv": "5,000 · 25,014",
    "COCO_val_negated_retrieval_llama3.1_rephrased_affneg_true.csv": "5,000 · 25,014",
    "msr_vtt_mcq_rephrased_llama.csv": "1,000",
    "msr_vtt_retrieval_rephrased_llama.csv": "1,000",
    "msrvtt1k test": "1,000 · 1,000",
    "didemo test": "1,004 · 1,004",
    "didemo validation": "1,065 · 1,065",
    "CIRR, val": "2,297 · 4,181",
    "CIRR, test": "2,315 · 4,148",
    "CIRCO, val": "220",
    "CIRCO, test": "800",
    "FashionIQ, val dress": "3,817 · 2,017",
    "FashionIQ, val shirt": "6,346 · 2,038",
    "FashionIQ, val toptee": "5,373 · 1,961",
    "ccneg_preprocessed.pt": "40,000",
    "existence.json": "505",
    "plurals.json": "851",
    "counting-hard.json": "868",
    "counting-small-quant.json": "900",
    "counting-adversarial.json": "691",
    "relations.json": "535",
    "action-replacement.json": "648",
    "actant-swap.json": "949",
    "coreference-standard.json": "708",
    "coreference-hard.json": "104",
    "foil-it.json": "943",
    "replace_obj.json": "1,652",
    "replace_att.json": "788",
    "replace_rel.json": "1,406",
    "swap_obj.json": "245",
    "swap_att.json": "666",
    "add_obj.json": "2,062",
    "add_att.json": "692",
}
WIDTH, NOISE = 32, 3.0  # of the embeddings; of captions around their videos, so that figures are neither 0 nor 100
BLOCK = 512  # queries at a time
SAME = 1e-4  # percent
SPLITS: tuple[Split, ...] = ("validation", "test")
NOT_A_DATASET = {"folder"}  # readers that would take any file


def main() -> None:
    """Print a Markdown table."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.conformance", description=__doc__)
    parser.add_argument("folder", type=Path)
    write_head("file", "read", "expected", "measure", "ours", "NumPy", "verdict")
    folder = parser.parse_args().folder
    for row in chain(rows_of(folder), covr_rows(folder)):
        expected = EXPECTED.get(row.file, "") if row.read else ""
        figures = ["" if value is None else f"{value:.4f}" for value in (row.ours, row.plain)]
        is_equal = row.ours is None or (row.plain is not None and abs(row.ours - row.plain) < SAME)
        count = "" if not expected or expected in (row.read, row.read.rpartition(" · ")[2]) else ", count differs"
        verdict = "differs" if not is_equal else "read" if row.ours is None else "equal"
        write_row(row.file, row.read, expected, row.measure, *figures, verdict + count)


def rows_of(folder: Path) -> Iterator[Row]:
    """Read what is there: tasks file by file, datasets by the folder of their annotations."""
    with tempfile.TemporaryDirectory() as place, Decoder() as decoder, Cache(Path(place)) as cache:
        seen: set[tuple[str, Path]] = set()
        for path in sorted(path for path in folder.rglob("*") if path.is_file()):
            try:
                if is_task(path):
                    yield row_of(path.name, task_benchmark(path, decoder, cache))
                else:
                    yield from _dataset(path, seen)
            except Nt2vrError as error:
                write_row(path.name, "", EXPECTED.get(path.name, ""), "", "", "", str(error))


def _dataset(path: Path, seen: set[tuple[str, Path]]) -> Iterator[Row]:
    """Read the splits of the dataset that a file belongs to, once."""
    kinds = [name for name, loader in DATASETS.items() if any(path.match(mark) for mark in loader.marks)]
    for name in (kind for kind in kinds[:1] if kind not in NOT_A_DATASET and (kind, path.parent) not in seen):
        seen.add((name, path.parent))
        for split in SPLITS:
            try:
                videos = load_dataset(f"{name}:{path.parent}", split, with_files=False).videos
            except Nt2vrError as error:
                if "has no" not in str(error):  # it has no such split
                    raise
                continue
            captions = [(row, text) for row, video in enumerate(videos) for text in video.captions]
            queries = tuple(JudgedQuery("original", text, row_array((row,))) for row, text in captions)
            ids = tuple(video.video_id for video in videos)
            yield from both_ways(f"{name} {split}", Benchmark(name, ids, queries, _nothing, {}))


def _nothing(*_: object) -> Vectors:
    raise NotImplementedError  # nothing is embedded here


def both_ways(file: str, benchmark: Benchmark) -> Iterator[Row]:
    """Measure text to video, then video to text, each on random embeddings, twice."""
    yield row_of(file, benchmark)
    videos, captions = _embedded(benchmark, np.random.default_rng(0))
    ranks = caption_ranks(videos, captions, benchmark.queries)
    own: dict[int, set[int]] = {}
    for row, query in enumerate(benchmark.queries):
        own.setdefault(int(query.relevant[0]), set()).add(row)
    hits = [
        not own[place].isdisjoint(np.argsort(-captions.astype(np.float64) @ videos[place])[:10].tolist())
        for place in sorted(own)
    ]
    yield Row(file, "", "video/R@10", 100 * float((ranks <= 10).mean()), 100 * float(np.mean(hits)))


def _embedded(benchmark: Benchmark, rng: np.random.Generator) -> tuple[Vectors, Vectors]:
    """Draw embeddings of the videos, and of texts around their own ones."""
    videos = _unit(rng.normal(size=(len(benchmark.video_ids), WIDTH)))
    own = videos[[query.relevant[0] for query in benchmark.queries]]
    return videos, _unit(own + NOISE * _unit(rng.normal(size=own.shape)))


def row_of(file: str, benchmark: Benchmark) -> Row:
    """Measure a benchmark on random embeddings, twice."""
    rng = np.random.default_rng(0)
    videos, right = _embedded(benchmark, rng)
    read = f"{len(videos):,} · {len(benchmark.queries):,}"
    if benchmark.texts:
        wrong = _unit(rng.normal(size=(len(benchmark.texts), WIDTH)))
        return Row(file, read, *_answers(benchmark, videos, right, wrong))
    parts = []
    for start in range(0, len(right), BLOCK):
        parts.append(measure_block(right[start : start + BLOCK], videos, benchmark.queries[start : start + BLOCK]))
    kind = benchmark.queries[0].kind
    measure = "picture/accuracy" if kind == "picture" else f"{kind}/R@10"
    return Row(file, read, measure, _mean(benchmark, joined(parts), measure), _plain(benchmark, videos, right))


def _answers(benchmark: Benchmark, videos: Vectors, right: Vectors, wrong: Vectors) -> tuple[str, float, float]:
    parts, hits = [], 0
    for start in range(0, len(right), BLOCK):
        block = benchmark.queries[start : start + BLOCK]
        _, places = choices_of(block, benchmark.texts)
        some = right[start : start + BLOCK]
        parts.append(measure_choices(np.concatenate([some, wrong[places]]), videos, block, places))
        for vector, query in zip(some, block, strict=True):
            shown = videos[query.relevant[0]].astype(np.float64)
            hits += int(all(shown @ vector > shown @ wrong[other] for other in query.others))
    measure = f"{benchmark.queries[0].kind}/accuracy"
    ours = averages_of(choice_values(benchmark.queries, joined(parts)))[measure]
    return measure, ours, 100 * hits / len(right)


def _plain(benchmark: Benchmark, videos: Vectors, right: Vectors) -> float:
    """Recall at 10 by sorting, or the share of pairs of pictures in order."""
    hits = 0
    for vector, query in zip(right, benchmark.queries, strict=True):
        scores = videos.astype(np.float64) @ vector
        if query.kind == "picture":
            hits += int(scores[query.relevant[0]] > scores[query.hard[0]])
        else:
            hits += int(query.relevant[0] in np.argsort(-scores)[:10])
    return 100 * hits / len(right)


def _mean(benchmark: Benchmark, measured: Measured, measure: str) -> float:
    return averages_of(metric_values(benchmark.queries, measured))[measure]


def _unit(vectors: np.ndarray) -> Vectors:
    found: Vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    return found


if __name__ == "__main__":
    main()
