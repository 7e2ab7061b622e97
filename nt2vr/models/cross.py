"""Cross-attention of a fusion over the text's tokens and the reference's frames, in NumPy: a query has few of both.

Training is in `trainer/fusion/cross.py`, whose tensors have the same names.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
EPSILON = 1e-5  # of layer norms, torch's default
ROLES = 5  # of vectors: picture, wanted part, unwanted parts; tokens, frames
ASKING = 3  # the first of them
WIDER = 2  # hidden units of a block's second half, per dimension
MASKED = np.float32(-1e9)


def heads_of(width: int) -> int:
    """Number of attention heads: one per 64 dimensions that divide evenly."""
    return width // 64 if width % 64 == 0 else 1


def shapes(width: int, blocks: int) -> dict[str, tuple[int, ...]]:
    """Return the shapes of all tensors, by name."""
    found: dict[str, tuple[int, ...]] = {"roles": (ROLES, width), "out.weight": (width, ASKING * width)}
    found |= {f"ln.{name}": (width,) for name in ("weight", "bias")}
    for number in range(blocks):
        of_block: dict[str, tuple[int, ...]] = {
            **{f"{ln}.{name}": (width,) for ln in ("ln_1", "ln_2") for name in ("weight", "bias")},
            "attn.in_proj_weight": (3 * width, width),
            "attn.in_proj_bias": (3 * width,),
            "attn.out_proj.weight": (width, width),
            "attn.out_proj.bias": (width,),
            "c_fc.weight": (WIDER * width, width),
            "c_fc.bias": (WIDER * width,),
            "c_proj.weight": (width, WIDER * width),
            "c_proj.bias": (width,),
        }
        found |= {f"blocks.{number}.{name}": shape for name, shape in of_block.items()}
    return found


@dataclass(frozen=True, eq=False)
class Cross:
    """The picture and both parts ask the text's tokens, the reference's frames, and each other.

        x = (picture, wanted, unwanted) + roles,  y = (tokens, frames) + roles
        in each block:  x += attention(norm(x), over norm(x) and norm(y)),  x += mlp(norm(x))
        correction = W [norm(x)],  the three side by side

    Attributes:
        weights: tensors by name, see `shapes`.
        blocks: number of blocks.
    """

    weights: Mapping[str, Vectors]
    blocks: int

    def __call__(self, asking: Iterable[Vectors], tokens: Vectors, frames: Vectors) -> Vectors:
        """Return the correction of queries (..., D).

        Args:
            asking: picture, wanted part and sum of the unwanted parts, (..., D) each; zeros for none.
            tokens: (..., T, D), unit vectors; zeros pad.
            frames: (..., F, D), likewise.
        """
        known, roles = self.weights, self.weights["roles"]
        x = np.stack(list(asking), axis=-2) + roles[:ASKING]
        given = np.concatenate([tokens, frames], axis=-2)
        role = np.repeat(roles[ASKING:], [tokens.shape[-2], frames.shape[-2]], axis=0)
        absent = np.concatenate([np.zeros(x.shape[:-1], bool), ~given.any(axis=-1)], axis=-1)
        for number in range(self.blocks):
            name = f"blocks.{number}."
            of_block = {key.removeprefix(name): tensor for key, tensor in known.items() if key.startswith(name)}
            asked = _norm(x, of_block, "ln_1")
            x = x + _attention(
                asked, np.concatenate([asked, _norm(given + role, of_block, "ln_1")], -2), absent, of_block
            )
            x = x + _linear(np.maximum(_linear(_norm(x, of_block, "ln_2"), of_block, "c_fc"), 0), of_block, "c_proj")
        read = _norm(x, known, "ln")
        return np.asarray(read.reshape(*read.shape[:-2], -1) @ known["out.weight"].T, np.float32)


def _linear(x: Vectors, weights: Mapping[str, Vectors], name: str) -> Vectors:
    return np.asarray(x @ weights[f"{name}.weight"].T + weights[f"{name}.bias"])


def _norm(x: Vectors, weights: Mapping[str, Vectors], name: str) -> Vectors:
    centred = x - x.mean(axis=-1, keepdims=True)
    scaled = centred / np.sqrt(x.var(axis=-1, keepdims=True) + np.float32(EPSILON))
    return np.asarray(scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"])


def _attention(asked: Vectors, given: Vectors, absent: NDArray[np.bool_], weights: Mapping[str, Vectors]) -> Vectors:
    """Attend from (..., A, D) to (..., K, D), without those that are absent (..., K)."""
    width = asked.shape[-1]
    heads = heads_of(width)
    matrices = np.split(weights["attn.in_proj_weight"], 3)
    biases = np.split(weights["attn.in_proj_bias"], 3)

    def projected(x: Vectors, which: int) -> Vectors:
        rows = x @ matrices[which].T + biases[which]
        return np.asarray(
            np.moveaxis(rows.reshape(*rows.shape[:-1], heads, width // heads), -2, -3)
        )  # (..., H, K, D/H)

    scores = projected(asked, 0) @ np.swapaxes(projected(given, 1), -1, -2) / np.sqrt(np.float32(width // heads))
    scores = np.where(absent[..., None, None, :], MASKED, scores)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    found = np.moveaxis(shares @ projected(given, 2), -3, -2)
    return _linear(found.reshape(*found.shape[:-2], width), weights, "attn.out_proj")
