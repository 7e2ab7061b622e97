"""What several journeys do on the page."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from urllib.parse import urlencode

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, Route, expect

from nt2vr.ui.search.state import DEFAULT_QUERY

# The search that a page opens with.
FIRST = f"?{urlencode({'q': DEFAULT_QUERY})}"
ANSWERS = "**/gradio_api/queue/data?*"
# An action is excluded, in a sentence of several parts.
DANCING = "?q=a+boy+is+dancing+and+not+playing+the+drum"
# The first search waits for the models; a busy machine is slow, not wrong.
MODELS_MS = 180_000
SETTLED = """() => document.getAnimations().every(
  (each) => each.playState !== "running" || each.effect.getComputedTiming().iterations === Infinity)"""

SHIFTS = """window.shifts = []; new PerformanceObserver((list) => {
  for (const { value, startTime, hadRecentInput, sources } of list.getEntries()) if (!hadRecentInput) {
    const moved = sources.map(({ node, previousRect, currentRect }) =>
      `${node?.outerHTML?.slice(0, 80) ?? node?.data}: ${previousRect.y} -> ${currentRect.y}`);
    shifts.push([value, `after ${Math.round(startTime)} ms`, ...moved]);
  }
}).observe({ type: "layout-shift", buffered: true });"""

# Back and Forward dispatch this event
FOLLOW = """(link) => {
  history.pushState({}, "", link);
  dispatchEvent(new PopStateEvent("popstate", { state: {} }));
}"""
DRAWN = "() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))"
SHOWN = """([times, limit]) => {
  window.shown = new Promise((done, fail) => {
    addEventListener("nt2vr-shown", () => { times -= 1; if (!times) done(); });
    setTimeout(() => fail(new Error("The report is not shown.")), limit);
  });
  shown.catch(() => {}); // is told where it is waited for
}"""


def columns(page: Page) -> Locator:
    return page.locator(".nt-column")


def open_search(page: Page, url: str) -> None:
    """Load the page and wait for the first example's answer."""
    page.goto(url)
    expect(columns(page)).to_have_count(3, timeout=MODELS_MS)
    # The page comes with these columns; its server has searched for them once it says so.
    page.wait_for_function("history.state?.answered", timeout=MODELS_MS)


def assert_still(page: Page) -> None:
    """Assert that hardly anything shifted in a page that SHIFTS observes; say what did."""
    shifts = page.evaluate("shifts")
    assert sum(value for value, *_ in shifts) < 0.05, shifts


def step(page: Page, link: str) -> None:
    """Open a link within the loaded page, as Back does."""
    page.evaluate(FOLLOW, link)


def follow(page: Page, link: str = FIRST) -> None:
    """Open the link of a search within the loaded page, and wait for its answer.

    It waits in vain where the answer's address lacks a value of the link, or has another one: load
    such a link.
    """
    step(page, link)
    page.wait_for_function("history.state?.answered", timeout=MODELS_MS)
    # No assertion shall be met by what was shown before.
    page.evaluate(DRAWN)


def reopen(page: Page) -> None:
    """Follow another link, and then the page's own: it holds all that is shown."""
    link = page.url
    follow(page)
    follow(page, link)


def follow_report(page: Page, link: str = "") -> None:
    """Open the link of a report within the loaded page, or go back to one, and wait until it is shown."""
    tab = page.locator("#evaluate")
    was_opened_before = tab.count() > 0
    # The tab shows the report when it is opened; if it has been opened before, the link does so again.
    times = 2 if was_opened_before and not tab.is_visible() else 1
    page.evaluate(SHOWN, [times, MODELS_MS])
    if link:
        step(page, link)
    else:
        page.evaluate("history.back()")
    page.evaluate("shown")


def submit(page: Page, text: str) -> None:
    query = page.locator("#query textarea")
    query.fill(text)
    query.press("Enter")


def choose(page: Page, elem_id: str, option: str | re.Pattern[str]) -> None:
    # The list chosen from before fades out.
    expect(page.get_by_role("option")).to_have_count(0)
    page.locator(f"#{elem_id} input").click()
    page.get_by_role("option", name=option, exact=True).click()


def open_menu(page: Page, panel: str = "") -> None:
    """Open the menu of what is seldom needed, and in it a panel, unless they are open."""
    menu = page.locator("#menu")
    if not menu.is_visible():
        page.get_by_role("button", name="More", exact=True).click()
    label = menu.locator(".label-wrap:not(.open)", has_text=panel)
    if panel and label.count():
        label.click()


def serious(page: Page, *rules: str) -> list[str]:
    """List axe-core's serious and critical findings, by default of all its rules."""
    # A fade begins a frame after the change that it follows.
    page.evaluate(DRAWN)
    # Colours of what fades in or out are not its own.
    page.wait_for_function(SETTLED)
    options: dict[str, Any] = {"resultTypes": ["violations"]}
    if rules:
        options["runOnly"] = {"type": "rule", "values": rules}
    findings = []
    for rule in Axe().run(page, options=options).response["violations"]:
        if rule["impact"] in ("serious", "critical"):
            for node in rule["nodes"]:
                findings.append(f"{rule['id']}: {node['html'][:200]}")
    return findings


class HeldRequests:
    """Requests that wait until they are released."""

    def __init__(self, page: Page, part: str) -> None:
        self._page = page
        self._part = part
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
def held(page: Page, pattern: str, part: str = "") -> Iterator[HeldRequests]:
    """Hold requests that match, and whose body contains `part`, until the end of the block."""
    requests = HeldRequests(page, part)
    page.route(pattern, requests.take)
    yield requests
    requests.release()
    page.unroute(pattern, requests.take)
