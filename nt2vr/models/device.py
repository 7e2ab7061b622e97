"""Devices that models run on, their precision of encoding, and the GPU that a Space lends for the time of a call."""

import logging
from collections.abc import Callable
from contextlib import AbstractContextManager
from functools import cache, wraps
from itertools import count
from timeit import repeat
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from nt2vr.models.encoder import Encoder
from nt2vr.settings import on_zero_gpu

if TYPE_CHECKING:
    from torch import Tensor

logger = logging.getLogger(__name__)

P = ParamSpec("P")
R = TypeVar("R")

GPU = "cuda"
# Of a call, the transfer of the model included; short ones wait less.
DURATION_S = 15
FLOAT32 = ""
BF16 = "bf16"
# Products of matrices by which a device is measured.
PRODUCTS = 10
# Of a cosine, bfloat16 compared with float32.
TOLERANCE = 0.01


def resolve_device(device: str) -> str:
    """Return the device that a setting stands for; "auto" is CUDA, then MPS, then CPU.

    ZeroGPU pretends that CUDA is there, but lends it only for the time of a call (`zero_gpu`).
    """
    import torch  # noqa: PLC0415  the page is up before torch is

    if device != "auto":
        return device
    if on_zero_gpu():
        return "cpu"
    if torch.cuda.is_available():
        return "cuda"
    return "mps" if torch.backends.mps.is_available() else "cpu"


def autocast(device: str, precision: str) -> AbstractContextManager[Any]:
    """Return the context in which to encode: with bf16, matrix products alone are in bfloat16."""
    import torch  # noqa: PLC0415  see `resolve_device`

    return torch.autocast(device, torch.bfloat16, enabled=bool(precision))


def precision_of(device: str) -> str:
    """Choose bfloat16 where CUDA computes in it natively: cosines change by at most TOLERANCE; elsewhere float32."""
    import torch  # noqa: PLC0415  see `resolve_device`

    is_fast = device == "cuda" and torch.cuda.is_bf16_supported(including_emulation=False)
    return BF16 if is_fast else FLOAT32


def as_tensor(array: NDArray[np.float32]) -> "Tensor":
    import torch  # noqa: PLC0415  the page is up before torch is

    return torch.tensor(array)


@cache
def gflops_per_second(device: str) -> float:
    """Measure once how much a device, as in a setting, computes in a second.

    The measure is a matrix product as in ViT-B/32, for 8 frames.
    """
    import torch  # noqa: PLC0415  see `resolve_device`

    resolved = resolve_device(device)
    tokens = torch.rand(8 * 50, 768, device=resolved)
    weights = torch.rand(768, 3072, device=resolved)

    def multiply() -> float:
        # A number waits for the device.
        return float((tokens @ weights)[0, 0])

    fastest_s = min(repeat(multiply, number=1, repeat=PRODUCTS))
    return 2e-9 * tokens.numel() * weights.shape[1] / fastest_s


def on_gpu(function: Callable[Concatenate[Encoder, P], R]) -> Callable[Concatenate[Encoder, P], R]:
    """Run a function of an encoder on the GPU that a Space borrows; outside ZeroGPU, return the function itself.

    `spaces` calls it in a forked process and pickles its arguments; the model is inherited, under a
    number. Without a GPU (a quota is used up, or the process is older than the model) it runs here.
    Decorate at the top of a module: `spaces` must be imported before torch, and know its functions
    at the start.
    """
    if not on_zero_gpu():
        return function
    import spaces  # type: ignore[import-not-found]  # noqa: PLC0415  in a Space's own requirements only

    encoders: WeakValueDictionary[int, Any] = WeakValueDictionary()
    numbers: WeakKeyDictionary[Any, int] = WeakKeyDictionary()
    next_number = count()

    def borrowed(number: int, arguments: Any, options: Any) -> tuple[R] | None:
        encoder = encoders.get(number)
        if encoder is None:
            return None
        encoder.move_to(GPU)
        return (function(encoder, *arguments, **options),)

    lent = spaces.GPU(duration=DURATION_S)(borrowed)

    @wraps(function)
    def wrapped(encoder: Encoder, /, *arguments: P.args, **options: P.kwargs) -> R:
        number = numbers.setdefault(encoder, next(next_number))
        # Before the fork.
        encoders[number] = encoder
        try:
            answer = lent(number, arguments, options)
        # Of the quota, the queue or the worker: ZeroGPU raises errors of Gradio's for all.
        except Exception as error:
            logger.warning("No GPU could be borrowed (%s).", error)
            answer = None
        return function(encoder, *arguments, **options) if answer is None else answer[0]

    return wrapped
