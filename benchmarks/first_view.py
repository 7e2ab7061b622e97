"""Time until the page shows its first clips: `python -m benchmarks.first_view [--rounds N] [--starts N]`.

The page takes turns with a bare Gradio page of a text box and eight pictures
(`benchmarks.bare_page`). Chromium (Playwright, from tests/requirements.txt) opens each with an empty
cache, at 1440 × 900: `--rounds` times while its server runs, and `--starts` times as soon as a server
that has just been started answers. In as many further starts, a query is typed as soon as there is a
text box.
"""

import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, Request, ViewportSize, sync_playwright

from benchmarks.harness import (
    App,
    arguments,
    free_port,
    ranged,
    running_app,
    running_server,
    write_head,
    write_row,
)

TYPED = "a bird that is not flying"
SIZE = ViewportSize(width=1440, height=900)
# A busy machine is slow, not wrong.
PATIENCE_MS = 600_000
PICTURES = 8
FLAGS = ("--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking")
# Notes when the text box and the eighth picture are in the window. A clip is visible once its
# poster has arrived, or a frame of it.
WATCH = """
(() => {
  performance.setResourceTimingBufferSize(2000);
  const isHere = (element) => {
    const { width, height, top, bottom } = element.getBoundingClientRect();
    return width > 40 && height > 40 && top < innerHeight && bottom > 0 && element.checkVisibility();
  };
  const hasArrived = (url) => url && performance.getEntriesByName(url).length > 0;
  const hasPicture = (element) => element.tagName === "VIDEO"
    ? element.readyState > 1 || hasArrived(element.poster)
    : element.complete && element.naturalWidth > 0;
  const seen = (window.seen = {});
  const look = () => {
    const box = document.querySelector("#query textarea");
    if (box?.getBoundingClientRect().width) seen.box ??= performance.now();
    const pictures = [...document.querySelectorAll("SELECTOR")];
    const visible = pictures.filter((picture) => isHere(picture) && hasPicture(picture));
    if (visible.length >= COUNT) seen.pictures ??= performance.now();
    if (!(seen.box && seen.pictures)) setTimeout(look, 10);
  };
  look();
})();
"""
# CSS selectors of the pictures of our page, and of bare Gradio's.
CLIPS = ".nt-clip video, .nt-clip img"
IMAGES = ".image-container img, .image-frame img"


@dataclass(frozen=True)
class View:
    """A page as it was opened: seconds until its text box and its pictures, and what it asked for until then."""

    box_s: float
    pictures_s: float
    num_requests: int


@dataclass(frozen=True)
class Server:
    """A server that is compared.

    Attributes:
        pictures: their CSS selector.
    """

    name: str
    start: Callable[[Path], AbstractContextManager[App]]
    pictures: str


@contextmanager
def bare_page(data: Path) -> Iterator[App]:
    """Start the bare page."""
    port = free_port()
    with running_server(["-m", "benchmarks.bare_page", str(port)], port, data) as app:
        yield app


SERVERS = (Server("the page", running_app, CLIPS), Server("bare Gradio", bare_page, IMAGES))


def look(browser: Browser, url: str, pictures: str) -> View:
    """Open a page with an empty cache, and wait for its pictures."""
    context = browser.new_context(viewport=SIZE)
    requests: list[Request] = []

    def note(request: Request) -> None:
        requests.append(request)

    try:
        page = context.new_page()
        page.on("request", note)
        page.add_init_script(WATCH.replace("SELECTOR", pictures).replace("COUNT", str(PICTURES)))
        page.goto(url, timeout=PATIENCE_MS)
        page.wait_for_function("() => seen.box && seen.pictures", timeout=PATIENCE_MS)
        seen = page.evaluate("seen")
        return View(seen["box"] / 1000, seen["pictures"] / 1000, len(requests))
    finally:
        context.close()


def size_of(browser: Browser, url: str) -> dict[str, Any]:
    """Return how much a page's configuration holds."""
    page = browser.new_page()
    try:
        page.goto(url, timeout=PATIENCE_MS)
        size: dict[str, Any] = page.evaluate(
            """() => ({
              bytes: new Blob([JSON.stringify(gradio_config)]).size,
              components: gradio_config.components.length,
              events: gradio_config.dependencies.length,
            })"""
        )
        return size
    finally:
        page.close()


