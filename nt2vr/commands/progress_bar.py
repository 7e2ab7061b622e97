"""A progress bar on the terminal, for commands; silent where stderr is not a terminal."""

from collections.abc import Iterator
from contextlib import contextmanager

from tqdm import tqdm

from nt2vr.progress import Progress


@contextmanager
def progress_bar() -> Iterator[Progress]:
    """Yield a callable that shows progress on one bar."""
    with tqdm(disable=None) as bar:

        def show(done: int, total: int, doing: str) -> None:
            bar.set_description(doing, refresh=False)
            bar.total, bar.n = total or None, done
            bar.refresh()

        yield show
