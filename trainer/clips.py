"""What is trained on: frames, made once and kept on disk, and captions, told anew each time.

Only this module knows where data comes from: the built-in world, a dataset of video files, or captions alone.
"""

import logging
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nt2vr.datasets import load_dataset, sample
from nt2vr.errors import ConfigError
from nt2vr.media.frame_set import decode_videos
from nt2vr.progress import Progress
from nt2vr.querygen.denials import CaptionDenials
from nt2vr.querygen.negator import negations
from nt2vr.world.captions import describe
from nt2vr.world.clips import ClipFile
from nt2vr.world.scenes import Split, sample_scenes
from nt2vr.world.sentences import Sentences
from trainer.captions import denials_of, read_split
from trainer.config import WORLD, TrainConfig

logger = logging.getLogger(__name__)
MOST_PARSED = 40_000  # captions of a dataset with videos that denying sentences are made of: a minute's work
MOST_FREE = 8_000  # of the built-in world's, which are long and much alike
Negator = Callable[[str], tuple[str, ...]]  # every way to deny one thing of a caption


@dataclass(frozen=True, eq=False)
class ClipSet:
    """Clips to train or to validate on.

    Attributes:
        frames: (N, F, S, S, 3) uint8 RGB, maybe on disk; F is 0 where only captions are read.
        describe: a caption of clip `row`, drawn with the generator given.
        sentences: draws sentences that deny something and knows what they are true of; the built-in world's alone.
        denials: makes such of captions; None if no loss asks for that.
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
    denials: CaptionDenials | None = None

    def __len__(self) -> int:
        """How many clips."""
        return len(self.frames)

    @property
    def has_videos(self) -> bool:
        """Whether there is something to look at."""
        return bool(self.frames.shape[1])

    @property
    def unit(self) -> str:
        """What there are `len` of."""
        return "clips" if self.has_videos else "captions"

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
    needs: frozenset[str] = frozenset({"video"}),
) -> ClipSet:
    """Make or read the clips that a config trains or validates on.

    Args:
        config: says which, and at most how many.
        split: which of both.
        cache: folder where frames are kept.
        should_stop: asked again and again.
        needs: what the losses need, see `WeightedLosses.needs`. Where that is no video, only captions are read of
            anything but the built-in world.

    Raises:
        ConfigError: if a dataset has fewer training clips than a batch.
        DatasetError: if a dataset cannot be used.
        InterruptedError: if `should_stop` said so.
    """
    count = config.num_clips if split == "train" else config.validation_clips
    if config.data == WORLD:
        clips = world_clips(split, count, config.num_frames, config.image_size, config.seed, cache, should_stop)
        if "denied" in needs and config.free and split == "train":
            rows = range(min(len(clips), MOST_FREE))
            told = [clips.describe(row, random.Random(f"{config.seed} free {row}")) for row in rows]
            clips = replace(clips, denials=denials_of(told, should_stop))
        return clips
    if "video" in needs:
        return dataset_clips(config, split, count, cache, should_stop, needs=needs)
    return caption_clips(config, split, should_stop)


def caption_clips(
    config: TrainConfig, split: Literal["train", "validation"], should_stop: Callable[[], bool] = lambda: False
) -> ClipSet:
    """Captions alone: each stands for a clip that nobody looks at; arguments and errors as for `load_clips`."""
    name, captions = read_split(config, split)
    if split == "train":
        read_split(config, "validation")  # fails now, not when all is parsed
        _refuse_too_few(name, len(captions), "captions", config)
    frames = np.empty((len(captions), 0, 1, 1, 3), np.uint8)
    return ClipSet(frames, lambda row, _: captions[row], name=name, denials=denials_of(captions, should_stop))


def _refuse_too_few(name: str, count: int, what: str, config: TrainConfig) -> None:
    if count < config.batch_size:
        raise ConfigError(
            f"{name} has {count} {what} to train on, too few for a batch_size of {config.batch_size}. Make it smaller."
        )


def dataset_clips(
    config: TrainConfig,
    split: Literal["train", "validation"],
    count: int,
    cache: Path,
    should_stop: Callable[[], bool] = lambda: False,
    negator: Negator = negations,
    needs: frozenset[str] = frozenset(),
) -> ClipSet:
    """At most `count` clips of a dataset, the same ones each time; arguments and errors as for `load_clips`."""
    dataset = load_dataset(config.data, split, config.validation_clips)
    videos = sample(dataset.videos, count)
    if split == "train":
        load_dataset(config.data, "validation", config.validation_clips)  # fails now, not when all is decoded
        for remark in dataset.remarks:
            logger.warning(remark)
        _refuse_too_few(dataset.name, len(videos), "clips", config)
    size = config.image_size
    with progress_bar("checking videos") as progress:
        videos, frames, path = decode_videos(videos, config.num_frames, size, cache, progress, should_stop)

    def describe_video(row: int, rng: random.Random) -> str:
        return rng.choice(videos[row].captions)

    def negate(row: int, rng: random.Random) -> str | None:
        found = negator(describe_video(row, rng))
        return rng.choice(found) if found else None

    denials = None
    if "denied" in needs:
        most = -(-MOST_PARSED // len(videos))
        denials = denials_of([caption for video in videos for caption in video.captions[:most]], should_stop)
    return ClipSet(frames, describe_video, path=path, negate=negate, name=dataset.name, denials=denials)


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

        def show(done: int, total: int, doing: str) -> None:
            bar.set_description(doing, refresh=False)
            bar.total = total
            bar.update(done - bar.n)

        yield show
