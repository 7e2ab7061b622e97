"""The Python examples in docs/python.md run, one after the other, as in a notebook."""

import re
import shutil
from pathlib import Path

import pytest

from tests.paths import ROOT


@pytest.mark.slow
def test_the_notebook_example_runs_as_documented(
    gallery_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("NT2VR_DATA", str(gallery_data))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "assets").mkdir()
    shutil.copy(ROOT / "assets" / "screenshot.png", tmp_path / "assets")
    blocks = re.findall(r"^```python\n(.*?)^```", (ROOT / "docs" / "python.md").read_text("utf-8"), re.M | re.S)
    assert len(blocks) == 4
    notebook: dict[str, object] = {}
    for block in blocks:
        exec(block, notebook)
    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "('a dog',) ('a cat',)"
    assert [line.split(" {")[0] for line in printed[1:4]] == ["CLIP", "CLIP boolean α 0.5", "CLIP-neg"]
    assert 0 < float(printed[-1]) <= 100
    assert (tmp_path / "report" / "table.md").is_file()
