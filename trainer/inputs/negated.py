"""Captions with one thing denied."""

from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nt2vr.evaluation.queries import Mask
from trainer import distributed
from trainer.data.sentences import DrawnCaption
from trainer.inputs.base import Drawing, EmbeddedBatch, Input, Preparation, Towers


class NegatedCaptions(NamedTuple):
    """b captions with one thing denied in each; those that cannot be negated are as they were.

    Attributes:
        negatable: (b,), True for those that could be.
    """

    texts: list[str]
    negatable: Mask


class EmbeddedNegated(NamedTuple):
    """Captions with one thing denied in each.

    Attributes:
        text: (B, D), L2-normalised.
        negatable: (B,) bool, True for captions that could be negated; None if all could.
    """

    text: Tensor
    negatable: Tensor | None = None


class Negated(Input[NegatedCaptions, EmbeddedNegated]):
    """The batch's captions, with one thing in each denied."""

    def example_texts(self, row: int, caption: DrawnCaption, preparation: Preparation) -> list[str]:
        """Negate the caption."""
        negated = caption.negate()
        return [] if negated is None else [negated]

    def draw(self, drawing: Drawing) -> NegatedCaptions:
        """Draw a negation of each caption; the others stand for themselves."""
        texts = []
        negatable = []
        for caption in drawing.captions:
            negated = caption.negate()
            texts.append(negated or caption.text)
            negatable.append(negated is not None)
        return NegatedCaptions(texts, np.array(negatable))

    def texts(self, drawn: NegatedCaptions) -> list[str]:
        """Return the negated captions."""
        return drawn.texts

    def embed(
        self, drawn: NegatedCaptions, texts: Tensor, batch: EmbeddedBatch, towers: Towers
    ) -> EmbeddedNegated:
        """Gather those of all processes."""
        text = distributed.gather(texts)
        own_negatable = torch.from_numpy(drawn.negatable).to(towers.device)
        negatable = distributed.gather(own_negatable)
        if negatable.all():
            return EmbeddedNegated(text)
        return EmbeddedNegated(text, negatable)
