"""Projections of videos into the spaces of the text side."""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, normalize

from nt2vr.models.pooling import ExtensionPooling
from nt2vr.papers.sea.settings import TextSideSettings

if TYPE_CHECKING:
    from trainer.config import TrainConfig

DROPOUT = 0.2  # of projections, as in W2VV++ and SEA
MAX_SPACES = 48  # of a file: each that it lists is built before its shapes are compared


class Space(nn.Linear):
    """Linear layer into a space, then tanh and, in training, dropout; Xavier weights and no bias at first."""

    def __init__(self, width: int, size: int) -> None:
        super().__init__(width, size)
        nn.init.xavier_uniform_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Project (..., W) to (..., P)."""
        return dropout(torch.tanh(super().forward(x)), DROPOUT, self.training)


def joined(spaces: Sequence[Tensor]) -> Tensor:
    """Join K vectors (..., P) to one of length 1: K times the product of two is the sum of their cosines."""
    return torch.cat([normalize(each, dim=-1) for each in spaces], dim=-1) / math.sqrt(len(spaces))


class Projection(ExtensionPooling):
    """Project the mean of the frames into one or several spaces, which are those of a text side too.

        pooled = joined([S_k(mean f) for each space k])      S: linear, tanh, dropout

    Sources: Li et al., "W2VV++", ACM MM 2019; Li et al., "SEA", IEEE Transactions on Multimedia
    2021.
    """

    unit: ClassVar[bool] = False

    def __init__(self, width: int, size: int, spaces: int = 1) -> None:
        """Initialise at random."""
        super().__init__()
        self.spaces = nn.ModuleList(Space(width, size) for _ in range(spaces))

    @classmethod
    def for_training(cls, config: "TrainConfig", width: int) -> Self:
        settings = config.section(TextSideSettings).word_settings
        assert settings is not None, "a config without words is refused with this pooling"
        return cls(width, settings.size, settings.number)

    @classmethod
    def read(cls, weights: Mapping[str, Tensor], width: int | None) -> Self:
        first = weights["spaces.0.weight"]
        return cls(width or first.shape[1], len(first), min(MAX_SPACES, len(weights) // 2))

    @property
    def width(self) -> int:
        return self.spaces[0].in_features  # type: ignore[return-value]

    @property
    def embed_dim(self) -> int:
        """Length of an embedding, in all spaces."""
        return sum(len(space.weight) for space in self.spaces)  # type: ignore[misc,arg-type]

    def forward(self, frames: Tensor) -> Tensor:
        """Pool (..., F, D) to (..., K P), L2-normalised."""
        mean = frames.mean(dim=-2)
        if self.unit:
            mean = normalize(mean, dim=-1) * math.sqrt(mean.shape[-1])
        return joined([space(mean) for space in self.spaces])


class UnitProjection(Projection):
    """The same of √D · mean f / |mean f| instead of the mean, for frames of length 1."""

    unit = True
    reads_mean = True
