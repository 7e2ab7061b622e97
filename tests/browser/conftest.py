"""Chromium for the journeys; where it is not installed, they are skipped unless NT2VR_REQUIRE_BROWSER is set."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Literal

import pytest
from playwright.sync_api import Browser, Error, Page, Request, ViewportSize, expect, sync_playwright

from tests.conftest import RunningApp
from tests.support.page_actions import open_search

# The first does the least work.
BROWSERS = (
    "chromium-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
)
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # A page lives for seconds: compiling hot functions takes 6 % of the time, and saves nothing.
    "--js-flags=--no-opt --no-maglev",
]
WINDOW: ViewportSize = {"width": 1280, "height": 800}


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    installed = [name for name in BROWSERS if shutil.which(name)]
    if not installed:
        message = "No Chromium here: the browser journeys are skipped (apt-get install chromium-headless-shell)."
        if os.environ.get("NT2VR_REQUIRE_BROWSER"):
            pytest.fail(message)
        pytest.skip(message)
    # A busy machine is slow, not wrong.
    expect.set_options(timeout=30_000)
    with sync_playwright() as playwright:
        path = shutil.which(installed[0])
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield browser
        browser.close()


@pytest.fixture
def own_page(chromium: Browser, running_app: RunningApp) -> Iterator[Page]:
    """A page that is not loaded yet, for what happens during a load."""
    with fresh_page(chromium, running_app.url) as page:
        yield page


@pytest.fixture
def page(own_page: Page, running_app: RunningApp) -> Page:
    """A page that shows the answer to the first example."""
    open_search(own_page, running_app.url)
    return own_page


@pytest.fixture(scope="module")
def loaded_page(chromium: Browser, running_app: RunningApp) -> Iterator[Page]:
    """A page that tests of a module share, as a load takes 2 s of the processor; each opens a link or asks first."""
    with fresh_page(chromium, running_app.url) as page:
        open_search(page, running_app.url)
        yield page


@contextmanager
def fresh_page(
    chromium: Browser, url: str, plays: bool = False, headers: dict[str, str] | None = None
) -> Iterator[Page]:
    """Open a page; at the end assert that it asked no other host and that no script failed.

    Args:
        chromium: the browser.
        url: of the app.
        plays: whether clips play; decoding 24 of them takes most of a journey's time, so others
            prefer reduced motion.
        headers: of every request.
    """
    motion: Literal["no-preference", "reduce"] = "no-preference" if plays else "reduce"
    context = chromium.new_context(
        viewport=WINDOW, reduced_motion=motion, extra_http_headers=headers
    )
    page = context.new_page()
    faults: list[str] = []

    def note_request(request: Request) -> None:
        if not request.url.startswith((url, "data:", "blob:")):
            faults.append(request.url)

    def note_error(error: Error) -> None:
        faults.append(f"in the page: {error.stack or error.message}")

    page.on("request", note_request)
    page.on("pageerror", note_error)
    try:
        yield page
    finally:
        context.close()
    assert faults == []
