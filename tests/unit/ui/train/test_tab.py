"""The Train tab, as different visitors see it."""

import json
from pathlib import Path

import gradio as gr
import pytest

from nt2vr.errors import AccessError
from nt2vr.settings import Settings
from nt2vr.ui.train.form import losses_view, presets
from nt2vr.ui.train.tab import TrainTab
from nt2vr.ui.web.permissions import Permissions
from tests.tiny import write_tiny
from trainer.runs.manager import RunManager


@pytest.mark.parametrize("rule", ["owner", "everyone"])
def test_where_models_lie_is_told_only_to_who_may_train(tmp_path: Path, rule: str) -> None:
    write_tiny(tmp_path / "models" / "tiny", "Tiny")
    write_tiny(tmp_path / "runs" / "run-1" / "checkpoints" / "epoch_003", "Tiny")
    permissions = Permissions("a-token-of-the-owner", {"train": rule})
    tab = TrainTab(RunManager(tmp_path / "runs", "cpu"), Settings.read(tmp_path), permissions)
    page: gr.Blocks
    with gr.Blocks() as page, gr.Tab("Train") as opened:
        tab.build(opened)
    base, times, *_ = tab.on_opened({"chosen": "CLIP-neg"}, {"losses": [{}]}, None)  # type: ignore[arg-type]  # None is a stranger
    for told in (json.dumps(page.get_config_file(), default=str), str(base.choices)):
        assert (str(tmp_path) in told) is (rule == "everyone") and "assets/models/clip" in told
    assert [(card["chosen"], card["time"][:6]) for card in times["presets"]] == [
        (False, "about "),
        (False, "about "),
        (True, "about "),
    ]


@pytest.mark.parametrize(
    "named", [{"data": "/etc"}, {"base": "/etc"}, {"verb_changes": "/etc/passwd"}, {"words": '{"vectors": "/etc"}'}]
)
def test_who_may_train_but_name_no_files_names_none_in_any_field(tmp_path: Path, named: dict[str, str]) -> None:
    permissions = Permissions("a-token-of-the-owner", {"train": "everyone", "paths": "owner"})
    manager = RunManager(tmp_path / "runs", "cpu")
    tab = TrainTab(manager, Settings.read(tmp_path), permissions)
    preset = presets()["W2VV++"]
    as_text = {key: json.dumps(value) for key, value in preset.items() if isinstance(value, dict)}
    values = [(preset | as_text | named)[field.key] for field in tab._fields]
    with pytest.raises(AccessError, match="Only the owner may name files"):
        tab.on_start(None, *values, losses_view(preset["losses"]))  # type: ignore[arg-type]  # None is a stranger
    assert manager.runs() == []
