"""The head of the results stands still, and clips fill the room below it in full rows."""

import random
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.conftest import RunningApp
from tests.support.page_actions import MODELS_MS, columns, follow, open_search, submit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

WIDE = (1440, 900)
LAPTOP = (1280, 800)
TABLET = (700, 900)
PHONE = (390, 844)
LONGEST = (
    "a man with a hat and a woman with an umbrella who are walking a dog in the park next to a "
    "big red car, but no bicycle, no cat, no horse and nobody who is playing the trumpet"
)
# Nothing excluded, a word that no clip shows, nothing wanted, and more than a line.
ODD_QUERIES = ("red", "a quokka, no unicorn", "no music", LONGEST)
MORE_QUERIES = (
    "a lion without a tree",
    "a robot",
    "dgo without a cat",
    "an empty street at night",
    "a queen who is neither dancing nor singing",
    "two penguins but no more than two, and not at the zoo, nor in the snow, and nobody else",
)
ELEPHANT = "?q=an+elephant+but+not+a+lion&systems=CLIP|CLIP-neg"
KEYS = ("f", "?", "0", "End", "ArrowRight", "ArrowLeft", "ArrowDown", " ", "m", "Escape")
TOPS = """() => [".nt-columns", ".nt-clip"].map(
  (each) => Math.round(document.querySelector(each).getBoundingClientRect().top + scrollY))"""
GRID = """() => [...document.querySelectorAll(".nt-column ol")].filter((list) => list.clientWidth).map((list) => {
  const tiles = [...list.children].filter((tile) => tile.checkVisibility())
    .map((tile) => tile.getBoundingClientRect());
  const rows = Object.values(Object.groupBy(tiles, ({ top }) => Math.round(top)));
  return { rows: rows.map((row) => row.length), clips: list.querySelectorAll(".nt-clip").length,
    width: Math.min(...tiles.map(({ width }) => width)), bottom: Math.max(...tiles.map(({ bottom }) => bottom)) };
})"""
BOTTOM = """Math.max(...[...document.querySelectorAll(".nt-clip")].map(
  (clip) => clip.getBoundingClientRect().bottom))"""
# Nothing of an element's content is cut off.
SHOWS_ALL = """({ scrollHeight, clientHeight, scrollWidth, clientWidth }) =>
  scrollHeight <= clientHeight && scrollWidth <= clientWidth"""
FITS = """() => {
  const lists = [...document.querySelectorAll(".nt-column ol")].filter((list) => list.clientWidth);
  const clips = [...document.querySelectorAll(".nt-clip")].filter((clip) => clip.checkVisibility());
  return lists.length === 2 && clips.length === 16 && clips.every((clip) => {
    const { left, top, right, bottom, width } = clip.getBoundingClientRect();
    return left >= 0 && top >= 0 && right <= innerWidth && bottom <= innerHeight && width > 150;
  });
}"""


def resize(page: Page, size: tuple[int, int]) -> None:
    width, height = size
    page.set_viewport_size({"width": width, "height": height})


def clip_ids(column: Locator) -> set[str | None]:
    return {clip.get_attribute("data-id") for clip in column.locator(".nt-clip").all()}


def has_full_rows(grid: dict[str, Any]) -> bool:
    """Say whether all rows of a column have the same number of tiles."""
    return len(set(grid["rows"])) == 1


@pytest.mark.parametrize("queries", [ODD_QUERIES, MORE_QUERIES])
@pytest.mark.parametrize("size", [WIDE, TABLET, PHONE])
def test_columns_and_clips_start_at_the_same_place(
    own_page: Page, running_app: RunningApp, size: tuple[int, int], queries: tuple[str, ...]
) -> None:
    page = own_page
    resize(page, size)
    open_search(page, running_app.url)
    tops = page.evaluate(TOPS)
    for query in queries:
        submit(page, query)
        expect(page.locator(".nt-sentence")).to_have_text(query, timeout=MODELS_MS)
        page.locator("#query textarea").blur()
        assert page.evaluate(TOPS) == tops, query
    submit(page, " ")
    expect(page.get_by_role("alert")).to_be_visible()
    assert page.evaluate(TOPS) == tops
    assert page.evaluate("document.documentElement.scrollWidth") == size[0]


