"""Chromium for the journeys; where it is not installed, they are skipped unless NT2VR_REQUIRE_BROWSER is set.

The journeys of a worker share one page, in which each follows its link (see `follow`): a load takes seconds of CPU.
"""

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Literal

import pytest
from playwright.sync_api import Browser, Error, Page, Request, ViewportSize, expect, sync_playwright

from tests.browser.actions import open_search
from tests.conftest import RunningApp

BROWSERS = "chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"  # the first does the least work
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
).split()
QUIET_S, LONGEST_S = 0.25, 20.0  # a link is opened and then searched for, a moment later; a run may never be quiet
WINDOW: ViewportSize = {"width": 1280, "height": 800}
IS_OPEN = """() => {
  document.activeElement?.blur(); // a field would take the key
  return Boolean(document.querySelector("dialog[open], :popover-open, .nt-on-stage"));
}"""
TIDY = """() => {
  localStorage.clear();
  sessionStorage.clear();
  scrollTo(0, 0);
  document.querySelectorAll(".label-wrap.open, [data-testid=toast-close]").forEach((each) => each.click());
}"""


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    path = next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        message = "No Chromium here: the browser journeys are skipped (apt-get install chromium-headless-shell)."
        if os.environ.get("NT2VR_REQUIRE_BROWSER"):
            pytest.fail(message)
        pytest.skip(message)
    expect.set_options(timeout=20_000)  # a busy machine is slow, not wrong
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


class Traffic:
    """The requests of a page to Gradio's queue."""

    def __init__(self, page: Page) -> None:
        self.page, self._last_s = page, 0.0
        self._open: set[Request] = set()
        page.on("request", lambda request: self._note(request, self._open.add))
        for ended in ("requestfinished", "requestfailed"):
            page.on(ended, lambda request: self._note(request, self._open.discard))

    def _note(self, request: Request, change: Callable[[Request], None]) -> None:
        if "/queue/" in request.url:
            change(request)
            self._last_s = time.monotonic()

    def wait_for_quiet(self) -> None:
        """Wait for answers still on their way: the next journey would take one for its own."""
        until_s = time.monotonic() + LONGEST_S
        while (self._open or time.monotonic() - self._last_s < QUIET_S) and time.monotonic() < until_s:
            self.page.wait_for_timeout(50)


class SharedPage:
    """The page of a worker's journeys, loaded when it is first needed and after a journey that failed.

    Attributes:
        strays: what it asked other hosts for, and the failures of its scripts.
    """

    def __init__(self, chromium: Browser, url: str) -> None:
        self._chromium, self._url = chromium, url
        self._traffic: Traffic | None = None
        self.strays: list[str] = []

    def ready(self) -> Page:
        """Return the page as it was when loaded, but for the search that it shows."""
        if self._traffic:
            with suppress(Error):
                if tidied(self._traffic.page):
                    self._traffic.wait_for_quiet()
                    return self._traffic.page
            self.close()
        page, self.strays = open_page(self._chromium, self._url)
        traffic = Traffic(page)
        open_search(page, self._url)
        self._traffic = traffic
        return page

    def close(self) -> None:
        if self._traffic:
            self._traffic.page.context.close()
        self._traffic = None


@pytest.fixture(scope="session")
def shared_page(chromium: Browser, running_app: RunningApp) -> Iterator[SharedPage]:
    shared = SharedPage(chromium, running_app.url)
    yield shared
    shared.close()


@pytest.fixture
def page(request: pytest.FixtureRequest, shared_page: SharedPage) -> Iterator[Page]:
    """The shared page: a journey that fails closes it, so that one failure makes no second one."""
    failed = request.session.testsfailed
    yield shared_page.ready()
    strays = [*shared_page.strays]
    shared_page.strays.clear()
    if strays or request.session.testsfailed > failed:
        shared_page.close()
    assert strays == []


@pytest.fixture
def own_page(chromium: Browser, running_app: RunningApp) -> Iterator[Page]:
    """A page that is not loaded yet, for what happens during a load."""
    with fresh_page(chromium, running_app.url) as page:
        yield page


def open_page(
    chromium: Browser, url: str, plays: bool = False, headers: dict[str, str] | None = None
) -> tuple[Page, list[str]]:
    """Open a page of its own; return it with the list of what it asks other hosts for and which scripts fail.

    Args:
        chromium: the browser.
        url: of the app.
        plays: whether clips play; decoding 24 of them takes most of a journey's time, so others prefer reduced motion.
        headers: of every request.
    """
    motion: Literal["no-preference", "reduce"] = "no-preference" if plays else "reduce"
    page = chromium.new_context(viewport=WINDOW, reduced_motion=motion, extra_http_headers=headers).new_page()
    strays: list[str] = []
    page.on("request", lambda request: strays.append(request.url) if not _is_own(request.url, url) else None)
    page.on("pageerror", lambda error: strays.append(f"error in the page: {error}"))
    return page, strays


@contextmanager
def fresh_page(
    chromium: Browser, url: str, plays: bool = False, headers: dict[str, str] | None = None
) -> Iterator[Page]:
    """Open a page as `open_page` does; at the end assert that it asked no other host and that no script failed."""
    page, strays = open_page(chromium, url, plays, headers)
    yield page
    page.context.close()
    assert strays == []


def tidied(page: Page) -> bool:
    """Undo what journeys do besides searching; return whether nothing is left open."""
    page.set_viewport_size(WINDOW)
    page.emulate_media(reduced_motion="reduce")
    page.mouse.move(0, 0)
    for other in page.context.pages:
        if other != page:
            other.close()
    for _ in range(4):
        if not page.evaluate(IS_OPEN):
            break
        page.keyboard.press("Escape")
    else:
        return False
    page.get_by_role("tab", name="Search").click()
    page.evaluate(TIDY)
    return True


def _is_own(url: str, app_url: str) -> bool:
    return url.startswith((app_url, "data:", "blob:"))
