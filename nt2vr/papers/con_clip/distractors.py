"""Distractors of CoN-CLIP: videos that show what a negated caption describes, mined by the starting model."""

from functools import partial
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.errors import ConfigError
from trainer import distributed
from trainer.config import TrainConfig
from trainer.inputs.base import Drawing, EmbeddedBatch, Input, Preparation, Towers
from trainer.inputs.frozen_texts import FrozenTexts, TextEncoder, embed_once
from trainer.inputs.negated import Negated, subject_and_object


class Sought(NamedTuple):
    """What to mine for this process's share of a batch."""

    parts: list[tuple[str, str]]  # b subjects and denied objects; empty texts for captions that have none
    rows: NDArray[np.int64]  # (b,) the captions' own clips, which are never their distractors
    pool: NDArray[np.int64]  # (P,) rows of the clips to choose among


class Distractors(Input[Sought, Tensor]):
    """A video per caption that shows what its negation describes: (B, D), L2-normalised; meaningless without one.

    Captions whose subject and denied object are not clear have none, and count as not negatable.
    """

    uses = (partial(Negated, is_parsed=True),)
    needs_frozen_videos = True

    def check(self, config: TrainConfig, loss: str) -> None:
        """Refuse what leaves the starting model no clips to choose among."""
        super().check(config, loss)
        if config.frames.features:
            raise ConfigError(f"{loss} needs videos as the base sees them. Leave it out, or leave features out.")

    def load(self, preparation: Preparation) -> None:
        """Load the starting model's text tower, and take over all clips."""
        assert preparation.videos is not None, "the visual tower is frozen, and the loss has videos"
        base = FrozenTexts.of_base(preparation.config, preparation.device)
        self.miner = Miner(base, preparation.videos, preparation.device)

    def draw(self, drawing: Drawing) -> Sought:
        """Tell what to mine, among random clips."""
        negated = drawing.of(Negated)
        parts: list[tuple[str, str]] = []
        for caption, text, is_negatable in zip(drawing.captions, negated.texts, negated.negatable, strict=True):
            subject_object = subject_and_object(caption.text, text) if is_negatable else None
            parts.append(subject_object or ("", ""))
        clips = np.random.default_rng(drawing.seed(2)).permutation(len(drawing.clips))
        pool = clips[: drawing.config.negation.pool_clips or None]
        return Sought(parts, drawing.rows[drawing.share], np.sort(pool))

    def embed(self, drawn: Sought, texts: Tensor, batch: EmbeddedBatch, towers: Towers) -> Tensor:
        """Choose the distractors, and look up their embeddings."""
        return distributed.gather(towers.stored_videos(self.miner.rows(drawn)))


class Miner:
    """Finds distractors among all training clips, (N, D), L2-normalised."""

    def __init__(self, encoder: TextEncoder, videos: NDArray[np.float32], device: str) -> None:
        self._encoder, self._device, self._videos = encoder, device, torch.from_numpy(videos).to(device)

    def rows(self, sought: Sought) -> Tensor:
        texts = [text for parts in zip(*sought.parts, strict=True) for text in parts]
        subjects, objects = embed_once(self._encoder, texts, self._device).chunk(2)
        pool, rows = (torch.from_numpy(some).to(self._device) for some in (sought.pool, sought.rows))
        same = pool == rows[:, None]  # (b, P)
        own = torch.where(same.any(dim=1), same.int().argmax(dim=1), -1)
        return pool[distractors(self._videos[pool], subjects, objects, own)]


def distractors(videos: Tensor, subjects: Tensor, objects: Tensor, own: Tensor) -> Tensor:
    """Choose the clip that is most like a subject and least like an object, other than the caption's own.

        argmax over x of  cos(x, subject) - cos(x, object)        (Eq. 4)

    Of (P, D) videos, (b, D) subjects and objects, all L2-normalised, and (b,) captions' own places, -1 for none,
    return (b,) places of videos; of equal ones, the first.

    Source: Singh et al., "Learn 'No' to Say 'Yes' Better", WACV 2025, Eq. 4.
    """
    scores = (subjects - objects) @ videos.T  # (b, P)
    scores[own >= 0, own[own >= 0]] = -torch.inf
    return scores.argmax(dim=1)
