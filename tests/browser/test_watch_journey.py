"""What a person sees of a run that learns; the test holds the trainer's lock and copies checkpoints."""

import os
import re
import shutil
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, expect

from nt2vr.ui.search.watch import PRESET
from tests.conftest import RunningApp
from tests.support.page_actions import MODELS_MS, columns, follow, held, submit
from tests.support.paths import ROOT
from trainer.config import load_config, save_config
from trainer.runs.run_folder import RunFolder, RunStatus

pytestmark = pytest.mark.browser

SEARCH = "?q=a+singer+without+a+guitar&systems=CLIP&k=4"
COUNT_FLIGHTS = """() => {
  window.flights = 0;
  const animate = Element.prototype.animate;
  Element.prototype.animate = function (...all) {  // Gradio's own components move, too
    window.flights += this.matches(".nt-clip");
    return animate.apply(this, all);
  };
}"""

FROM_LEFT = """pills => pills
  .toSorted((one, other) => one.getBoundingClientRect().left - other.getBoundingClientRect().left)
  .map((pill) => pill.dataset.system)"""
OVERLAPS = """(selector, root = document) => {
  const shown = [...root.querySelectorAll(selector)].filter((each) => each.checkVisibility());
  const boxes = shown.map((each) => [each, each.getBoundingClientRect()]);
  return boxes.flatMap(([one, a], i) => boxes.slice(i + 1).filter(([, b]) =>
    a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 1 && b.top < a.bottom - 1
  ).map(([other]) => `${one.className} ${one.id} lies over ${other.className}: ${other.textContent}`));
}"""


def add_epoch(run: RunFolder, epoch: int, model: str) -> None:
    """Write a checkpoint as the trainer does, by a rename."""
    folder = run.checkpoint(epoch)
    partial = folder.with_name(f".{folder.name}.partial")
    shutil.copytree(ROOT / "assets" / "models" / model, partial)
    partial.rename(folder)
    run.write_status(RunStatus("running", os.getpid(), epoch, 24 * epoch, 60.0))


def follow_two_checkpoints(page: Page, run: RunFolder) -> None:
    training = page.get_by_label("Training", exact=True).first
    column = page.locator("[data-run]")
    expect(columns(page)).to_have_count(1, timeout=MODELS_MS)
    expect(training).to_contain_text("drawing sentences: 12 of 40")

    page.get_by_role("button", name="Watch it learn", exact=True).click()
    panel = page.locator("#watch")
    expect(panel.get_by_text("One run trains at a time: CLIP has to wait")).to_be_visible()
    expect(panel.get_by_role("button", name="Stop it and start")).to_be_visible()
    panel.get_by_role("button", name="Start afterwards").click()
    expect(panel).to_contain_text("CLIP, learning “not” starts after learns (22 Nov 12:00)")
    expect(panel.get_by_role("button", name="Start afterwards")).to_have_count(0)
    panel.get_by_role("button", name="do not start").click()
    expect(panel).not_to_contain_text("starts after")

    training.get_by_role("button", name="watch it").click()
    expect(training).to_contain_text("its column joins with the first checkpoint")
    add_epoch(run, 1, "clip-bnl")
    expect(column.locator("h3")).to_contain_text("epoch 1", timeout=MODELS_MS)
    expect(columns(page)).to_have_count(2)
    # One epoch leaves no choice.
    expect(page.locator(".nt-epochs")).to_have_count(0)

    page.evaluate(COUNT_FLIGHTS)
    add_epoch(run, 2, "clip-neg")
    expect(column.locator("h3")).to_contain_text("epoch 2", timeout=MODELS_MS)
    expect(column.locator(".nt-counts")).to_have_text("4 of 4 show “a guitar” → 0")
    # Motion is reduced.
    assert page.evaluate("flights") == 0


