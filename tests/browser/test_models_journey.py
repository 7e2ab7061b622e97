"""What a person does with models of their own: follow a run while it goes on, and import a file."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
import safetensors.torch
import torch
from playwright.sync_api import Page, expect

from nt2vr.models.card import WEIGHTS
from tests.conftest import RunningApp
from tests.support.page_actions import MODELS_MS, choose, columns, open_menu
from tests.support.paths import ROOT

pytestmark = pytest.mark.browser

CLIP = ROOT / "assets" / "models" / "clip"


@pytest.fixture
def run(running_app: RunningApp) -> Iterator[Path]:
    """The checkpoints of a run that has only begun."""
    folder = running_app.data / "runs" / "night"
    (folder / "checkpoints").mkdir(parents=True)
    yield folder / "checkpoints"
    shutil.rmtree(folder)


@pytest.fixture
def models(running_app: RunningApp) -> Iterator[Path]:
    """The folder of the app's models, from which an imported one is removed."""
    folder = running_app.data / "models"
    yield folder
    shutil.rmtree(folder / "Mine", ignore_errors=True)


def publish(run: Path, epoch: int) -> None:
    """Write the checkpoint of an epoch, as a trainer does: whole, by one rename."""
    shutil.copytree(CLIP, run / ".partial")
    (run / ".partial").rename(run / f"epoch_{epoch:03d}")


@pytest.mark.slow
def test_a_run_s_checkpoints_appear_and_are_swapped_in(page: Page, run: Path) -> None:
    publish(run, 1)
    choose(page, "systems", "night")
    page.keyboard.press("Escape")
    expect(columns(page)).to_have_count(4)
    head = columns(page).nth(3).locator("h3")
    expect(head).to_have_text(re.compile(r"night\s*· epoch 1"))
    # What was chosen before still is.
    expect(page.locator("#systems")).to_contain_text("CLIP-bnl")

    publish(run, 2)
    # A search answers with the newest checkpoint that has been loaded by then.
    for _ in range(100):
        page.locator("#search-button").click()
        page.wait_for_timeout(200)
        if "epoch 2" in head.inner_text():
            break
    expect(head).to_contain_text("epoch 2")


@pytest.mark.slow
def test_a_checkpoint_of_other_code_is_imported_and_searched(
    page: Page, models: Path, tmp_path: Path
) -> None:
    weights = safetensors.torch.load_file(CLIP / WEIGHTS)
    model = {f"clip.{name}": tensor for name, tensor in weights.items()}
    file = tmp_path / "mine.pt"
    torch.save({"model": model}, file)
    open_menu(page, "More models")
    source = page.locator("#model-source").get_by_role("textbox")
    source.fill(str(tmp_path / "other.pt"))
    page.locator("#model-add").click()
    problem = page.locator("#model-problem")
    expect(problem).to_contain_text("There is no file")
    source.fill("anything")
    source.press("Enter")
    expect(problem).to_contain_text(
        "'anything' is not a source of a model. Name a file (~/mine.pt)"
    )

    upload = page.locator("#model-upload").locator("xpath=..")
    upload.locator("input[type=file]").set_input_files(file)
    expect(source).to_have_value(re.compile(r"mine\.pt$"))
    page.get_by_role("button", name="Name and settings").click()
    page.locator("#model-name").get_by_role("textbox").fill("Mine")
    page.locator("#model-architecture").get_by_role("textbox").fill("CLIP")
    page.get_by_label("Frames").fill("4")
    page.locator("#model-add").click()
    notice = page.locator("#more-models-note")
    expect(notice).to_contain_text("Added Mine. Read as CLIP", timeout=MODELS_MS)
    expect(columns(page).nth(3).locator("h3")).to_contain_text("Mine", timeout=MODELS_MS)
    expect(problem).to_be_hidden()
    expect(source).to_have_value("")
    assert (models / "Mine").is_dir()


@pytest.mark.slow
def test_a_model_that_is_being_added_can_be_cancelled(
    page: Page, running_app: RunningApp, tmp_path: Path
) -> None:
    file = tmp_path / "cancelled.pt"
    torch.save(safetensors.torch.load_file(CLIP / WEIGHTS), file)
    open_menu(page, "More models")
    page.locator("#model-source").get_by_role("textbox").fill(str(file))
    page.locator("#model-add").click()
    # Its child reads the file for a second or more.
    progress = page.locator("#more-models-note")
    expect(progress).to_contain_text(re.compile("starting|reading|finding"))

    page.locator("#model-cancel").click()

    problem = page.locator("#model-problem")
    expect(problem).to_have_text("The addition was cancelled. Nothing of the model was saved.")
    assert not list((running_app.data / "models").glob("*"))
