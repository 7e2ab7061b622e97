"""The last slide of a talk: the room's score and the systems' figures."""

import json
from base64 import urlsafe_b64encode
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from nt2vr.evaluation.ready_report import ready_report
from tests.conftest import RunningApp
from tests.support.page_actions import MODELS_MS, columns, serious

pytestmark = pytest.mark.browser

FIRST = "a horse without a tree"
LAST = "a robot but no car"


def link_of(*queries: str) -> str:
    """Return the link of a talk with these stories."""
    stories = []
    for query in queries:
        stories.append({"query": query, "systems": ["CLIP", "CLIP-neg"], "k": 4})
    encoded = urlsafe_b64encode(json.dumps(stories).encode()).decode()
    return f"?stage=1&stories={encoded}"


def slide(page: Page) -> Locator:
    return page.get_by_role("region", name="The end")


def open_stage(page: Page, app: RunningApp) -> None:
    """Open a talk of two stories at the first."""
    page.goto(app.url + link_of(FIRST, LAST))
    expect(page.locator(".nt-sentence")).to_have_text(FIRST, timeout=MODELS_MS)
    page.wait_for_function("history.state?.answered", timeout=MODELS_MS)


@pytest.mark.slow
def test_a_talk_ends_with_figures(own_page: Page, running_app: RunningApp) -> None:
    page = own_page
    keys = page.keyboard
    open_stage(page, running_app)
    expect(slide(page)).to_be_hidden()
    keys.press("ArrowRight")
    expect(page.locator(".nt-sentence")).to_have_text(LAST)

    keys.press("ArrowRight")

    expect(slide(page)).to_be_visible()
    systems = ["CLIP", "CLIP drop", "CLIP-bnl", "CLIP-neg"]
    expect(slide(page).locator("tbody th")).to_have_text(systems)
    # As `findings_of` orders them: hard pairs come first.
    metrics = ready_report().metrics["CLIP-neg"]
    hard_pairs = next(value for name, value in metrics.items() if name.startswith("without/hard"))
    figure = slide(page).locator("tr", has_text="CLIP-neg").locator("td").first
    expect(figure).to_have_text(f"{hard_pairs:.1f}")
    expect(figure).to_have_class("nt-best")
    # Nobody else can open 127.0.0.1.
    expect(slide(page).locator("figure")).to_have_count(0)
    # Nobody has guessed.
    expect(slide(page)).not_to_contain_text("right in")
    assert serious(page) == []


@pytest.mark.slow
def test_keys_lead_away_from_the_last_slide(own_page: Page, running_app: RunningApp) -> None:
    page = own_page
    keys = page.keyboard
    open_stage(page, running_app)
    keys.press("ArrowRight")
    expect(page.locator(".nt-sentence")).to_have_text(LAST)
    keys.press("ArrowRight")
    expect(slide(page)).to_be_visible()
    url_of_slide = page.url

    # These keys would change the story behind the slide.
    for key in ("0", "1", " ", "m"):
        keys.press(key)
    assert page.url == url_of_slide
    expect(page.get_by_role("dialog")).to_have_count(0)

    keys.press("ArrowLeft")
    expect(slide(page)).to_be_hidden()
    expect(columns(page)).to_have_count(2)
    expect(page.locator(".nt-sentence")).to_have_text(LAST)

    keys.press("End")
    expect(slide(page)).to_be_visible()
    keys.press("Escape")
    expect(slide(page)).to_be_hidden()
    assert "stage=1" in page.url

    keys.press("End")
    keys.press("PageDown")
    expect(slide(page)).to_be_hidden()
    expect(page.locator(".nt-sentence")).to_have_text(FIRST)

    keys.press("End")
    keys.press("f")
    expect(slide(page)).to_be_hidden()
    expect(page.locator("#query textarea")).to_have_value(FIRST)


def exported(page: Page, kind: str, folder: Path) -> Path:
    """Export what is on the stage as "svg" or "png"; return the file."""
    with page.expect_download() as download:
        page.locator(f"[data-do={kind}]").press("Enter")
    path = folder / f"slide.{kind}"
    download.value.save_as(path)
    return path


@pytest.mark.slow
def test_pictures_show_what_is_on_the_stage(
    own_page: Page, running_app: RunningApp, tmp_path: Path
) -> None:
    page = own_page
    page.goto(running_app.url + link_of("a person but no cat"))
    # No box is shown before its clip has loaded.
    expect(page.locator(".nt-box rect:visible").first).to_be_visible()
    story = exported(page, "svg", tmp_path).read_text()
    assert story.count("<image") == 8
    assert story.count('stroke-width="2.5"') == page.locator(".nt-box rect:visible").count()
    marks = page.locator(".nt-clip .nt-mark").all_text_contents()
    for word in " ".join(marks).split():
        assert f">{word}</text>" in story

    page.keyboard.press("End")
    expect(slide(page).locator("tbody tr")).to_have_count(4)
    drawn = exported(page, "svg", tmp_path).read_text()
    assert "<image" not in drawn
    for figure in slide(page).locator("td").all_text_contents():
        # Some cells are empty.
        if figure:
            assert f">{figure}</text>" in drawn
    with Image.open(exported(page, "png", tmp_path)) as picture:
        assert picture.size == (1920, 1200)
        greys = picture.convert("L").histogram()
    num_greys = len([count for count in greys if count > 0])
    assert num_greys > 10


def raise_hands(page: Page, first: str, second: str) -> None:
    """Type how many guess each column."""
    page.keyboard.press("h")
    page.keyboard.type(first)
    page.keyboard.press("Enter")
    page.keyboard.type(second)
    page.keyboard.press("Enter")


@pytest.mark.slow
def test_the_game_ends_with_the_room_s_score(own_page: Page, running_app: RunningApp) -> None:
    page = own_page
    page.goto(f"{running_app.url}{link_of(FIRST, LAST)}&guess=1")
    expect(page.get_by_role("button", name="This one")).to_have_count(2, timeout=MODELS_MS)
    raise_hands(page, "1", "1")
    # The room is divided.
    expect(page.locator(".nt-guess")).to_contain_text("It was CLIP-neg.")

    page.keyboard.press("ArrowRight")
    expect(page.locator(".nt-sentence")).to_have_text(LAST)
    expect(page.get_by_role("button", name="This one")).to_have_count(2)
    if "systems=CLIP-neg" in page.url:
        raise_hands(page, "7", "2")
    else:
        raise_hands(page, "2", "7")
    expect(page.locator(".nt-guess")).to_contain_text("Yes: CLIP-neg.")

    page.get_by_role("button", name="Next", exact=True).click()
    expect(slide(page).get_by_role("heading")).to_have_text("The room was right in 1 of 1.")
    expect(slide(page).locator(".nt-dots .nt-right")).to_have_count(1)

    slide(page).get_by_role("button", name="Start again").click()
    expect(page.locator(".nt-sentence")).to_have_text(FIRST)
    expect(page.get_by_role("button", name="This one")).to_have_count(2)

    page.keyboard.press("End")
    expect(slide(page).get_by_role("heading")).not_to_contain_text("right in")
    slide(page).get_by_role("button", name="Back").click()
    # Nothing is told.
    expect(page.get_by_role("button", name="This one")).to_have_count(2)