def test_each_system_has_a_coloured_pill_with_its_score(loaded_page: Page) -> None:
    page = loaded_page
    resize(page, LAPTOP)

    follow(page, ELEPHANT)

    pills = page.locator(".nt-pill")
    # "5 of 8 right".
    clip_badge, clip_neg_badge = columns(page).locator(".nt-badge").all_inner_texts()
    num_right_of_clip, *_ = clip_badge.split()
    num_right_of_clip_neg, *_ = clip_neg_badge.split()
    expect(pills).to_have_text(
        [f"CLIP {num_right_of_clip}/8", f"CLIP-neg {num_right_of_clip_neg}/8"]
    )
    expect(pills.last).to_have_class("nt-pill nt-good")
    for name in ("Watch it learn", "Guess", "Stage"):
        expect(page.get_by_role("button", name=name, exact=True)).to_be_visible()


def test_one_switch_drops_the_negation(loaded_page: Page) -> None:
    page = loaded_page
    resize(page, LAPTOP)
    follow(page, ELEPHANT)
    clip_before = clip_ids(columns(page).first)
    clip_neg_before = clip_ids(columns(page).last)
    switch = page.get_by_role("switch", name="Negation")
    expect(switch).to_be_checked()

    switch.click()

    expect(switch).not_to_be_checked()
    expect(page.locator(".nt-stayed")).to_have_count(2)
    stayed = clip_before & clip_ids(columns(page).first)
    assert len(stayed) >= 7
    expect(page.locator(".nt-pill").first).to_contain_text(f"{len(stayed)} stayed")
    stayed_of_clip_neg = clip_neg_before & clip_ids(columns(page).last)
    assert len(stayed_of_clip_neg) <= 3


def test_rows_are_full_and_clips_fill_the_window(loaded_page: Page) -> None:
    page = loaded_page
    for size, least_width in ((WIDE, 200), (LAPTOP, 160), ((1920, 1080), 240)):
        resize(page, size)
        follow(page, "?q=a+lion+without+a+tree&systems=CLIP|CLIP-neg")
        _window_width, window_height = size
        for grid in page.evaluate(GRID):
            assert has_full_rows(grid), (size, grid)
            assert grid["clips"] == 8, (size, grid)
            assert grid["width"] > least_width, (size, grid)
            assert grid["bottom"] <= window_height, (size, grid)


@pytest.mark.parametrize(("k", "num_rows"), [(6, 2), (12, 3), (16, 4)])
def test_rows_are_full_for_any_number_of_clips(loaded_page: Page, k: int, num_rows: int) -> None:
    page = loaded_page
    resize(page, (1920, 1080))
    follow(page, f"?q=a+lion+without+a+tree&systems=CLIP|CLIP-neg&k={k}")
    for grid in page.evaluate(GRID):
        assert has_full_rows(grid), grid
        assert len(grid["rows"]) == num_rows, grid


def test_three_columns_fit_into_a_laptop_s_window(loaded_page: Page) -> None:
    page = loaded_page
    resize(page, LAPTOP)
    follow(page, "?q=a+woman+with+neither+an+umbrella+nor+a+hat")
    # With and without the strip of a run, for example.
    for height in (800, 740):
        resize(page, (1280, height))
        page.wait_for_function(f"{BOTTOM} <= innerHeight")
        grids = page.evaluate(GRID)
        assert len(grids) == 3
        for grid in grids:
            assert has_full_rows(grid), (height, grid)
            assert grid["width"] > 100, (height, grid)


