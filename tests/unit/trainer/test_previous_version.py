"""Resuming a run stopped by version 0.1, from its folder, resume.pt and base as that version wrote them."""

import json
import tarfile
from pathlib import Path

import pytest

from tests.paths import ROOT
from tests.training import go_on
from trainer.runs.run_folder import RunFolder

ARCHIVE = ROOT / "tests" / "data" / "previous_version.tar.xz"
NEEDED = ("captions.txt", "models/imported", "runs/taught")


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Extract the parts of version 0.1's data folder that its text run needs."""
    with tarfile.open(ARCHIVE) as archive:
        members = [member for member in archive if member.name.removeprefix("./").startswith(NEEDED)]
        archive.extractall(tmp_path, members, filter="data")
    return tmp_path


def test_a_run_that_the_version_before_stopped_goes_on_to_the_numbers_of_its_uninterrupted_twin(
    data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = RunFolder(data / "runs" / "taught")
    before = run.status()
    assert before is not None and before.state == "stopped" and before.step == 8
    monkeypatch.chdir(data)  # the config's paths are relative
    go_on(run)
    assert "Resuming after step 8" in run.log.read_text()
    expected = [json.loads(line) for line in (run.path / "expected.jsonl").read_text().splitlines()]
    rows = [json.loads(line) for line in run.metrics.read_text().splitlines()]
    assert [row["step"] for row in rows] == [row["step"] for row in expected]
    for row, twin in zip(rows, expected, strict=True):
        known = {name: row[name] for name in twin}  # measures have been added since
        assert known == pytest.approx(twin, rel=1e-4, abs=1e-6)
