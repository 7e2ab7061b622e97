"""`python -m trainer.strengths CHECKPOINT …`: choose λ, t, and τ with α of `rectified` on validation clips.

All maximise the harmonic mean of composed MIR and hard pairs. MIR alone can be won by ignoring the unwanted part, and
hard pairs alone by ignoring the wanted one.
"""

import argparse
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from statistics import harmonic_mean
from tempfile import TemporaryDirectory

from nt2vr.evaluation.benchmark import Benchmark, Vectors
from nt2vr.evaluation.built_in import world_benchmark
from nt2vr.evaluation.measures import summarise
from nt2vr.evaluation.protocol import ask
from nt2vr.models.card import write_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.progress import silent
from nt2vr.search.exclusion import averaged
from nt2vr.search.strategies import STRENGTHS
from nt2vr.search.systems import System

logger = logging.getLogger("trainer.strengths")

NUM_CLIPS, SEED = 1_000, 0  # the clips that the shipped models were validated on
GRIDS: dict[str, Sequence[float]] = {
    "anchored": [step / 10 for step in range(61)],  # 0 to 6
    "spherical": [step / 200 for step in range(160, 201)],  # .8 to 1
}
# up to 10, and τ up to 1.5 deviations, gained .002 on CLIP and .001 on CLIP-neg: trainer/LOG.md
WEIGHTS = (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0)  # α of `rectified`
DEVIATIONS = (0.0, 0.25, 0.5, 0.75, 1.0)  # τ of `rectified`, above the mean s(clip, unwanted) of all clips and parts


def validation_queries(cache: Path, num_clips: int = NUM_CLIPS) -> Benchmark:
    benchmark = world_benchmark(cache, num_clips, SEED, "validation", num_pairs=0)
    return replace(benchmark, queries=tuple(query for query in benchmark.queries if query.kind == "composed"))


def choose(encoder: Encoder, benchmark: Benchmark) -> dict[str, float]:
    """Return the best strength of each strategy in GRIDS, by its key in a card, and log what each strength gets."""
    videos, best = benchmark.embed(encoder, silent), dict[str, float]()
    for strategy, strengths in GRIDS.items():
        _, best[STRENGTHS[strategy].word] = _best(encoder, strategy, strengths, videos, benchmark)
    return best | choose_rectified(encoder, videos, benchmark)


def choose_rectified(encoder: Encoder, videos: Vectors, benchmark: Benchmark) -> dict[str, float]:
    """Return τ and α of `rectified`, by their keys in a card; a τ is the same for all galleries and parts."""
    parts = sorted({part for query in benchmark.queries for part in query.unwanted})
    similarities = encoder.encode_text(parts) @ averaged(videos).T
    mean, deviation = float(similarities.mean()), float(similarities.std(axis=1).mean())
    found = []
    for tau in (round(mean + share * deviation, 3) for share in DEVIATIONS):
        encoder.card = replace(encoder.card, exclusion={**encoder.card.exclusion, "tau": tau})
        logger.info("τ %.3f", tau)
        found.append((*_best(encoder, "rectified", WEIGHTS, videos, benchmark), tau))
    _, weight, tau = max(found)
    return {STRENGTHS["rectified"].word: weight, "tau": tau}


def _best(
    encoder: Encoder, strategy: str, strengths: Sequence[float], videos: Vectors, benchmark: Benchmark
) -> tuple[float, float]:
    """Return the largest mean that a strategy gets, and its strength; log what each gets."""
    systems = [System(encoder.name, strategy, strength) for strength in strengths]
    scores = []
    for system, measured in zip(systems, ask(encoder, systems, videos, benchmark), strict=True):
        metrics = summarise(benchmark.queries, measured)
        mir, pairs = metrics["composed/MIR"], metrics["composed/hard_pairs"] / 100
        scores.append(harmonic_mean((mir, pairs)))
        logger.info("%s: MIR %.3f, hard pairs %.1f %%, mean %.3f", system.name, mir, 100 * pairs, scores[-1])
    return max(scores), strengths[scores.index(max(scores))]


def update(folder: Path, benchmark: Benchmark) -> None:
    """Choose for one model, and write its card."""
    encoder = read_checkpoint(folder)
    best = choose(encoder, benchmark)
    write_card(folder, replace(encoder.card, exclusion={**encoder.card.exclusion, **best}))
    logger.info("%s: %s", encoder.name, best)


def main() -> None:
    """Choose, and write the cards."""
    parser = argparse.ArgumentParser(prog="python -m trainer.strengths", description=__doc__)
    parser.add_argument("checkpoints", type=Path, nargs="+", metavar="CHECKPOINT")
    parser.add_argument("--cache", type=Path, help="folder for the clips (default: a temporary one)")
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    logger.setLevel(logging.INFO)
    with TemporaryDirectory() as temporary:
        benchmark = validation_queries(options.cache or Path(temporary))
        for folder in options.checkpoints:
            update(folder, benchmark)


if __name__ == "__main__":
    main()
