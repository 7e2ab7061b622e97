"""`python -m trainer.report CHECKPOINT`: measure a finished model on test clips, beside an oracle, for its card.

Test clips are looked at here and nowhere else in training.
"""

import argparse
import logging
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import numpy as np

from nt2vr.checkpoint import read_checkpoint, write_card
from nt2vr.encoder import Encoder
from nt2vr.world.captions import Caption, describe
from nt2vr.world.scenes import Scene, sample_scenes
from nt2vr.world.table import SceneTable
from trainer.clips import world_clips
from trainer.ranks import KS
from trainer.validation import validate
from trainer.videos import embed_clips

logger = logging.getLogger("trainer.report")
NUM_CLIPS = 2_000
SEED = 7


def oracle_metrics(scenes: Sequence[Scene], captions: Sequence[Caption]) -> dict[str, float]:
    """R@k and MIR of one who reads the scenes: exact, but blind among the n clips that a caption fits.

        E[R@k] = min(k, n) / n        E[1 / rank] = (1 + 1/2 + … + 1/n) / n

    No model can be expected to do better on these captions.
    """
    table = SceneTable(scenes)
    fitting = np.array([table.holding(caption.claim).sum() for caption in captions])
    recalls = {f"R@{k}": 100 * float((np.minimum(k, fitting) / fitting).mean()) for k in KS}
    harmonic = np.cumsum(1 / np.arange(1, fitting.max() + 1))
    return {**recalls, "MIR": float((harmonic[fitting - 1] / fitting).mean())}


def measure(encoder: Encoder, cache: Path) -> dict[str, float]:
    """Measure on NUM_CLIPS test clips what `validate` does, and what an oracle reaches with the same captions."""
    clips = world_clips("test", NUM_CLIPS, encoder.num_frames, encoder.image_size, SEED, cache)
    scenes = sample_scenes("test", NUM_CLIPS, SEED)
    captions = [
        describe(scene, Random(f"validation {row}")) for row, scene in enumerate(scenes)
    ]  # those of `validate`
    groups = {
        "test": validate(encoder, clips),
        "oracle/original": oracle_metrics(scenes, captions),
        "validation": {"low_score": low_score(encoder, cache)},
    }
    return {f"{group}/{name}": round(value, 4) for group, values in groups.items() for name, value in values.items()}


def low_score(encoder: Encoder, cache: Path) -> float:
    """Best score that 99% of validation captions exceed: below it the page says that nothing fits well."""
    clips = world_clips("validation", NUM_CLIPS // 2, encoder.num_frames, encoder.image_size, SEED, cache)
    best = (encoder.encode_text(clips.captions("validation")) @ embed_clips(encoder, clips).T).max(axis=1)
    return float(np.quantile(best, 0.01))


def main() -> None:
    """Measure, log, and write the card."""
    parser = argparse.ArgumentParser(prog="python -m trainer.report", description=__doc__)
    parser.add_argument("checkpoint", type=Path)
    folder: Path = parser.parse_args().checkpoint
    logging.basicConfig(level=logging.WARNING)
    logger.setLevel(logging.INFO)
    encoder = read_checkpoint(folder, verify=True)
    with TemporaryDirectory() as cache:
        measured = measure(encoder, Path(cache))
    kept = {name: value for name, value in encoder.card.metrics.items() if not name.startswith(("test/", "oracle/"))}
    write_card(folder, replace(encoder.card, metrics={**kept, **measured}))
    for name, value in measured.items():
        logger.info("%s %.4g", name, value)


if __name__ == "__main__":
    main()
