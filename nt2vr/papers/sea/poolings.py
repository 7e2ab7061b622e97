"""Projections of videos into the spaces of the text side.

In shapes, a video has F frames of length D, and there are K spaces: one in W2VV++, one per encoder of
texts in SEA. An embedding has a length of P in each space.
"""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Self

import torch
from torch import Tensor, nn
from torch.nn.functional import dropout, normalize

from nt2vr.models.pooling import ExtensionPooling
from nt2vr.models.weights import Weights
from nt2vr.papers.sea.settings import TextSideSettings

if TYPE_CHECKING:
    from trainer.config import TrainConfig

# Dropout of projections, as in W2VV++ and SEA.
DROPOUT = 0.2
# Most spaces that a file may list: all are built before their shapes are compared.
MAX_SPACES = 48


class Space(nn.Linear):
    """Linear layer into a space, then tanh and, in training, dropout; Xavier weights and no bias at first."""

    def __init__(self, width: int, size: int) -> None:
        """Project from a length of `width` to a length of `size`."""
        super().__init__(width, size)
        nn.init.xavier_uniform_(self.weight)
        nn.init.zeros_(self.bias)

    def forward(self, x: Tensor) -> Tensor:
        """Project (..., width) to (..., size)."""
        return dropout(torch.tanh(super().forward(x)), DROPOUT, self.training)


def join_spaces(vectors: Sequence[Tensor]) -> Tensor:
    """Join K vectors (..., P), one per space, to a unit vector (..., K P).

        joined = [v_1 / |v_1|, …, v_K / |v_K|] / √K

    The product of two such vectors is the mean of their cosines in the K spaces. SEA ranks by the
    sum, which gives the same order.
    """
    unit_vectors = [normalize(vector, dim=-1) for vector in vectors]
    return torch.cat(unit_vectors, dim=-1) / math.sqrt(len(vectors))


class Projection(ExtensionPooling):
    """Project the mean of the frames into one or several spaces, which are those of a text side too.

        pooled = join_spaces(S_1(mean f), …, S_K(mean f))       S: linear, tanh, dropout

    Sources: Li et al., "W2VV++", ACM MM 2019; Li et al., "SEA", IEEE Transactions on Multimedia
    2021.
    """

    # The mean is scaled to a length of √D first, whatever its own.
    scales_mean = False

    def __init__(self, width: int, size: int, spaces: int = 1) -> None:
        """Initialise at random, for frames of length `width` and `spaces` spaces of length `size`."""
        super().__init__()
        self.spaces = nn.ModuleList(Space(width, size) for _ in range(spaces))

    @classmethod
    def for_training(cls, config: "TrainConfig", width: int) -> Self:
        settings = config.section(TextSideSettings).word_settings
        assert settings is not None, "a config without words is refused with this pooling"
        return cls(width, settings.size, settings.number)

    @classmethod
    def read(cls, weights: Weights, width: int | None) -> Self:
        first = weights["spaces.0.weight"]
        # Each has a weight and a bias.
        num_spaces = min(MAX_SPACES, len(weights) // 2)
        return cls(width or first.shape[1], len(first), num_spaces)

    @property
    def width(self) -> int:
        return self.spaces[0].in_features  # type: ignore[return-value]

    @property
    def embed_dim(self) -> int:
        """Length of an embedding, in all spaces."""
        return sum(len(space.weight) for space in self.spaces)  # type: ignore[misc,arg-type]

    def forward(self, frames: Tensor) -> Tensor:
        """Pool (..., F, D) to (..., K P), L2-normalised."""
        mean = frames.mean(dim=-2)  # (..., D)
        if self.scales_mean:
            length = math.sqrt(mean.shape[-1])
            mean = normalize(mean, dim=-1) * length
        return join_spaces([space(mean) for space in self.spaces])


class UnitProjection(Projection):
    """The same of √D · mean f / |mean f| instead of the mean, for frames of length 1.

    Numbers of a unit vector are small; so scaled, their root mean square is 1.
    """

    scales_mean = True
    reads_mean = True
