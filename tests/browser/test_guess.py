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
    """A column that tells its verdicts wherever one can."""
    texts = {
        "outcome": {"text": "leaves it out."},
        "stage_summary": {"text": "1 of 2 right"},
        "badge": {"text": "1 of 2 right"},
    }
    hits = [
        {
            "id": f"{name}{i}",
            "src": "a.webm",
            "rank": i + 1,
            "verdict": verdict,
            "mark": verdict,
            "boxes": "[[]]",
        }
        for i, verdict in enumerate(verdicts)
    ]
    return {
        "name": name,
        "system": name,
        "strategy": "",
        "about": name,
        "announcement": name,
        **texts,
        "hits": hits,
    }


def after_guesses(page: Page, *rounds: tuple[list[dict[str, Any]], int | None]) -> dict[str, Any]:
    """Return what the columns show after the last of some guesses."""
    plays = [
        [{"columns": columns, "cue": "no", "announcement": ""}, guess] for columns, guess in rounds
    ]
    run = "(given) => given.map(([value, guess]) => nt2vr.uncovered(value, guess ?? undefined)).at(-1)"
    state: dict[str, Any] = page.evaluate(run, plays)
    return state


@pytest.fixture
def blank(chromium: Browser) -> Page:
    """A blank page with the functions of the guess."""
    page = chromium.new_page()
    page.evaluate("window.nt2vr = {}")
    page.add_script_tag(path=TEMPLATES / "guess.js")
    return page


def test_before_the_guess_only_clips_tell_the_columns_apart(blank: Page) -> None:
    value = {
        "columns": [column("Alpha", RIGHT), column("Beta", VIOLATION)],
        "announcement": "Alpha: 1 of 1 right",
        "cue": "no",
    }
    covered = blank.evaluate("(value) => nt2vr.covered(value)", value)
    clips = [hit.pop("id") for column in covered["columns"] for hit in column["hits"]]
    assert clips == ["Alpha0", "Beta0"]
    assert not any(
        word in str(covered) for word in ("Alpha", "Beta", "right", "violat", "[[", "leaves")
    )
    assert (
        blank.evaluate("(value) => nt2vr.covered(value)", {"columns": [column("Alpha", RIGHT)]})
        is None
    )
    unjudged = {"columns": [column("Alpha", ""), column("Beta", "")]}
    assert blank.evaluate("(value) => nt2vr.covered(value)", unjudged) is None


def test_the_column_with_more_right_clips_understood(
    blank: Page,
) -> None:
    loses = [column("Alpha", RIGHT, MISS), column("Beta", RIGHT, RIGHT)]
    assert after_guesses(blank, (loses, 0))["guess"]["text"] == "No, it was Beta."
    lapses = [column("Alpha", RIGHT, MISS), column("Beta", RIGHT, VIOLATION)]
    state = after_guesses(blank, (lapses, 0))
    assert state["guess"]["text"] == "Yes: Alpha."
    assert [column["picked"] for column in state["columns"]] == ["your guess", ""]
    assert state["guess"]["score"] == "You: 1 of 2"


def test_draws_and_stories_that_nobody_guessed_do_not_count(blank: Page) -> None:
    won = [column("Alpha", RIGHT), column("Beta", MISS)]
    drawn = [column("Alpha", MISS), column("Beta", MISS)]
    guess = after_guesses(blank, (won, 0), (drawn, 0), (won, None))["guess"]
    assert (guess["text"], guess["score"], guess["marks"]) == (
        "It was Alpha.",
        "You: 1 of 1",
        ["right"],
    )
    hands = blank.evaluate("(value) => nt2vr.uncovered(value, 1, [3, 1])", {"columns": won})
    assert [column["picked"] for column in hands["columns"]] == ["3 hands", "1 hand"]
    assert hands["guess"]["score"] == "The room: 1 of 2"


@pytest.mark.slow
def test_a_room_guesses_two_stories_and_leaves(page: Page) -> None:
    open_menu(page)
    page.get_by_role("button", name="guess first").click()
    expect(page.get_by_role("button", name="This one")).to_have_count(2, timeout=MODELS_MS)
    expect(page.locator(".nt-guess")).to_have_text("Which one understood without?")
    expect(columns(page).locator(".nt-mark, .nt-sum")).to_have_count(0)
    place = "1" if "systems=CLIP-neg" in page.url else "2"
    page.keyboard.press(place)
    expect(page.locator(".nt-guess")).to_contain_text("Yes: CLIP-neg.")
    expect(columns(page).nth(int(place) - 1).locator(".nt-picked")).to_have_text("your guess")
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
