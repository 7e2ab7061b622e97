"""How long the page's visitors wait, and those of two Gradio apps: `python -m benchmarks.visitors [--rounds N]`.

50 people send a request every 5 s on average, at random moments that are the same for each app. The
page searches with its default systems, a trivial app does nothing, and another one sends a recorded
answer of the page. The first of these two shows the time of Gradio itself, and the second the time
to send as much. All three run throughout, and take turns of some seconds, so that other load on the
machine slows all alike. Every search has a new sentence. `--people` sets another number of people.
"""

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

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
from nt2vr.search.plan import DEFAULT_SYSTEMS

Ask = Callable[[httpx.AsyncClient, str], Awaitable[str]]
CLOCK_TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PAGE = "the page"
BASELINES = ("a trivial app", "an app that sends a recorded answer")


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

    @property
    def p95_ms(self) -> list[float]:
        """The 95th percentile of each round."""
        return [float(np.percentile(tally.times_ms, 95)) for tally in self.rounds]


def cpu_seconds(app: App) -> float:
    """Return the processor seconds that an app and its children have used."""
    ticks = 0
    for pid in with_children(app.process.pid):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        # In user and in system mode.
        ticks += int(fields[11]) + int(fields[12])
    return ticks / CLOCK_TICKS_PER_S


@contextmanager
def all_apps(texts: Iterator[str]) -> Iterator[dict[str, Measured]]:
    """Start the page and its baselines."""
    with tempfile.TemporaryDirectory(prefix="nt2vr-visitors-") as folder:
        data = Path(folder)
        with running_app(data, HEALTH) as app:
            page = SearchPage(app.url)

            def search(client: httpx.AsyncClient, session: str) -> Awaitable[str]:
                return page.search(client, next(texts), list(DEFAULT_SYSTEMS), session)

            recorded = data / "answer.json"
            values = asyncio.run(template_values(app, page, next(texts)))
            recorded.write_text(json.dumps(values), encoding="utf-8")
            with trivial_app(data) as trivial, trivial_app(data, recorded) as replaying:
                baselines = dict(zip(BASELINES, (trivial, replaying), strict=True))
                yield {PAGE: Measured(app, search), **baselines}


async def template_values(app: App, page: SearchPage, text: str) -> list[dict[str, Any]]:
    """Search once; return what the answer sends to templates."""
    async with httpx.AsyncClient(base_url=app.url, timeout=60) as client:
        inputs = page.inputs(text, list(DEFAULT_SYSTEMS))
        message = await page.answer(client, "recording", inputs)
    values = []
    for value in message["output"]["data"]:
        if isinstance(value, dict) and "__type__" not in value:
            values.append(value)
    return values


@contextmanager
def trivial_app(data: Path, *answer: Path) -> Iterator[Measured]:
    """Start a trivial app, which repeats a text, or sends a recorded answer."""
    port = free_port()
    command = ["-m", "benchmarks.trivial_app", str(port), *map(str, answer)]
    with running_server(command, port, data) as app:
        page = Page(app.url, "search-button", "click")

        def repeat(client: httpx.AsyncClient, session: str) -> Awaitable[str]:
            return page.send(client, session, ["a dog"])

        yield Measured(app, repeat)


def main() -> None:
    """Print a row per app, and the ratios."""
    parser = arguments("visitors", __doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20.0, help="of a turn")
    parser.add_argument("--people", type=int, default=PEOPLE)
    parser.add_argument(
        "--new-sessions", action="store_true", help="each request is of a new visitor"
    )
    parser.add_argument("--evenly", action="store_true", help="ask at regular moments")
    options = parser.parse_args()
    per_round = options.people * (options.seconds / PAUSE_S + 1)
    # Random pauses may be short.
    num_queries = round(1.5 * per_round * (options.rounds + 1))
    with all_apps(iter(queries(num_queries))) as apps:
        for number in range(options.rounds + 1):
            for measured in apps.values():
                before_s = cpu_seconds(measured.app)
                load = crowd(
                    measured.app.url,
                    measured.ask,
                    options.seconds,
                    options.people,
                    options.new_sessions,
                    seed=number,
                    evenly=options.evenly,
                )
                tally = asyncio.run(load)
                # The first round warms up.
                if number > 0:
                    measured.rounds.append(tally)
                    measured.cpu_s += cpu_seconds(measured.app) - before_s
    write_table(apps, options.people)


def write_table(apps: dict[str, Measured], people: int) -> None:
    """Print the table, errors, and ratios of the 95th percentiles: the median of the rounds, with their range."""
    write_head(f"{people} people", "answers", "p50 ms", "p95 ms", "CPU ms per answer")
    for name, measured in apps.items():
        p50, p95 = np.percentile(measured.times_ms, (50, 95))
        cpu_ms = 1000 * measured.cpu_s / len(measured.times_ms)
        write_row(name, len(measured.times_ms), f"{p50:.0f}", f"{p95:.0f}", f"{cpu_ms:.0f}")
        errors = {error for tally in measured.rounds for error in tally.errors}
        for error in sorted(errors)[:5]:
            sys.stdout.write(f"error: {error}\n")

    for name in BASELINES:
        pairs = zip(apps[PAGE].p95_ms, apps[name].p95_ms, strict=True)
        ratios = [page_ms / baseline_ms for page_ms, baseline_ms in pairs]
        sys.stdout.write(f"p95 of the page, times that of {name}: {ranged(ratios)}\n")


if __name__ == "__main__":
    main()
