"""Guess first: which of two columns understood."""

from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from nt2vr.ui.theme import TEMPLATES
from tests.support.page_actions import MODELS_MS, columns, open_menu

pytestmark = pytest.mark.browser

RIGHT = "right"
VIOLATION = "violation"
MISS = "miss"


def column(name: str, *verdicts: str) -> dict[str, Any]:
    """Return a column that tells its verdicts wherever one can."""
    hits = []
    for rank, verdict in enumerate(verdicts, 1):
        hit = {"id": f"{name}{rank}", "src": "a.webm", "rank": rank, "boxes": "[[]]"}
        hits.append({**hit, "verdict": verdict, "mark": verdict})
    return {
        "name": name,
        "system": name,
        "strategy": "",
        "about": name,
        "announcement": name,
        "outcome": {"text": "leaves it out."},
        "stage_summary": {"text": "1 of 2 right"},
        "badge": {"text": "1 of 2 right"},
        "hits": hits,
    }


def story(*columns: dict[str, Any]) -> dict[str, Any]:
    return {"columns": columns, "cue": "no", "announcement": "Alpha: 1 of 1 right"}


def guess(page: Page, story: dict[str, Any], choice: int | None) -> dict[str, Any]:
    """Return what the columns show once one is chosen, or none."""
    script = "([story, choice]) => nt2vr.uncovered(story, choice ?? undefined)"
    outcome: dict[str, Any] = page.evaluate(script, [story, choice])
    return outcome


def cover(page: Page, story: dict[str, Any]) -> dict[str, Any] | None:
    """Return what the columns show before a guess."""
    covered: dict[str, Any] | None = page.evaluate("(story) => nt2vr.covered(story)", story)
    return covered


@pytest.fixture
def blank(chromium: Browser) -> Page:
    """A blank page with the functions of the guess."""
    page = chromium.new_page()
    page.evaluate("window.nt2vr = {}")
    page.add_script_tag(path=TEMPLATES / "guess.js")
    return page


def test_before_the_guess_only_clips_tell_the_columns_apart(blank: Page) -> None:
    covered = cover(blank, story(column("Alpha", RIGHT), column("Beta", VIOLATION)))

    assert covered
    first, second = covered["columns"]
    assert first["hits"][0].pop("id") == "Alpha1"
    assert second["hits"][0].pop("id") == "Beta1"
    for word in ("Alpha", "Beta", "right", "violat", "[[", "leaves"):
        assert word not in str(covered)


def test_one_column_or_no_verdicts_give_nothing_to_guess(blank: Page) -> None:
    assert cover(blank, story(column("Alpha", RIGHT))) is None
    assert cover(blank, story(column("Alpha", ""), column("Beta", ""))) is None


def test_the_column_with_more_right_clips_understood(blank: Page) -> None:
    loses = story(column("Alpha", RIGHT, MISS), column("Beta", RIGHT, RIGHT))
    assert guess(blank, loses, 0)["guess"]["text"] == "No, it was Beta."

    # As many are right, and one of the other's shows what is unwanted.
    wins = story(column("Alpha", RIGHT, MISS), column("Beta", RIGHT, VIOLATION))
    outcome = guess(blank, wins, 0)
    assert outcome["guess"]["text"] == "Yes: Alpha."
    assert outcome["guess"]["score"] == "You: 1 of 2"
    alpha, beta = outcome["columns"]
    assert alpha["picked"] == "your guess"
    assert beta["picked"] == ""


def test_draws_and_stories_that_nobody_guessed_do_not_count(blank: Page) -> None:
    clear = story(column("Alpha", RIGHT), column("Beta", MISS))
    draw = story(column("Alpha", MISS), column("Beta", MISS))
    guess(blank, clear, 0)
    guess(blank, draw, 0)
    outcome = guess(blank, clear, None)["guess"]
    assert outcome["text"] == "It was Alpha."
    assert outcome["score"] == "You: 1 of 1"
    assert outcome["marks"] == ["right"]


def test_a_room_guesses_by_hands(blank: Page) -> None:
    clear = story(column("Alpha", RIGHT), column("Beta", MISS))
    outcome = blank.evaluate("(story) => nt2vr.uncovered(story, 1, [3, 1])", clear)
    alpha, beta = outcome["columns"]
    assert alpha["picked"] == "3 hands"
    assert beta["picked"] == "1 hand"
    assert outcome["guess"]["score"] == "The room: 0 of 1"


@pytest.mark.slow
def test_a_room_guesses_two_stories_and_leaves(page: Page) -> None:
    open_menu(page)
    page.get_by_role("button", name="guess first").click()
    expect(page.get_by_role("button", name="This one")).to_have_count(2, timeout=MODELS_MS)
    expect(page.locator(".nt-guess")).to_have_text("Which one understood without?")
    expect(columns(page).locator(".nt-mark, .nt-sum")).to_have_count(0)

    # The columns are in any order.
    if "systems=CLIP-neg" in page.url:
        key = "1"
        clip_neg = columns(page).first
    else:
        key = "2"
        clip_neg = columns(page).last
    page.keyboard.press(key)
    expect(page.locator(".nt-guess")).to_contain_text("Yes: CLIP-neg.")
    expect(clip_neg.locator(".nt-picked")).to_have_text("your guess")
    # Not once sizes were lost.
    page.wait_for_function("document.querySelector('.nt-clip').clientWidth > 100")

    page.keyboard.press("ArrowRight")
    expect(page.locator(".nt-sentence")).to_have_text("a dog but no cat")
    # A guess: it would tell the verdict enlarged.
    columns(page).first.locator(".nt-clip").first.press("Enter")
    expect(page.locator(".nt-guess")).to_contain_text(" of 2")
    expect(page.get_by_role("dialog")).to_have_count(0)

    page.keyboard.press("Escape")
    expect(page.locator("#query textarea")).to_have_value("a dog but no cat")
    assert "guess" not in page.url
