"""What the page shows before any model has answered."""

from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from nt2vr.ui.search.state import DEFAULT_QUERY
from tests.conftest import RunningApp
from tests.support.page_actions import MODELS_MS, columns, held, submit

pytestmark = pytest.mark.browser

EVENTS = "**/gradio_api/queue/join?*"
CLIPS = "clips => clips.map((clip) => [clip.dataset.id, clip.ariaLabel, clip.dataset.ranks])"
STAGED = """clips => clips.map((clip) => {
  const { width, bottom } = clip.getBoundingClientRect();
  return [clip.dataset.id, Math.round(width), Math.round(bottom)];
})"""
# The body of a search's request has this.
SEARCH = "opened"


@pytest.mark.slow
def test_the_default_story_is_shown_before_it_is_searched_for(
    own_page: Page, running_app: RunningApp
) -> None:
    page = own_page
    with held(page, EVENTS, SEARCH) as search:
        page.goto(running_app.url)
        search.wait_for_one()
        expect(columns(page)).to_have_count(3)
        assert page.locator(".nt-column:visible .nt-clip video:visible").count() >= 8
        expect(page.locator("#query textarea")).to_have_value(DEFAULT_QUERY)
        expect(page.locator(".nt-excluded")).to_contain_text("a dog")
        # Nothing says that a search is under way, since it changes nothing.
        opacity = "element => getComputedStyle(element).opacity"
        assert page.locator("#columns .html-container").evaluate(opacity) == "1"
        clips = page.locator(".nt-clip").evaluate_all(CLIPS)
    page.wait_for_function("history.state?.answered", timeout=MODELS_MS)
    assert page.locator(".nt-clip").evaluate_all(CLIPS) == clips


@pytest.mark.slow
def test_a_clip_of_the_first_view_opens(own_page: Page, running_app: RunningApp) -> None:
    page = own_page
    with held(page, EVENTS, SEARCH) as search:
        page.goto(running_app.url)
        search.wait_for_one()
        columns(page).first.locator(".nt-clip").first.click()
        dialog = page.get_by_role("dialog")
        expect(dialog.locator("tr").first).to_contain_text("#1", timeout=MODELS_MS)


@pytest.mark.slow
def test_a_query_typed_before_the_first_search_is_searched(
    own_page: Page, running_app: RunningApp
) -> None:
    page = own_page
    # The first search waits for these.
    with held(page, "**/clips/*.webp"):
        page.goto(running_app.url)
        submit(page, "a bird, not flying")
        expect(page.locator(".nt-excluded")).to_contain_text("flying", timeout=MODELS_MS)
    page.wait_for_timeout(1500)
    expect(page.locator(".nt-excluded")).to_contain_text("flying")
    expect(page.locator("#query textarea")).to_have_value("a bird, not flying")


@pytest.mark.slow
def test_another_search_s_link_shows_nothing_of_the_default_story(
    own_page: Page, running_app: RunningApp
) -> None:
    page = own_page
    with held(page, EVENTS, SEARCH) as search:
        page.goto(f"{running_app.url}?q=a+dog,+no+cat")
        search.wait_for_one()
        expect(columns(page)).to_have_count(0)
    expect(columns(page)).to_have_count(3, timeout=MODELS_MS)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("link", "coin", "systems", "num_names"),
    [
        ("?stage=1", 0.1, "CLIP|CLIP-neg", 1),
        # Before a guess, no column has a name, and the coin decides their order.
        ("?stage=1&guess=1", 0.9, "CLIP-neg|CLIP", 0),
    ],
    ids=["stage", "guess"],
)
def test_the_stage_opens_with_the_clips_of_its_first_story(
    own_page: Page, running_app: RunningApp, link: str, coin: float, systems: str, num_names: int
) -> None:
    page = own_page
    page.add_init_script(f"Math.random = () => {coin}")
    with held(page, EVENTS, SEARCH) as search:
        page.goto(running_app.url + link)
        search.wait_for_one()
        expect(columns(page)).to_have_count(2)
        expect(page.locator(".nt-clip video:visible")).to_have_count(16)
        expect(page.locator(".nt-sentence")).to_have_text(DEFAULT_QUERY)
        names = page.get_by_text("CLIP-neg", exact=True).locator("visible=true")
        expect(names).to_have_count(num_names)
        staged_clips = page.locator(".nt-clip").evaluate_all(STAGED)
        for _id, width, bottom in staged_clips:
            assert width > 120
            assert bottom <= 800
    page.wait_for_function("history.state?.answered", timeout=MODELS_MS)
    assert parse_qs(urlsplit(page.url).query)["systems"] == [systems]
    assert page.locator(".nt-clip").evaluate_all(STAGED) == staged_clips
