"""docs/compare.ipynb runs from its first cell to its last, on a small folder of captioned videos."""

import csv
import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.support.paths import ROOT

NOTEBOOK = ROOT / "docs" / "compare.ipynb"
GALLERY = ROOT / "assets" / "gallery"
# The folder of videos that the notebook reads.
FOLDER = "../assets/gallery"


def test_the_notebook_is_short() -> None:
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    num_lines = 0
    for cell in notebook["cells"]:
        if cell["cell_type"] == "code":
            code_lines = [line for line in cell["source"] if line.strip()]
            num_lines += len(code_lines)
    assert num_lines <= 20


def write_captioned_videos(folder: Path) -> None:
    """Copy 40 clips of the gallery, and write their captions."""
    lines = (GALLERY / "gallery.jsonl").read_text("utf-8").splitlines()
    with (folder / "captions.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["path", "caption"])
        for line in lines[:40]:
            video = json.loads(line)
            shutil.copy(GALLERY / video["path"], folder)
            for caption in video["captions"]:
                table.writerow([Path(video["path"]).name, caption])


def displayed(notebook: Any) -> list[str]:
    """Return what the cells of a notebook show, as HTML where there is some."""
    texts = []
    for cell in notebook.cells:
        for output in cell.get("outputs", ()):
            if "data" in output:
                data = output["data"]
                texts.append(data.get("text/html", data["text/plain"]))
    return texts


@pytest.mark.slow
def test_the_notebook_compares_two_systems(
    gallery_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ipykernel", reason="needs ipykernel and nbclient")
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    write_captioned_videos(tmp_path)
    monkeypatch.setenv("NT2VR_DATA", str(gallery_data))
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert text.count(FOLDER) == 1
    notebook = nbformat.reads(text.replace(FOLDER, str(tmp_path)), 4)

    nbclient.NotebookClient(notebook, timeout=900, kernel_name="python3").execute()

    # Four of its cells show something.
    report, table, answer, scores = displayed(notebook)
    assert "all of its 40 videos are taken" in report
    assert "CLIP drop" in report
    assert "difference" in table
    assert "composed/hard_pairs" in table
    assert answer.count('<img src="data:image/jpeg;base64,') == 12
    assert "misses" in answer
    assert "(2, 549)" in scores
