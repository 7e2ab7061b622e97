"""Composers of extensions: learned modules that make one query vector of a picture and a text.

A checkpoint folder has the weights of one beside its towers, in NAME.safetensors.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from nt2vr.extension import composers, load
from nt2vr.models.card import extension_file

if TYPE_CHECKING:
    from torch import Tensor

Vectors = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class PictureQuery:
    """Embeddings of one query with a picture, or of many: (..., D), unit vectors; zeros for what a query lacks."""

    picture: Vectors
    sentence: Vectors
    wanted: Vectors
    # The sum of its unwanted parts.
    unwanted: Vectors
    # (..., T, D) of the sentence, for a composer that reads tokens; zeros pad.
    tokens: Vectors | None = None
    # (..., F, D) of the references, likewise.
    frames: Vectors | None = None


class Composer(ABC):
    """What a composer of `Extension.composers` is.

    Attributes:
        name: as in `Extension.composers`.
    """

    name: ClassVar[str]

    @classmethod
    @abstractmethod
    def read(cls, weights: "Mapping[str, Tensor]", width: int) -> Self:
        """Build the one of a file, for embeddings of a length of `width`.

        Modules get no random weights meanwhile, and tensors are built without memory.
        """

    @abstractmethod
    def compose(self, query: PictureQuery) -> Vectors:
        """Return the vectors of one query or of many, (..., D), L2-normalised."""

    @property
    def reads_tokens(self) -> bool:
        """True if it needs the `tokens` and `frames` of queries."""
        return False


def names_in(folders: Collection[Path]) -> tuple[str, ...]:
    """List the composers that at least one of these checkpoint folders has."""
    names = []
    for name in composers():
        file_name = extension_file(name)
        if any((folder / file_name).is_file() for folder in folders):
            names.append(name)
    return tuple(names)


def read_composers(folder: Path, width: int) -> dict[str, Composer]:
    """Read the composers of a checkpoint folder with embeddings of this width, by name."""
    import torch  # noqa: PLC0415  the page is up before torch is
    from safetensors.torch import load_file  # noqa: PLC0415

    from nt2vr.models.weights import loading, unfilled  # noqa: PLC0415  imports torch

    by_name = {}
    for name in names_in([folder]):
        path = folder / extension_file(name)
        with loading(path, "Delete it, or train it again."):
            weights = {key: tensor.float() for key, tensor in load_file(path).items()}
            kind: type[Composer] = load(composers()[name])
            with torch.device("meta"), unfilled():
                by_name[name] = kind.read(weights, width)
    return by_name
