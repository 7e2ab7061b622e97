"""Pictures of some triplets that a run would train a fusion on, for people to check."""

import random
from contextlib import suppress
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nt2vr.datasets.covr import CovrSample, CovrSet, load_covr
from nt2vr.errors import ConfigError, MediaError
from nt2vr.media.decode import Decoder
from nt2vr.settings import resolve_path
from nt2vr.world import WORLD
from trainer.config import TrainConfig

SHOWN = 8


@dataclass(frozen=True, eq=False)
class ShownTriplet:
    """A triplet with the middle frames of its videos, (S, S, 3) uint8 RGB each."""

    sample: CovrSample
    reference: NDArray[np.uint8]
    target: NDArray[np.uint8]


def preview_triplets(config: TrainConfig) -> tuple[list[ShownTriplet], CovrSet]:
    """Draw triplets of a config's data whose files can be read, and decode them; also return the data."""
    if config.data == WORLD:
        raise ConfigError("The built-in world's families are not shown. Name a dataset of pictures plus texts.")
    dataset = load_covr(resolve_path(config.data), "train")
    rng, found = random.Random(config.seed), list[ShownTriplet]()
    with Decoder() as decoder:
        for sample in rng.sample(dataset.samples, min(2 * SHOWN, len(dataset.samples))):
            with suppress(MediaError):  # a run leaves such triplets out
                paths = (dataset.media[sample.reference], dataset.media[sample.targets[0]])
                jobs = [decoder.frames(path, 1, config.framing) for path in paths]
                found.append(ShownTriplet(sample, *(job.result()[0] for job in jobs)))
            if len(found) == SHOWN:
                break
    if not found:
        raise ConfigError(
            f"None of the videos of the first triplets of {dataset.name} can be read. Look at the files."
        )
    return found, dataset
