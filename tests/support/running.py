"""Where tests run something: in this process instead of a child, or in a thread of its own."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

import pytest

from nt2vr.progress import Progress

T = TypeVar("T")


def here(function: Callable[..., T], *arguments: Any, progress: Progress, **_: Any) -> T:
    """Stand in for `run_limited`, without the child and its limits, which slow tests have: it would import torch."""
    with pytest.MonkeyPatch.context() as patch:
        # The child that tries a model sets it.
        patch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", False)
        return function(*arguments, progress)


def in_thread(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run in a thread of its own: browser tests leave a running loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()
