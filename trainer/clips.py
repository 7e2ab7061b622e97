"""What is trained on: frames, made once and kept on disk, and captions, told anew each time.

Only this module knows where data comes from: the built-in world, or a dataset of video files.
"""

import logging
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nt2vr.datasets import load_dataset, sample
from nt2vr.errors import ConfigError
from nt2vr.frames import Progress
from nt2vr.language.negator import negations
from nt2vr.world.captions import describe
from nt2vr.world.clips import ClipFile
from nt2vr.world.scenes import Split, sample_scenes
from nt2vr.world.sentences import Sentences
from trainer.config import WORLD, TrainConfig
from trainer.frames import decode_videos

logger = logging.getLogger(__name__)
Negator = Callable[[str], tuple[str, ...]]  # every way to deny one thing of a caption


@dataclass(frozen=True, eq=False)
class ClipSet:
    """Clips to train or to validate on.

    Attributes:
        frames: (N, F, S, S, 3) uint8 RGB, maybe on disk.
        describe: a caption of clip `row`, drawn with the generator given.
        sentences: draws sentences that deny something and knows what they are true of; the built-in world's alone.
        path: where the frames are kept; None if nowhere.
        negate: denies one thing of the caption that `describe` draws with an equal generator; None if nothing can be
            denied. Where there are sentences, they do that.
        name: what people call the data they come from.
    """

    frames: NDArray[np.uint8]
    describe: Callable[[int, random.Random], str]
    sentences: Sentences | None = None
    path: Path | None = None
    negate: Callable[[int, random.Random], str | None] | None = None
    name: str = "unnamed"

    def __len__(self) -> int:
        """How many clips."""
        return len(self.frames)

    def captions(self, seed: str) -> list[str]:
        """One caption of each clip; the same seed gives the same ones."""
        return [self.describe(row, random.Random(f"{seed} {row}")) for row in range(len(self))]

    def negated(self, seed: str) -> list[str | None]:
        """Those captions, one thing in each denied; None where nothing can be."""
        return [self.negated_caption(row, random.Random(f"{seed} {row}")) for row in range(len(self))]

    def negated_caption(self, row: int, rng: random.Random) -> str | None:
        """Deny one thing of the caption that `describe` draws with an equal generator.

        Raises:
            ConfigError: if the clips cannot give that.
        """
        if self.sentences is not None:
            return self.sentences.negated(row, rng).text
        if self.negate is None:
            raise ConfigError("These clips have captions only, but a loss needs negated ones. Remove it.")
        return self.negate(row, rng)


def load_clips(
    config: TrainConfig,
    split: Literal["train", "validation"],
    cache: Path,
    should_stop: Callable[[], bool] = lambda: False,
) -> ClipSet:
    """Make or read the clips that a config trains or validates on.

    Args:
        config: says which, and at most how many.
        split: which of both.
        cache: folder where frames are kept.
        should_stop: asked again and again.

    Raises:
        ConfigError: if a dataset has fewer training clips than a batch.
        DatasetError: if a dataset cannot be used.
        InterruptedError: if `should_stop` said so.
    """
    count = config.num_clips if split == "train" else config.validation_clips
    if config.data == WORLD:
        return world_clips(split, count, config.num_frames, config.image_size, config.seed, cache, should_stop)
    return dataset_clips(config, split, count, cache, should_stop)


def dataset_clips(
    config: TrainConfig,
    split: Literal["train", "validation"],
    count: int,
    cache: Path,
    should_stop: Callable[[], bool] = lambda: False,
    negator: Negator = negations,
) -> ClipSet:
    """At most `count` clips of a dataset, the same ones each time; arguments and errors as for `load_clips`."""
    dataset = load_dataset(config.data, split, config.validation_clips)
    videos = sample(dataset.videos, count)
    if split == "train":
        load_dataset(config.data, "validation", config.validation_clips)  # fails now, not when all is decoded
        for remark in dataset.remarks:
            logger.warning(remark)
        if len(videos) < config.batch_size:
            raise ConfigError(
                f"{dataset.name} has {len(videos)} clips to train on, too few for a batch_size of "
                f"{config.batch_size}. Make it smaller."
            )
    videos, frames, path = decode_videos(videos, config.num_frames, config.image_size, cache, should_stop)

    def describe_video(row: int, rng: random.Random) -> str:
        return rng.choice(videos[row].captions)

    def negate(row: int, rng: random.Random) -> str | None:
        found = negator(describe_video(row, rng))
        return rng.choice(found) if found else None

    return ClipSet(frames, describe_video, path=path, negate=negate, name=dataset.name)


def world_clips(
    split: Split,
    count: int,
    num_frames: int,
    size: int,
    seed: int,
    cache: Path,
    should_stop: Callable[[], bool] = lambda: False,
) -> ClipSet:
    """Clips of the built-in world; what was rendered once is read from `cache`.

    Raises:
        InterruptedError: if `should_stop` said so while they were rendered.
    """
    scenes = sample_scenes(split, count, seed)
    file = ClipFile.of(split, scenes, num_frames, size, cache)
    with progress_bar("drawing") as progress:
        frames = file.frames(progress, should_stop)
    sentences = Sentences(scenes)
    return ClipSet(
        frames, lambda row, rng: describe(scenes[row], rng).text, sentences, file.path, name="built-in world"
    )


@contextmanager
def progress_bar(doing: str) -> Iterator[Progress]:
    """Show progress at a terminal."""
    with tqdm(desc=doing, unit="clip", disable=None) as bar:

        def show(done: int, total: int) -> None:
            bar.total = total
            bar.update(done - bar.n)

        yield show
