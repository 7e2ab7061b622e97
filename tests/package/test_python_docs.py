"""The Python examples in docs/python.md run, one after the other, as in a notebook."""

import ast
import re
import shutil
from pathlib import Path

import pytest
from PIL import Image

import nt2vr
from tests.support.paths import ROOT


def write_shades(folder: Path) -> None:
    """Write 24 pictures, and a caption of each."""
    folder.mkdir()
    rows = ["path,caption"]
    for number in range(24):
        picture = Image.new("RGB", (48, 48), (9 * number, 90, 200))
        picture.save(folder / f"{number}.png")
        rows.append(f"{number}.png,a dog of shade {number} without a hat")
    (folder / "captions.csv").write_text("\n".join(rows))


@pytest.mark.slow
def test_the_notebook_example_runs_as_documented(
    gallery_data: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setenv("NT2VR_DATA", str(gallery_data))
    monkeypatch.chdir(tmp_path)
    (tmp_path / "assets").mkdir()
    shutil.copy(ROOT / "assets" / "screenshot.png", tmp_path / "assets")
    write_shades(tmp_path / "pictures")
    page = (ROOT / "docs" / "python.md").read_text("utf-8")
    # "```py" marks what needs data that is not here.
    blocks = re.findall(r"^```python\n(.*?)^```", page, re.M | re.S)
    assert len(blocks) == 13

    notebook: dict[str, object] = {}
    for block in blocks:
        exec(block, notebook)

    printed = capsys.readouterr().out.splitlines()
    assert printed[0] == "('a dog',) ('a cat',)"
    systems = [line.split(" {")[0] for line in printed[1:4]]
    assert systems == ["CLIP", "CLIP boolean α 0.5", "CLIP-neg"]

    # Of three queries, the second is empty.
    (error,) = [line for line in printed if line.startswith("Type what the clip")]
    position = printed.index(error)
    assert printed[position - 1] == "549"
    assert printed[position + 1] == "549"
    assert printed[position + 2].startswith("(2, 549) ")
    assert "torch.Size([1, 192])" in printed
    assert "['CLIP prompted', 'CLIP prompted boolean', 'CLIP']" in printed

    # The same strategy stands there under two names.
    (rankings,) = [line for line in printed if line.startswith("[['")]
    first, second = ast.literal_eval(rankings)
    assert first == second
    assert len(first) == 3

    evaluation = notebook["evaluation"]
    assert isinstance(evaluation, nt2vr.Evaluation)
    hard_pairs = evaluation.metrics["CLIP-neg"]["composed/hard_pairs"]
    assert str(hard_pairs) in printed
    comparison = notebook["comparison"]
    assert isinstance(comparison, nt2vr.Comparison)
    difference = hard_pairs - evaluation.metrics["CLIP"]["composed/hard_pairs"]
    assert comparison["composed/hard_pairs"].difference == pytest.approx(difference)
    assert (tmp_path / "report" / "table.md").is_file()
