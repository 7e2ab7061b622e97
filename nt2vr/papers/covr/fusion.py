"""Trained fusion of a reference picture with a text, a composer of a checkpoint folder.

It is trained in `training.py`.
"""

from collections.abc import Mapping
from copy import deepcopy
from hashlib import blake2b
from itertools import pairwise, starmap
from pathlib import Path
from typing import Self

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, pad

from nt2vr.files import atomic_write
from nt2vr.models.card import extension_file
from nt2vr.models.composer import Composer, PictureQuery
from nt2vr.models.encoder import Vectors
from nt2vr.models.pooling import MAX_LAYERS
from nt2vr.models.weights import filled, save_tensors

# Before the names of tensors; in the file, those of layers are without.
LAYERS = "layers."
CROSS = "cross."
# Name, in the file, of the weights of the wanted and of the unwanted parts.
PARTS = "parts"
# Roles of vectors: picture, wanted part, unwanted parts, tokens, frames. The first three attend.
ROLES = 5
ATTENDING = 3
# Standard deviation of new weights.
STD = 0.02


class Block(nn.Module):
    """A block of cross-attention, normalised first, with one head per 64 dimensions that divide evenly."""

    def __init__(self, width: int) -> None:
        super().__init__()
        heads = width // 64 if width % 64 == 0 else 1
        self.ln_1 = nn.LayerNorm(width)
        self.ln_2 = nn.LayerNorm(width)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.c_fc = nn.Linear(width, 2 * width)
        self.c_proj = nn.Linear(2 * width, width)

    def forward(self, x: Tensor, context: Tensor, is_padding: Tensor) -> Tensor:
        """Transform x.

        Args:
            x: (Q, A, D), attends to itself and to the context.
            context: (Q, K, D).
            is_padding: (Q, A + K), whether there is nothing to attend to.
        """
        queries = self.ln_1(x)
        keys = torch.cat([queries, self.ln_1(context)], dim=1)
        attended, _ = self.attn(
            queries, keys, keys, key_padding_mask=is_padding, need_weights=False
        )
        x = x + attended
        return x + self.c_proj(self.c_fc(self.ln_2(x)).relu())  # type: ignore[no-any-return]


class Cross(nn.Module):
    """The picture and both parts attend to the text's tokens, the reference's frames, and each other.

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
        self.out = nn.Linear(ATTENDING * width, width, bias=False)
        nn.init.zeros_(self.out.weight)

    def forward(self, attending: list[Tensor], tokens: Tensor, frames: Tensor) -> Tensor:
        """Return the correction of queries (Q, D).

        Args:
            attending: picture, wanted part and sum of the unwanted parts, (Q, D) each; zeros for none.
            tokens: (Q, T, D), unit vectors; zeros pad, also `frames`, (Q, F, D).
        """
        x = torch.stack(attending, dim=1) + self.roles[:ATTENDING]
        context = torch.cat([tokens, frames], dim=1)
        is_padding = pad(~context.any(dim=-1), (ATTENDING, 0))
        lengths = torch.tensor([tokens.shape[1], frames.shape[1]])
        roles = self.roles[ATTENDING:].repeat_interleave(lengths, dim=0)
        for block in self.blocks:
            x = block(x, context + roles, is_padding)
        return self.out(self.ln(x).flatten(1))  # type: ignore[no-any-return]


class Fusion(nn.Module, Composer):
    """Combines picture and text: `parts` plus a correction by one linear layer, or by two with a ReLU between them.

        parts = p + wanted * w - unwanted * u
        q = parts + layers([p, w, u, p * w, p * u]) + cross(p, w, u; tokens, frames),  normalised

    Attributes:
        hidden: units between the layers; 0 for one layer.
        blocks: of `cross`; 0 for none.
        cross: attends to the text's tokens and the reference's frames; None for a fusion that sees
            neither.
    """

    name = "fusion"

    def __init__(
        self, width: int, wanted: float, unwanted: float, hidden: int = 0, blocks: int = 0
    ) -> None:
        """Start at `parts`: the last layer is zero, also that of `cross`."""
        super().__init__()
        self.wanted = wanted
        self.unwanted = unwanted
        self.hidden = hidden
        self.blocks = blocks
        widths = [5 * width, width]
        if hidden:
            widths.insert(1, hidden)
        self.layers = nn.ModuleList(starmap(nn.Linear, pairwise(widths)))
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
        products = [picture * wanted, picture * unwanted]
        inputs = torch.cat([picture, wanted, unwanted, *products], dim=-1)
        correction: Tensor = self.layers[0](inputs)
        for layer in self.layers[1:]:
            correction = layer(correction.relu())
        if self.cross is not None:
            assert tokens is not None and frames is not None, "embedded for cross-attention"
            correction = correction + self.cross([picture, wanted, unwanted], tokens, frames)
        parts = picture + self.wanted * wanted - self.unwanted * unwanted
        return normalize(parts + correction, dim=-1)

    @classmethod
    def read(cls, weights: Mapping[str, Tensor], width: int) -> Self:
        tensors = {}
        blocks = set()
        for name, tensor in weights.items():
            if name.startswith(f"{CROSS}blocks."):
                blocks.add(name.split(".")[2])
            if name.startswith(CROSS):
                tensors[name] = tensor
            elif name != PARTS:
                tensors[LAYERS + name] = tensor

        wanted, unwanted = weights[PARTS].tolist()
        fusion = cls(
            width=width,
            wanted=wanted,
            unwanted=unwanted,
            hidden=len(weights["0.weight"]) if "1.weight" in weights else 0,
            blocks=min(len(blocks), MAX_LAYERS),
        )
        if not weights[PARTS].isfinite().all():
            raise ValueError("a weight is not finite")
        return filled(fusion, tensors, f"embeddings of length {width}").requires_grad_(False)

    def compose(self, query: PictureQuery) -> Vectors:
        shape = query.picture.shape
        count = query.picture.size // shape[-1]
        parts = (query.picture, query.wanted, query.unwanted)
        inputs = [torch.tensor(vectors).reshape(count, -1) for vectors in parts]
        for rows in (query.tokens, query.frames):
            if rows is not None:
                inputs.append(torch.tensor(rows).reshape(count, *rows.shape[-2:]))
        with torch.inference_mode():
            return np.asarray(self(*inputs).numpy().reshape(shape), np.float32)

    @property
    def reads_tokens(self) -> bool:
        return self.cross is not None

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
        tensors = [self.parts, *self.layers.parameters()]
        if self.cross is not None:
            cross = self.cross.state_dict()
            tensors += [cross[name] for name in sorted(cross)]
        digest = blake2b(digest_size=16)
        for tensor in tensors:
            digest.update(f"{tuple(tensor.shape)}".encode())
            digest.update(tensor.detach().contiguous().numpy().tobytes())
        return digest.hexdigest()


FILE = extension_file(Fusion.name)


def save_fusion(folder: Path, fusion: Fusion) -> None:
    """Write the fusion's file into a checkpoint folder, atomically, in half precision."""
    weights = fusion.state_dict()
    tensors = {name.removeprefix(LAYERS): tensor.half() for name, tensor in weights.items()}
    tensors[PARTS] = fusion.parts
    with atomic_write(folder / FILE) as partial:
        save_tensors(tensors, partial)
