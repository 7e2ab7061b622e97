"""The app under load: `python -m benchmarks.serving people|saturation|routes [--minutes M] [--training]`.

It starts `python app.py` in its own process, with its own data folder, and searches over HTTP:

- people: 50 people, each with a search of three systems every 5 s on average;
- saturation: as many searches as are answered, by 16 clients that never wait;
- routes: one client takes turns with the plain route, Gradio's client and the search itself.

With --training, a run trains meanwhile, and each search also uses its newest checkpoint.
"""

import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np

from benchmarks.harness import (
    PATIENCE_S,
    App,
    arguments,
    in_turns,
    memory_mb,
    running_app,
    wait_until,
    with_children,
    write_head,
    write_row,
)
from benchmarks.search import queries
from nt2vr.settings import PACKAGE
from trainer.runs.run_folder import RunFolder

PEOPLE = 50
PAUSE_S = 5.0
CLIENTS = 16
# Searches; two cores answer half as many.
MOST_PER_S = 100
SYSTEMS = ["CLIP", "CLIP-neg", "CLIP boolean"]
# A run is named by its folder.
RUN = "load"
# It answers once searches do.
HEALTH = "api/health"


def memory_of(app: App) -> float:
    """Memory of the app and its children but the trainer, in 10^6 bytes."""
    total_mb = 0.0
    for pid in with_children(app.process.pid):
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
        if b"\0trainer\0" not in command:
            total_mb += memory_mb(pid)
    return total_mb


@contextmanager
def training(data: Path) -> Iterator[RunFolder]:
    """Train a run whose checkpoints the app serves as they appear, and end it after the block."""
    config = {
        "name": RUN,
        "base": "assets/models/clip",
        "train": "text",
        "epochs": 10_000,
        "num_clips": 256,
        "num_frames": 4,
        "batch_size": 32,
        "validation_clips": 32,
        "learning_rate": 1e-5,
    }
    run = RunFolder(data / "runs" / "load")
    run.path.mkdir(parents=True, exist_ok=True)
    run.config.write_text(json.dumps(config))
    command = [sys.executable, "-m", "trainer", str(run.path)]
    with subprocess.Popen(
        command, cwd=PACKAGE.parent, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    ) as trainer:
        try:
            wait_until(lambda: run.checkpoint(1).exists() and _is_running(run, trainer.pid), 600)
            yield run
        finally:
            trainer.kill()


def _is_running(run: RunFolder, pid: int) -> bool:
    status = run.status()
    return status is not None and (status.state, status.pid) == ("running", pid)


@dataclass
class Tally:
    """What a load has measured."""

    times_ms: list[float] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)

    async def time(self, asking: Awaitable[str]) -> None:
        """Time one request; it returns what is wrong with its answer, or "" if nothing."""
        start_s = time.perf_counter()
        try:
            wrong = await asking
        except (httpx.HTTPError, ValueError, LookupError) as error:
            wrong = repr(error)
        if wrong:
            self.errors.append(wrong)
        else:
            self.times_ms.append(1000 * (time.perf_counter() - start_s))

    def row(self, name: str, seconds: float, memory: str) -> str:
        """Format as a row of a Markdown table."""
        p50, p95 = np.percentile(self.times_ms or [0.0], (50, 95))
        count = len(self.times_ms)
        speed = f"{count / seconds:.1f}"
        return f"| {name} | {count:,} | {p50:.0f} | {p95:.0f} | {len(self.errors)} | {speed} | {memory} |\n"


def enough_queries(seconds: float, per_s: float) -> Iterator[str]:
    """Return distinct queries for a load that sends at most so many; 10,000 take some seconds to write."""
    return iter(queries(round(per_s * seconds) + 2 * PEOPLE))


HEAD = """| load | searches | p50 ms | p95 ms | errors | searches/s | memory MB, start → end |
|:--|--:|--:|--:|--:|--:|:--|
"""


