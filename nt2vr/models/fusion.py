"""Trained fusion of a reference picture with a text, stored in the checkpoint folder.

It needs no torch: two or three products with a matrix per query, and about twenty with cross-attention. Training is in
`trainer/fusion/train.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import CheckpointError, reason_of
from nt2vr.files import atomic_write
from nt2vr.models.cross import Cross, shapes

Vectors = NDArray[np.float32]
FUSION = "fusion.safetensors"
INPUTS = 5  # blocks of D: see `inputs_of`
MAX_LAYERS = 2
CROSS = "cross."  # before the names of its tensors


@dataclass(frozen=True)
class PartWeights:
    """Weights of `parts`: picture + wanted * (wanted part) - unwanted * (unwanted part)."""

    wanted: float = 1.0
    unwanted: float = 1.0

    def __call__(self, picture: Vectors, wanted: Vectors, unwanted: Vectors) -> Vectors:
        """Return the weighted sum of (..., D) arrays; absent parts are zeros."""
        return np.asarray(picture + self.wanted * wanted - self.unwanted * unwanted, np.float32)


def inputs_of(picture: Vectors, wanted: Vectors, unwanted: Vectors) -> Vectors:
    """Return what the layers see of (..., D) embeddings: the three, and the products with the picture: (..., 5 D)."""
    return np.concatenate([picture, wanted, unwanted, picture * wanted, picture * unwanted], axis=-1)


@dataclass(frozen=True, eq=False)
class Fusion:
    """Combines picture and text: `parts` plus a correction by one linear layer, or by two with a ReLU between them.

        q = parts(p, w, u) + layers([p, w, u, p * w, p * u]) + cross(p, w, u; tokens, frames),  normalised

    Attributes:
        layers: (out, in) matrix and (out,) bias of each layer.
        cross: attends to the text's tokens and the reference's frames; None for a fusion that sees neither.
    """

    weights: PartWeights
    layers: tuple[tuple[Vectors, Vectors], ...]
    cross: Cross | None = None

    def __call__(
        self,
        picture: Vectors,
        wanted: Vectors,
        unwanted: Vectors,
        tokens: Vectors | None = None,
        frames: Vectors | None = None,
    ) -> Vectors:
        """Return unit vectors (..., D) of queries; unwanted parts are summed, absent parts are zeros.

        Args:
            tokens: (..., T, D), see `Cross`; needed with it, as are `frames`.
        """
        hidden = inputs_of(picture, wanted, unwanted)
        for number, (matrix, bias) in enumerate(self.layers):
            hidden = (np.maximum(hidden, 0) if number else hidden) @ matrix.T + bias
        vector = self.weights(picture, wanted, unwanted) + hidden
        if self.cross is not None:
            assert tokens is not None and frames is not None, "embedded where a fusion has cross-attention"
            vector = np.asarray(vector + self.cross((picture, wanted, unwanted), tokens, frames))
        return np.asarray(vector / np.maximum(np.linalg.norm(vector, axis=-1, keepdims=True), 1e-12), np.float32)

    @property
    def num_weights(self) -> int:
        """Number of trained weights."""
        of_cross = self.cross.weights.values() if self.cross else ()
        return sum(matrix.size + bias.size for matrix, bias in self.layers) + sum(each.size for each in of_cross)

    @property
    def fingerprint(self) -> str:
        """Hash of everything that changes the vectors."""
        digest = blake2b(digest_size=16)
        parts = np.array([self.weights.wanted, self.weights.unwanted], np.float32)
        of_cross = [tensor for _, tensor in sorted(self.cross.weights.items())] if self.cross else []
        for tensor in (parts, *(tensor for layer in self.layers for tensor in layer), *of_cross):
            digest.update(f"{tensor.shape}".encode() + np.ascontiguousarray(tensor, np.float32).tobytes())
        return digest.hexdigest()


def save_fusion(folder: Path, fusion: Fusion) -> None:
    """Write the fusion's file into a checkpoint folder, atomically, in half precision."""
    from safetensors.numpy import save_file  # noqa: PLC0415  only where there is a fusion

    tensors: dict[str, NDArray[np.generic]] = {
        "parts": np.array([fusion.weights.wanted, fusion.weights.unwanted], np.float32)
    }
    for number, (matrix, bias) in enumerate(fusion.layers):
        tensors |= {f"{number}.weight": matrix.astype(np.float16), f"{number}.bias": bias.astype(np.float16)}
    for name, tensor in fusion.cross.weights.items() if fusion.cross else ():
        tensors[CROSS + name] = tensor.astype(np.float16)
    with atomic_write(folder / FUSION) as partial:
        save_file(tensors, partial)
        partial.chmod(0o644)  # safetensors writes 0600


def read_fusion(folder: Path, embed_dim: int) -> Fusion | None:
    """Read the fusion of a checkpoint folder; None if it has none."""
    path = folder / FUSION
    if not path.is_file():
        return None
    from safetensors import SafetensorError  # noqa: PLC0415
    from safetensors.numpy import load_file  # noqa: PLC0415

    try:
        return _assembled(load_file(path), embed_dim)
    except (OSError, SafetensorError, LookupError, ValueError, TypeError) as error:
        raise CheckpointError(f"{path} cannot be used ({reason_of(error)}). Delete it, or train it again.") from error


def _assembled(tensors: Mapping[str, NDArray[np.generic]], embed_dim: int) -> Fusion:
    """Build a fusion from the tensors of its file; refuse shapes that do not fit together, and non-finite values."""
    known = {name: np.asarray(tensor, np.float32) for name, tensor in tensors.items()}
    if not all(np.isfinite(tensor).all() for tensor in known.values()):
        raise ValueError("a weight is not finite")
    wanted, unwanted = map(float, known["parts"])
    layers, width = [], INPUTS * embed_dim
    for number in range(MAX_LAYERS if "1.weight" in known else 1):
        matrix, bias = known[f"{number}.weight"], known[f"{number}.bias"]
        if matrix.ndim != 2 or matrix.shape[1] != width or bias.shape != matrix.shape[:1]:
            raise ValueError(f"layer {number} does not fit embeddings of length {embed_dim}")
        layers.append((matrix, bias))
        width = len(matrix)
    if width != embed_dim:
        raise ValueError(f"it returns vectors of length {width} instead of {embed_dim}")
    return Fusion(PartWeights(wanted, unwanted), tuple(layers), _cross(known, embed_dim))


def _cross(known: Mapping[str, Vectors], embed_dim: int) -> Cross | None:
    weights = {name.removeprefix(CROSS): tensor for name, tensor in known.items() if name.startswith(CROSS)}
    if not weights:
        return None
    blocks = len({name.split(".")[1] for name in weights if name.startswith("blocks.")})
    if {name: tensor.shape for name, tensor in weights.items()} != shapes(embed_dim, blocks):
        raise ValueError(f"its cross-attention does not fit embeddings of length {embed_dim}")
    return Cross(weights, blocks)
