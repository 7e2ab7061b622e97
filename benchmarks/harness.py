"""Shared parts of the benchmarks: arguments, Markdown tables, timing in turns, the app as a process."""

import os
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser, RawDescriptionHelpFormatter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, TypeVar
from urllib.request import urlopen

import numpy as np
from numpy.typing import NDArray

from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, load_gallery
from nt2vr.media.store import Cache
from nt2vr.models.catalog import Catalog
from nt2vr.search.searcher import Searcher
from nt2vr.settings import ASSETS, PACKAGE, Settings, prepare_environment

T = TypeVar("T")
# A busy machine is slow, not wrong.
PATIENCE_S = 600.0


def arguments(name: str, doc: str | None) -> ArgumentParser:
    """Return the parser of `python -m benchmarks.NAME`, described by the module's docstring."""
    return ArgumentParser(
        f"python -m benchmarks.{name}", description=doc, formatter_class=RawDescriptionHelpFormatter
    )


def write_head(*columns: str) -> None:
    """Print the head of a Markdown table: names on the left, figures on the right."""
    write_row(*columns)
    sys.stdout.write(f"|:--|{'--:|' * (len(columns) - 1)}\n")


def write_row(*cells: object) -> None:
    """Print a table row at once, since the next one may take an hour."""
    sys.stdout.write(f"| {' | '.join(map(str, cells))} |\n")
    sys.stdout.flush()


def ranged(values: list[float] | tuple[float, ...], digits: int = 1) -> str:
    """Format a median with its range."""
    least = f"{min(values):.{digits}f}"
    most = f"{max(values):.{digits}f}"
    return f"{median(values):.{digits}f} ({least} to {most})"


def timed(work: Callable[[], T]) -> tuple[float, T]:
    """Return the seconds that a call takes, and its result."""
    start_s = time.perf_counter()
    result = work()
    return time.perf_counter() - start_s, result


def in_turns(works: Mapping[str, Callable[[], Any]], rounds: int) -> dict[str, NDArray[np.float64]]:
    """Time each work once per round, so that other load on the machine hits all alike; return seconds by name."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for _ in range(rounds):
        for name, work in works.items():
            seconds, _ = timed(work)
            times[name].append(seconds)
    return {name: np.array(seconds) for name, seconds in times.items()}


def built_in_gallery() -> Gallery:
    """Return the gallery that ships with the app."""
    return load_gallery(ASSETS / "gallery" / "gallery.jsonl")


def app_models(runs: Path | None = None) -> Catalog:
    """Return the models of the app: shipped and downloaded, and those of a folder of runs."""
    settings = Settings.read()
    return Catalog([ASSETS / "models", settings.data_dir / "models"], settings.device, runs)


@contextmanager
def app_searcher(runs: Path | None = None, **options: Any) -> Iterator[Searcher]:
    """Open a searcher of the built-in gallery on the app's own cache, in NT2VR_DATA."""
    prepare_environment()
    with Decoder() as decoder, Cache.of(Settings.read().data_dir) as cache:
        yield Searcher(app_models(runs), built_in_gallery(), decoder, cache, **options)


@dataclass(frozen=True)
class App:
    """The app in a process of its own."""

    process: "subprocess.Popen[bytes]"
    url: str
    data: Path


@contextmanager
def running_app(data: Path, path: str = "") -> Iterator[App]:
    """Start `python app.py` on a data folder, wait until it serves `path`, and stop it after the block."""
    port = free_port()
    command = ["app.py", "--port", str(port), "--data-dir", str(data)]
    with running_server(command, port, data, path) as app:
        yield app


def free_port() -> int:
    """Return a port of this machine that nothing listens on."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running_server(arguments: list[str], port: int, data: Path, path: str = "") -> Iterator[App]:
    """Start Python with these arguments in the checkout, wait until it serves `path`, and stop it after the block."""
    with (
        (data / "app.log").open("ab") as log,
        subprocess.Popen(
            [sys.executable, *arguments], cwd=PACKAGE.parent, env=os.environ, stdout=log, stderr=log
        ) as process,
    ):
        app = App(process, f"http://127.0.0.1:{port}/", data)
        try:
            wait_until(lambda: process.poll() is not None or _answers(app.url + path))
            if process.poll() is not None:
                raise RuntimeError(
                    f"The app ended with exit code {process.poll()}; see {log.name}."
                )
            yield app
        finally:
            process.terminate()


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=PATIENCE_S):
            return True
    except OSError:
        return False


def wait_until(is_so: Callable[[], bool], limit_s: float = PATIENCE_S) -> None:
    """Wait for a condition, or raise a TimeoutError."""
    deadline_s = time.monotonic() + limit_s
    while not is_so():
        if time.monotonic() > deadline_s:
            raise TimeoutError(f"Waited for {limit_s:.0f} s.")
        time.sleep(0.02)


def with_children(pid: int) -> list[int]:
    """Return a process and all that it has started."""
    try:
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    except OSError:
        return []
    pids = [pid]
    for child in children:
        pids += with_children(int(child))
    return pids


def memory_mb(pid: int) -> float:
    """Return the memory of a process in 10^6 bytes, shared pages divided among those who share them (PSS)."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    # It has ended.
    except OSError:
        return 0.0
    for line in lines:
        if line.startswith("Pss:"):
            return int(line.split()[1]) / 1000
    return 0.0
