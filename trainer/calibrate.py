"""`python -m trainer.calibrate CHECKPOINT …`: choose on validation clips what a model's card says of searching.

These are the strengths of `anchored` (λ), `spherical` (t) and `rectified` (α, with τ), and the
score below which the page says that nothing fits well. λ, t and τ maximise the harmonic mean of
composed MIR and hard pairs: MIR alone can be won by ignoring the unwanted part, and hard pairs
alone by ignoring the wanted one. α, with which searches exclude by default, maximises what people
see first: right less violating clips among the first eight of typed sentences.
"""

import logging
import random
from argparse import ArgumentParser
from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from statistics import harmonic_mean
from tempfile import TemporaryDirectory

import numpy as np

from nt2vr.evaluation.built_in import world_benchmark
from nt2vr.evaluation.embed_media import EmbeddedVideos, Vectors
from nt2vr.evaluation.measures import summarise
from nt2vr.evaluation.metric_names import COMPOSED_HARD_PAIRS, COMPOSED_MIR
from nt2vr.evaluation.queries import JudgedQuery, mask, row_array
from nt2vr.evaluation.scoring import score_table
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.evaluation.text_systems import parse_query, search_vectors
from nt2vr.models.card import write_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.progress import silent
from nt2vr.search.exclusion import averaged
from nt2vr.search.searcher import LOW_SCORE
from nt2vr.search.strategies import STRENGTHS, System
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.sentences import SceneDenials

logger = logging.getLogger("trainer.calibrate")
NUM_CLIPS, SEED = 1_000, 0  # the clips that the shipped models were validated on
LOW_QUANTILE = 0.01  # of captions' best scores
GRIDS: dict[str, Sequence[float]] = {
    "anchored": [step / 10 for step in range(61)],  # 0 to 6
    "spherical": [step / 200 for step in range(160, 201)],  # .8 to 1
}
# up to 10, and τ up to 1.5 deviations, gained .002 on CLIP and .001 on CLIP-neg: trainer/LOG.md
WEIGHTS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)  # α of `rectified`
FIRST, DRAWS = 8, 4  # clips that people see first; typed sentences per scene
DEVIATIONS = (
    0.0,
    0.25,
    0.5,
    0.75,
    1.0,
)  # τ of `rectified`, above the mean s(clip, unwanted) of all clips and parts


def validation_queries(cache: Path, num_clips: int = NUM_CLIPS) -> TextBenchmark:
    return world_benchmark(cache, num_clips, SEED, "validation", num_pairs=0)


def strengths(encoder: Encoder, videos: Vectors, benchmark: TextBenchmark) -> dict[str, float]:
    """Return the best λ, t and τ by their keys in a card."""
    benchmark = replace(
        benchmark, queries=tuple(query for query in benchmark.queries if query.kind == "composed")
    )
    best: dict[str, float] = {}
    for strategy, grid in GRIDS.items():
        _, best[STRENGTHS[strategy].word] = _best(encoder, strategy, grid, videos, benchmark)
    parts = sorted({part for query in benchmark.queries for part in query.unwanted})
    similarities = encoder.encode_text(parts) @ averaged(videos).T
    mean, deviation = float(similarities.mean()), float(similarities.std(axis=1).mean())
    found = []
    for tau in (round(mean + share * deviation, 3) for share in DEVIATIONS):
        encoder.card = encoder.card.replace(exclusion={**encoder.card.exclusion, "tau": tau})
        found.append((*_best(encoder, "rectified", WEIGHTS, videos, benchmark), tau))
    *_, tau = max(found)
    return {**best, "tau": tau}


