"""“Teach it not” while another run is in the way."""

import time
from collections.abc import Iterator
from pathlib import Path

import gradio as gr
import pytest

from nt2vr.errors import RunError
from nt2vr.models.catalog import Catalog
from nt2vr.settings import Settings
from nt2vr.ui.search.teach_panel import Teaching
from nt2vr.ui.theme import template
from nt2vr.ui.web.permissions import Permissions
from tests.support.held_runs import HeldRuns
from tests.support.trainings import SMALL
from trainer.runs import waiting as waiting_module
from trainer.runs.manager import RunManager

MINE = gr.Request(session_hash="mine")
CLIP = gr.EventData(None, {"name": "CLIP"})
PATIENCE_S = 60


@pytest.fixture
def held(monkeypatch: pytest.MonkeyPatch) -> Iterator[HeldRuns]:
    monkeypatch.setattr(waiting_module, "POLL_S", 0.01)
    monkeypatch.setattr(
        "nt2vr.ui.search.teach_panel.estimate", lambda *_: pytest.fail("measured beside a run")
    )
    held = HeldRuns(monkeypatch)
    yield held
    held.end()


@pytest.fixture
def runs(tmp_path: Path, held: HeldRuns) -> RunManager:
    runs = RunManager(tmp_path / "runs", "cpu")
    runs.start(SMALL, "mine")
    return runs


@pytest.fixture
def teaching(tmp_path: Path, runs: RunManager) -> Teaching:
    permissions = Permissions("a-token-of-the-owner", {"train": "everyone"})
    teaching = Teaching(Catalog.of(Settings.read(tmp_path)), permissions, runs)
    with gr.Blocks():
        teaching.build(template("recommended", {}), "teach")
    return teaching


def wait_for_the_start(runs: RunManager) -> str:
    deadline_s = time.monotonic() + PATIENCE_S
    assert runs.waiting is not None
    while runs.waiting.is_waiting:
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    return runs.waiting.run_id


def test_a_run_in_the_way_may_be_stopped_first(
    teaching: Teaching, runs: RunManager, held: HeldRuns
) -> None:
    choice = teaching._choice
    offer = teaching.on_teach(CLIP, MINE)
    assert offer[choice.row].visible
    assert offer[choice.stop].visible
    assert not offer[teaching._start].visible
    assert not teaching.on_teach(CLIP, gr.Request(session_hash="theirs"))[choice.stop].visible

    updates = teaching.on_start_instead("CLIP", MINE)
    assert not updates[choice.row].visible
    run_id = wait_for_the_start(runs)
    assert held.started[1:] == [run_id]
    assert runs.get(run_id).name == "CLIP taught"
    with pytest.raises(RunError, match="CLIP"):
        teaching.on_teach(CLIP, MINE)


def test_an_interrupted_teaching_continues_after_the_other_run(
    teaching: Teaching, runs: RunManager, held: HeldRuns
) -> None:
    teaching.on_start_instead("CLIP", MINE)
    taught = wait_for_the_start(runs)
    held.end("stopped")
    runs.start(SMALL.replace(name="Other"))

    teaching.on_start_afterwards("CLIP", MINE)
    assert runs.waiting is not None
    assert runs.waiting.name == "CLIP taught"
    held.end()
    assert wait_for_the_start(runs) == taught == held.started[-1]
    assert len(runs.runs()) == 3
