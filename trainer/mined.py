"""Mined quadruples of CoN-CLIP, for people to check: a caption and its negation, a clip of each.

A preview mines among the first clips only, so that it needs no more than seconds where their embeddings are known.
"""

import random
from collections.abc import Set
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from nt2vr.errors import ConfigError
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.pooling import Mean
from trainer.config import TrainConfig
from trainer.data.batches import epoch_batches
from trainer.data.clips import ClipLoader, Clips
from trainer.losses import losses_of
from trainer.teacher import Miner

SHOWN = 8
MOST_CLIPS = 400  # that a preview mines among
BATCH = 32  # captions of a preview, as some cannot be negated or parsed


@dataclass(frozen=True)
class Quadruple:
    """A caption with its negation, the row of its clip, and that of the distractor mined for the negation.

    The distractor should show `subject` and not what is `denied`; `shown` is a caption of it.
    """

    caption: str
    negated: str
    clip: int
    distractor: int
    subject: str
    denied: str
    shown: str

    def __str__(self) -> str:
        """Describe the distractor in a line of a log."""
        sought = f"{self.subject}, not {self.denied}"
        return f'Distractor for "{self.negated}" ({sought}): "{self.shown}" (clip {self.distractor}).'


def quadruples(miner: Miner, clips: Clips, config: TrainConfig, needs: Set[str]) -> list[Quadruple]:
    """Return the first quadruples of the first batch; at most `SHOWN`."""
    batch = next(epoch_batches(clips, config, epoch=1, needs=needs))
    assert batch.sought and batch.negated, "the losses need them"
    rows = zip(
        batch.captions, batch.negated, batch.sought.rows.tolist(), miner.rows(batch.sought).tolist(), strict=True
    )
    found = []
    for (caption, negated, clip, distractor), (subject, denied) in zip(rows, batch.sought.parts, strict=True):
        if subject:
            shown = clips.sentences.caption(distractor, random.Random(distractor))
            found.append(Quadruple(caption, negated, clip, distractor, subject, denied, shown))
    return found[:SHOWN]


def mean_of_frames(videos: NDArray[np.float32]) -> NDArray[np.float32]:
    """Average the embeddings of frames (N, F, D) of a pooling that learns: (N, D); others stay."""
    return Mean()(torch.from_numpy(videos)).numpy() if videos.ndim > 2 else videos


def preview(config: TrainConfig, cache: Path) -> tuple[list[Quadruple], Clips]:
    """Mine among the first `MOST_CLIPS` clips of a config's data, without training: the quadruples, and the clips."""
    needs = losses_of(config).needs
    if "distractors" not in needs:
        raise ConfigError("Nothing is mined. Turn on captions or distractors of the loss con.")
    base = config.base_folder
    assert base, "guaranteed by the config"
    count = min(config.num_clips, MOST_CLIPS)
    config = replace(config, num_clips=count, batch_size=min(BATCH, count), accumulate=1)
    clips, encoder = ClipLoader(config, cache, needs).load("train"), read_checkpoint(base)
    found = quadruples(Miner(encoder, mean_of_frames(clips.embedded_once(encoder)), "cpu"), clips, config, needs)
    if not found:
        raise ConfigError("None of the first captions can be negated by rules. Look at the captions of the data.")
    return found, clips
