"""`python -m trainer.calibrate CHECKPOINT …`: choose on validation clips what a model's card says of searching.

These are the strengths of `anchored` (λ), `spherical` (t) and `rectified` (α, with τ), and the
score below which the page says that nothing fits well. λ, t and τ maximise the harmonic mean of
composed MIR and hard pairs: MIR alone can be won by ignoring the unwanted part, and hard pairs
alone by ignoring the wanted one. α, with which searches exclude by default, maximises what people
see first: right less violating clips among the first eight of typed sentences.
"""

import logging
from argparse import ArgumentParser
from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import chain, product
from pathlib import Path
from random import Random
from statistics import harmonic_mean
from tempfile import TemporaryDirectory

import numpy as np

from nt2vr.evaluation.built_in import world_benchmark
from nt2vr.evaluation.embed_media import EmbeddedVideos
from nt2vr.evaluation.measures import summarise
from nt2vr.evaluation.metric_names import COMPOSED_HARD_PAIRS, COMPOSED_MIR
from nt2vr.evaluation.queries import JudgedQueries, JudgedQuery, Mask, mask, row_array
from nt2vr.evaluation.scoring import score_table
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.evaluation.text_systems import search_vectors
from nt2vr.models.card import write_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder, Vectors
from nt2vr.progress import silent
from nt2vr.search.exclusion import averaged
from nt2vr.search.rank import LOW_SCORE
from nt2vr.search.strategies import STRENGTHS, System
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.sentences import SceneDenials

logger = logging.getLogger("trainer.calibrate")
# The clips that the shipped models were validated on.
NUM_CLIPS = 1_000
SEED = 0
# Nothing fits well below this quantile of captions' best scores.
LOW_QUANTILE = 0.01
# Strengths that are tried: λ from 0 to 6, and t from .8 to 1.
GRIDS = {
    "anchored": [step / 10 for step in range(61)],
    "spherical": [step / 200 for step in range(160, 201)],
}
# α of `rectified`. Up to 10, and τ up to 1.5 deviations, gained .002 on CLIP and .001 on CLIP-neg:
# docs/lab/log.md.
WEIGHTS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)
# τ of `rectified`, in deviations above the mean s(clip, unwanted) of all clips and parts.
DEVIATIONS = (0.0, 0.25, 0.5, 0.75, 1.0)
# Clips that people see first.
FIRST = 8
# Typed sentences per scene.
DRAWS = 4


def validation_queries(cache: Path, num_clips: int = NUM_CLIPS) -> TextBenchmark:
    return world_benchmark(cache, num_clips, seed=SEED, split="validation", num_pairs=0)


def strengths(encoder: Encoder, videos: Vectors, benchmark: TextBenchmark) -> dict[str, float]:
    """Return the best λ, t and τ by their keys in a card."""
    composed = _queries_of(benchmark, "composed")
    benchmark = replace(benchmark, queries=composed)
    best = {}
    for strategy, grid in GRIDS.items():
        _, strength = _best(encoder, strategy, grid, videos, benchmark)
        best[STRENGTHS[strategy].word] = strength
    best["tau"] = _best_tau(encoder, videos, benchmark)
    return best


def _queries_of(benchmark: TextBenchmark, kind: str) -> JudgedQueries:
    return tuple(query for query in benchmark.queries if query.kind == kind)


def _best_tau(encoder: Encoder, videos: Vectors, benchmark: TextBenchmark) -> float:
    """Return the τ of `rectified` with the largest mean, each with its best α."""
    trials = []
    for tau in _taus(encoder, videos, benchmark.queries):
        encoder.card = encoder.card.replace(exclusion={**encoder.card.exclusion, "tau": tau})
        score, weight = _best(
            encoder, strategy="rectified", grid=WEIGHTS, videos=videos, benchmark=benchmark
        )
        trials.append((score, weight, tau))
    _, _, best_tau = max(trials)
    return best_tau


def _taus(encoder: Encoder, videos: Vectors, queries: Iterable[JudgedQuery]) -> list[float]:
    """Return the τ to try: so many deviations above the mean of all clips and unwanted parts."""
    unwanted = set(chain.from_iterable(query.unwanted for query in queries))
    embeddings = encoder.encode_text(sorted(unwanted))
    similarities = embeddings @ averaged(videos).T
    mean = float(similarities.mean())
    deviations = similarities.std(axis=1)
    deviation = float(deviations.mean())
    return [round(mean + number * deviation, 3) for number in DEVIATIONS]


