"""Trained fusion of a reference picture with a text, stored in the checkpoint folder.

Search and training share it; it is trained in `nt2vr/papers/covr/training.py`.
"""

from copy import deepcopy
from hashlib import blake2b
from itertools import pairwise
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file, save_file
from torch import Tensor, nn
from torch.nn.functional import normalize

from nt2vr.files import atomic_write
from nt2vr.models.card import FUSION
from nt2vr.models.pooling import MAX_LAYERS
from nt2vr.models.weights import filled, loading, unfilled

Vectors = NDArray[np.float32]
LAYERS, CROSS = (
    "layers.",
    "cross.",
)  # before the names of tensors; in the file, those of layers are without
ROLES, ASKING = 5, 3  # of vectors: picture, wanted part, unwanted parts, which ask; tokens, frames
STD = 0.02  # of new weights


class Block(nn.Module):
    """A block of cross-attention, normalised first, with one head per 64 dimensions that divide evenly."""

    def __init__(self, width: int) -> None:
        super().__init__()
        heads = width // 64 if width % 64 == 0 else 1
        self.ln_1, self.ln_2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.c_fc, self.c_proj = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)

    def forward(self, x: Tensor, given: Tensor, absent: Tensor) -> Tensor:
        """Transform (Q, A, D), which asks itself and (Q, K, D); `absent` (Q, A + K) is what there is not."""
        asked = self.ln_1(x)
        keys = torch.cat([asked, self.ln_1(given)], dim=1)
        x = x + self.attn(asked, keys, keys, key_padding_mask=absent, need_weights=False)[0]
        return x + self.c_proj(self.c_fc(self.ln_2(x)).relu())  # type: ignore[no-any-return]


class Cross(nn.Module):
    """The picture and both parts ask the text's tokens, the reference's frames, and each other.

    x = (picture, wanted, unwanted) + roles,  y = (tokens, frames) + roles
    in each block:  x += attention(norm(x), over norm(x) and norm(y)),  x += mlp(norm(x))
    correction = W [norm(x)],  the three side by side
    """

    def __init__(self, width: int, blocks: int) -> None:
        """Start without effect: the last layer is zero."""
        super().__init__()
        self.roles = nn.Parameter(STD * torch.randn(ROLES, width))
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.ln = nn.LayerNorm(width)
        self.out = nn.Linear(ASKING * width, width, bias=False)
        nn.init.zeros_(self.out.weight)

    def forward(self, asking: list[Tensor], tokens: Tensor, frames: Tensor) -> Tensor:
        """Return the correction of queries (Q, D).

        Args:
            asking: picture, wanted part and sum of the unwanted parts, (Q, D) each; zeros for none.
            tokens: (Q, T, D), unit vectors; zeros pad, also `frames`, (Q, F, D).
        """
        x = torch.stack(asking, dim=1) + self.roles[:ASKING]
        given = torch.cat([tokens, frames], dim=1)
        absent = torch.cat(
            [torch.zeros_like(x[..., 0], dtype=torch.bool), ~given.any(dim=-1)], dim=1
        )
        roles = self.roles[ASKING:].repeat_interleave(
            torch.tensor([tokens.shape[1], frames.shape[1]]), dim=0
        )
        for block in self.blocks:
            x = block(x, given + roles, absent)
        return self.out(self.ln(x).flatten(1))  # type: ignore[no-any-return]


class Fusion(nn.Module):
    """Combines picture and text: `parts` plus a correction by one linear layer, or by two with a ReLU between them.

        parts = p + wanted * w - unwanted * u
        q = parts + layers([p, w, u, p * w, p * u]) + cross(p, w, u; tokens, frames),  normalised

    Attributes:
        hidden: units between the layers; 0 for one layer.
        blocks: of `cross`; 0 for none.
        cross: attends to the text's tokens and the reference's frames; None for a fusion that sees
            neither.
    """

    def __init__(
        self, width: int, wanted: float, unwanted: float, hidden: int = 0, blocks: int = 0
    ) -> None:
        """Start at `parts`: the last layer is zero, also that of `cross`."""
        super().__init__()
        self.wanted, self.unwanted, self.hidden, self.blocks = wanted, unwanted, hidden, blocks
        widths = [5 * width, *([hidden] if hidden else []), width]
        self.layers = nn.ModuleList(nn.Linear(*pair) for pair in pairwise(widths))
        for parameter in self.layers[-1].parameters():
            nn.init.zeros_(parameter)
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

        With `cross`, tokens and frames are needed, as it takes them.
        """
        seen = torch.cat([picture, wanted, unwanted, picture * wanted, picture * unwanted], dim=-1)
        correction: Tensor = self.layers[0](seen)
        for layer in self.layers[1:]:
            correction = layer(correction.relu())
        if self.cross is not None:
            assert tokens is not None and frames is not None, (
                "embedded where a fusion has cross-attention"
            )
            correction = correction + self.cross([picture, wanted, unwanted], tokens, frames)
        return normalize(
            picture + self.wanted * wanted - self.unwanted * unwanted + correction, dim=-1
        )

    def combine(
        self,
        picture: Vectors,
        wanted: Vectors,
        unwanted: Vectors,
        tokens: Vectors | None,
        frames: Vectors | None,
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
    def fingerprint(self) -> str:
        """Hash of everything that changes the vectors."""
        of_cross = (
            []
            if self.cross is None
            else [tensor for _, tensor in sorted(self.cross.state_dict().items())]
        )
        digest = blake2b(digest_size=16)
        for tensor in (self.parts, *self.layers.parameters(), *of_cross):
            digest.update(
                f"{tuple(tensor.shape)}".encode() + tensor.detach().contiguous().numpy().tobytes()
            )
        return digest.hexdigest()


def save_fusion(folder: Path, fusion: Fusion) -> None:
    """Write the fusion's file into a checkpoint folder, atomically, in half precision."""
    tensors = {
        name.removeprefix(LAYERS): tensor.half() for name, tensor in fusion.state_dict().items()
    }
    tensors["parts"] = fusion.parts
    with atomic_write(folder / FUSION) as partial:
        save_file(tensors, partial)
        partial.chmod(0o644)  # safetensors writes 0600


def read_fusion(folder: Path, width: int) -> Fusion | None:
    """Read the fusion of a checkpoint folder with embeddings of this width; None if it has none."""
    path = folder / FUSION
    if not path.is_file():
        return None
    with loading(path, "Delete it, or train it again."):
        tensors = {name: tensor.float() for name, tensor in load_file(path).items()}
        wanted, unwanted = tensors.pop("parts").tolist()
        weights = {
            name if name.startswith(CROSS) else LAYERS + name: tensor
            for name, tensor in tensors.items()
        }
        hidden = len(tensors["0.weight"]) if "1.weight" in tensors else 0
        blocks = len({name.split(".")[2] for name in weights if name.startswith(f"{CROSS}blocks.")})
        with torch.device("meta"), unfilled():
            fusion = Fusion(width, wanted, unwanted, hidden, min(blocks, MAX_LAYERS))
        if not fusion.parts.isfinite().all():
            raise ValueError("a weight is not finite")
        return filled(fusion, weights, f"embeddings of length {width}").requires_grad_(False)
