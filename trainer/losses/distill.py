"""Negation distillation: the text tower learns a difference of embeddings. Used by CLIP-neg; not from the paper."""

from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import normalize

from trainer.inputs import Denied, EmbeddedBatch, InputFactories, Parts, given
from trainer.inputs.parts import PartVectors
from trainer.loss_settings import option


@dataclass(frozen=True)
class DistillLoss:
    """Move a negated sentence to where the frozen starting model T0 puts (wanted part) minus (unwanted part).

        target = normalise(T0(wanted) - alpha · (T0(unwanted) - centre · mean T0(unwanted)))
        target = normalise(start · mean video - T0(unwanted))                           if nothing is wanted
        loss = mean (1 - cos(sentence, target)) + keep · mean (1 - cos(caption, T0(caption)))

    The unwanted parts' mean is what all short phrases have in common, so it is not subtracted: it
    carries no meaning.

    A sentence that wants nothing starts from the mean of all videos, so that only the unwanted part
    orders them. A training without videos starts from the mean of many captions. This lies in
    another direction and orders videos by itself, so that `start` 0 is better there.

    The loss itself needs no videos, and no gradient reaches the visual tower or T0.
    """

    alpha: float = option(
        0.5, "weight of the subtracted unwanted part; more excludes better and costs composed R@k"
    )
    keep: float = option(1.0, "weight of the term that holds affirmative captions in place")
    centre: float = option(
        1.0, "weight of the unwanted parts' mean; 0 subtracts all of the unwanted part"
    )
    start: float = option(
        1.0, "weight of the mean video, from which sentences that want nothing start"
    )

    @property
    def inputs(self) -> InputFactories:
        """Denying sentences and their parts, and captions as the starting model embeds them if they are held."""
        return (Denied, partial(Parts, with_captions=bool(self.keep)))

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        parts = batch.of(Parts)
        target = self.target(parts)  # (B, D)
        to_target = (batch.of(Denied) * target).sum(dim=-1)  # (B,), cosines
        loss = (1 - to_target).mean()
        if not self.keep:
            return loss
        to_base = (batch.caption * given(parts.caption)).sum(dim=-1)  # (B,), cosines
        return loss + self.keep * (1 - to_base).mean()

    def target(self, parts: PartVectors) -> Tensor:
        """Return the sentences' target embeddings: (B, D), L2-normalised."""
        unwanted = parts.unwanted - self.centre * parts.unwanted_mean
        unwanted = torch.where(parts.idiom[:, None], 0.0, unwanted)
        with_wanted = parts.wanted - self.alpha * unwanted
        without_wanted = self.start * parts.video_mean - parts.unwanted
        target = torch.where(parts.pure[:, None], without_wanted, with_wanted)
        return normalize(target, dim=-1)
