"""Two queries beside each other, from the sentence and from the menu; and a clip played backwards."""

import pytest
from playwright.sync_api import Page, expect

from tests.browser.actions import columns, follow, open_menu, submit

pytestmark = pytest.mark.browser
TIME = "document.querySelector('.nt-detail .nt-stage video').currentTime"


def test_a_second_query_comes_from_the_sentence_or_the_menu_and_goes_with_the_sentence(page: Page) -> None:
    follow(page, "?q=a+dog%2C+no+cat&systems=CLIP|CLIP-neg&k=4")
    expect(columns(page)).to_have_count(2)
    page.get_by_role("button", name="two queries").click()
    expect(columns(page)).to_have_count(4)
    assert "versus=a+dog+and+cat" in page.url
    expect(page.get_by_text("clips for both.").first).to_be_visible()
    expect(columns(page).nth(1).locator("h3")).to_contain_text("“a dog and cat”")
    open_menu(page)
    page.get_by_label("Beside a second query").fill("a horse")
    page.get_by_role("button", name="Compare", exact=True).click()
    expect(columns(page).nth(3).locator("h3")).to_contain_text("“a horse”")
    submit(page, "a girl")
    expect(columns(page)).to_have_count(2)
    assert "versus" not in page.url


def test_a_clip_plays_backwards_and_forwards_again(page: Page) -> None:
    follow(page, "?q=a+dog&systems=CLIP&k=4")
    page.locator(".nt-clip").first.click()
    button = page.get_by_role("button", name="Play backwards")
    button.click()
    expect(page.get_by_text("nothing changes, as frames are pooled without regard to their order")).to_be_visible()
    page.wait_for_function(f"(now => {{ const was = window.was ?? 0; window.was = now; return now < was; }})({TIME})")
    button.click()
    expect(button).to_have_attribute("aria-pressed", "false")
    page.wait_for_function("!document.querySelector('.nt-detail .nt-stage video').paused")