def test_a_ninth_tile_has_the_score_and_all_of_it(loaded_page: Page) -> None:
    page = loaded_page
    resize(page, LAPTOP)
    scores = page.locator(".nt-score:visible")
    follow(page, "?q=a+bear+that+is+not+sleeping&systems=CLIP|CLIP-neg")
    expect(scores).to_have_count(2)
    for score in scores.all():
        assert score.evaluate(SHOWS_ALL), score.inner_text()
    expect(page.locator(".nt-reason")).to_contain_text("without a mark")
    follow(page, "?q=only+a+robot&systems=CLIP|CLIP-neg")
    # Nothing is counted.
    expect(scores).to_have_count(0)
    flipped = "?q=children+playing+but+nobody+on+a+bicycle&systems=CLIP|CLIP-neg&flip=1"
    follow(page, flipped)
    # They have no verdicts.
    expect(scores.filter(has_text="stayed")).to_have_count(2)


def test_a_long_query_is_shown_whole_while_it_is_edited(loaded_page: Page) -> None:
    page = loaded_page
    resize(page, LAPTOP)
    follow(page, f"?q={LONGEST.replace(' ', '+')}")
    box = page.locator("#query textarea")
    assert box.evaluate("each => each.clientHeight") <= 44
    box.focus()
    visible_height = box.evaluate(
        """each => {
          const { left, bottom } = each.getBoundingClientRect();
          return document.elementFromPoint(left + 30, bottom - 8) === each && each.clientHeight;
        }"""
    )
    assert visible_height > 80
    box.blur()
    assert box.evaluate("each => each.clientHeight") <= 44


def test_a_name_is_the_last_thing_to_be_shortened(loaded_page: Page) -> None:
    page = loaded_page
    resize(page, LAPTOP)
    follow(page, "?q=a+lion+without+a+tree&systems=CLIP|CLIP-bnl|CLIP-neg|CLIP+boolean")
    resize(page, TABLET)
    names = page.locator(".nt-column h3")
    for name in names.all():
        assert name.evaluate("each => each.scrollWidth <= each.clientWidth"), name.inner_text()
    expect(names).to_have_text(["CLIP", "CLIP-bnl", "CLIP-neg", "CLIPboolean"])


def test_the_stage_fits_whenever_f_is_pressed(own_page: Page, running_app: RunningApp) -> None:
    page = own_page
    moments = random.Random(7)
    resize(page, WIDE)
    links = ("", "?q=a+lion+without+a+tree&systems=CLIP|CLIP-neg")
    for number in range(10):
        page.goto(running_app.url + links[number % 2])
        page.locator(".nt-clip").first.wait_for(timeout=MODELS_MS)
        moment = moments.uniform(0, 1500)
        page.wait_for_timeout(moment)
        page.locator("#query textarea").blur()
        page.keyboard.press("f")
        try:
            page.wait_for_function(FITS, timeout=MODELS_MS)
        except Exception as error:
            raise AssertionError(f"after {moment:.0f} ms: {page.evaluate(GRID)}") from error


def test_keys_that_are_pressed_while_the_page_loads_break_nothing(
    own_page: Page, running_app: RunningApp
) -> None:
    page = own_page
    chance = random.Random(11)
    resize(page, WIDE)
    for _ in range(8):
        page.goto(running_app.url, wait_until="commit")
        pressed = chance.choices(KEYS, k=8)
        for key in pressed:
            page.wait_for_timeout(chance.uniform(0, 400))
            page.keyboard.press(key)
        page.wait_for_function("history.state?.answered", timeout=MODELS_MS)
        # A list of keys, the closing slide, the stage.
        for _ in range(3):
            page.keyboard.press("Escape")
        expect(page.locator("#query"), str(pressed)).to_be_visible()
        submit(page, "a lion without a tree")
        expect(page.locator(".nt-sentence")).to_have_text("a lion without a tree")
        for grid in page.evaluate(GRID):
            assert has_full_rows(grid), (pressed, grid)
            assert grid["bottom"] <= WIDE[1], (pressed, grid)
