"""Trained fusion of a reference picture with a text, stored in the checkpoint folder.

Search and training share it; it is trained in `trainer/fusion/train.py`.
"""

from collections.abc import Mapping
from copy import deepcopy
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn.functional import normalize

from nt2vr.errors import CheckpointError, reason_of
from nt2vr.files import atomic_write
from nt2vr.models.card import FUSION
from nt2vr.models.cross import Cross
from nt2vr.models.pooling import MAX_LAYERS
from nt2vr.models.temporal import shapes_of

Vectors = NDArray[np.float32]
INPUTS = 5  # blocks of D that the layers see
LAYERS = "layers."  # before the names of their tensors, except in the file
CROSS = "cross."  # likewise, in the file too


class Fusion(nn.Module):
    """Combines picture and text: `parts` plus a correction by one linear layer, or by two with a ReLU between them.

        parts = p + wanted * w - unwanted * u
        q = parts + layers([p, w, u, p * w, p * u]) + cross(p, w, u; tokens, frames),  normalised

    Attributes:
        hidden: units between the layers; 0 for one layer.
        blocks: of `cross`; 0 for none.
        cross: attends to the text's tokens and the reference's frames; None for a fusion that sees neither.
    """

    def __init__(self, width: int, wanted: float, unwanted: float, hidden: int = 0, blocks: int = 0) -> None:
        """Start at `parts`: the last layer is zero, also that of `cross`.

        Args:
            width: of embeddings.
            wanted: weight of the wanted part, next to 1 of the picture.
            unwanted: weight of the unwanted parts.
        """
        super().__init__()
        self.wanted, self.unwanted, self.hidden, self.blocks = wanted, unwanted, hidden, blocks
        widths = [INPUTS * width, *([hidden] if hidden else []), width]
        layers = [nn.Linear(*pair) for pair in pairwise(widths)]
        nn.init.zeros_(layers[-1].weight)
        nn.init.zeros_(layers[-1].bias)
        self.layers = nn.ModuleList(layers)
        self.cross = Cross(width, blocks) if blocks else None

    def forward(
        self,
        picture: Tensor,
        wanted: Tensor,
        unwanted: Tensor,
        tokens: Tensor | None = None,
        frames: Tensor | None = None,
    ) -> Tensor:
        """Return unit vectors (Q, D) of queries; unwanted parts are summed, absent parts are zeros.

        Args:
            tokens: (Q, T, D), see `Cross`; needed with it, as are `frames`.
        """
        correction: Tensor = torch.cat([picture, wanted, unwanted, picture * wanted, picture * unwanted], dim=-1)
        for number, layer in enumerate(self.layers):
            correction = layer(correction.relu() if number else correction)
        if self.cross is not None:
            assert tokens is not None and frames is not None, "embedded where a fusion has cross-attention"
            correction = correction + self.cross([picture, wanted, unwanted], tokens, frames)
        return normalize(picture + self.wanted * wanted - self.unwanted * unwanted + correction, dim=-1)

    def combine(
        self, picture: Vectors, wanted: Vectors, unwanted: Vectors, tokens: Vectors | None, frames: Vectors | None
    ) -> Vectors:
        """Return the vectors of one query or of many, (..., D), from arrays."""
        count = picture.size // picture.shape[-1]
        parts = [torch.tensor(each).reshape(count, -1) for each in (picture, wanted, unwanted)]
        given = (each for each in (tokens, frames) if each is not None)
        rows = [torch.tensor(each).reshape(count, *each.shape[-2:]) for each in given]
        with torch.inference_mode():
            return np.asarray(self(*parts, *rows).numpy().reshape(picture.shape), np.float32)

    def rounded(self) -> "Fusion":
        """Return a copy for search, its weights rounded to the half precision of its file."""
        return deepcopy(self).half().float().requires_grad_(False).eval()

    @property
    def parts(self) -> Tensor:
        """Weights of the wanted and of the unwanted parts, (2,), as in the file."""
        return torch.tensor([self.wanted, self.unwanted], dtype=torch.float32)

    @property
    def num_weights(self) -> int:
        """Number of trained weights."""
        return sum(parameter.numel() for parameter in self.parameters())

    @property
    def fingerprint(self) -> str:
        """Hash of everything that changes the vectors."""
        of_cross = [] if self.cross is None else [tensor for _, tensor in sorted(self.cross.state_dict().items())]
        digest = blake2b(digest_size=16)
        for tensor in (self.parts, *self.layers.parameters(), *of_cross):
            digest.update(f"{tuple(tensor.shape)}".encode() + tensor.detach().contiguous().numpy().tobytes())
        return digest.hexdigest()


def save_fusion(folder: Path, fusion: Fusion) -> None:
    """Write the fusion's file into a checkpoint folder, atomically, in half precision."""
    from safetensors.torch import save_file  # noqa: PLC0415  only where there is a fusion

    tensors = {name.removeprefix(LAYERS): tensor.half() for name, tensor in fusion.state_dict().items()}
    tensors["parts"] = fusion.parts
    with atomic_write(folder / FUSION) as partial:
        save_file(tensors, partial)
        partial.chmod(0o644)  # safetensors writes 0600


def read_fusion(folder: Path, width: int) -> Fusion | None:
    """Read the fusion of a checkpoint folder with embeddings of this width; None if it has none."""
    path = folder / FUSION
    if not path.is_file():
        return None
    from safetensors import SafetensorError  # noqa: PLC0415
    from safetensors.torch import load_file  # noqa: PLC0415

    try:
        return _filled({name: tensor.float() for name, tensor in load_file(path).items()}, width)
    except (OSError, SafetensorError, LookupError, ValueError, TypeError, RuntimeError) as error:
        raise CheckpointError(f"{path} cannot be used ({reason_of(error)}). Delete it, or train it again.") from error


def _filled(tensors: Mapping[str, Tensor], width: int) -> Fusion:
    """Build a fusion with the tensors of its file: first without memory, to compare shapes."""
    if not all(tensor.isfinite().all() for tensor in tensors.values()):
        raise ValueError("a weight is not finite")
    wanted, unwanted = tensors["parts"].tolist()
    weights = {name if name.startswith(CROSS) else LAYERS + name: tensors[name] for name in tensors.keys() - {"parts"}}
    hidden = len(tensors["0.weight"]) if "1.weight" in tensors else 0
    blocks = len({name.split(".")[2] for name in weights if name.startswith(f"{CROSS}blocks.")})
    with torch.device("meta"):
        fusion = Fusion(width, wanted, unwanted, hidden, min(blocks, MAX_LAYERS))
    if wrong := shapes_of(fusion.state_dict()).items() ^ shapes_of(weights).items():
        raise ValueError(f"{min(wrong)[0]} does not fit embeddings of length {width}")
    fusion.load_state_dict(weights, assign=True)
    return fusion.requires_grad_(False).eval()