def look_at_it_on_a_phone(page: Page) -> None:
    """Nothing lies over anything else, neither on the page nor on the stage."""
    browser = page.context.browser
    assert browser is not None
    phone = browser.new_page(
        viewport={"width": 390, "height": 844},
        has_touch=True,
        is_mobile=True,
        reduced_motion="reduce",
    )
    phone.goto(page.url)
    expect(columns(phone)).to_have_count(2, timeout=MODELS_MS)
    expect(phone.locator(".nt-pill")).to_have_count(2)
    names = phone.locator(".nt-pill").evaluate_all(FROM_LEFT)
    # Its column has the same name.
    assert names[0] == "CLIP"
    phone.locator("[data-stage]").tap()
    expect(phone.locator(".nt-training")).to_be_visible()
    assert phone.evaluate(OVERLAPS, "#watch, .nt-sentence, .nt-stagebar > *, .nt-clip") == []
    for clip in phone.locator(".nt-clip:visible").all():
        assert clip.evaluate(f"clip => ({OVERLAPS})('.nt-rank, .nt-mark', clip)") == []
    phone.close()


def go_back(page: Page) -> None:
    page.wait_for_url("**learns-2026*")
    # No epoch is missing after that.
    page.reload()
    page.emulate_media(reduced_motion="no-preference")
    slider = page.get_by_role("slider", name="epoch")
    expect(slider).to_have_value("1", timeout=MODELS_MS)
    page.evaluate(COUNT_FLIGHTS)
    with held(page, "**/gradio_api/queue/join*"):
        # Clips move before the server knows.
        slider.press("ArrowLeft")
        expect(page.locator("[data-run] h3")).to_contain_text("epoch 1")
        page.wait_for_function("flights > 0")
    expect(page.locator("#systems")).to_contain_text("epoch 1", timeout=MODELS_MS)
    expect(page.locator("[data-run] h3")).to_contain_text("epoch 1")
    slider.press("ArrowRight")
    expect(page.locator("[data-run] h3")).to_contain_text("epoch 2")
    # The newest is the run itself.
    expect(page.locator("#systems")).not_to_contain_text("epoch", timeout=MODELS_MS)


@pytest.fixture
def run(running_app: RunningApp) -> Iterator[RunFolder]:
    """A run that has not begun; it is removed afterwards."""
    run = RunFolder(running_app.data / "runs" / "learns-20261122-120000")
    run.path.mkdir(parents=True)
    save_config(load_config(PRESET), run.config)
    yield run
    shutil.rmtree(run.path)


@pytest.mark.slow
def test_watch_a_run_learn_and_go_back_through_its_epochs(
    own_page: Page, running_app: RunningApp, run: RunFolder
) -> None:
    page = own_page
    preparing = RunStatus("preparing", os.getpid(), doing="drawing sentences", done=12, total=40)
    with run.training():
        run.write_status(preparing)
        page.goto(running_app.url + SEARCH)
        follow_two_checkpoints(page, run)
        look_at_it_on_a_phone(page)
        go_back(page)
        run.write_status(RunStatus("finished", os.getpid(), 2, 48))

    expect(page.locator(".nt-training")).to_have_count(0)
    expect(columns(page)).to_have_count(2)


@pytest.mark.slow
def test_a_recorded_run_plays_from_its_base_to_the_end(page: Page) -> None:
    follow(page, "?systems=CLIP-bnl&k=4&q=a+dog")
    page.get_by_role("button", name="Replay", exact=True).click()
    column = page.locator("[data-run]")
    expect(page.locator("#query textarea")).to_have_value("a person without a dog")
    # It plays.
    expect(column.locator("h3")).to_have_text(re.compile(r"CLIP, learning· epoch \d"))
    expect(column).to_contain_text("recorded 2")
    assert "replay=1" in page.url
    page.get_by_role("slider", name="epoch").press("End")
    expect(column.locator(".nt-counts")).to_contain_text("8 of 8 show “a dog” → ")
    expect(column.locator(".nt-clip")).to_have_count(8)

    # This query has not been recorded.
    submit(page, "a cat, no dog")
    expect(column).to_have_count(0)
    assert "replay" not in page.url
    # The person's own systems are back.
    expect(page).to_have_url(re.compile("systems=CLIP-bnl&k=4"))

    # On a phone it stands next to its base.
    page.set_viewport_size({"width": 390, "height": 844})
    follow(page, "?replay=1&systems=CLIP|CLIP-bnl|CLIP-neg&q=a+dog+but+no+cat")
    expect(columns(page)).to_have_count(4)
    assert column.evaluate("each => each.getBoundingClientRect().right") == 390 - 16
