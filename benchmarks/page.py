"""What the first screen shows, at four sizes, as JSON: `python -m benchmarks.page`.

It opens the page in headless Chromium (Playwright, from tests/requirements.txt) and waits for the first answer.
`first_clip_y` and `controls_height`, of all between the tabs and the columns, are CSS pixels; `rows_of_controls` are
there; `clips_above_fold` are wholly in the window, at least `ranks_above_fold` of them in each visible column; `shift`
is the cumulative layout shift (Layout Instability API), without what follows an input.
"""

import json
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from playwright.sync_api import Browser, ViewportSize, sync_playwright

from benchmarks.harness import arguments, running_app

SIZES = ((390, 844), (768, 1024), (1280, 800), (1920, 1080))
SEARCH_MS, SETTLED_MS = 600_000, 2_000  # until the models are loaded; until nothing moves any more
SHIFTS = """window.shift = 0; new PerformanceObserver((list) => {
  for (const { value, hadRecentInput } of list.getEntries()) if (!hadRecentInput) shift += value;
}).observe({ type: "layout-shift", buffered: true });"""
MEASURE = """() => {
  const box = (each) => each.getBoundingClientRect();
  const shown = { visibilityProperty: true, opacityProperty: true };
  const isSeen = (each) => each.checkVisibility(shown) && box(each).height > 1;
  const seen = (selector) => [...document.querySelectorAll(selector)].filter(isSeen);
  const isIn = (each) => {
    const { left, right, top, bottom } = box(each);
    return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight;
  };
  const one = (selector) => box(document.querySelector(selector));
  const [tabs, columns] = [one(".tab-wrapper").bottom, one(".nt-columns").top];
  const middles = seen("button, input, textarea, a[href], [tabindex='0']")
    .map((each) => box(each)).map(({ top, bottom }) => (top + bottom) / 2)
    .filter((y) => y > tabs && y < columns).sort((a, b) => a - b);
  const inView = seen(".nt-column").filter((each) => box(each).left < innerWidth && box(each).right <= innerWidth);
  return {
    first_clip_y: Math.round(one(".nt-clip").top),
    controls_height: Math.round(columns - tabs),
    rows_of_controls: middles.filter((y, i) => i === 0 || y - middles[i - 1] > 14).length,
    clips_above_fold: seen(".nt-clip").filter(isIn).length,
    ranks_above_fold: Math.min(...inView.map((each) => [...each.querySelectorAll(".nt-clip")].filter(isIn).length)),
    shift: Math.round(1000 * shift) / 1000,
  };
}"""


def measured(browser: Browser, url: str, size: tuple[int, int]) -> dict[str, Any]:
    """Open the page at a size, and measure it."""
    view = ViewportSize(width=size[0], height=size[1])
    page = browser.new_context(viewport=view, reduced_motion="reduce").new_page()
    page.add_init_script(SHIFTS)
    page.goto(url)
    page.locator(".nt-clip").first.wait_for(timeout=SEARCH_MS)
    page.wait_for_timeout(SETTLED_MS)
    found: dict[str, Any] = page.evaluate(MEASURE)
    page.context.close()
    return found


def main() -> None:
    """Print one line of JSON per size."""
    parser = arguments("page", __doc__)
    parser.add_argument("--chromium", default="/usr/bin/chromium", help="the browser (default: %(default)s)")
    flags = parser.parse_args()
    with TemporaryDirectory() as data, running_app(Path(data)) as app, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=flags.chromium, args=["--no-sandbox"])
        for size in SIZES:
            found = measured(browser, app.url, size)
            sys.stdout.write(json.dumps({"size": "×".join(map(str, size)), **found}, ensure_ascii=False) + "\n")
        browser.close()


if __name__ == "__main__":
    main()
