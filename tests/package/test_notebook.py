"""docs/compare.ipynb runs from its first cell to its last, on a small folder of captioned videos."""

import json
import os
import shutil
from pathlib import Path

import pytest

from tests.support.paths import ROOT

NOTEBOOK = ROOT / "docs" / "compare.ipynb"
FOLDER = "../assets/gallery"


def test_the_notebook_is_short() -> None:
    cells = json.loads(NOTEBOOK.read_text(encoding="utf-8"))["cells"]
    lines = [
        line
        for cell in cells
        if cell["cell_type"] == "code"
        for line in "".join(cell["source"]).split("\n")
    ]
    assert len([line for line in lines if line.strip()]) <= 20


@pytest.mark.slow
def test_the_notebook_compares_two_systems(
    gallery_data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("ipykernel", reason="needs ipykernel and nbclient")
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    lines = (ROOT / "assets" / "gallery" / "gallery.jsonl").read_text("utf-8").splitlines()
    videos = [json.loads(line) for line in lines[:40]]
    rows = ["path,caption\n"]
    for video in videos:
        shutil.copy(ROOT / "assets/gallery" / video["path"], tmp_path)
        rows += [f'{Path(video["path"]).name},"{caption}"\n' for caption in video["captions"]]
    (tmp_path / "captions.csv").write_text("".join(rows))

    monkeypatch.setenv("NT2VR_DATA", str(gallery_data))
    monkeypatch.setenv("PYTHONPATH", str(ROOT), prepend=os.pathsep)
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    text = NOTEBOOK.read_text(encoding="utf-8")
    assert text.count(FOLDER) == 1
    notebook = nbformat.reads(text.replace(FOLDER, str(tmp_path)), 4)
    nbclient.NotebookClient(notebook, timeout=900, kernel_name="python3").execute()

    outputs = [output for cell in notebook.cells for output in cell.get("outputs", ())]
    displayed = [output["data"] for output in outputs if "data" in output]
    report, table, answer, scores = (
        data.get("text/html", data["text/plain"]) for data in displayed
    )
    assert "all of its 40 videos are taken" in report and "CLIP drop" in report
    assert "difference" in table and "composed/hard_pairs" in table
    assert answer.count('<img src="data:image/jpeg;base64,') == 12 and "misses" in answer
    assert "(2, 549)" in scores
