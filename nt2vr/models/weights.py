"""Weights from files: one-sentence errors, filling a module, and hashes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from safetensors import SafetensorError

from nt2vr.errors import CheckpointError, reason_of
from nt2vr.models.card import MAX_HEAD

if TYPE_CHECKING:
    from torch import Size, Tensor, nn
    from torch.overrides import TorchFunctionMode

# By name; a `StateDict` may be changed.
Weights: TypeAlias = "Mapping[str, Tensor]"
StateDict: TypeAlias = "dict[str, Tensor]"
Module = TypeVar("Module", bound="nn.Module")
# Of shape () or (1,), and no part of a fingerprint.
SCALARS = ("logit_scale", "logit_bias")
# What torch.nn.init, and timm's `trunc_normal_`, do to a tensor.
FILLING = {
    "normal_",
    "uniform_",
    "kaiming_uniform_",
    "constant_",
    "fill_",
    "zero_",
    "erfinv_",
    "mul_",
    "add_",
    "clamp_",
}
# Raised by JSON, safetensors, torch and open_clip.
UNUSABLE = (
    OSError,
    SafetensorError,
    ArithmeticError,
    AssertionError,
    AttributeError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
)


@contextmanager
def loading(path: Path, advice: str = "Choose another checkpoint.") -> Iterator[None]:
    """Turn an error in the block into a CheckpointError of one sentence.

    Args:
        path: the folder that is loaded, or a file of a part of it, whose size is checked.
        advice: what a person can do.
    """
    try:
        if path.is_file() and path.stat().st_size > MAX_HEAD:
            raise ValueError(f"it has more than {MAX_HEAD >> 30} GB")
        yield
    except UNUSABLE as error:
        raise CheckpointError(f"{path} cannot be loaded ({reason_of(error)}). {advice}") from error


def shapes_of(weights: "Weights") -> dict[str, "Size"]:
    return {name: tensor.shape for name, tensor in weights.items()}


def filled(module: Module, weights: "Weights", use: str) -> Module:
    """Give a module, which may be built without memory, weights that are finite and of its shapes.

    Args:
        use: what the module is for, as a message names it.

    Raises:
        ValueError: if a weight is not finite, is missing, or has another shape or name.
    """
    if not all(tensor.isfinite().all() for tensor in weights.values()):
        raise ValueError("a weight is not finite")
    misfits = shapes_of(module.state_dict()).items() ^ shapes_of(weights).items()
    if misfits:
        raise ValueError(f"{min(misfits)[0]} does not fit {use}")
    module.load_state_dict(weights, assign=True)
    return module.eval()


def reshape_scalars(weights: "dict[str, Tensor]", expected: "Weights") -> None:
    """Give the SCALARS among weights the shapes that they have in a model's state dict."""
    for name in SCALARS:
        if name in weights and name in expected:
            weights[name] = weights[name].reshape(expected[name].shape)


def unfilled() -> "TorchFunctionMode":
    """Return a context in which modules get no random weights, whose drawing takes seconds."""
    from torch.nn import Parameter  # noqa: PLC0415  the page is up before torch is
    from torch.overrides import TorchFunctionMode  # noqa: PLC0415

    class Unfilled(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            target = next(iter((*args, *kwargs.values())), None)
            if isinstance(target, Parameter) and func.__name__ in FILLING:
                return target
            return func(*args, **kwargs)

    return Unfilled()


def check_finite(weights: "Weights", source: Path) -> None:
    """Raise a CheckpointError for weights that are not finite, which come from `source` or go there."""
    for name, tensor in weights.items():
        if not tensor.isfinite().all():
            raise CheckpointError(
                f"A weight in {source} is not finite ({name}). Choose an earlier checkpoint."
            )


def visual_fingerprint(weights: "Weights") -> str:
    """Hash the visual tower of a state dict, as `text_fingerprint` does the other."""
    return _fingerprint(weights, of_visual=True)


def text_fingerprint(weights: "Weights", tokenizer: str = "") -> str:
    """Hash the text tower of a state dict, by its values in float32, with its tokenizer's `digest_of`.

    Tensors that embeddings do not depend on (temperature, counters) are left out.
    """
    return _fingerprint(weights, of_visual=False, tokenizer=tokenizer)


def _fingerprint(weights: "Weights", of_visual: bool, tokenizer: str = "") -> str:
    """Hash one tower's tensors of a state dict: the visual one's, or all others."""
    hashed = {}
    for name, tensor in weights.items():
        is_visual = name.startswith("visual.")
        if is_visual == of_visual and tensor.is_floating_point() and name not in SCALARS:
            hashed[name] = tensor
    return hash_weights(hashed, after=tokenizer)


def hash_weights(weights: "Weights", before: str = "", after: str = "") -> str:
    """Hash weights: names, shapes, and values in float32, between two texts."""
    digest = blake2b(before.encode(), digest_size=16)
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        values = tensor.detach().float().cpu().numpy()
        digest.update(values.tobytes())
    digest.update(after.encode())
    return digest.hexdigest()


def save_tensors(
    weights: "dict[str, Tensor]", file: Path, metadata: dict[str, str] | None = None
) -> None:
    """Write a safetensors file that others can read like the rest; the library writes 0600."""
    from safetensors.torch import save_file  # noqa: PLC0415  imports torch

    save_file(weights, file, metadata)
    file.chmod(0o644)
