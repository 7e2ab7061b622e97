"""Visitors of the page beside those of a trivial Gradio app: `python -m benchmarks.visitors [--rounds N] [--profile]`.

50 people ask every 5 s: the page for a search of its default systems, the trivial app for nothing. Both apps are up
throughout, and are asked in turns of some seconds, so that whatever else the machine does slows both. The ratio of the
95th percentiles is that of all turns; its range is that of the rounds.
"""

import asyncio
import sys
import tempfile
from collections.abc import Awaitable
from pathlib import Path

import httpx
import numpy as np

from benchmarks.harness import App, arguments, free_port, ranged, running_app, running_server, write_head, write_row
from benchmarks.search import queries
from benchmarks.serving import HEALTH, Page, SearchPage, Tally, crowd, with_children
from nt2vr.search.searcher import DEFAULT_SYSTEMS


def cpu_s(app: App) -> float:
    """Return the processor seconds that an app and its children have used."""
    ticks = 0
    for pid in with_children(app.process.pid):
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
        ticks += int(fields[11]) + int(fields[12])
    return ticks / 100


def main() -> None:
    """Print a row per app, and the ratio."""
    parser = arguments("visitors", __doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=20.0, help="of a turn")
    parser.add_argument("--new-sessions", action="store_true", help="each request is of a new visitor")
    options = parser.parse_args()
    texts = iter(queries(round(options.rounds * options.seconds * 12) + 500))
    with tempfile.TemporaryDirectory(prefix="nt2vr-visitors-") as folder:
        data = Path(folder)
        port = free_port()
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

            turns = {"the page": (app, search), "the trivial app": (trivial, repeat)}
            tallies: dict[str, list[Tally]] = {name: [] for name in turns}
            costs_s: dict[str, float] = dict.fromkeys(turns, 0.0)
            for number in range(options.rounds + 1):
                for name, (server, ask) in turns.items():
                    before_s = cpu_s(server)
                    tally = asyncio.run(crowd(server.url, ask, options.seconds, options.new_sessions))
                    if number > 0:  # the first round warms up
                        tallies[name].append(tally)
                        costs_s[name] += cpu_s(server) - before_s
    write_head(f"50 people, {'new' if options.new_sessions else 'own'} sessions", "searches", "p50 ms", "p95 ms", "CPU ms")
    p95s: dict[str, list[float]] = {}
    for name, rounds in tallies.items():
        times_ms = [time_ms for tally in rounds for time_ms in tally.times_ms]
        p50, p95 = np.percentile(times_ms, (50, 95))
        write_row(name, len(times_ms), f"{p50:.0f}", f"{p95:.0f}", f"{1000 * costs_s[name] / len(times_ms):.0f}")
        p95s[name] = [float(np.percentile(tally.times_ms, 95)) for tally in rounds]
        for error in sorted({error for tally in rounds for error in tally.errors})[:5]:
            sys.stdout.write(f"error: {error}\n")
    ratios = [page / other for page, other in zip(p95s["the page"], p95s["the trivial app"], strict=True)]
    sys.stdout.write(f"p95 of the page, times that of the trivial app: {ranged(ratios)}\n")


if __name__ == "__main__":
    main()
