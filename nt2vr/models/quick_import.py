"""Import of open_clip without PyTorch's compiler, which takes as long to import as PyTorch itself."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any

COMPILER = "torch._dynamo"


@contextmanager
def without_compiler() -> Iterator[None]:
    """Let open_clip be imported within the block without the compiler, unless that is there already.

    torchvision and timm, which open_clip imports, ask two functions of it: whether operations on
    boxes can be compiled, and to leave a function of timm uncompiled. Nothing is compiled here.
    Whatever else needs the compiler, such as an optimizer, imports it as ever.
    """
    if COMPILER in sys.modules:
        yield
        return

    compiler: Any = ModuleType(COMPILER)
    compiler.utils = ModuleType(f"{COMPILER}.utils")
    compiler.disable = _uncompiled
    compiler.utils.is_compile_supported = _is_compile_supported
    stand_ins = {COMPILER: compiler, f"{COMPILER}.utils": compiler.utils}
    sys.modules.update(stand_ins)
    try:
        yield
    finally:
        for name, stand_in in stand_ins.items():
            if sys.modules.get(name) is stand_in:
                del sys.modules[name]


def _uncompiled(function: Callable[..., Any] | None = None, *_: object, **__: object) -> Any:
    """Return a function, or what a decorator without one is called with, as it is."""
    return function if function is not None else _uncompiled


def _is_compile_supported(device_type: Any) -> Any:
    return import_module(f"{COMPILER}.utils").is_compile_supported(device_type)
