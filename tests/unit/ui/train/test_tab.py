"""The Train tab, as different visitors see it."""

import json
import time
from collections.abc import Callable
from pathlib import Path

import gradio as gr
import pytest

from nt2vr.errors import AccessError
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import write_checkpoint
from nt2vr.models.open_clip_model import build_model
from nt2vr.settings import Settings
from nt2vr.ui.evaluate.evaluation_request import EvaluationRequest
from nt2vr.ui.train.losses_table import losses_view
from nt2vr.ui.train.presets import presets
from nt2vr.ui.train.tab import TrainTab
from nt2vr.ui.web.permissions import Permissions
from tests.support.held_runs import HeldRuns
from tests.support.tiny_models import TINY, write_tiny
from tests.support.trainings import SMALL
from trainer.config import TrainConfig, load_config, save_config
from trainer.runs.manager import RunManager
from trainer.runs.run_folder import RunFolder, RunStatus
from trainer.teaching import BY_DEPTH, PRESET

MINE = gr.Request(session_hash="mine")
PATIENCE_S = 60


def wait_for(condition: Callable[[], bool]) -> None:
    deadline_s = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.01)


@pytest.mark.parametrize("rule", ["owner", "everyone"])
def test_where_models_lie_is_told_only_to_who_may_train(tmp_path: Path, rule: str) -> None:
    write_tiny(tmp_path / "models" / "tiny", "Tiny")
    write_tiny(tmp_path / "runs" / "run-1" / "checkpoints" / "epoch_003", "Tiny")
    permissions = Permissions("a-token-of-the-owner", {"train": rule})
    tab = TrainTab(RunManager(tmp_path / "runs", "cpu"), Settings.read(tmp_path), permissions)
    page: gr.Blocks
    with gr.Blocks() as page:
        mark = gr.Textbox()
        requested = gr.Textbox()
        with gr.Tabs() as tabs, gr.Tab("Train"):
            tab.build(mark, tabs, requested)
    base, times, *_ = tab.on_opened({"chosen": "CLIP-neg"}, {"losses": [{}]}, None)  # type: ignore[arg-type]  # None is a stranger
    for page_text in (json.dumps(page.get_config_file(), default=str), str(base.choices)):
        assert (str(tmp_path) in page_text) is (rule == "everyone")
        assert "assets/models/clip" in page_text
    assert [(card["chosen"], card["time"][:6]) for card in times["presets"]] == [
        (False, "about "),
        (False, "about "),
        (False, "depend"),
        (False, "about "),
        (True, "about "),
    ]


@pytest.mark.parametrize(
    "files_named",
    [
        {"data": "/etc"},
        {"base": "/etc"},
        {"verb_changes": "/etc/passwd"},
        {"words": '{"vectors": "/etc"}'},
    ],
)
def test_who_may_not_name_files_finds_no_file_field(
    tmp_path: Path, files_named: dict[str, str]
) -> None:
    permissions = Permissions("a-token-of-the-owner", {"train": "everyone", "paths": "owner"})
    manager = RunManager(tmp_path / "runs", "cpu")
    tab = TrainTab(manager, Settings.read(tmp_path), permissions)
    preset = presets()["W2VV++"]
    as_text = {key: json.dumps(value) for key, value in preset.items() if isinstance(value, dict)}
    values = [(preset | as_text | files_named)[field.key] for field in tab.form.fields]
    with pytest.raises(AccessError):
        tab.on_start(None, *values, losses_view(preset["losses"]))  # type: ignore[arg-type]  # None is a stranger
    assert manager.runs() == []


def finished(folder: Path, run_id: str, config: TrainConfig) -> RunFolder:
    run = RunFolder(folder / run_id)
    for epoch in (1, 2):
        write_tiny(run.checkpoint(epoch), config.encoder.name)
    save_config(config, run.config)
    run.keep_checkpoints(2, best=1, count=0)
    run.write_status(RunStatus("finished", 1, 2, 2))
    return run


