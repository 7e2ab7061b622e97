"""How long work reports its progress, and how it is told to stop: two callables that are passed down to it."""

from collections.abc import Callable

Progress = Callable[[int, int, str], None]  # steps done, steps in total (0: not known yet), what is being done
ShouldStop = Callable[[], bool]  # polled between steps


def silent(done: int, total: int, doing: str) -> None:
    """Report to nobody."""


def never() -> bool:
    """Never stop."""
    return False
