"""Late answers never overwrite what a person has typed or chosen since."""

import re
from pathlib import Path

import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.browser.actions import (
    ANSWERS,
    FIRST,
    MODELS_MS,
    choose,
    columns,
    follow,
    held,
    open_menu,
    open_search,
    step,
    submit,
)
from tests.conftest import RunningApp
from tests.paths import ROOT

pytestmark = pytest.mark.browser

CALLS = "**/gradio_api/queue/join?*"
SLOW_FRAMES = (
    "const draw = requestAnimationFrame; window.requestAnimationFrame = (f) => setTimeout(() => draw(f), 700);"
)
HORSE = "a woman is riding a horse, no elephant"


def open_correction(page: Page) -> None:
    open_menu(page, "Correct this")


def test_a_correction_typed_as_the_panel_opens_is_kept_where_frames_are_slow(
    own_page: Page, running_app: RunningApp
) -> None:
    page = own_page
    page.add_init_script(SLOW_FRAMES)
    open_search(page, running_app.url)
    open_correction(page)
    unwanted = page.locator("#unwanted textarea")
    expect(unwanted).to_have_value("cars")
    unwanted.fill("dancing, a dog")
    page.wait_for_timeout(1000)  # Gradio fills a panel once more, a frame after mounting it
    expect(unwanted).to_have_value("dancing, a dog")


def test_a_correction_typed_during_a_search_outlives_the_answer(page: Page) -> None:
    follow(page)
    open_correction(page)
    wanted, unwanted = page.locator("#wanted textarea"), page.locator("#unwanted textarea")
    expect(unwanted).to_have_value("cars")
    with held(page, ANSWERS) as answers:
        submit(page, HORSE)
        answers.wait_for_one()
        unwanted.fill("dancing, a dog")
    expect(page.locator(".nt-scope")).to_have_text("elephant")
    expect(wanted).to_have_value("a woman is riding a horse")  # this one was not touched
    expect(unwanted).to_have_value("dancing, a dog")
    unwanted.press("Enter")
    expect(page.locator("#parts .nt-chip.nt-bad")).to_have_text(["dancing", "a dog"])
    expect(page.locator("#parts .nt-chip.nt-good")).to_have_text("a woman is riding a horse")


def test_a_correction_holds_until_the_sentence_changes(page: Page) -> None:
    follow(page)
    open_correction(page)
    unwanted, chip = page.locator("#unwanted textarea"), page.locator("#parts .nt-chip.nt-bad")
    expect(unwanted).to_have_value("cars")
    unwanted.fill("a dog")
    unwanted.press("Enter")
    expect(chip).to_have_text("a dog")
    page.keyboard.press("Escape")
    choose(page, "k", "top 4")
    expect(columns(page).first.locator(".nt-clip")).to_have_count(4)
    expect(chip).to_have_text("a dog")
    submit(page, HORSE)
    expect(chip).to_have_text("elephant")
    expect(unwanted).to_have_value("elephant")


def test_a_query_typed_before_the_link_is_restored_is_kept_and_the_rest_is_restored(
    page: Page, running_app: RunningApp
) -> None:
    query = page.locator("#query textarea")
    with held(page, ANSWERS) as answers:
        page.goto(running_app.url + "?q=a+cat&systems=CLIP+drop|CLIP&k=6&alpha=0.8")
        query.fill("a dog, no cat")
        answers.wait_for_one()
    expect(page.locator("#systems")).to_contain_text("CLIP drop")
    expect(query).to_have_value("a dog, no cat")
    query.press("Enter")
    expect(columns(page)).to_have_count(2, timeout=MODELS_MS)
    expect(columns(page).first.locator(".nt-clip")).to_have_count(6)
    expect(page.locator("#parts .nt-chip.nt-bad")).to_have_text("cat")
    open_correction(page)
    expect(page.locator("#alpha input[type=range]")).to_have_value("0.8")


