"""Plots of runs, by hand."""

import pytest

from nt2vr.ui.train.plot_grid import Scale, epoch_labels, grid_levels
from nt2vr.ui.train.plots import RunMetrics, plots_view
from trainer.config import TrainConfig
from trainer.runs.manager import Run
from trainer.runs.run_folder import RunStatus

# 40 steps.
CONFIG = TrainConfig(name="A", num_clips=100, batch_size=10, epochs=4)
ROWS = [
    {"epoch": 0, "step": 0, "base/composed/MIR": 0.5, "drop/composed/MIR": 0.75},
    {"epoch": 1, "step": 5, "contrastive": 3.0},
    {"epoch": 1, "step": 10, "contrastive": 2.0},
    {"epoch": 1, "step": 10, "composed/MIR": 0.6},
    {"epoch": 2, "step": 20, "contrastive": 1.0},
    {"epoch": 2, "step": 20, "composed/MIR": 0.7},
]
RUN = RunMetrics(Run("a-1", RunStatus("running", 1), CONFIG), ROWS)


def test_measures_are_lines_with_base_and_control() -> None:
    view = plots_view(RUN)
    composed, loss = view["plots"]
    assert (composed["title"], composed["latest"]) == (
        "Composed MIR",
        "a-1 0.7, base 0.5, drop 0.75",
    )
    assert [line["points"] for line in composed["lines"]] == [
        [[1, "0.6"], [2, "0.7"]],
        [[0, "0.5"], [4, "0.5"]],
        [[0, "0.75"], [4, "0.75"]],
    ]
    assert [(line["name"], line["is_control"]) for line in composed["lines"]] == [
        ("a-1", False),
        ("base", True),
        ("drop", True),
    ]
    assert [(entry["name"], entry["is_control"]) for entry in view["legend"]] == [
        ("a-1", False),
        ("base", True),
        ("drop", True),
    ]
    assert (loss["title"], loss["note"]) == ("contrastive", "loss, unweighted")
    assert loss["lines"][0]["points"] == [[0.5, "3"], [1, "2"], [2, "1"]]


def test_epochs_and_values_lie_where_the_grid_has_them() -> None:
    composed, _ = plots_view(RUN)["plots"]
    # 268 units for 4 epochs from 44, and 140 for the values from .5 at 150 up to .8
    assert [level["label"] for level in composed["levels"]] == ["0.5", "0.6", "0.7", "0.8"]
    assert [(mark["x"], mark["label"]) for mark in composed["epochs"]] == [
        (44.0, "0"),
        (111.0, "1"),
        (178.0, "2"),
        (245.0, "3"),
        (312.0, "4"),
    ]
    assert composed["lines"][0]["path"] == "111.0,103.3 178.0,56.7"
    assert composed["lines"][0]["dots"] == [{"x": 111.0, "y": 103.3}, {"x": 178.0, "y": 56.7}]
    assert composed["lines"][1]["path"] == "44.0,150.0 312.0,150.0"


def test_other_runs_are_laid_over_by_epoch() -> None:
    # 160 steps.
    config = TrainConfig(name="B", num_clips=200, batch_size=10, epochs=8)
    rows = [
        {"epoch": 1, "step": 20, "contrastive": 4.0},
        {"epoch": 8, "step": 160, "composed/MIR": 0.9},
    ]
    other_run = RunMetrics(Run("b-1", RunStatus("finished", 1), config), rows)
    view = plots_view(RUN, [other_run])
    assert [entry["name"] for entry in view["legend"]] == ["a-1", "b-1", "base", "drop"]
    composed, loss = view["plots"]
    assert [line["colour"] for line in composed["lines"]] == [0, 1, 5, 6]
    assert composed["lines"][1]["points"] == [[8, "0.9"]]
    assert loss["lines"][1]["points"] == [[1, "4"]]
    # the longer run decides how many epochs there are, and a single point is seen
    assert composed["epochs"][-1] == {"x": 312.0, "label": "8"}
    assert loss["lines"][1]["dots"] == [{"x": 77.5, "y": 10.0}]


def test_a_run_whose_config_cannot_be_read_has_no_plots() -> None:
    assert plots_view(RunMetrics(Run("broken", RunStatus("finished", 1), None), ROWS)) == {}


@pytest.mark.parametrize(
    ("values", "levels"),
    [
        ([0.0, 100.0], [0, 50, 100]),
        ([36.0, 81.0], [20, 40, 60, 80, 100]),
        ([-0.3, 0.1], [-0.3, -0.2, -0.1, 0.0, 0.1]),
        ([2.0, 2.0], [1.8, 1.9, 2.0, 2.1, 2.2]),
        ([0.0, 0.0], [-0.5, 0.0, 0.5]),
    ],
)
def test_the_grid_has_round_numbers_below_and_above_all_values(
    values: list[float], levels: list[float]
) -> None:
    assert grid_levels(values) == pytest.approx(levels)


def test_an_infinite_loss_is_drawn_up_to_there() -> None:
    rows = [*ROWS, {"epoch": 2, "step": 25, "contrastive": float("inf")}]
    _, loss = plots_view(RunMetrics(RUN.run, rows))["plots"]
    assert loss["lines"][0]["points"][-1] == [2, "1"]


def marks_up_to(last_epoch: int) -> list[str]:
    """Return the labels of the marks of this many epochs."""
    return [mark["label"] for mark in epoch_labels(Scale(last_epoch, low=0, high=1))]


def test_every_epoch_is_marked_and_labels_do_not_touch() -> None:
    assert marks_up_to(3) == ["0", "1", "2", "3"]
    assert list(filter(None, marks_up_to(15))) == "0 2 4 6 8 10 12 14".split()
    assert len(marks_up_to(15)) == 16
    assert marks_up_to(1000) == [str(epoch) for epoch in range(0, 1001, 100)]
