"""Keyboard, screen readers, contrast and stability of the Search page."""

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.conftest import RunningApp
from tests.support.page_actions import (
    DANCING,
    MODELS_MS,
    SHIFTS,
    assert_still,
    columns,
    follow,
    open_menu,
    open_search,
    reopen,
    serious,
    submit,
)

pytestmark = pytest.mark.browser

# Axe-core's rules; the themes differ in nothing else.
OF_COLOURS = (
    "color-contrast",
    "link-in-text-block",
)


def check(page: Page) -> None:
    """Let axe-core check the page, and its colours in the dark theme."""
    assert serious(page) == []
    # Gradio does the same.
    page.evaluate("document.body.classList.add('dark')")
    assert serious(page, *OF_COLOURS) == []
    page.evaluate("document.body.classList.remove('dark')")


@pytest.mark.slow
def test_axe_finds_nothing_serious_in_either_theme_and_nothing_shifts(
    own_page: Page, running_app: RunningApp
) -> None:
    page = own_page
    page.add_init_script(SHIFTS)
    open_search(page, f"{running_app.url}?__theme=light")
    assert_still(page)
    check(page)
    columns(page).first.locator(".nt-clip").first.click()
    expect(page.get_by_role("dialog")).to_be_visible()
    check(page)
    page.keyboard.press("Escape")


@pytest.mark.slow
def test_axe_finds_nothing_serious_in_the_other_tabs(page: Page) -> None:
    for tab in ("Library", "Evaluate", "Train"):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tab", name=tab)).to_have_attribute("aria-selected", "true")
        check(page)


@pytest.mark.slow
def test_everything_can_be_done_by_keyboard_and_focus_returns(page: Page) -> None:
    follow(page, "?q=a+girl,+no+bike&systems=CLIP|CLIP-neg|CLIP-bnl")
    clip = columns(page).nth(1).locator(".nt-clip").first
    go_to_the_second_column(page)
    expect(clip).to_be_focused()

    page.keyboard.press("Enter")
    check_focus_stays_in_the_dialog(page)
    step_to_the_next_clip_and_back(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    expect(clip).to_be_focused()

    page.keyboard.press("?")
    dialog = page.get_by_role("dialog")
    expect(dialog.get_by_role("heading", name="Marks and keys")).to_be_visible()
    page.keyboard.press("Escape")
    expect(clip).to_be_focused()

    type_a_query(page)


# How many clips a row has.
ROW_LENGTH = "list => Number(getComputedStyle(list).getPropertyValue('--nt-across'))"
FOCUS_IS_IN_DIALOG = (
    "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
)
PAUSED = "[...document.querySelectorAll('dialog video')].map((video) => video.paused)"


def label_of(element: Locator) -> str:
    label = element.get_attribute("aria-label")
    assert label
    return label


def go_to_the_second_column(page: Page) -> None:
    """Go through the first row of clips, and on to the next column, by arrows."""
    clips = columns(page).first.locator(".nt-clip")
    label = label_of(clips.first)
    assert label.startswith(("Rank 1, right: ", "Rank 1, shows "))
    expect(clips.first).to_have_accessible_name(label)

    clips.first.focus()
    for number in range(1, page.locator(".nt-columns").evaluate(ROW_LENGTH)):
        page.keyboard.press("ArrowRight")
        expect(clips.nth(number)).to_be_focused()
    page.keyboard.press("ArrowRight")


def check_focus_stays_in_the_dialog(page: Page) -> None:
    expect(page.get_by_role("dialog")).to_be_visible()
    # These are more than it has buttons.
    for _ in range(12):
        page.keyboard.press("Tab")
        assert page.evaluate(FOCUS_IS_IN_DIALOG)
    are_paused = page.evaluate(PAUSED)
    assert all(are_paused)


def step_to_the_next_clip_and_back(page: Page) -> None:
    """Step by keys, and then by buttons."""
    dialog = page.get_by_role("dialog")
    label = label_of(dialog)
    # Tab may have gone on to the browser's own buttons.
    dialog.get_by_role("button", name="Close").focus()
    page.keyboard.press("n")
    expect(dialog).not_to_have_attribute("aria-label", label)
    page.keyboard.press("p")
    expect(dialog).to_have_attribute("aria-label", label)

    dialog.get_by_role("button", name="Next clip").click()
    expect(dialog).not_to_have_attribute("aria-label", label)
    dialog.get_by_role("button", name="Previous clip").click()
    expect(dialog).to_have_attribute("aria-label", label)


def type_a_query(page: Page) -> None:
    """Go to the query by its key, replace it, and wait for what is announced and shown."""
    page.keyboard.press("/")
    expect(page.locator("#query textarea")).to_be_focused()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.type("a dog, no cat")
    page.keyboard.press("Enter")
    expect(page.get_by_role("status").filter(has_text="CLIP-neg:")).to_have_count(1)
    expect(page.locator(".nt-scope")).to_have_text("cat", timeout=MODELS_MS)


@pytest.mark.slow
def test_moved_words_survive_a_link_and_back(page: Page) -> None:
    follow(page, DANCING)
    good = page.locator("#parts .nt-chip.nt-good")
    bad = page.locator("#parts .nt-chip.nt-bad")

    open_menu(page, "Correct this")
    good.get_by_role("button", name="dancing").click()
    expect(bad).to_have_text(["playing the drum", "dancing"])
    expect(page.get_by_text("the correction changes only their verdicts")).to_be_visible()
    bad.get_by_role("button", name="playing the drum").click()
    expect(good).to_have_text("a boy is and playing the drum")
    url_of_correction = page.url
    reopen(page)
    expect(good).to_have_text("a boy is and playing the drum")

    submit(page, "a dog, no cat")
    expect(bad).to_have_text("cat")
    page.go_back()
    expect(good).to_have_text("a boy is and playing the drum")
    expect(page.locator("#query textarea")).to_have_value(
        "a boy is dancing and not playing the drum"
    )
    assert page.url == url_of_correction

    page.go_forward()
    expect(bad).to_have_text("cat")
    page.go_back()
    open_menu(page, "Correct this")
    page.get_by_role("button", name="undo correction").click()
    expect(bad).to_have_text("playing the drum")


@pytest.mark.slow
def test_a_skip_link_and_closing_lists_serve_the_keyboard(page: Page) -> None:
    skip = page.get_by_role("link", name="To the clips")
    skip.focus()
    expect(skip).to_be_in_viewport()
    page.keyboard.press("Enter")
    expect(columns(page).first.locator(".nt-clip").first).to_be_focused()
    for menu in ("#gallery", "#k", "#systems"):
        page.locator(f"{menu} input").focus()
        expect(page.get_by_role("option").first).to_be_visible()
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
        page.locator("#search-button").focus()
        expect(page.get_by_role("option")).to_have_count(0)
