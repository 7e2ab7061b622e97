"""Weights from files: one-sentence errors, filling a module, and hashes."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from safetensors import SafetensorError

from nt2vr.errors import CheckpointError, reason_of
from nt2vr.models.card import MAX_HEAD

if TYPE_CHECKING:
    from torch import Size, Tensor, nn
    from torch.overrides import TorchFunctionMode

Module = TypeVar("Module", bound="nn.Module")
SCALARS = ("logit_scale", "logit_bias")  # of shape () or (1,), and no part of a fingerprint
# what torch.nn.init, and timm's `trunc_normal_`, does to a tensor
FILLING = {
    *("normal_", "uniform_", "kaiming_uniform_", "constant_", "fill_", "zero_"),
    *("erfinv_", "mul_", "add_", "clamp_"),
}
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


def unfilled() -> "TorchFunctionMode":
    """Return a context in which modules get no random weights, for those that get others: drawing takes seconds."""
    from torch.nn import Parameter  # noqa: PLC0415  the page is up before torch is
    from torch.overrides import TorchFunctionMode  # noqa: PLC0415

    class Unfilled(TorchFunctionMode):
        def __torch_function__(
            self, func: Any, types: Any, args: Any = (), kwargs: Any = None
        ) -> Any:
            kwargs = kwargs or {}
            target = next(iter((*args, *kwargs.values())), None)
            skipped = isinstance(target, Parameter) and func.__name__ in FILLING
            return target if skipped else func(*args, **kwargs)

    return Unfilled()


def check_finite(weights: Mapping[str, "Tensor"], source: Path) -> None:
    """Refuse weights that are not finite; `source` is the file or folder they are read from or written to."""
    for name, tensor in weights.items():
        if not tensor.isfinite().all():
            raise CheckpointError(
                f"A weight in {source} is not finite ({name}). Choose an earlier checkpoint."
            )


def visual_fingerprint(weights: Mapping[str, "Tensor"]) -> str:
    """Hash the visual tower of a state dict, as `text_fingerprint` does the other."""
    return _fingerprint(
        {name: tensor for name, tensor in weights.items() if name.startswith("visual.")}
    )


def text_fingerprint(weights: Mapping[str, "Tensor"], tokenizer: str = "") -> str:
    """Hash the text tower of a state dict, by its values in float32, with its tokenizer's `digest_of`.

    Tensors that embeddings do not depend on (temperature, counters) are left out.
    """
    return _fingerprint(
        {name: each for name, each in weights.items() if not name.startswith("visual.")}, tokenizer
    )


def _fingerprint(weights: Mapping[str, "Tensor"], tokenizer: str = "") -> str:
    digest = blake2b(digest_size=16)
    hash_into(
        digest, {n: t for n, t in weights.items() if t.is_floating_point() and n not in SCALARS}
    )
    digest.update(tokenizer.encode())
    return digest.hexdigest()


def hash_into(digest: Any, weights: Mapping[str, "Tensor"]) -> None:
    """Add weights to a hash: names, shapes, and values in float32."""
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name} {tuple(tensor.shape)}".encode())
        digest.update(tensor.detach().float().cpu().contiguous().numpy().tobytes())
