"""Settings of a training with VFC's loss, which may name a file."""

from pathlib import Path

import pytest

from nt2vr.cli import main
from nt2vr.errors import Nt2vrError
from tests.support.trainings import SMALL
from trainer.config import TrainConfig, names_files, resolved, save_config
from trainer.runs.manager import RunManager


def test_a_start_without_its_verb_file_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = SMALL.replace(verb_changes=str(tmp_path / "no.jsonl"), losses={"vfc": {}})
    save_config(config, tmp_path / "bad.json")
    assert (
        main(["train", str(tmp_path / "runs" / "mine"), "--config", str(tmp_path / "bad.json")])
        == 2
    )
    reason = capsys.readouterr().err.strip()
    assert "no.jsonl" in reason
    assert "\n" not in reason
    with pytest.raises(Nt2vrError) as refusal:
        RunManager(tmp_path / "runs", "cpu").start(config)
    assert str(refusal.value) == reason
    assert not (tmp_path / "runs").exists()


def test_a_relative_path_starts_at_the_run_s_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    config = resolved(TrainConfig(verb_changes="verbs.jsonl"))
    assert config.flat()["verb_changes"] == str(tmp_path / "verbs.jsonl")
    assert resolved(config) == config
    for unchanged in (
        TrainConfig(verb_changes="~/verbs.jsonl"),
        TrainConfig(verb_changes="random"),
    ):
        assert resolved(unchanged) == unchanged


@pytest.mark.parametrize(
    ("verb_changes", "is_file"), [("/etc/passwd", True), ("antonym", False), ("rules", False)]
)
def test_visitors_may_choose_a_rule_and_name_no_file(verb_changes: str, is_file: bool) -> None:
    assert names_files(TrainConfig(verb_changes=verb_changes)) == is_file
