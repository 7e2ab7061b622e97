"""The Python examples in docs/python.md run, one after the other, as in a notebook."""

import ast
import io
import re
import shutil
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any, NamedTuple

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


class ExecutedPage(NamedTuple):
    """What the page's examples left behind."""

    printed: list[str]
    variables: dict[str, Any]

    def line_with(self, start: str) -> int:
        """Return the number of the only printed line that begins like this."""
        (number,) = [number for number, line in enumerate(self.printed) if line.startswith(start)]
        return number


@pytest.fixture(scope="module")
def page(gallery_data: Path, tmp_path_factory: pytest.TempPathFactory) -> ExecutedPage:
    """The page, whose examples ran in a folder with pictures; they write a report there."""
    folder = tmp_path_factory.mktemp("notebook")
    (folder / "assets").mkdir()
    shutil.copy(ROOT / "assets" / "screenshot.png", folder / "assets")
    write_shades(folder / "pictures")
    text = (ROOT / "docs" / "python.md").read_text("utf-8")
    # "```py" marks what needs data that is not here.
    blocks = re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)
    assert len(blocks) == 13

    variables: dict[str, Any] = {}
    output = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(output):
        patch.setenv("NT2VR_DATA", str(gallery_data))
        patch.chdir(folder)
        for block in blocks:
            exec(block, variables)
    assert (folder / "report" / "table.md").is_file()
    return ExecutedPage(output.getvalue().splitlines(), variables)


@pytest.mark.slow
def test_a_query_is_split_and_searched_as_documented(page: ExecutedPage) -> None:
    assert page.printed[0] == "('a dog',) ('a cat',)"
    systems = [line.split(" {")[0] for line in page.printed[1:4]]
    assert systems == ["CLIP", "CLIP boolean α 0.5", "CLIP-neg"]


@pytest.mark.slow
def test_many_queries_are_searched_as_documented(page: ExecutedPage) -> None:
    # Of three queries, the second is empty.
    error = page.line_with("Type what the clip")
    assert page.printed[error - 1] == "549"
    assert page.printed[error + 1] == "549"
    assert page.printed[error + 2].startswith("(2, 549) ")


@pytest.mark.slow
def test_models_and_strategies_of_ones_own_work_as_documented(page: ExecutedPage) -> None:
    assert "torch.Size([1, 192])" in page.printed
    assert "['CLIP prompted', 'CLIP prompted boolean', 'CLIP']" in page.printed

    # The same strategy stands there under two names.
    rankings = page.printed[page.line_with("[['")]
    first, second = ast.literal_eval(rankings)
    assert first == second
    assert len(first) == 3


@pytest.mark.slow
def test_systems_are_evaluated_and_compared_as_documented(page: ExecutedPage) -> None:
    evaluation = page.variables["evaluation"]
    assert isinstance(evaluation, nt2vr.Evaluation)
    hard_pairs = evaluation.metrics["CLIP-neg"]["composed/hard_pairs"]
    assert str(hard_pairs) in page.printed

    comparison = page.variables["comparison"]
    assert isinstance(comparison, nt2vr.Comparison)
    difference = hard_pairs - evaluation.metrics["CLIP"]["composed/hard_pairs"]
    assert comparison["composed/hard_pairs"].difference == pytest.approx(difference)
