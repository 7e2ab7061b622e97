"""What a person does on the Train tab, with a model so small that training it takes seconds."""

import json
import re
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import fresh_page
from tests.conftest import STRANGER, RunningApp, free_port, run_app
from tests.support.page_actions import MODELS_MS, columns, open_menu, serious
from tests.support.tiny_models import TINY
from trainer.config import TrainConfig, save_config
from trainer.runs.manager import RunManager
from trainer.runs.run_folder import RunFolder, RunStatus, read_metrics

pytestmark = pytest.mark.browser

# Torch must be imported before the first step.
WAIT_MS = 180_000
SETTINGS = {"name": "<b>Tiny</b>", "num_clips": 40, "epochs": 1, "batch_size": 4}
MORE = {
    "model": json.dumps(TINY),
    "passes": 200,
    "num_frames": 1,
    "validation_clips": 8,
    "log_every": 10,
    "warmup_steps": 2,
}
# Whether an element is outside its parent.
OUTSIDE = """(inner) => {
  const frame = inner.parentElement.getBoundingClientRect(), box = inner.getBoundingClientRect();
  return box.left < frame.left || box.right > frame.right || box.top < frame.top || box.bottom > frame.bottom;
}"""
HOSTILE = "${1+1} \\u `"
# 200 passes over 40 clips, 4 at a time: it will be stopped, not end.
NUM_STEPS = "2,000"


@contextmanager
def trainings(runs: Path) -> Iterator[None]:
    """Stop what still trains after the block, and add the logs to its failure."""
    try:
        yield
    except Exception as error:
        for log in runs.glob("*/train.log"):
            error.add_note(f"{log}:\n{log.read_text(encoding='utf-8')}")
        raise
    finally:
        manager = RunManager(runs)
        for run in manager.runs():
            if run.is_under_way:
                manager.stop(run.run_id, at_once=True)


def open_tab(page: Page, url: str) -> None:
    # The search that a page opens with then loads one model only.
    page.goto(f"{url}?systems=CLIP&k=4")
    page.get_by_role("tab", name="Train").click()


def fill(page: Page, values: Mapping[str, object]) -> None:
    for key, value in values.items():
        page.locator(f"#train-{key} input, #train-{key} textarea").first.fill(str(value))


def start_a_run(page: Page, runs: Path) -> None:
    # There is no run to show.
    expect(page.locator("#train-form")).to_be_visible(timeout=WAIT_MS)
    loss = page.locator("[data-loss=contrastive]")
    expect(loss).to_be_visible(timeout=WAIT_MS)
    page.locator("#train-preset input").click()
    page.get_by_role("option", name="CLIP", exact=True).click()
    expect(page.locator("#train-name").get_by_label("Name")).to_have_value("CLIP")
    # It is the last of the form to be filled.
    expect(page.locator("[data-loss=distill] [data-on]")).not_to_be_checked()
    page.get_by_text("All other settings").click()
    fill(page, MORE)
    fill(page, SETTINGS)

    loss.get_by_label("weight").fill("much")
    page.locator("#train-start").click()
    error = page.get_by_text("weight of the loss contrastive must be a number")
    expect(error.first).to_be_visible()
    assert list(runs.glob("[!.]*")) == []
    loss.get_by_label("weight").fill("0.5")
    page.locator("#train-start").click()


def delete_the_run(page: Page) -> None:
    page.locator("#train-delete").click()
    page.locator("#train-keep").click()
    page.locator("#train-delete").click()
    page.locator("#train-new").click()
    # Otherwise its answer may come after that to the next click.
    expect(page.locator("#train-form")).to_be_visible()
    page.locator(".nt-runs .nt-run").click()
    expect(page.locator(".nt-watch")).to_be_visible()
    # A question about another view is not asked here.
    expect(page.locator("#train-confirm")).to_be_hidden()
    page.locator("#train-delete").click()
    page.locator("#train-delete-now").click()
    expect(page.locator("#train-form")).to_be_visible()
    expect(page.locator(".nt-runs .nt-run")).to_have_count(0)


