"""`python -m trainer.measure CHECKPOINT …`: measure models, and update their cards.

No other part of the trainer uses test clips.
"""

import argparse
import logging
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from nt2vr.evaluation.built_in import NUM_CLIPS, SEED, world_benchmark
from nt2vr.evaluation.measures import summarise
from nt2vr.evaluation.protocol import ask
from nt2vr.models.card import write_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.progress import silent
from nt2vr.search.systems import System
from trainer.data.clips import world_clips

logger = logging.getLogger("trainer.measure")


def measure(encoder: Encoder, cache: Path) -> dict[str, float]:
    """Compute the evaluation's measures on test clips, for the model and for an oracle with the same captions."""
    benchmark = world_benchmark(cache, num_pairs=0)
    (measured,) = ask(encoder, [System(encoder.name)], benchmark.embed(encoder, silent), benchmark)
    groups = {
        "test": summarise(benchmark.queries, measured),
        "oracle": benchmark.references["oracle"],
        "validation": {"low_score": low_score(encoder, cache)},
    }
    return {f"{group}/{name}": round(value, 4) for group, values in groups.items() for name, value in values.items()}


def low_score(encoder: Encoder, cache: Path) -> float:
    """Return the 1st percentile of validation captions' best scores; below it the page says that nothing fits well."""
    clips = world_clips("validation", NUM_CLIPS // 2, encoder.num_frames, encoder.card.framing, SEED, cache)
    best = (encoder.encode_text(clips.captions("validation")) @ clips.embeddings(encoder).T).max(axis=1)
    return float(np.quantile(best, 0.01))


def main() -> None:
    """Measure the checkpoints, log the values and write the cards."""
    parser = argparse.ArgumentParser(prog="python -m trainer.measure", description=__doc__)
    parser.add_argument("checkpoints", type=Path, nargs="+", metavar="CHECKPOINT")
    parser.add_argument("--notes", help="text for the cards: where the models fall short, and compared with what")
    options = parser.parse_args()
    logging.basicConfig(level=logging.WARNING)
    logger.setLevel(logging.INFO)
    with TemporaryDirectory() as cache:
        for folder in options.checkpoints:
            report(folder, Path(cache), options.notes)


def report(folder: Path, cache: Path, notes: str | None = None) -> None:
    """Measure one model and write its card; existing notes stay unless new ones are given."""
    encoder = read_checkpoint(folder, verify=True)
    measured = measure(encoder, cache)
    other = {name: value for name, value in encoder.card.metrics.items() if not name.startswith(("test/", "oracle/"))}
    card = replace(encoder.card, metrics={**other, **measured})
    write_card(folder, card if notes is None else replace(card, notes=notes))
    for name, value in measured.items():
        logger.info("%s: %s %.4g", encoder.name, name, value)


if __name__ == "__main__":
    main()
