"""What a person does on the Train tab, with a training that takes some seconds."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import fresh_page
from tests.conftest import free_port, run_app
from trainer.manager import RunManager

pytestmark = pytest.mark.browser

WAIT_MS = 120_000  # torch must be imported before the first step
SETTINGS = {"name": "<b>Tiny</b>", "num_clips": 60, "epochs": 1, "batch_size": 2}
MORE = {"passes": 8, "num_frames": 1, "validation_clips": 8, "log_every": 1, "warmup_steps": 2}


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """For the app's data; a run outlives the app, but not this test."""
    yield tmp_path
    manager = RunManager(tmp_path / "data" / "runs")
    for run in manager.runs():
        if run.is_under_way:
            manager.stop(run.run_id, at_once=True)


def open_tab(page: Page, url: str) -> None:
    page.goto(url)
    page.get_by_role("tab", name="Train").click()


def fill(page: Page, values: Mapping[str, object]) -> None:
    for key, value in values.items():
        page.locator(f"#train-{key} input, #train-{key} textarea").first.fill(str(value))


def test_start_a_run_watch_it_stop_it_resume_it_find_it_again_and_delete_it(chromium: Browser, folder: Path) -> None:
    port, runs = free_port(), folder / "data" / "runs"
    with run_app(folder, port, TMPDIR=str(folder)) as app, fresh_page(chromium, app.url) as page:
        open_tab(page, app.url)
        expect(page.locator("#train-form")).to_be_visible(timeout=WAIT_MS)  # there is no run to show
        loss = page.locator("[data-loss=contrastive]")
        expect(loss).to_be_visible(timeout=WAIT_MS)
        page.locator("#train-preset input").click()
        page.get_by_role("option", name="CLIP", exact=True).click()
        expect(page.locator("#train-name").get_by_label("Name")).to_have_value("CLIP")
        expect(page.locator("[data-loss=distill] [data-on]")).not_to_be_checked()  # the last of the form to be filled
        page.get_by_text("All other settings").click()
        fill(page, MORE)
        fill(page, SETTINGS)

        loss.get_by_label("weight").fill("much")
        page.locator("#train-start").click()
        expect(page.get_by_text("weight of the loss contrastive must be a number").first).to_be_visible()
        assert not runs.exists()
        loss.get_by_label("weight").fill("0.5")
        page.locator("#train-start").click()

        watch = page.locator(".nt-watch")
        expect(watch.locator("h3")).to_contain_text("<b>Tiny</b>", timeout=WAIT_MS)
        (config,) = runs.glob("*/config.json")
        assert json.loads(config.read_text())["losses"] == {"contrastive": {"weight": 0.5}}
        expect(watch.get_by_role("status")).to_have_text("training", timeout=WAIT_MS)
        loss_line = watch.locator(".nt-line").last  # the validation charts, once they are there, come before it
        expect(loss_line).to_have_attribute("d", re.compile(r"^M[\d. ]+L"), timeout=WAIT_MS)  # at least two points
        expect(page.locator("#train-resume")).to_be_disabled()
        expect(page.locator("#train-delete")).to_be_disabled()

        page.locator("#train-stop").click()
        expect(watch.get_by_role("status")).to_have_text("stopped", timeout=WAIT_MS)
        expect(watch).to_contain_text(re.compile(r"step \d+ of 240"))

        page.reload()
        page.get_by_role("tab", name="Train").click()
        expect(watch.get_by_role("status")).to_have_text("stopped")
        expect(page.locator("#train-stop")).to_be_disabled()
        page.locator("#train-resume").click()
        expect(watch.get_by_role("status")).to_have_text("training", timeout=WAIT_MS)

    with run_app(folder, port, TMPDIR=str(folder)) as app, fresh_page(chromium, app.url) as page:
        open_tab(page, app.url)  # the run has outlived the app
        watch = page.locator(".nt-watch")
        expect(watch.get_by_role("status")).to_have_text(re.compile("training|finished"), timeout=WAIT_MS)
        page.locator("#train-new").click()
        expect(page.locator("#train-form")).to_be_visible()
        page.locator(".nt-run").click()
        expect(watch).to_be_visible()
        if page.locator("#train-stop").is_enabled():
            page.locator("#train-stop").click()
        expect(page.locator("#train-delete")).to_be_enabled(timeout=WAIT_MS)
        page.locator("#train-delete").click()
        page.locator("#train-keep").click()
        page.locator("#train-delete").click()
        page.locator("#train-delete-now").click()
        expect(page.locator("#train-form")).to_be_visible()
        expect(page.locator(".nt-run")).to_have_count(0)
        assert list(runs.glob("[!.]*")) == []
        expect(page.locator("#train-trash")).to_contain_text("MB, deleted 30 days after each run.")
        page.locator("#train-empty-trash").click()
        expect(page.locator("#train-trash")).to_be_hidden()
        assert list((runs / ".trash").iterdir()) == []
        assert "Traceback" not in app.log.read_text()


def test_where_training_is_not_allowed_the_tab_says_so_and_offers_nothing_to_call(
    chromium: Browser, tmp_path: Path
) -> None:
    with run_app(tmp_path, free_port(), SYSTEM="spaces") as app, fresh_page(chromium, app.url) as page:
        open_tab(page, app.url)
        expect(page.locator("#train-off")).to_contain_text("Training is switched off here", timeout=WAIT_MS)
        config = page.evaluate("fetch('config').then(answer => answer.json())")
        ids = {component["props"].get("elem_id") for component in config["components"]}
        assert {name for name in ids if name and name.startswith("train")} == {"train-off"}
