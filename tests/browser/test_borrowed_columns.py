"""Examples, stories and replays borrow the columns, and give them back."""

import re

import pytest
from playwright.sync_api import Page, expect

from nt2vr.ui.search.state import DEFAULT_QUERY
from tests.conftest import RunningApp
from tests.support.page_actions import MODELS_MS, columns, follow, submit

pytestmark = pytest.mark.browser

MINE = "systems=CLIP-neg|CLIP+drop&k=6"
SURPRISE = "Surprise me"
# Systems of an example with a picture.
BORROWED = 3


def expect_own_columns(page: Page) -> None:
    expect(page).to_have_url(re.compile("systems=CLIP-neg%7CCLIP\\+drop&k=6"), timeout=MODELS_MS)
    expect(columns(page)).to_have_count(2)
    expect(page.locator(".nt-reference")).to_have_count(0)


def click_picture_example(page: Page) -> None:
    page.get_by_role("list", name="Examples with a reference").get_by_role("button").first.click()
    expect(columns(page)).to_have_count(BORROWED)
    expect(page.locator(".nt-reference")).to_have_count(1)
    expect(page).to_have_url(re.compile("k=6"))


@pytest.mark.slow
def test_a_picture_example_gives_its_columns_back(loaded_page: Page) -> None:
    page = loaded_page
    follow(page, f"?q=a+clown+without+a+balloon&{MINE}")
    click_picture_example(page)
    page.get_by_role("button", name=SURPRISE).click()
    expect_own_columns(page)

    click_picture_example(page)
    page.reload()
    expect(columns(page)).to_have_count(BORROWED, timeout=MODELS_MS)
    page.get_by_role("button", name="not dancing").click()
    expect_own_columns(page)


@pytest.mark.slow
def test_typing_about_a_borrowed_picture_keeps_its_columns(loaded_page: Page) -> None:
    page = loaded_page
    follow(page, f"?q=a+clown+without+a+balloon&{MINE}")
    click_picture_example(page)
    submit(page, "without the tree")
    expect(page).to_have_url(re.compile("q=without\\+the\\+tree"))
    expect(columns(page)).to_have_count(BORROWED)
    page.locator(".nt-reference").get_by_role("button", name="Remove").click()
    expect_own_columns(page)


@pytest.mark.slow
def test_a_button_gives_back_borrowed_columns_and_keeps_chosen_systems(loaded_page: Page) -> None:
    page = loaded_page
    follow(page, f"?q=a+clown+without+a+balloon&{MINE}")
    page.locator("#query textarea").blur()
    page.keyboard.press("f")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".nt-sentence")).to_have_text(DEFAULT_QUERY)
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile("systems=CLIP%7CCLIP-neg"))
    page.get_by_role("button", name="Back to my columns").click()
    expect_own_columns(page)
    expect(page.locator("#query textarea")).to_have_value(DEFAULT_QUERY)

    click_picture_example(page)
    page.get_by_role("button", name="Remove CLIP parts").click()
    expect(columns(page)).to_have_count(2)
    page.locator(".nt-reference").get_by_role("button", name="Remove").click()
    expect(page).to_have_url(re.compile("systems=CLIP%7CCLIP\\+fusion"))


@pytest.mark.slow
def test_a_page_without_parameters_always_opens_with_the_default_story(
    loaded_page: Page, running_app: RunningApp
) -> None:
    page = loaded_page
    follow(page, "?q=a+clown+without+a+balloon&systems=CLIP+boolean|CLIP+drop&k=4")
    page.goto(running_app.url)
    expect(page.locator("#query textarea")).to_have_value(DEFAULT_QUERY)
    expect(page).to_have_url(
        re.compile("systems=CLIP%7CCLIP-bnl%7CCLIP-neg&k=8"), timeout=MODELS_MS
    )
    expect(columns(page)).to_have_count(3)
