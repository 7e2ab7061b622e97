"""ZeroGPU: on a Hugging Face Space, borrows a GPU per call. No effect elsewhere.

`spaces` calls the function in a forked process, and pickles its arguments. A model is not pickled: the process has
inherited it, under a number. Only there does CUDA exist.
"""

import logging
from collections.abc import Callable
from functools import wraps
from itertools import count
from typing import Any, Concatenate, ParamSpec, TypeVar
from weakref import WeakKeyDictionary, WeakValueDictionary

from nt2vr.models.encoder import Encoder
from nt2vr.settings import on_zero_gpu

P = ParamSpec("P")
R = TypeVar("R")

logger = logging.getLogger(__name__)

GPU = "cuda"
DURATION_S = 15  # of a call, the transfer of the model included; short ones wait less


def on_gpu(function: Callable[Concatenate[Encoder, P], R]) -> Callable[Concatenate[Encoder, P], R]:
    """Run a function of an encoder on the GPU that a Space borrows; outside ZeroGPU, return the function itself.

    Without a GPU, because a visitor's quota is used up or the borrowed process is older than the model, it runs here.
    Decorate at the top of a module: `spaces` must be imported before torch, and know its functions at the start.
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
        encoders[number] = encoder  # before the fork
        try:
            result = lent(number, arguments, options)
        except Exception as error:  # quota, queue or worker: ZeroGPU raises errors of Gradio's for all
            logger.warning("No GPU could be borrowed (%s).", error)
            result = None
        return function(encoder, *arguments, **options) if result is None else result[0]

    return wrapped
