"""`evaluate` with a model that is an object, on a folder without splits, and what it shows in notebooks."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import nt2vr
from nt2vr.errors import ConfigError
from nt2vr.search.strategies import STRATEGIES
from tests.support.colour_model import ColourModel
from tests.support.word_encoder import SYSTEMS, report_of

CAPTIONS = {
    "red": "a red car is driving",
    "blue": "a blue dog is <b>sleeping</b>",
    "green": "a green bird is singing",
}


def write_colours(folder: Path) -> None:
    """Write a picture and its caption for each of CAPTIONS."""
    folder.mkdir()
    rows = ["path,caption"]
    for name, caption in CAPTIONS.items():
        Image.new("RGB", (32, 32), name).save(folder / f"{name}.png")
        rows.append(f"{name}.png,{caption}")
    (folder / "captions.csv").write_text("\n".join(rows))


def test_paths_may_be_in_the_home_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "own"
    folder.mkdir()
    for name in ("red", "blue"):
        Image.new("RGB", (32, 32), name).save(folder / f"{name}.png")
    (folder / "pairs.csv").write_text(
        "path,caption,negated_caption\nred.png,a red car,a blue car\n"
    )
    task = nt2vr.evaluate("~/own/pairs.csv", [ColourModel()], tmp_path / "data")
    assert task.metrics["Colours"]["pair/accuracy"] == 100
    (folder / "captions.csv").write_text("path,caption\nred.png,a red car\nblue.png,a blue car\n")
    (folder / "original.txt").write_text("blue.png#enc#0 something blue\n")
    data = nt2vr.Data("~/own/captions.csv", queries=Path("~/own"))
    searched = nt2vr.evaluate(data, [ColourModel()], tmp_path / "data")
    assert [query.text for query in searched.report.queries] == ["something blue"]
    assert searched.metrics["Colours"]["original/R@1"] == 100


def test_a_folder_without_splits_is_evaluated_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # The test undoes this at its end.
    monkeypatch.setitem(STRATEGIES, "backwards", lambda parts: None)
    folder = tmp_path / "own"
    calls = list[Any]()
    write_colours(folder)

    def backwards(parts: nt2vr.Parts) -> Any:
        calls.append(parts)
        return None if parts.sentence is None else -parts.sentence

    nt2vr.register_strategy("backwards", backwards)
    for _ in range(2):
        calls.clear()
        evaluation = nt2vr.evaluate(folder, [ColourModel(), "Colours backwards"], tmp_path / "data")
        # Its results are not stored, since its code may have changed.
        assert calls
    assert evaluation.metrics["Colours"]["original/R@1"] == 100
    assert evaluation.remarks[0].startswith("own has no splits, so all of its 3 videos are taken.")
    assert any("A and not B" in remark for remark in evaluation.remarks)
    html = evaluation._repr_html_()
    assert evaluation.remarks[0] in html
    assert "<td" in html
    assert "Colours backwards" in html
    assert "100.0" in html
    frame = evaluation.to_pandas()
    assert frame.columns.tolist() == ["system", "measure", "value", "low", "high"]
    assert len(frame) == sum(map(len, evaluation.metrics.values()))


@pytest.fixture
def evaluation(tmp_path: Path) -> nt2vr.Evaluation:
    """Evaluate colours under their own names, and with a strategy."""
    folder = tmp_path / "own"
    write_colours(folder)
    return nt2vr.evaluate(folder, [ColourModel(), "Colours boolean α 1"], tmp_path / "data")


def test_two_systems_are_compared_with_intervals_and_tests(evaluation: nt2vr.Evaluation) -> None:
    comparison = evaluation.compare("colours", nt2vr.System("Colours", "boolean", 1))
    assert (comparison.first, comparison.second) == ("Colours", "Colours boolean α 1")
    default = evaluation.compare()
    assert (default.first, default.second) == ("Colours", "Colours boolean α 1")

    difference = comparison["negated/delta_MIR"]
    assert difference.num_queries == 3
    assert difference.difference == pytest.approx(difference.second - difference.first)
    frame = comparison.to_pandas().set_index("measure")
    assert frame.loc["negated/delta_MIR", "difference"] == difference.difference
    assert {"low", "high", "p", "within_noise"} <= set(frame.columns)
    assert "Negated ΔMIR" in str(comparison)
    assert "Negated ΔMIR" in comparison._repr_html_()
    assert "Negated ΔMIR" in evaluation._repr_html_()

    for wrong in (("Colours", "none"), ("Colours", "")):
        with pytest.raises(ConfigError):
            evaluation.compare(*wrong)
    with pytest.raises(ConfigError, match="composed/MIR"):
        comparison["composed/MIR"]


def test_an_evaluation_prints_as_a_table_and_a_short_repr(
    evaluation: nt2vr.Evaluation,
) -> None:
    text = str(evaluation)
    assert "Colours boolean α 1 (zero-shot)" in text
    assert evaluation.remarks[0] in text
    assert len(repr(evaluation)) < 200
    assert "3 systems" in repr(evaluation)


def test_intervals_are_in_the_data_frame() -> None:
    evaluation = nt2vr.Evaluation(report_of(*SYSTEMS))
    frame = evaluation.to_pandas().set_index(["system", "measure"])
    # Their ranks are 1 and 2.
    captions = frame.loc[("words", "original/MIR")]
    assert captions["low"] == 0.5
    assert captions["value"] == 0.75
    assert captions["high"] == 1.0
    certain = frame.loc[("words", "composed/MIR")]
    assert np.isnan(certain["low"])
    assert np.isnan(certain["high"])


def test_a_saved_report_is_read_again(evaluation: nt2vr.Evaluation, tmp_path: Path) -> None:
    evaluation.save(tmp_path / "report")
    reloaded = nt2vr.load_report(tmp_path / "report")
    assert reloaded.metrics == evaluation.metrics
    assert reloaded.table == evaluation.table
    assert reloaded.compare().differences == evaluation.compare().differences
    with pytest.raises(ConfigError):
        nt2vr.load_report(tmp_path)