def train_stop_and_resume(page: Page, url: str, runs: Path) -> None:
    watch = page.locator(".nt-watch")
    state = watch.get_by_role("status")
    open_tab(page, url)
    expect(columns(page)).to_have_count(1, timeout=MODELS_MS)
    # It was loading when asked.
    expect(page.locator("#head")).to_contain_text("built-in world · 549 clips")
    start_a_run(page, runs)
    expect(watch.locator("h3")).to_contain_text("b-tiny-b", timeout=WAIT_MS)
    (config,) = runs.glob("*/config.json")
    assert json.loads(config.read_text())["losses"] == {
        "contrastive": {"weight": 0.5},
        "labels": {"weight": 1.0},
    }
    expect(state).to_have_text("training", timeout=WAIT_MS)
    expect(page.locator(".nt-plot", has_text="contrastive")).to_be_visible(timeout=WAIT_MS)
    expect(page.locator("#train-resume")).to_be_disabled()
    expect(page.locator("#train-delete")).to_be_disabled()

    page.locator("#train-stop").click()
    expect(state).to_have_text("stopped", timeout=WAIT_MS)
    expect(watch).to_contain_text(re.compile(rf"step [\d,]+ of {NUM_STEPS}"))
    open_tab(page, url)
    expect(state).to_have_text("stopped")
    expect(page.locator("#train-stop")).to_be_disabled()
    page.locator("#train-resume").click()
    expect(state).to_have_text("training", timeout=WAIT_MS)


def find_it_again_stop_and_delete_it(page: Page, runs: Path) -> None:
    watch = page.locator(".nt-watch")
    expect(watch.get_by_role("status")).to_have_text("training", timeout=WAIT_MS)
    page.locator("#train-new").click()
    expect(page.locator("#train-form")).to_be_visible()
    page.locator(".nt-runs .nt-run").click()
    expect(watch).to_be_visible()
    page.locator("#train-stop").click()
    expect(page.locator("#train-delete")).to_be_enabled(timeout=WAIT_MS)
    delete_the_run(page)
    assert list(runs.glob("[!.]*")) == []
    expect(page.locator("#train-trash")).to_contain_text("MB, deleted 30 days after each run.")
    page.locator("#train-empty-trash").click()
    expect(page.locator("#train-trash")).to_be_hidden()
    assert list((runs / ".trash").iterdir()) == []


@pytest.mark.slow
def test_a_run_is_started_stopped_resumed_and_outlives_the_app(
    chromium: Browser, gallery_data: Path, tmp_path: Path
) -> None:
    runs = tmp_path / "data" / "runs"
    cache = gallery_data / "cache"
    port = free_port()
    with trainings(runs):
        with run_app(tmp_path, cache, port) as app, fresh_page(chromium, app.url) as page:
            train_stop_and_resume(page, app.url, runs)
        with run_app(tmp_path, cache, port) as app, fresh_page(chromium, app.url) as page:
            open_tab(page, app.url)
            find_it_again_stop_and_delete_it(page, runs)
            assert "Traceback" not in app.log.read_text()


@pytest.fixture
def finished_run(running_app: RunningApp) -> Iterator[RunFolder]:
    """A run of two epochs, whose name would break a script; it is removed afterwards."""
    run = RunFolder(running_app.data / "runs" / "done-20261123-120000")
    run.path.mkdir(parents=True)
    save_config(TrainConfig(name=HOSTILE, epochs=2), run.config)
    rows: list[dict[str, float]] = [
        {"epoch": 0, "step": 0, "base/original/MIR": 0.8, "base/composed/MIR": 0.4},
        {"epoch": 1, "step": 1, "contrastive": 1.0},
        {"epoch": 1, "step": 1, "original/MIR": 0.8, "composed/MIR": 0.3},
        {"epoch": 2, "step": 2, "contrastive": 0.5},
        {"epoch": 2, "step": 2, "original/MIR": 0.8, "composed/MIR": 0.6},
    ]
    run.metrics.write_text("".join(json.dumps(row) + "\n" for row in rows))
    run.write_status(RunStatus("finished", 1, 2, 2))
    yield run
    shutil.rmtree(run.path)


def check_frames(page: Page) -> None:
    """Check that the charts are of one size, and that nothing leaves its frame, nor does the question."""
    plots = page.locator(".nt-plot")
    expect(plots).to_have_count(3)
    sizes = set()
    for plot in plots.all():
        box = plot.bounding_box()
        if box:
            sizes.add((box["width"], box["height"]))
    assert len(sizes) == 1

    for element in page.locator(".nt-plot > *, #train-confirm > *").all():
        assert not element.evaluate(OUTSIDE), element.evaluate("node => node.outerHTML")


