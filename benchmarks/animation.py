"""Record docs/not.gif, at the top of README: a query with "not" and the same one without, CLIP against CLIP-neg.

It drives the page in headless Chromium (Playwright, from tests/requirements.txt) on a fresh data
folder:

    python -m benchmarks.animation [--out docs/not.gif] [--chromium /usr/bin/chromium]
"""

import io
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from PIL import Image
from playwright.sync_api import Page, ViewportSize, sync_playwright

from benchmarks.harness import arguments, running_app
from nt2vr.errors import ConfigError

PICTURE = Path(__file__).parents[1] / "docs" / "not.gif"
NEGATED = "a person without a dog"
AFFIRMATIVE = "a person with a dog"
SIZE = ViewportSize(width=1280, height=620)
# Pixels of the picture.
WIDTH = 800
COLOURS = 96
# Characters that are typed per frame.
TYPED = 4
# How long a frame stays while typing, before Enter, and of the results.
TYPING_MS = 160
READING_MS = 900
RESULTS_MS = 4000
MAX_BYTES = 2_000_000
SEARCH_MS = 600_000
# Until nothing moves any more.
SETTLED_MS = 2_000
SHOWN = "() => [...document.querySelectorAll('.nt-column')].map(column => column.innerText).join()"
DRAWN = (
    "() => [...document.querySelectorAll('.nt-column video')].every(video => video.readyState > 1)"
)


def frames(page: Page, url: str) -> Iterator[tuple[Image.Image, int]]:
    """Yield pictures of the page, each with the milliseconds that it stays."""
    # Its clips are here already when it is asked for again.
    page.goto(f"{url}?q={AFFIRMATIVE.replace(' ', '+')}&systems=CLIP|CLIP-neg&k=8")
    page.locator(".nt-column").nth(1).wait_for(timeout=SEARCH_MS)
    box = page.locator("#query textarea")
    for length in range(0, len(NEGATED), TYPED):
        box.fill(NEGATED[:length])
        yield _picture(page), TYPING_MS
    for text in (NEGATED, AFFIRMATIVE):
        box.fill(text)
        yield _picture(page), READING_MS
        before = page.evaluate(SHOWN)
        box.press("Enter")
        page.wait_for_function(
            f"before => ({SHOWN})() !== before && ({DRAWN})()", arg=before, timeout=SEARCH_MS
        )
        page.wait_for_timeout(SETTLED_MS)
        yield _picture(page), RESULTS_MS


def _picture(page: Page) -> Image.Image:
    with Image.open(io.BytesIO(page.screenshot())) as shot:
        height = round(shot.height * WIDTH / shot.width)
        return shot.convert("RGB").resize((WIDTH, height), Image.Resampling.LANCZOS)


def write_gif(path: Path, timed_pictures: list[tuple[Image.Image, int]]) -> None:
    """Write the pictures with one palette, so that what does not change takes no space."""
    palette = timed_pictures[-1][0].quantize(COLOURS, method=Image.Quantize.MEDIANCUT)
    pictures = [
        picture.quantize(palette=palette, dither=Image.Dither.NONE) for picture, _ in timed_pictures
    ]
    durations = [duration for _, duration in timed_pictures]
    pictures[0].save(
        path, save_all=True, append_images=pictures[1:], duration=durations, loop=0, optimize=True
    )
    if path.stat().st_size > MAX_BYTES:
        raise ConfigError(f"{path} has {path.stat().st_size:,} bytes. Lower WIDTH or COLOURS.")


def main() -> None:
    """Record and write."""
    parser = arguments("animation", __doc__)
    parser.add_argument("--out", type=Path, default=PICTURE)
    parser.add_argument(
        "--chromium", default="/usr/bin/chromium", help="the browser (default: %(default)s)"
    )
    options = parser.parse_args()
    with (
        TemporaryDirectory() as data,
        running_app(Path(data)) as app,
        sync_playwright() as playwright,
    ):
        browser = playwright.chromium.launch(
            executable_path=options.chromium, args=["--no-sandbox"]
        )
        page = browser.new_page(viewport=SIZE, color_scheme="light", reduced_motion="reduce")
        timed_pictures = list(frames(page, app.url))
        browser.close()
    write_gif(options.out, timed_pictures)
    sys.stdout.write(
        f"{options.out}: {len(timed_pictures)} pictures, {options.out.stat().st_size:,} bytes\n"
    )


if __name__ == "__main__":
    main()
