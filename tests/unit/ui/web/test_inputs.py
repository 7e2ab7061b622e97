"""How long uploads stay."""

import os
import time
from pathlib import Path
from types import SimpleNamespace

import pytest

from nt2vr.ui.web.inputs import sweep_uploads


def test_complete_and_partial_uploads_are_deleted_after_a_day(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, age_s in (("old", 90_000), ("new", 80_000)):
        (tmp_path / name).mkdir()
        os.utime(tmp_path / name, (time.time() - age_s,) * 2)
    (tmp_path / "broken-off").touch()
    os.utime(tmp_path / "broken-off", (0, 0))

    def stop(_: float) -> None:
        raise InterruptedError

    # This replaces the clock of one module: other threads sleep, too.
    clock = SimpleNamespace(time=time.time, sleep=stop)
    monkeypatch.setattr("nt2vr.ui.web.inputs.time", clock)
    with pytest.raises(InterruptedError):
        sweep_uploads(tmp_path)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
