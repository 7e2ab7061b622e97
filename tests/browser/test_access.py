"""Keyboard, screen readers, contrast and stability of the Search page."""

import pytest
from playwright.sync_api import Page, expect

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
    keys = page.keyboard
    dialog = page.get_by_role("dialog")
    first = columns(page).nth(0).locator(".nt-clip")
    second = columns(page).nth(1).locator(".nt-clip")
    expect(first.first).to_have_accessible_name(
        page_name := first.first.get_attribute("aria-label") or ""
    )
    assert page_name.startswith(("Rank 1, right: ", "Rank 1, shows "))

    first.first.focus()
    across = "each => Number(getComputedStyle(each).getPropertyValue('--nt-across'))"
    for number in range(1, page.locator(".nt-columns").evaluate(across)):
        keys.press("ArrowRight")
        expect(first.nth(number)).to_be_focused()
    keys.press("ArrowRight")
    expect(second.first).to_be_focused()
    keys.press("Enter")
    expect(dialog).to_be_visible()
    # These are more than it has buttons.
    for _ in range(12):
        keys.press("Tab")
        assert page.evaluate(
            "document.activeElement === document.body || !!document.activeElement.closest('dialog')"
        )
    assert all(
        page.evaluate("[...document.querySelectorAll('dialog video')].map((video) => video.paused)")
    )
    label = dialog.get_attribute("aria-label")
    # Tab may have gone on to the browser's own buttons.
    dialog.get_by_role("button", name="Close").focus()
    keys.press("n")
    expect(dialog).not_to_have_attribute("aria-label", label or "")
    keys.press("p")
    expect(dialog).to_have_attribute("aria-label", label or "")
    dialog.get_by_role("button", name="Next clip").click()
    expect(dialog).not_to_have_attribute("aria-label", label or "")
    dialog.get_by_role("button", name="Previous clip").click()
    expect(dialog).to_have_attribute("aria-label", label or "")
    keys.press("Escape")
    expect(dialog).to_have_count(0)
    expect(second.first).to_be_focused()

    keys.press("?")
    expect(dialog.get_by_role("heading", name="Marks and keys")).to_be_visible()
    keys.press("Escape")
    expect(second.first).to_be_focused()
    keys.press("/")
    query = page.locator("#query textarea")
    expect(query).to_be_focused()
    keys.press("ControlOrMeta+a")
    keys.type("a dog, no cat")
    keys.press("Enter")
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
    corrected = page.url
    reopen(page)
    expect(good).to_have_text("a boy is and playing the drum")

    submit(page, "a dog, no cat")
    expect(bad).to_have_text("cat")
    page.go_back()
    expect(good).to_have_text("a boy is and playing the drum")
    expect(page.locator("#query textarea")).to_have_value(
        "a boy is dancing and not playing the drum"
    )
    assert page.url == corrected
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
