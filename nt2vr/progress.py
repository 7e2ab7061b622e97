"""Progress reports and cancellation of long work, passed down as two callables."""

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


def percent_text(done: float, total: float) -> str:
    """Write the share that is done, 0 to 100, for the width of a bar."""
    return f"{100 * min(done / total, 1):.1f}" if total else "0"


def duration_text(seconds: float) -> str:
    """Write an estimated duration, no more precisely than it can be known: 40 s, 5 min, 2.5 h."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    return f"{seconds / 60:.0f} min" if seconds < 90 * 60 else f"{seconds / 3600:.1f} h"


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