def typed_queries(num_clips: int = NUM_CLIPS) -> list[JudgedQuery]:
    """Return sentences as people type them about the same clips, of which some are right and some show both parts."""
    denials, queries = SceneDenials(sample_scenes("validation", num_clips, SEED)), []
    for row, draw in product(range(num_clips), range(DRAWS)):
        sentence = denials.draw(row, "typed", random.Random(f"typed {row} {draw}"))
        fitting, shown = denials.fitting(sentence), denials.showing_unwanted(sentence)
        if fitting.any() and denials.showing_both(sentence).any():
            relevant, violating = (row_array(np.flatnonzero(some)) for some in (fitting, shown))
            queries.append(JudgedQuery("typed", sentence.text, relevant, violating=violating))
    return queries


def excess_weight(encoder: Encoder, videos: Vectors, queries: Sequence[JudgedQuery]) -> float:
    """Return the α of `rectified` with the most right less violating clips among the first of typed sentences."""
    systems, gains = [System(encoder.name, "rectified", weight) for weight in WEIGHTS], []
    relevant, violating = (
        mask([getattr(query, name) for query in queries], len(videos))
        for name in ("relevant", "violating")
    )
    asked = search_vectors(encoder, systems, queries, parse_query)
    for system, (vectors, exclusions) in zip(systems, asked, strict=True):
        first = np.argsort(
            -score_table(vectors, videos, exclusions, videos), axis=1, kind="stable"
        )[:, :FIRST]
        right, wrong = (
            100 * np.take_along_axis(some, first, axis=1).mean() for some in (relevant, violating)
        )
        gains.append(right - wrong)
        logger.info("%s: right %.1f %%, violating %.1f %%", system.name, right, wrong)
    return WEIGHTS[int(np.argmax(gains))]


def _best(
    encoder: Encoder,
    strategy: str,
    grid: Sequence[float],
    videos: Vectors,
    benchmark: TextBenchmark,
) -> tuple[float, float]:
    """Return the largest mean that a strategy gets, and its strength; log what each gets."""
    systems, scores = [System(encoder.name, strategy, strength) for strength in grid], []
    for result in benchmark.measure(encoder, systems, EmbeddedVideos(videos)):
        metrics = summarise(benchmark.queries, result.measured)
        mir, pairs = metrics[COMPOSED_MIR], metrics[COMPOSED_HARD_PAIRS] / 100
        scores.append(harmonic_mean((mir, pairs)))
        logger.info(
            "%s: MIR %.3f, hard pairs %.1f %%, mean %.3f",
            result.system,
            mir,
            100 * pairs,
            scores[-1],
        )
    return max(scores), grid[scores.index(max(scores))]


def calibrate(folder: Path, benchmark: TextBenchmark, typed: Sequence[JudgedQuery]) -> None:
    encoder = read_checkpoint(folder)
    card, videos = encoder.card, benchmark.embed(encoder, silent).vectors
    captions = [query.text for query in benchmark.queries if query.kind == "original"]
    best = (encoder.encode_text(captions) @ averaged(videos).T).max(axis=1)
    low, chosen = float(np.quantile(best, LOW_QUANTILE)), strengths(encoder, videos, benchmark)
    encoder.card = card.replace(exclusion={**card.exclusion, **chosen})
    chosen[STRENGTHS["rectified"].word] = excess_weight(encoder, videos, typed)
    metrics = {**card.metrics, LOW_SCORE: round(low, 4)}
    write_card(folder, card.replace(metrics=metrics, exclusion={**card.exclusion, **chosen}))
    logger.info("%s: %s, low score %.4f", encoder.name, chosen, low)


def main() -> None:
    parser = ArgumentParser(description=__doc__)
    parser.add_argument(
        "checkpoint", nargs="+", type=Path, help="folder of a checkpoint, whose card is written"
    )
    folders = parser.parse_args().checkpoint
    logging.basicConfig(level=logging.WARNING)
    logger.setLevel(logging.INFO)
    with TemporaryDirectory() as cache:
        benchmark, typed = validation_queries(Path(cache)), typed_queries()
        for folder in folders:
            calibrate(folder, benchmark, typed)


if __name__ == "__main__":
    main()
