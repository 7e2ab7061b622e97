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
WITH, WITHOUT = "a person without a dog", "a person with a dog"
SIZE = ViewportSize(width=1280, height=620)
WIDTH = 800  # pixels of the picture
COLOURS = 96
TYPED = 4  # characters per frame
TYPING_MS, READING_MS, RESULTS_MS = (
    160,
    900,
    4000,
)  # a frame while typing, before Enter, and of the results
MAX_BYTES = 2_000_000
SEARCH_MS = 600_000
SETTLED_MS = 2_000  # until nothing moves any more
SHOWN = "() => [...document.querySelectorAll('.nt-column')].map(column => column.innerText).join()"
DRAWN = (
    "() => [...document.querySelectorAll('.nt-column video')].every(video => video.readyState > 1)"
)


def frames(page: Page, url: str) -> Iterator[tuple[Image.Image, int]]:
    """Yield pictures of the page, each with the milliseconds that it stays."""
    page.goto(
        f"{url}?q={WITHOUT.replace(' ', '+')}&systems=CLIP|CLIP-neg&k=8"
    )  # so that its clips are here already
    page.locator(".nt-column").nth(1).wait_for(timeout=SEARCH_MS)
    box = page.locator("#query textarea")
    for number in range(0, len(WITH), TYPED):
        box.fill(WITH[:number])
        yield _picture(page), TYPING_MS
    for text in (WITH, WITHOUT):
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