async def by_route(client: httpx.AsyncClient, query: str, systems: list[str]) -> str:
    """Search over the plain route."""
    answer = await client.post("api/search", json={"query": query, "systems": systems, "k": 8})
    num_hits = [len(system["hits"]) for system in answer.json().get("systems", [])]
    return "" if num_hits == [8] * len(systems) else answer.text[:200]


class Page:
    """An event of a Gradio page, triggered over HTTP as a browser does it."""

    def __init__(self, url: str, elem_id: str, trigger: str) -> None:
        """Read from the page which event a component triggers."""
        config = httpx.get(f"{url}config", timeout=PATIENCE_S).json()
        ids = {}
        for component in config["components"]:
            ids[component["props"].get("elem_id")] = component["id"]
        target = [ids[elem_id], trigger]
        self.event_id = next(
            event["id"]
            for event in config["dependencies"]
            if event["backend_fn"] and target in event["targets"]
        )

    async def send(self, client: httpx.AsyncClient, session: str, inputs: list[Any]) -> str:
        """Trigger the event; return what is wrong with its answer, or ""."""
        message = await self.answer(client, session, inputs)
        return "" if message["success"] else str(message["output"].get("error"))

    async def answer(
        self, client: httpx.AsyncClient, session: str, inputs: list[Any]
    ) -> dict[str, Any]:
        """Put the event into the queue; return the message that completes it."""
        body = {"data": inputs, "fn_index": self.event_id, "session_hash": session}
        joined = await client.post("gradio_api/queue/join", json=body)
        joined.raise_for_status()
        async with client.stream(
            "GET", "gradio_api/queue/data", params={"session_hash": session}
        ) as lines:
            async for line in lines.aiter_lines():
                if not line.startswith("data: "):
                    continue
                message: dict[str, Any] = json.loads(line.removeprefix("data: "))
                if message.get("msg") == "process_completed":
                    return message
        raise LookupError("no answer")


class SearchPage(Page):
    """The search of the page."""

    def __init__(self, url: str) -> None:
        """Find the event of a search."""
        super().__init__(url, "request", "change")

    async def search(
        self, client: httpx.AsyncClient, query: str, systems: list[str], session: str
    ) -> str:
        """Search as a visitor whose browser has this session."""
        return await self.send(client, session, self.inputs(query, systems))

    @staticmethod
    def inputs(query: str, systems: list[str]) -> list[Any]:
        """Return what a browser sends to search."""
        link = {"q": query, "systems": "|".join(systems), "k": "8"}
        request = {"number": 1, "link": link, "opened": False, "references": []}
        return [json.dumps(request), None]


async def people(app: App, seconds: float, systems: list[str]) -> Tally:
    """Let people search, each at moments of their own."""
    texts = enough_queries(seconds, PEOPLE / PAUSE_S)
    page = SearchPage(app.url)

    def search(client: httpx.AsyncClient, session: str) -> Awaitable[str]:
        return page.search(client, next(texts), systems, session)

    return await crowd(app.url, search, seconds)


async def crowd(
    url: str,
    ask: Callable[[httpx.AsyncClient, str], Awaitable[str]],
    seconds: float,
    people: int = PEOPLE,
    new_sessions: bool = False,
    seed: int = 0,
    evenly: bool = False,
) -> Tally:
    """Let people ask at random moments, PAUSE_S after each answer in the mean.

    A session is a person's, for all loads on an app, or with `new_sessions` a request's.

    Args:
        seed: on which the pauses depend.
        evenly: asks once every PAUSE_S instead, evenly spread. Such requests never meet at an app
            that answers each before the next, and always at a slightly slower one.
    """
    tally = Tally()
    end_s = time.monotonic() + seconds

    async def person(number: int) -> None:
        pauses = random.Random(f"{seed} {number}")
        session = f"person{number}"
        first = number / people if evenly else pauses.random()
        await asyncio.sleep(PAUSE_S * first)
        while time.monotonic() < end_s:
            start_s = time.monotonic()
            if new_sessions:
                session = uuid.uuid4().hex
            await tally.time(ask(client, session))
            pause_s = pauses.expovariate(1 / PAUSE_S)
            if evenly:
                pause_s = max(0.0, PAUSE_S - (time.monotonic() - start_s))
            await asyncio.sleep(pause_s)

    limits = httpx.Limits(max_connections=None)
    async with httpx.AsyncClient(base_url=url, timeout=60, limits=limits) as client:
        await asyncio.gather(*map(person, range(people)))
    return tally


