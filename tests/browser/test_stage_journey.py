"""A talk on the stage, by keyboard alone."""

import json
from pathlib import Path
from urllib.parse import urlencode

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from nt2vr.ui.search.tab_layout import built_in_stories
from tests.support.page_actions import MODELS_MS, columns, follow

pytestmark = pytest.mark.browser

OPENING = built_in_stories()[0]
STORIES = len(built_in_stories())
ON_STAGE = "?" + urlencode(
    {"q": OPENING["query"], "systems": "|".join(OPENING["systems"]), "k": 8, "stage": 1}
)

FONT_SIZE = "each => parseFloat(getComputedStyle(each).fontSize)"
CLIP_BOTTOM = "Math.max(...[...document.querySelectorAll('.nt-clip')].map((c) => c.getBoundingClientRect().bottom))"


def test_a_talk_by_keyboard(page: Page) -> None:
    keys = page.keyboard
    page.locator("#query textarea").blur()
    keys.press("f")
    expect(page.locator("#query")).to_be_hidden()
    # Of three systems, the first and the last are shown.
    expect(columns(page).nth(1)).to_be_hidden()
    keys.press("2")
    expect(page.locator(".nt-column:visible")).to_have_count(3)

    show_the_second_story(page)
    uncover_columns(page)
    third = built_in_stories()[2]["query"]
    follow_the_notes(page, third)

    assert "stage=1" in page.url
    keys.press("Escape")
    expect(page.locator("#query textarea")).to_have_value(third)
    assert "stage" not in page.url


def show_the_second_story(page: Page) -> None:
    page.keyboard.press("ArrowRight")
    sums = ["0 of 8 right, 8 show it", "8 of 8 right, 0 show it"]
    expect(page.locator(".nt-sum")).to_have_text(sums)
    font_size = page.locator(".nt-sentence").evaluate(FONT_SIZE)
    assert font_size >= 48
    expect(page.locator(".nt-scope")).to_have_css("text-decoration-line", "line-through")
    page.wait_for_function(f"{CLIP_BOTTOM} <= innerHeight && {CLIP_BOTTOM} > innerHeight - 80")


def uncover_columns(page: Page) -> None:
    """Cover the second column, uncover it, and cover the first one."""
    page.keyboard.press(" ")
    expect(columns(page).nth(1)).to_be_hidden()
    page.keyboard.press(" ")
    expect(columns(page).nth(1)).to_be_visible()
    page.keyboard.press("1")
    expect(columns(page).nth(0)).to_be_hidden()


def follow_the_notes(page: Page, third: str) -> None:
    """Open the notes, which nobody else sees; they keep up with the stories, to the fourth one and back."""
    with page.expect_popup() as opened:
        page.keyboard.press("n")
    notes = opened.value
    expect(notes.locator("body")).to_contain_text("each of its first 8 clips shows a dog")
    expect(notes.locator("h3")).to_have_text("a dog but no cat")
    expect(notes.locator("time")).to_contain_text(f"1 of {STORIES} · 00:00:")
    # Not on the public screen.
    expect(page.get_by_text("each of its first 8 clips shows a dog")).to_have_count(0)

    sentence = page.locator(".nt-sentence")
    for number in range(2, 5):
        sentence_before = sentence.inner_text()
        page.keyboard.press("ArrowRight")
        expect(page.locator(".nt-place")).to_have_text(f"{number} of {STORIES}")
        expect(sentence).not_to_have_text(sentence_before)
    expect(columns(page).nth(0)).to_be_visible()

    page.keyboard.press("ArrowLeft")
    expect(sentence).to_have_text(third)
    expect(notes.locator("h1")).to_have_text(third)
    notes.close()


@pytest.mark.slow
def test_the_stage_asks_which_caption_fits_and_moves_on(page: Page) -> None:
    follow(page, ON_STAGE)
    page.keyboard.press("m")
    rows = page.locator(".nt-match tr")
    box = page.get_by_label("Captions, one per line")
    # Two captions for two systems.
    expect(rows).to_have_count(4)
    box.fill("a boy is dancing\na girl is reading a book\na dog")
    page.get_by_role("button", name="Compare").click()
    expect(rows).to_have_count(6)
    page.wait_for_url("**match=*reading*")
    page.reload()
    expect(rows).to_have_count(6, timeout=MODELS_MS)
    expect(box).to_have_value("a boy is dancing\na girl is reading a book\na dog")
    page.get_by_label("Close").first.focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator(".nt-sentence")).to_have_text("a dog but no cat")
    expect(page.locator("dialog[open]")).to_have_count(0)
    assert "match" not in page.url


@pytest.mark.slow
def test_own_stories_are_opened_edited_shared_and_exported(page: Page, tmp_path: Path) -> None:
    stories_file = tmp_path / "own.json"
    stories = [{"query": "a dog, no cat", "systems": ["CLIP"], "k": 4}]
    stories_file.write_text(json.dumps([*stories, {"query": "x", "systems": []}]))
    follow(page, ON_STAGE)

    dialog = page.get_by_role("dialog", name="Stories")
    page.locator("[data-do=stories]").press("Enter")
    expect(dialog.get_by_label("Query")).to_have_count(STORIES)
    page.locator("[data-open]").set_input_files(stories_file)
    expect(dialog.get_by_label("Query")).to_have_count(2)

    dialog.get_by_label("Remove story 2").click()
    dialog.get_by_label("Note for the speaker").fill("<b>mine</b>")
    with page.expect_download() as saved:
        dialog.get_by_text("Save as a file").click()
    assert json.loads(saved.value.path().read_text()) == [stories[0] | {"note": "<b>mine</b>"}]

    dialog.get_by_text("Copy link").click()
    link = dialog.get_by_text("stage=1&stories=")
    expect(link.or_(dialog.get_by_text("The link is copied."))).to_be_visible()
    dialog.get_by_label("Show story 1").click()
    expect(page.locator(".nt-sum")).to_have_text(["0 of 4 right, 4 show it"])

    for kind in ("png", "svg"):
        with page.expect_download() as slide:
            page.locator(f"[data-do={kind}]").press("Enter")
        slide.value.save_as(tmp_path / f"slide.{kind}")
    with Image.open(tmp_path / "slide.png") as png:
        assert png.size == (1920, 1200)
    drawn = (tmp_path / "slide.svg").read_text()
    assert drawn.count("<image") == 4
    assert 'text-decoration="line-through">cat</text>' in drawn

    page.locator("[data-do=stories]").press("Enter")
    dialog.get_by_text("Back to the built-in stories").click()
    expect(dialog.get_by_label("Query")).to_have_count(STORIES)