@pytest.mark.slow
def test_charts_and_the_question_fit_their_frames(page: Page, finished_run: RunFolder) -> None:
    page.get_by_role("tab", name="Train").click()
    page.locator("#train .nt-run", has_text=finished_run.path.name).click()
    expect(page.locator(".nt-watch h3")).to_contain_text("done")
    for width, height in ((1280, 800), (390, 844)):
        page.set_viewport_size({"width": width, "height": height})
        expect(page.locator("#train-confirm")).to_be_hidden()
        assert serious(page) == []
        page.locator("#train-delete").click()
        expect(page.locator("#train-confirm").get_by_role("button")).to_have_count(2)
        check_frames(page)
        page.locator("#train-keep").click()

    # A chart is read by keys.
    composed = page.locator(".nt-plot", has_text="Composed MIR")
    composed.focus()
    composed.press("ArrowLeft")
    composed.press("ArrowLeft")
    readout = composed.locator(".nt-readout")
    expect(readout).to_have_text("epoch 1: done (23 Nov 12:00) 0.3, base 0.4")


@pytest.mark.slow
def test_what_a_visitor_may_not_do_is_disabled(chromium: Browser, running_app: RunningApp) -> None:
    with fresh_page(chromium, running_app.url, headers=STRANGER) as page:
        open_tab(page, running_app.url)
        expect(page.locator("#train-note")).to_contain_text(
            "Only the owner may train models or delete runs, reports and libraries here",
            timeout=WAIT_MS,
        )
        expect(page.locator("#train-start")).to_be_disabled()
        page.get_by_role("tab", name="Evaluate").click()
        expect(page.locator("#evaluate-note")).to_contain_text(
            "Only the owner may name files", timeout=WAIT_MS
        )
        expect(page.locator("#evaluate-split")).to_be_hidden()
        page.get_by_role("tab", name="Search").click()
        open_menu(page, "More models")
        expect(page.locator("#more-models-note")).to_contain_text(
            "Only the owner may download models or import models and videos here"
        )
        for button in ("#model-add", "#model-upload"):
            expect(page.locator(button)).to_be_disabled()


def use_its_model(page: Page) -> None:
    """Follow a run's page to an evaluation and to searches with its model."""
    watch = page.locator(".nt-watch")
    expect(watch).to_contain_text("Finished after 1 epoch.")
    expect(watch.locator(".nt-facts")).to_contain_text("built-in world")
    expect(watch).to_contain_text("nt2vr export 'steep · best' FOLDER")
    page.get_by_role("button", name="Evaluate it").click()
    expect(page.locator("#evaluate-systems")).to_contain_text("steep · best")
    expect(page.locator("#evaluate-form")).to_be_visible()
    # Its base, random weights, is not a system.
    for link in ("Search with it", "Compare in Search"):
        page.get_by_role("tab", name="Train").click()
        page.get_by_role("link", name=link).click()
        expect(columns(page).first).to_contain_text("steep · best", timeout=MODELS_MS)
        expect(columns(page)).to_have_count(1)


DIVERGED = "The loss became non-finite at step 2 of epoch 1. Try a lower learning_rate."


def write_diverged_run(folder: Path) -> RunFolder:
    """Write a run that failed in its first epoch, as its loss became non-finite."""
    run = RunFolder(folder)
    run.path.mkdir(parents=True)
    sizes: dict[str, int] = {
        "num_clips": 16,
        "num_frames": 1,
        "validation_clips": 8,
        "batch_size": 4,
        "epochs": 1,
    }
    config = TrainConfig(name="Steep", model=TINY, learning_rate=1e-3, warmup_steps=2, **sizes)
    save_config(config, run.config)
    run.write_status(RunStatus("failed", 1, 1, 2, error=DIVERGED, total=4, diverged_rate=1e-3))
    return run


@pytest.mark.slow
def test_a_diverged_run_is_resumed_at_a_lower_rate(
    chromium: Browser, gallery_data: Path, tmp_path: Path
) -> None:
    runs = tmp_path / "data" / "runs"
    run = write_diverged_run(runs / "steep")
    with (
        trainings(runs),
        run_app(tmp_path, gallery_data / "cache", free_port()) as app,
        fresh_page(chromium, app.url) as page,
    ):
        open_tab(page, app.url)
        watch = page.locator(".nt-watch")
        expect(watch).to_contain_text(DIVERGED)
        expect(watch).to_contain_text("step 2 of 4")
        page.get_by_role("button", name="Resume at learning rate 0.0001").click()
        expect(watch.get_by_role("status")).to_have_text("finished", timeout=WAIT_MS)
        expect(page.locator("#train-resume-lower")).to_be_hidden()
        use_its_model(page)
    assert read_metrics(run.metrics)[0] == {"epoch": 1, "step": 0, "learning_rate": 1e-4}
