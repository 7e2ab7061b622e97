"""No query is a dead end: words that are meant, reasons, and suggestions that lead on."""

import pytest
from playwright.sync_api import Page, expect

from tests.support.page_actions import columns, follow, submit

pytestmark = [pytest.mark.browser, pytest.mark.slow]

RIGHT = ".nt-clip.nt-right"
WRONG = ".nt-clip.nt-violation"


def expect_sentence(page: Page, text: str) -> None:
    expect(page.locator(".nt-sentence")).to_have_text(text)
    expect(page.locator("#query textarea")).to_have_value(text)


def test_a_misspelt_word_is_corrected_by_a_click(loaded_page: Page) -> None:
    page = loaded_page
    submit(page, "a ginat panda, no elephnat")
    submit(page, "a hores but no elephnat")
    expect(page.locator(".nt-reason")).to_contain_text("“hores” or “elephnat”")
    page.get_by_role("button", name="a horse but no elephant", exact=True).click()
    expect_sentence(page, "a horse but no elephant")
    expect(page.locator(".nt-reason")).to_have_count(0)


def test_suggestions_keep_the_unwanted_part_and_lead_to_clips(loaded_page: Page) -> None:
    page = loaded_page
    submit(page, "three penguins in the kitchen but no polar bear")
    offers = page.locator(".nt-suggestions [data-query]")
    expect(offers).to_have_count(2)
    texts = offers.all_inner_texts()
    for text in texts:
        assert text.endswith("but no polar bear")

    for text in texts:
        submit(page, text)
        expect_sentence(page, text)
        expect(columns(page).locator(RIGHT).first).to_be_visible()
        expect(columns(page).locator(WRONG).first).to_be_visible()


def test_each_tile_says_what_it_shows_or_lacks(loaded_page: Page) -> None:
    page = loaded_page
    follow(page, "?q=two+cats+but+no+lion&systems=CLIP|CLIP-neg")
    marks = page.locator(".nt-clip:not(.nt-right) .nt-mark")
    texts = set(marks.all_inner_texts())
    assert texts
    assert texts <= {"no cats", "one cat, not two", "shows a lion", "shows two lions"}


def test_a_query_without_verdicts_says_why(loaded_page: Page) -> None:
    page = loaded_page
    submit(page, "only a robot")
    expect(page.locator(".nt-reason")).to_have_text(
        "No ✓ is possible: nothing says which clips show “only a robot”."
    )
    page.locator(".nt-suggestions [data-query]").first.click()
    expect_sentence(page, "a robot")