def typed_queries(num_clips: int = NUM_CLIPS) -> list[JudgedQuery]:
    """Return sentences as people type them about the same clips.

    Some clips are right for each sentence, and some show both its parts.
    """
    denials = SceneDenials(sample_scenes("validation", num_clips, SEED))
    queries = []
    for row, draw in product(range(num_clips), range(DRAWS)):
        sentence = denials.draw(row, "typed", Random(f"typed {row} {draw}"))
        is_fitting = denials.fitting(sentence)
        if not is_fitting.any() or not denials.showing_both(sentence).any():
            continue
        relevant = row_array(np.flatnonzero(is_fitting))
        violating = row_array(np.flatnonzero(denials.showing_unwanted(sentence)))
        queries.append(
            JudgedQuery(
                kind="typed",
                text=sentence.text,
                relevant=relevant,
                violating=violating,
            )
        )
    return queries


def excess_weight(encoder: Encoder, videos: Vectors, queries: JudgedQueries) -> float:
    """Return the best α of `rectified` for the first page.

    It has the most right less violating clips among the first of typed sentences.
    """
    systems = [System(encoder.name, "rectified", weight) for weight in WEIGHTS]
    is_relevant = mask([query.relevant for query in queries], len(videos))
    is_violating = mask([query.violating for query in queries], len(videos))
    gains = {}
    searches = search_vectors(encoder, systems, queries)
    for weight, system, search in zip(WEIGHTS, systems, searches, strict=True):
        scores = score_table(search.vectors, videos, search.exclusions, gallery=videos)
        right = _percent_on_first_page(is_relevant, scores)
        violating = _percent_on_first_page(is_violating, scores)
        gains[weight] = right - violating
        logger.info("%s: right %.1f %%, violating %.1f %%", system.name, right, violating)
    return max(gains, key=gains.__getitem__)


def _percent_on_first_page(is_marked: Mask, scores: Vectors) -> float:
    """Return how many of the first clips of each query are marked; both arrays are (Q, N)."""
    best_first = np.argsort(-scores, axis=1, kind="stable")
    is_marked_first = np.take_along_axis(is_marked, best_first[:, :FIRST], axis=1)
    return 100 * float(is_marked_first.mean())


def _best(
    encoder: Encoder,
    strategy: str,
    grid: Sequence[float],
    videos: Vectors,
    benchmark: TextBenchmark,
) -> tuple[float, float]:
    """Return the largest mean that a strategy gets, and its strength; log all of them."""
    systems = [System(encoder.name, strategy, strength) for strength in grid]
    scores = []
    for result in benchmark.measure(encoder, systems, EmbeddedVideos(videos)):
        metrics = summarise(benchmark.queries, result.measured)
        mir = metrics[COMPOSED_MIR]
        hard_pairs = metrics[COMPOSED_HARD_PAIRS] / 100
        score = harmonic_mean((mir, hard_pairs))
        scores.append(score)
        logger.info(
            "%s: MIR %.3f, hard pairs %.1f %%, mean %.3f",
            result.system,
            mir,
            100 * hard_pairs,
            score,
        )
    best = max(scores)
    return best, grid[scores.index(best)]


def calibrate(folder: Path, benchmark: TextBenchmark, typed: JudgedQueries) -> None:
    encoder = read_checkpoint(folder)
    card = encoder.card
    videos = benchmark.embed(encoder, silent).vectors
    low_score = _low_score(encoder, videos, benchmark)

    chosen = strengths(encoder, videos, benchmark)
    encoder.card = card.replace(exclusion={**card.exclusion, **chosen})
    chosen[STRENGTHS["rectified"].word] = excess_weight(encoder, videos, typed)
    metrics = {**card.metrics, LOW_SCORE: round(low_score, 4)}
    exclusion = {**card.exclusion, **chosen}
    write_card(folder, card.replace(metrics=metrics, exclusion=exclusion))
    logger.info("%s: %s, low score %.4f", encoder.name, chosen, low_score)


def _low_score(encoder: Encoder, videos: Vectors, benchmark: TextBenchmark) -> float:
    """Return the score that the best clips of nearly all captions exceed."""
    captions = [query.text for query in _queries_of(benchmark, "original")]
    scores = encoder.encode_text(captions) @ averaged(videos).T
    best_scores = scores.max(axis=1)
    return float(np.quantile(best_scores, LOW_QUANTILE))


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument(
        "checkpoint", nargs="+", type=Path, help="folder of a checkpoint, whose card is written"
    )
    folders = parser.parse_args().checkpoint
    logging.basicConfig(level=logging.WARNING)
    logger.setLevel(logging.INFO)
    with TemporaryDirectory() as cache:
        benchmark = validation_queries(Path(cache))
        typed = typed_queries()
        for folder in folders:
            calibrate(folder, benchmark, typed)


if __name__ == "__main__":
    main()
