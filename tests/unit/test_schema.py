"""Files of a newer version are refused in one sentence; those that name none are read."""

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest
import torch

from nt2vr.errors import CheckpointError, ConfigError, Nt2vrError, RunError
from nt2vr.evaluation.archive import REVIEW, Archive, read_remarks
from nt2vr.evaluation.report import REPORT, Report
from nt2vr.evaluation.stored_reports import load_report
from nt2vr.evaluation.text_presentation import TEXTS
from nt2vr.files import SCHEMA, with_schema, write_json
from nt2vr.models.card import CARD, Card, read_card, write_card
from nt2vr.world.drawn.clips import LOOK
from trainer.config import TrainConfig, load_config, save_config
from trainer.runs.manager import RunManager
from trainer.runs.resume import Position, Saved, read_saved
from trainer.runs.run_folder import RunFolder, RunStatus

# The file's version, and the newest that can be read.
VERSIONS = r".* 3\b.* 1\b"
CONFIG = TrainConfig()


def write_review(folder: Path) -> None:
    write_json(folder / REVIEW, with_schema({"queries": {"0": {"tag": "x", "note": ""}}}))


def write_saved(folder: Path) -> None:
    data = {**vars(Saved(CONFIG.flat(), look=LOOK)), "position": asdict(Position())}
    torch.save({"schema": SCHEMA, **data}, folder / "resume.pt")


def write_report(folder: Path) -> None:
    (folder / REPORT).write_text(
        json.dumps(Report("tiny", "abc", {}, {}, ("a",), (), (), (), TEXTS).summary())
    )


Case = tuple[str, Callable[[Path], Any], Callable[[Path], Any], type[Nt2vrError]]
CASES: list[Case] = [
    (
        "config.json",
        lambda f: save_config(CONFIG, f / "config.json"),
        lambda f: load_config(f / "config.json"),
        ConfigError,
    ),
    (
        "status.json",
        lambda f: RunFolder(f).write_status(RunStatus("stopped", 1)),
        lambda f: RunFolder(f).status(),
        RunError,
    ),
    (CARD, lambda f: write_card(f, Card("x")), read_card, CheckpointError),
    ("resume.pt", write_saved, lambda f: read_saved(RunFolder(f), CONFIG, {}), CheckpointError),
    (REPORT, write_report, load_report, ConfigError),
    (REVIEW, write_review, read_remarks, ConfigError),
]


def restamp(file: Path, schema: int | None) -> None:
    """Replace the version in a file, or leave it out as in a config written by hand."""
    is_json = file.suffix == ".json"
    data = json.loads(file.read_text()) if is_json else torch.load(file)
    assert data.pop("schema") == SCHEMA
    data = data if schema is None else {**data, "schema": schema, "of the future": 1}
    file.write_text(json.dumps(data)) if is_json else torch.save(data, file)


@pytest.mark.parametrize(("name", "write", "read", "error"), CASES)
def test_a_file_of_a_newer_version_is_refused(
    tmp_path: Path,
    name: str,
    write: Callable[[Path], Any],
    read: Callable[[Path], Any],
    error: type[Nt2vrError],
) -> None:
    write(tmp_path)
    restamp(tmp_path / name, 3)
    with pytest.raises(error, match=f"{name} {VERSIONS}"):
        read(tmp_path)


@pytest.mark.parametrize(("name", "write", "read", "error"), CASES[:4])
def test_a_file_without_a_version_is_read(
    tmp_path: Path,
    name: str,
    write: Callable[[Path], Any],
    read: Callable[[Path], Any],
    error: type[Nt2vrError],
) -> None:
    write(tmp_path)
    before = read(tmp_path)
    restamp(tmp_path / name, None)
    assert read(tmp_path) == before


def test_a_newer_version_s_run_is_listed_and_not_resumed(tmp_path: Path) -> None:
    for name in ("config.json", "status.json"):
        folder = tmp_path / name.split(".")[0]
        folder.mkdir()
        save_config(CONFIG, folder / "config.json")
        RunFolder(folder).write_status(RunStatus("stopped", 1))
        restamp(folder / name, 3)
    manager = RunManager(tmp_path)
    assert {run.run_id for run in manager.runs()} == {"config", "status"}
    assert "newer nT2VR" in (manager.get("status").status.error or "")
    for run_id in ("config", "status"):
        with pytest.raises(Nt2vrError, match=VERSIONS):
            manager.resume(run_id)


def test_a_newer_version_s_report_is_listed_as_unreadable(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "new").mkdir()
    write_report(tmp_path / "new")
    assert len(Archive(tmp_path).entries()) == 1
    restamp(tmp_path / "new" / REPORT, 3)
    archive = Archive(tmp_path)
    (entry,) = archive.entries()
    assert archive.entries() == [entry]
    assert (
        entry.problem.startswith(f"{REPORT} was written by a newer nT2VR")
        and str(tmp_path) not in entry.problem
    )
    assert [record.message.endswith("Update nT2VR.") for record in caplog.records] == [True]