@pytest.mark.parametrize(
    ("data", "filled"),
    [("world", ("world", "test")), ("captions.txt", ("words:captions.txt", "validation"))],
)
def test_a_run_leads_to_an_evaluation_of_its_best_model(
    tmp_path: Path, data: str, filled: tuple[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("captions.txt").write_text("a dog runs")
    finished(tmp_path / "runs", "mine", SMALL.replace(data=data))
    tab = TrainTab(
        RunManager(tmp_path / "runs", "cpu"),
        Settings.read(tmp_path),
        Permissions("", {"paths": "everyone"}),
    )
    tabs, requested = tab.on_evaluate("mine", None)  # type: ignore[arg-type]
    assert tabs.selected == "evaluate"
    assert EvaluationRequest.read(requested) == EvaluationRequest(*filled, ["mine · best"])


def test_a_finished_run_is_compared_with_its_base(
    tmp_path: Path,
) -> None:
    manager = RunManager(tmp_path / "runs", "cpu")
    tab = built_tab(manager, tmp_path)
    finished(tmp_path / "runs", "mine", SMALL.replace(base="assets/models/clip"))
    view = tab._show("mine", MINE)[tab._run.run]
    assert view["finished"] == "Finished after 2 epochs."
    assert view["compare"] == "?systems=CLIP%7Cmine+%C2%B7+best"

    finished(tmp_path / "runs", "from-it", SMALL.replace(base=str(tmp_path / "gone")))
    view = tab._show("from-it", MINE)[tab._run.run]
    assert view["compare"] == "?systems=from-it+%C2%B7+best"


def test_a_visitor_is_led_to_no_data_of_the_owner(tmp_path: Path) -> None:
    finished(tmp_path / "runs", "mine", SMALL.replace(data=str(tmp_path)))
    permissions = Permissions("a-token-of-the-owner", {"paths": "owner"})
    tab = TrainTab(RunManager(tmp_path / "runs", "cpu"), Settings.read(tmp_path), permissions)
    with pytest.raises(AccessError):
        tab.on_evaluate("mine", None)  # type: ignore[arg-type]  # None is a stranger


def test_runs_of_one_preset_get_names_that_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    manager = RunManager(tmp_path / "runs", "cpu")
    tab = built_tab(manager, tmp_path)
    monkeypatch.setattr(tab, "_show", lambda *_: {})
    monkeypatch.setattr("trainer.runs.manager._launch", lambda *_: None)
    for _ in range(3):
        tab.on_start(MINE, *form_of(tab, "CLIP"))
    assert sorted(run.name for run in manager.runs()) == ["CLIP", "CLIP 2", "CLIP 3"]


def built_tab(manager: RunManager, data: Path) -> TrainTab:
    """Return the tab of a server where everyone may train."""
    tab = TrainTab(
        manager, Settings.read(data), Permissions("a-token-of-the-owner", {"train": "everyone"})
    )
    with gr.Blocks():
        mark = gr.Textbox()
        requested = gr.Textbox()
        with gr.Tabs() as tabs, gr.Tab("Train"):
            tab.build(mark, tabs, requested)
    return tab


def form_of(tab: TrainTab, name: str) -> list[object]:
    """Return the form as a preset fills it."""
    preset = presets()[name]
    as_text = {key: json.dumps(value) for key, value in preset.items() if isinstance(value, dict)}
    return [
        *((preset | as_text)[field.key] for field in tab.form.fields),
        losses_view(preset["losses"]),
    ]


def test_a_run_in_the_way_is_stopped_or_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("trainer.runs.waiting.POLL_S", 0.01)
    held = HeldRuns(monkeypatch)
    manager = RunManager(tmp_path / "runs", "cpu")
    tab = built_tab(manager, tmp_path)
    choice = tab.form.choice
    form = form_of(tab, "CLIP")
    assert not tab.on_start(MINE, *form)[choice.row].visible
    (first,) = held.started

    offer = tab.on_start(MINE, *form)
    assert offer[choice.row].visible
    assert offer[choice.stop].visible
    assert "is training, and one run trains at a time" in offer[choice.question]
    assert not tab.on_start(gr.Request(session_hash="theirs"), *form)[choice.stop].visible

    updates = tab.on_start_afterwards(MINE, *form)
    assert not updates[choice.row].visible
    assert updates[tab._list]["waiting"]["text"].startswith("CLIP 2 starts after CLIP (")
    assert tab.on_withdraw(None, MINE)[tab._list]["waiting"] == {}

    tab.on_start_instead(MINE, *form)
    waiting = manager.waiting
    assert waiting is not None
    wait_for(lambda: not waiting.is_waiting)
    assert held.started == [first, waiting.run_id]
    assert manager.get(first).status.state == "stopped"
    held.end()


def test_a_teaching_s_base_sets_what_depends_on_depth(tmp_path: Path) -> None:
    tab = TrainTab(
        RunManager(tmp_path / "runs", "cpu"),
        Settings.read(tmp_path),
        Permissions("a-token-of-the-owner"),
    )
    teaching = load_config(PRESET).encoder.name
    deep_cfg = {**TINY, "text_cfg": {**TINY["text_cfg"], "layers": 12}}
    write_checkpoint(tmp_path / "deep", build_model(deep_cfg, {}), deep_cfg, {}, Card("Deep"))
    shallow = dict(
        zip(BY_DEPTH, tab.form.on_base({"chosen": teaching}, "assets/models/clip"), strict=True)
    )
    deep = dict(
        zip(BY_DEPTH, tab.form.on_base({"chosen": teaching}, str(tmp_path / "deep")), strict=True)
    )
    assert (shallow["added_layers"], deep["added_layers"]) == (2, 0)
    assert shallow["learning_rate"] > deep["learning_rate"]
    assert presets()[teaching]["added_layers"] == 2
    assert tab.form.on_base({"chosen": "CLIP-neg"}, "assets/models/clip") == [
        gr.skip() for _ in BY_DEPTH
    ]
