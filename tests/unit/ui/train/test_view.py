"""Curves and progress on the Train tab."""

from nt2vr.ui.train.curves import chart, loss_charts, series, thin, validation_charts, value_text
from nt2vr.ui.train.view import comparable, curves_view, run_view, runs_view, trash_text
from trainer.config import TrainConfig
from trainer.runs.manager import Run
from trainer.runs.run_folder import RunStatus

ROWS = [
    {"epoch": 0, "step": 0, "base/original/MIR": 0.88, "drop/composed/MIR": 0.75, "base/composed/MIR": 0.5},
    {"epoch": 1, "step": 20, "contrastive": 3.0},
    {"epoch": 1, "step": 40, "contrastive": 2.0},
    {"epoch": 1, "step": 40, "original/MIR": 0.8},
    {"epoch": 1, "step": 40, "contrastive": 1.0},  # measured again after a resume
]


def test_what_was_measured_again_after_a_resume_counts_once_and_as_the_last() -> None:
    assert series(ROWS, "contrastive", "step") == [(20, 3.0), (40, 1.0)]


def test_a_long_line_is_thinned_to_means_and_ends_where_it_ends() -> None:
    points = [(float(x), float(x % 2)) for x in range(1001)]
    thinned = thin(points, 100)
    assert len(thinned) <= 100
    assert thinned[0] == (5.0, 5 / 11)  # of 0 to 10: mean place, and 5 odd ones among 11
    assert thinned[-1] == points[-1]
    assert thin(points[:100], 100) == points[:100]


def test_a_chart_draws_its_values_where_its_axes_say() -> None:
    drawn = chart("t", "n", [(0, 0.0), (2, 1.0)], {}, (0, 4), "epoch", value_text)
    zero, one = drawn["y_axis"][0], drawn["y_axis"][-1]
    left, middle = drawn["x_axis"][0], next(mark for mark in drawn["x_axis"] if mark["text"] == "2")
    assert (zero["text"], one["text"]) == ("0", "1")
    assert drawn["path"] == f"M{left['x']} {zero['y']}L{middle['x']} {one['y']}"
    assert drawn["now"] == "1"


def test_small_changes_of_a_validation_metric_look_small() -> None:
    rows = [{"epoch": epoch, "step": epoch, "original/MIR": 0.88 - 0.001 * epoch} for epoch in range(1, 5)]
    (drawn,) = validation_charts(rows, 4)
    marks = [float(mark["text"]) for mark in drawn["y_axis"]]
    assert marks[-1] - marks[0] >= 0.1


def test_the_base_and_its_control_are_lines_to_compare_with_already_before_the_first_epoch() -> None:
    original, composed = validation_charts(ROWS, 3)
    assert [level["text"] for level in original["levels"]] == ["base .880"]
    assert [level["text"] for level in composed["levels"]] == ["base .500", "drop .750"]
    assert (original["now"], composed["now"], composed["path"]) == (".800", "", "")


def test_what_is_measured_on_text_alone_has_its_charts_percents_as_percents() -> None:
    rows = [
        {"epoch": 0, "step": 0, "base/text/order": 22.25, "base/text/target": 0.71, "base/text/kept": 1.0},
        {"epoch": 1, "step": 5, "text/order": 93.0, "text/target": 0.9, "text/kept": 0.97},
    ]
    order, target, kept = validation_charts(rows, 4)
    assert [level["text"] for level in order["levels"]] == ["base 22.2"]
    assert (order["now"], target["now"], kept["now"]) == ("93.0", ".900", ".970")


def test_the_few_points_of_a_validation_metric_are_dots_and_the_many_of_a_loss_are_not() -> None:
    (validated, _), (loss,) = validation_charts(ROWS, 3), loss_charts(ROWS, ["contrastive"], 100)
    assert [dot["text"] for dot in validated["dots"]] == [".800"] and loss["dots"] == []


def test_a_loss_has_a_chart_only_once_it_has_values() -> None:
    assert [drawn["title"] for drawn in loss_charts(ROWS, ["contrastive", "bnl"], 100)] == ["contrastive"]


def test_a_run_is_told_with_its_progress_and_why_it_failed() -> None:
    config = TrainConfig(name="A", num_clips=100, batch_size=10, epochs=4)  # 40 steps
    run = Run("a-1", RunStatus("failed", 1, epoch=2, step=10, error="No <disk>."), config)
    view = run_view(run)
    assert (view["share"], view["done"], view["error"]) == ("25.0", "epoch 2 of 4 · step 10 of 40", "No <disk>.")
    assert [len(charts) for charts in curves_view(run, ROWS, "log")["charts"]] == [2, 1]
    unreadable = Run("b-2", RunStatus("interrupted", 1, step=3), None)
    assert run_view(unreadable)["share"] == "0"
    assert [row["chosen"] for row in runs_view([run, unreadable], "b-2")["runs"]] == [False, True]


def test_curves_of_other_runs_are_drawn_on_the_same_axes() -> None:
    config = TrainConfig(name="A", num_clips=100, batch_size=10, epochs=2)
    status = RunStatus("finished", 1)
    run, twin, longer = (Run(run_id, status, config) for run_id in ("a-1", "a-2", "a-3"))
    other = [{"epoch": 4, "step": 80, "original/MIR": 0.2}]
    view = curves_view(run, ROWS, "", [(twin, ROWS), (longer, other)])
    original, composed = view["charts"][0]
    assert [line["id"] for line in view["legend"]] == ["a-2", "a-3"]
    assert [(line["number"], line["name"], line["now"]) for line in original["others"]] == [
        (1, "a-2", ".800"),
        (2, "a-3", ".200"),
    ]
    assert original["others"][0]["path"] == original["path"]  # the same values in the same place
    assert float(original["y_axis"][0]["text"]) <= 0.2  # the axes have room for all
    assert original["x_axis"][-1]["text"] == "4"
    assert composed["others"] == []
    assert comparable([run, twin, longer, Run("broken", status, None)], run) == [
        ("A · a-2", "a-2"),
        ("A · a-3", "a-3"),
    ]
    assert comparable([run], None) == []


def test_a_preparation_is_told_with_its_count_and_where_a_resumed_run_goes_on() -> None:
    config = TrainConfig(name="A", num_clips=100, batch_size=10, epochs=4)
    status = RunStatus("preparing", 1, 2, 1200, doing="drawing clips", done=250, total=1000)
    view = run_view(Run("a", status, config))
    assert (view["done"], view["share"]) == ("drawing clips: 250 of 1,000 · resumes after step 1,200", "25.0")
    uncounted = run_view(Run("a", RunStatus("preparing", 1, doing="loading PyTorch"), config))
    assert (uncounted["done"], uncounted["share"]) == ("loading PyTorch", "0")


def test_the_size_of_the_trash_is_rounded_and_an_empty_one_is_not_mentioned() -> None:
    assert trash_text(0) == ""
    assert trash_text(1).startswith("Trash: 1 MB,")
    assert trash_text(2_345_000_000).startswith("Trash: 2.3 GB,")


def test_a_failed_run_s_error_is_told_as_its_visitor_may_read_it() -> None:
    run = Run("a", RunStatus("failed", 1, error="There is no /home/ann/films."), None)
    assert run_view(run)["error"] == "There is no /home/ann/films."
    assert run_view(run, lambda error: error.replace("/home/ann/", ""))["error"] == "There is no films."
