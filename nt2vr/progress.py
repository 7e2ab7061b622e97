"""Progress reports and cancellation of long work: two callables that are passed down to it."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TypeVar

T = TypeVar("T")

Progress = Callable[[int, int, str], None]  # steps done, steps in total (0: not known yet), what is being done
ShouldStop = Callable[[], bool]  # polled between steps


def silent(done: int, total: int, doing: str) -> None:
    """Report to nobody."""


def never() -> bool:
    """Never stop."""
    return False


def tracked(
    items: Iterable[T], total: int, doing: str, progress: Progress = silent, should_stop: ShouldStop = never
) -> Iterator[T]:
    """Yield items, reporting each when the consumer asks for the next.

    Raises:
        InterruptedError: once `should_stop` returns True.
    """
    for done, item in enumerate(items, start=1):
        if should_stop():
            raise InterruptedError
        yield item
        progress(done, total, doing)


@contextmanager
def progress_bar(also: Progress = silent) -> Iterator[Progress]:
    """Yield a callable that passes progress on to `also`, and shows it on one bar where stderr is a terminal."""
    from tqdm import tqdm  # noqa: PLC0415  the decoder's children import this module, and need no bar

    with tqdm(disable=None) as bar:

        def show(done: int, total: int, doing: str) -> None:
            bar.set_description(doing, refresh=False)
            bar.total, bar.n = total or None, done
            bar.refresh()
            also(done, total, doing)

        yield show
