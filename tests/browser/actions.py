"""What several journeys do on the page."""

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

MODELS_MS = 60_000  # the first search waits for the models
SETTLED = """() => document.getAnimations().every(
  (each) => each.playState !== "running" || each.effect.getComputedTiming().iterations === Infinity)"""


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
