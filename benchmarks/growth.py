"""Memory of the server's process while it is searched: `python -m benchmarks.growth [--searches 5000]`.

Sessions of ten searches each run four at a time, as the page sends them. The benchmark prints the
resident memory after the start, with the default models loaded, and ten seconds after each quarter of
the searches.
"""

import asyncio
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path

import httpx

from benchmarks.harness import arguments, running_app, write_head, write_row
from benchmarks.search import queries
from benchmarks.serving import HEALTH, SearchPage
from nt2vr.search.plan import DEFAULT_SYSTEMS

PER_SESSION = 10
AT_A_TIME = 4
REST_S = 10.0


def resident_mb(pid: int) -> float:
    """Return the resident memory of a process in 10^6 bytes."""
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1]) * 1024 / 1e6
    raise ProcessLookupError(pid)


async def search(url: str, texts: Iterator[str], sessions: int) -> list[str]:
    """Search in sessions, one after another per client; return what went wrong."""
    page = SearchPage(url)
    remaining = iter(range(sessions))
    errors = []

    async def visit(client: httpx.AsyncClient) -> None:
        # All clients share the sessions that remain.
        for _ in remaining:
            session = uuid.uuid4().hex
            for _ in range(PER_SESSION):
                error = await page.search(client, next(texts), list(DEFAULT_SYSTEMS), session)
                if error:
                    errors.append(error)

    async with httpx.AsyncClient(base_url=url, timeout=60) as client:
        await asyncio.gather(*(visit(client) for _ in range(AT_A_TIME)))
    return errors


def main() -> None:
    """Print a row per quarter."""
    parser = arguments("growth", __doc__)
    parser.add_argument("--searches", type=int, default=5_000)
    options = parser.parse_args()
    sessions = options.searches // PER_SESSION // 4
    texts = iter(queries(4 * sessions * PER_SESSION))
    write_head("searches", "resident MB")
    with (
        tempfile.TemporaryDirectory(prefix="nt2vr-growth-") as folder,
        running_app(Path(folder), HEALTH) as app,
    ):
        for quarter in range(5):
            errors = asyncio.run(search(app.url, texts, sessions)) if quarter else []
            time.sleep(REST_S)
            num_searches = quarter * sessions * PER_SESSION
            write_row(f"{num_searches:,}", f"{resident_mb(app.process.pid):.0f}")
            for error in sorted(set(errors))[:5]:
                sys.stdout.write(f"error: {error}\n")


if __name__ == "__main__":
    main()
