"""What several journeys do on the page."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Route, expect

ANSWERS = "**/gradio_api/queue/data?*"
DANCING = "?q=a+boy+is+dancing+and+not+playing+the+drum"  # a deed excluded, of a sentence in parts
MODELS_MS = 60_000  # the first search waits for the models
SETTLED = """() => document.getAnimations().every(
  (each) => each.playState !== "running" || each.effect.getComputedTiming().iterations === Infinity)"""

SHIFTS = """window.shift = 0; new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shift += value;
}).observe({ type: "layout-shift", buffered: true });"""


def columns(page: Page) -> Locator:
    return page.locator(".nt-column")


def open_search(page: Page, url: str) -> None:
    """Open the page and wait for the first example's answer."""
    page.goto(url)
    expect(columns(page)).to_have_count(3, timeout=MODELS_MS)


def submit(page: Page, text: str) -> None:
    query = page.locator("#query textarea")
    query.fill(text)
    query.press("Enter")


def choose(page: Page, elem_id: str, option: str) -> None:
    expect(page.get_by_role("option")).to_have_count(0)  # the list chosen from before fades out
    page.locator(f"#{elem_id} input").click()
    page.get_by_role("option", name=option, exact=True).click()


def open_menu(page: Page, panel: str = "") -> None:
    """Open the menu of what is seldom needed, and in it a panel."""
    page.get_by_role("button", name="More", exact=True).click()
    if panel:
        page.locator("#menu").get_by_role("button", name=panel).click()


def serious(page: Page) -> list[str]:
    """List axe-core's serious and critical findings."""
    page.wait_for_function(SETTLED)  # colours of what fades in or out are not its own
    found = Axe().run(page).response["violations"]
    return [
        f"{rule['id']}: {node['html'][:200]}"
        for rule in found
        if rule["impact"] in ("serious", "critical")
        for node in rule["nodes"]
    ]


class Held:
    """Requests on hold."""

    def __init__(self, page: Page, part: str) -> None:
        self._page, self._part = page, part
        self._routes: list[Route] = []
        self._is_released = False

    def take(self, route: Route) -> None:
        if not self._is_released and self._part in (route.request.post_data or ""):
            self._routes.append(route)
        else:
            route.continue_()

    def wait_for_one(self) -> None:
        for _ in range(600):
            if self._routes:
                return
            self._page.wait_for_timeout(50)
        pytest.fail("No request was made.")

    def release(self) -> None:
        self._is_released = True
        for route in self._routes:
            route.continue_()


@contextmanager
def held(page: Page, pattern: str, part: str = "") -> Iterator[Held]:
    """Hold requests that match, and whose body contains `part`, until the end of the block."""
    requests = Held(page, part)
    page.route(pattern, requests.take)
    yield requests
    requests.release()