async def saturation(app: App, seconds: float, systems: list[str]) -> Tally:
    """Let clients search one after another without a pause, over the plain route."""
    tally = Tally()
    texts = enough_queries(seconds, MOST_PER_S)
    end_s = time.monotonic() + seconds

    async def visitor() -> None:
        while time.monotonic() < end_s:
            await tally.time(by_route(client, next(texts), systems))

    async with httpx.AsyncClient(base_url=app.url, timeout=60) as client:
        await asyncio.gather(*(visitor() for _ in range(CLIENTS)))
    return tally


def measure(
    name: str,
    load: Callable[[App, float, list[str]], Coroutine[Any, Any, Tally]],
    data: Path,
    seconds: float,
) -> None:
    """Run one load, alone or while a run trains, and print its row."""
    with running_app(data, HEALTH) as app:
        systems = [*SYSTEMS[:2], RUN] if (data / "runs").exists() else SYSTEMS
        # It warms up.
        asyncio.run(load(app, 5, systems))
        before_mb = memory_of(app)
        tally = asyncio.run(load(app, seconds, systems))
        sys.stdout.write(tally.row(name, seconds, f"{before_mb:.0f} → {memory_of(app):.0f}"))
        for error in sorted(set(tally.errors))[:5]:
            sys.stdout.write(f"error: {error}\n")


def routes(data: Path, rounds: int = 200) -> None:
    """Time single searches: itself in this process, over the plain route, and through Gradio's client."""
    from gradio_client import Client  # noqa: PLC0415

    import nt2vr  # noqa: PLC0415

    texts = iter(queries(4 * rounds + 50))
    with (
        running_app(data, HEALTH) as app,
        nt2vr.open_searcher(data) as searcher,
        httpx.Client(base_url=app.url) as client,
    ):
        gradio = Client(app.url, verbose=False)
        unverified = Client(app.url, verbose=False, ssl_verify=False)
        rest = (SYSTEMS, 8, None, 0.5, 0.5)
        ways: dict[str, Callable[[], Any]] = {
            "the search itself": lambda: searcher.search(next(texts), SYSTEMS, k=8).as_dict(),
            "POST /api/search": lambda: client.post(
                "api/search", json={"query": next(texts), "systems": SYSTEMS}
            ).json(),
            "gradio_client, /search": lambda: gradio.predict(
                next(texts), *rest, api_name="/search"
            ),
            "the same with ssl_verify=False": lambda: unverified.predict(
                next(texts), *rest, api_name="/search"
            ),
        }
        times = in_turns(ways, rounds + 10)
    write_head("one search of three systems", "median ms", "p95 ms")
    for name, seconds in times.items():
        p50, p95 = 1000 * np.percentile(seconds[10:], (50, 95))
        write_row(name, f"{p50:.1f}", f"{p95:.1f}")


def main() -> None:
    """Measure the chosen load, on a data folder whose gallery is embedded first."""
    parser = arguments("serving", __doc__)
    parser.add_argument("load", choices=("people", "saturation", "routes"))
    parser.add_argument("--minutes", type=float, default=2.0)
    parser.add_argument(
        "--training", action="store_true", help="train meanwhile, and serve its checkpoints"
    )
    options = parser.parse_args()
    seconds = 60 * options.minutes
    with tempfile.TemporaryDirectory(prefix="nt2vr-serving-") as folder:
        data = Path(folder)
        # It embeds the gallery.
        with running_app(data, HEALTH):
            pass
        if options.load == "routes":
            routes(data)
            return
        load = {"people": people, "saturation": saturation}[options.load]
        sys.stdout.write(HEAD)
        if not options.training:
            measure(options.load, load, data, seconds)
            return
        with training(data):
            measure(f"{options.load}, training", load, data, seconds)


if __name__ == "__main__":
    main()
