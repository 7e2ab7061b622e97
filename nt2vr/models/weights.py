"""Weights from files: one-sentence errors, filling a module, and hashes. Importing it does not import torch."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from safetensors import SafetensorError

from nt2vr.errors import CheckpointError, reason_of
from nt2vr.models.card import MAX_HEAD

if TYPE_CHECKING:
    from torch import Size, Tensor, nn

Module = TypeVar("Module", bound="nn.Module")
UNUSABLE = (  # raised by JSON, safetensors, torch and open_clip
    *(OSError, SafetensorError, ArithmeticError, AssertionError, AttributeError),
    *(LookupError, RuntimeError, TypeError, ValueError),
)


@contextmanager
def loading(path: Path, advice: str = "Choose another checkpoint.") -> Iterator[None]:
    """Turn errors on a folder, or on its file of a part, that is damaged, foreign or too large into one sentence."""
    try:
        if path.is_file() and path.stat().st_size > MAX_HEAD:
            raise ValueError(f"it has more than {MAX_HEAD >> 30} GB")
        yield
    except UNUSABLE as error:
        raise CheckpointError(f"{path} cannot be loaded ({reason_of(error)}). {advice}") from error


def shapes_of(weights: Mapping[str, "Tensor"]) -> dict[str, "Size"]:
    return {name: tensor.shape for name, tensor in weights.items()}


def filled(module: Module, weights: Mapping[str, "Tensor"], what: str) -> Module:
    """Give a module, which may be built without memory, weights that are finite and of its shapes."""
    if not all(tensor.isfinite().all() for tensor in weights.values()):
        raise ValueError("a weight is not finite")
    if wrong := shapes_of(module.state_dict()).items() ^ shapes_of(weights).items():
        raise ValueError(f"{min(wrong)[0]} does not fit {what}")
    module.load_state_dict(weights, assign=True)
    return module.eval()


def hash_into(digest: Any, weights: Mapping[str, "Tensor"]) -> None:
    """Add weights to a hash: names, shapes, and values in float32."""
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().float().cpu().contiguous().numpy().tobytes())
