"""Visitors of the page beside those of a trivial Gradio app: `python -m benchmarks.visitors [--rounds N]`.

50 people ask every 5 s: the page for a search of its default systems, the trivial app for nothing.
Both apps are up throughout, and are asked in turns of some seconds, so that whatever else the
machine does slows both. `--people` asks for fewer or more.
"""

import asyncio
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import numpy as np

from benchmarks.harness import (
    App,
    arguments,
    free_port,
    ranged,
    running_app,
    running_server,
    with_children,
    write_head,
    write_row,
)
from benchmarks.search import queries
from benchmarks.serving import HEALTH, PAUSE_S, PEOPLE, Page, SearchPage, Tally, crowd
from nt2vr.search.searcher import DEFAULT_SYSTEMS

Ask = Callable[[httpx.AsyncClient, str], Awaitable[str]]
CLOCK_TICKS_PER_S = os.sysconf("SC_CLK_TCK")


@dataclass
class Measured:
    """An app, what its visitors ask, and what has been measured of it."""

    app: App
    ask: Ask
    rounds: list[Tally] = field(default_factory=list)
    cpu_s: float = 0.0

    @property
    def times_ms(self) -> list[float]:
        """All answers' times."""
        return [time_ms for tally in self.rounds for time_ms in tally.times_ms]


def cpu_seconds(app: App) -> float:
    """Return the processor seconds that an app and its children have used."""
    ticks = 0
    for pid in with_children(app.process.pid):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])  # in user and in system mode
    return ticks / CLOCK_TICKS_PER_S


@contextmanager
def both_apps(texts: Iterator[str]) -> Iterator[dict[str, Measured]]:
    """Start the app and the trivial one."""
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="nt2vr-visitors-") as folder:
        data = Path(folder)
        with (
            running_app(data, HEALTH) as app,
            running_server(["-m", "benchmarks.trivial_app", str(port)], port, data) as trivial,
        ):
            search_page = SearchPage(app.url)
            trivial_page = Page(trivial.url, "search-button", "click")

            def search(client: httpx.AsyncClient, session: str) -> Awaitable[str]:
                return search_page.search(client, next(texts), list(DEFAULT_SYSTEMS), session)

            def repeat(client: httpx.AsyncClient, session: str) -> Awaitable[str]:
                return trivial_page.send(client, session, ["a dog"])

            yield {"the page": Measured(app, search), "the trivial app": Measured(trivial, repeat)}


def main() -> None:
    """Print a row per app, and the ratio."""
    parser = arguments("visitors", __doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20.0, help="of a turn")
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument(
        "--new-sessions", action="store_true", help="each request is of a new visitor"
    )
    options = parser.parse_args()
    num_queries = round(options.people * (options.seconds / PAUSE_S + 1) * (options.rounds + 1))
    with both_apps(iter(queries(num_queries))) as apps:
        for number in range(options.rounds + 1):
            for measured in apps.values():
                before_s = cpu_seconds(measured.app)
                load = crowd(
                    measured.app.url,
                    measured.ask,
                    options.seconds,
                    options.people,
                    options.new_sessions,
                )
                tally = asyncio.run(load)
                if number > 0:  # the first round warms up
                    measured.rounds.append(tally)
                    measured.cpu_s += cpu_seconds(measured.app) - before_s
    write_table(apps, options.people)


def write_table(apps: dict[str, Measured], people: int) -> None:
    """Print the table, errors, and the ratio of the 95th percentiles: the median of the rounds, with their range."""
    write_head(f"{people} people", "answers", "p50 ms", "p95 ms", "CPU ms per answer")
    for name, measured in apps.items():
        p50, p95 = np.percentile(measured.times_ms, (50, 95))
        cpu_ms = 1000 * measured.cpu_s / len(measured.times_ms)
        write_row(name, len(measured.times_ms), f"{p50:.0f}", f"{p95:.0f}", f"{cpu_ms:.0f}")
        errors = {error for tally in measured.rounds for error in tally.errors}
        for error in sorted(errors)[:5]:
            sys.stdout.write(f"error: {error}\n")

    ratios = []
    for page, trivial in zip(apps["the page"].rounds, apps["the trivial app"].rounds, strict=True):
        ratios.append(float(np.percentile(page.times_ms, 95) / np.percentile(trivial.times_ms, 95)))
    sys.stdout.write(f"p95 of the page, times that of the trivial app: {ranged(ratios)}\n")


if __name__ == "__main__":
    main()