def test_systems_chosen_and_a_picture_uploaded_before_the_link_is_restored_are_kept(
    page: Page, running_app: RunningApp, tmp_path: Path
) -> None:
    mine, clip = tmp_path / "mine.png", next((ROOT / "assets" / "gallery" / "clips").iterdir())
    Image.new("RGB", (64, 64), "red").save(mine)
    with held(page, ANSWERS) as answers:
        page.goto(running_app.url + f"?q=a+dog,+no+cat&systems=CLIP+drop|CLIP&like={clip.stem}")
        answers.wait_for_one()
        choose(page, "systems", "CLIP boolean")
        with page.expect_response("**/gradio_api/upload*"):
            page.locator("#reference [type=file]").set_input_files(mine)
        page.wait_for_timeout(500)  # it is read once the answers go on
    expect(page.locator(".nt-reference[aria-label*='mine.png']")).to_have_count(1)
    expect(columns(page)).to_have_count(4, timeout=MODELS_MS)
    expect(page.locator("#query textarea")).to_have_value("a dog, no cat")
    expect(page.locator("#parts .nt-chip.nt-bad")).to_have_text("cat")
    expect(columns(page).last.locator("h3")).to_contain_text("boolean")


def test_back_pressed_twice_while_an_answer_is_on_its_way_goes_back_twice_and_forward_again(page: Page) -> None:
    query = page.locator("#query textarea")
    follow(page)
    first = query.input_value()
    submit(page, HORSE)
    expect(page).to_have_url(re.compile("horse"))
    submit(page, "a dog, no cat")
    expect(page).to_have_url(re.compile("dog"))
    with held(page, ANSWERS) as answers:
        page.evaluate("history.back()")
        answers.wait_for_one()
        page.evaluate("history.back()")
        page.wait_for_timeout(500)
    expect(query).to_have_value(first)
    expect(page.locator(".nt-scope")).to_have_text("cars")
    page.wait_for_timeout(1000)  # for answers to what was passed
    for text, scope in ((HORSE, "elephant"), ("a dog, no cat", "cat")):
        page.go_forward()
        expect(query).to_have_value(text)
        expect(page.locator(".nt-scope")).to_have_text(scope)


def test_a_picture_added_while_another_is_read_joins_it_and_a_removal_in_between_holds(
    page: Page, tmp_path: Path
) -> None:
    for name in ("red", "green", "blue"):
        Image.new("RGB", (64, 64), name).save(tmp_path / f"{name}.png")
    chips, file = page.locator(".nt-reference"), page.locator("#reference [type=file]")
    follow(page)
    file.set_input_files(tmp_path / "red.png")
    expect(chips).to_have_count(1)
    with held(page, CALLS, '"paths"') as calls:
        file.set_input_files(tmp_path / "green.png")
        calls.wait_for_one()
        chips.first.locator("[data-remove]").press("Enter")
        file.set_input_files(tmp_path / "blue.png")
        page.wait_for_timeout(500)  # it is uploaded, and waits
    expect(page.get_by_role("group", name="blue.png")).to_be_visible()
    expect(page.get_by_role("group", name="green.png")).to_be_visible()
    expect(chips).to_have_count(2)


def test_an_older_search_never_replaces_the_answer_to_a_newer_one(page: Page) -> None:
    scope = page.locator(".nt-scope")
    with held(page, CALLS, "without cars") as searches:
        step(page, FIRST)
        searches.wait_for_one()
        submit(page, HORSE)
        page.wait_for_timeout(700)
    expect(scope).to_have_text("elephant", timeout=MODELS_MS)
    page.wait_for_timeout(700)
    expect(scope).to_have_text("elephant")


def test_what_is_wrong_with_a_picture_stays_until_the_next_search(page: Page, tmp_path: Path) -> None:
    problem, broken = page.locator("#problem"), tmp_path / "broken.png"
    broken.write_bytes(b"no picture")
    follow(page)
    with held(page, CALLS, "elephant") as searches:
        submit(page, HORSE)
        searches.wait_for_one()
        page.locator("#reference [type=file]").set_input_files(broken)
        expect(problem).to_contain_text("broken.png")
    expect(page.locator(".nt-scope")).to_have_text("elephant")  # the older search's answer
    expect(problem).to_contain_text("broken.png")
    submit(page, "a dog, no cat")
    expect(page.locator(".nt-scope")).to_have_text("cat")
    expect(problem).to_be_empty()
