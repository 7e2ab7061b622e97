"""The page on a phone and on a tablet."""

import pytest
from playwright.sync_api import FloatRect, Locator, Page, expect

from tests.conftest import RunningApp
from tests.support.page_actions import SHIFTS, assert_still, columns, open_search

pytestmark = pytest.mark.browser

PHONE = (390, 844)
TABLET = (768, 1024)
MARGIN = 16
BOXES = "elements => elements.map((element) => element.getBoundingClientRect().toJSON())"


def box(locator: Locator) -> FloatRect:
    bounds = locator.bounding_box()
    assert bounds is not None
    return bounds


def right_of(locator: Locator) -> float:
    bounds = box(locator)
    return bounds["x"] + bounds["width"]


def resize(page: Page, size: tuple[int, int]) -> None:
    width, height = size
    page.set_viewport_size({"width": width, "height": height})


@pytest.fixture
def phone(own_page: Page, running_app: RunningApp) -> Page:
    """The page on a phone, showing the answer to the first example."""
    resize(own_page, PHONE)
    own_page.add_init_script(SHIFTS)
    open_search(own_page, running_app.url)
    return own_page


@pytest.mark.slow
def test_a_phone_shows_the_columns_side_by_side(phone: Page) -> None:
    # Measured: .09 if no room is kept for the understood sentence.
    assert_still(phone)
    first, _, third = columns(phone).all()
    assert box(first)["x"] == MARGIN
    assert right_of(third) == PHONE[0] - MARGIN
    assert box(first)["y"] == box(third)["y"]
    assert box(third)["y"] < PHONE[1] * 0.6
    # The pills are in a row that can be swiped.
    pills = phone.locator(".nt-pill")
    expect(pills).to_have_text(["CLIP 0/8", "CLIP-bnl 0/8", "CLIP-neg 8/8"])
    assert len({box(pill)["y"] for pill in pills.all()}) == 1
    expect(phone.get_by_text("a dog but no cat")).to_be_visible()
    # There is one clip per row.
    tops = {box(clip)["y"] for clip in first.locator(".nt-clip").all()}
    assert len(tops) == 8


@pytest.mark.slow
def test_a_phone_hides_the_systems_among_its_options(phone: Page) -> None:
    page = phone
    systems = page.locator("#systems")
    options = page.get_by_label("Options")
    expect(systems).to_be_hidden()
    options.check()
    expect(systems).to_be_visible()
    options.uncheck()
    expect(systems).to_be_hidden()
    # So is the page before its script is there.
    page.locator("#options").evaluate("box => box.remove()")
    expect(systems).to_be_hidden()
    resize(page, TABLET)
    expect(systems).to_be_visible()


@pytest.mark.slow
def test_a_phone_swipes_to_a_column_by_its_score(phone: Page) -> None:
    page = phone
    first, second, _ = columns(page).all()
    first.locator(".nt-clip").last.scroll_into_view_if_needed()
    scores = page.get_by_role("navigation", name="Scores").get_by_role("button")
    expect(scores).to_contain_text(["CLIP", "CLIP-bnl", "CLIP-neg"])
    for score in scores.all():
        expect(score).to_be_in_viewport(ratio=1)
    expect(second.locator("header")).not_to_be_in_viewport(ratio=1)

    scores.nth(1).press("Enter")

    page.wait_for_function(
        "column => column.getBoundingClientRect().right <= innerWidth", arg=second.element_handle()
    )


@pytest.mark.slow
def test_no_tab_is_wider_than_a_phone(phone: Page) -> None:
    for name in ("Evaluate", "Train", "Search"):
        phone.get_by_role("tab", name=name).click()
        assert phone.evaluate("document.documentElement.scrollWidth") == PHONE[0]


@pytest.mark.slow
def test_a_tablet_shows_three_columns_at_once(phone: Page) -> None:
    resize(phone, TABLET)

    boxes = columns(phone).evaluate_all(BOXES)
    assert len({bounds["y"] for bounds in boxes}) == 1
    first, *_, last = boxes
    assert first["x"] == MARGIN
    assert last["x"] + last["width"] == TABLET[0] - MARGIN