def compare_running(browser: Browser, folder: Path, rounds: int) -> None:
    """Open both pages in turns, and print their table."""
    views: dict[str, list[View]] = {server.name: [] for server in SERVERS}
    with ExitStack() as stack:
        urls = {}
        for server in SERVERS:
            urls[server.name] = stack.enter_context(server.start(folder)).url
        sizes = {name: size_of(browser, url) for name, url in urls.items()}
        for number in range(rounds + 1):
            for server in SERVERS:
                view = look(browser, urls[server.name], server.pictures)
                # The first round warms up.
                if number > 0:
                    views[server.name].append(view)
    write_views(views, sizes)


def write_views(
    views: Mapping[str, Sequence[View]], sizes: Mapping[str, Mapping[str, int]]
) -> None:
    """Print the table of pages that were opened while their servers run."""
    write_head(
        "opened while it runs",
        "text box s",
        "eight pictures s",
        "requests",
        "configuration kB",
        "components",
        "events",
    )
    for name, of_page in views.items():
        size = sizes[name]
        write_row(
            name,
            ranged([view.box_s for view in of_page], digits=2),
            ranged([view.pictures_s for view in of_page], digits=2),
            round(median(view.num_requests for view in of_page)),
            round(size["bytes"] / 1000),
            size["components"],
            size["events"],
        )
    write_ratio(views)


def compare_starts(browser: Browser, folder: Path, starts: int) -> None:
    """Start both servers in turns, open their pages as soon as they answer, and print their table."""
    seconds_to_answer: dict[str, list[float]] = {server.name: [] for server in SERVERS}
    views: dict[str, list[View]] = {server.name: [] for server in SERVERS}
    for _ in range(starts):
        for server in SERVERS:
            start_s = time.perf_counter()
            with server.start(folder) as app:
                seconds_to_answer[server.name].append(time.perf_counter() - start_s)
                views[server.name].append(look(browser, app.url, server.pictures))
    write_head(
        "opened as soon as it answers",
        "page is up s",
        "text box, s later",
        "eight pictures, s later",
    )
    for name, of_page in views.items():
        write_row(
            name,
            ranged(seconds_to_answer[name], digits=2),
            ranged([view.box_s for view in of_page], digits=2),
            ranged([view.pictures_s for view in of_page], digits=2),
        )
    write_ratio(views)


def type_at_starts(browser: Browser, folder: Path, starts: int) -> None:
    """Start the page's server, type a query as soon as there is a text box, and print when its answer is shown."""
    up: list[float] = []
    answered: list[float] = []
    for _ in range(starts):
        start_s = time.perf_counter()
        with running_app(folder) as app:
            up.append(time.perf_counter() - start_s)
            page = browser.new_page(viewport=SIZE)
            page.goto(app.url, timeout=PATIENCE_MS)
            box = page.locator("#query textarea")
            box.fill(TYPED, timeout=PATIENCE_MS)
            box.press("Enter")
            # An answer writes its query into the address.
            page.wait_for_function(
                "text => new URLSearchParams(location.search).get('q') === text",
                arg=TYPED,
                timeout=PATIENCE_MS,
            )
            answered.append(time.perf_counter() - start_s)
            page.close()
    write_head("typed as soon as possible", "page is up s", "typed query answered s")
    write_row("the page", ranged(up, digits=2), ranged(answered, digits=2))


def write_ratio(views: Mapping[str, Sequence[View]]) -> None:
    """Print how many times as long as bare Gradio the page takes: the median of the pairs, with their range."""
    page, bare = SERVERS
    pairs = zip(views[page.name], views[bare.name], strict=True)
    ratios = [ours.pictures_s / theirs.pictures_s for ours, theirs in pairs]
    sys.stdout.write(f"eight pictures, times bare Gradio: {ranged(ratios, digits=2)}\n\n")


def main() -> None:
    """Print both tables."""
    parser = arguments("first_view", __doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--starts", type=int, default=5)
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser")
    options = parser.parse_args()
    with TemporaryDirectory(prefix="nt2vr-first-view-") as name, sync_playwright() as playwright:
        folder = Path(name)
        browser = playwright.chromium.launch(executable_path=options.chromium, args=FLAGS)
        # It embeds the gallery.
        with running_app(folder, "api/health"):
            pass
        if options.rounds:
            compare_running(browser, folder, options.rounds)
        if options.starts:
            compare_starts(browser, folder, options.starts)
            type_at_starts(browser, folder, options.starts)
        browser.close()


if __name__ == "__main__":
    main()
