"""Axes, labels and points of charts."""

import pytest

from nt2vr.ui.chart import Point, points_chart, short, spread, ticks


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 2000, [0, 500, 1000, 1500, 2000]),
        (0, 3, [0, 1, 2, 3]),
        (0.436, 0.881, [0.4, 0.6, 0.8, 1.0]),
        (-0.01, 0.02, [-0.01, 0, 0.01, 0.02]),
        (5, 5, [4, 6]),
        (0, 0, [0, 0.5]),
    ],
)
def test_ticks_are_round_and_reach_from_end_to_end(low: float, high: float, expected: list[float]) -> None:
    assert ticks(low, high) == pytest.approx(expected)


def test_labels_that_would_overlap_move_apart_and_stay_inside() -> None:
    assert spread([50, 20, 52], 100, gap=10) == [50, 20, 60]
    assert spread([146, 145], 146, gap=10) == [146, 136]


@pytest.mark.parametrize(
    ("number", "text"), [("0.731", ".731"), ("-0.01", "-.01"), ("10.5", "10.5"), ("0", "0"), ("20.1", "20.1")]
)
def test_only_numbers_below_one_lose_their_leading_zero(number: str, text: str) -> None:
    assert short(number) == text


def test_points_fit_the_axes_and_labels_go_to_the_side_with_room() -> None:
    drawn = points_chart([Point("low", 0, 0, "drop"), Point("high", 1, 100)], "MIR", "pairs")
    low, high = drawn["points"]
    assert [mark["text"] for mark in drawn["x_axis"]] == ["0", ".5", "1"]
    assert [mark["text"] for mark in drawn["y_axis"]] == ["0", "50", "100"]
    assert (low["x"], low["y"]) == (drawn["x_axis"][0]["x"], drawn["y_axis"][0]["y"])
    assert (high["x"], high["y"]) == (drawn["x_axis"][-1]["x"], drawn["y_axis"][-1]["y"])
    assert (low["anchor"], high["anchor"]) == ("start", "end")
    assert float(low["label_x"]) > float(low["x"]) and float(high["label_x"]) < float(high["x"])
    assert high["title"] == "MIR 1, pairs 100" and low["kind"] == "drop"


def test_labels_of_coinciding_points_do_not_overlap() -> None:
    drawn = points_chart([Point("one", 0.5, 50), Point("two", 0.5, 50), Point("far", 0.9, 90)], "x", "y")
    one, two = drawn["points"][:2]
    assert (one["x"], one["y"]) == (two["x"], two["y"])
    assert abs(float(one["label_y"]) - float(two["label_y"])) == pytest.approx(14)


def test_a_label_changes_sides_if_a_point_is_in_its_way() -> None:
    corners = [Point("low", 0, 0), Point("high", 1, 100)]
    alone = points_chart([*corners, Point("CLIP-con", 0.6, 50)], "x", "y")["points"][-1]
    beside = points_chart([*corners, Point("CLIP-con", 0.6, 50), Point("CLIP-bnl", 0.55, 51)], "x", "y")["points"]
    assert (alone["anchor"], beside[2]["anchor"], beside[3]["anchor"]) == ("end", "start", "end")


def test_a_label_without_a_free_side_passes_above_the_point_in_its_way() -> None:
    points = [Point("low", 0, 0), Point("high", 1, 100), Point("CLIP-con", 0.05, 50), Point("CLIP-bnl", 0.15, 48)]
    name, other = points_chart(points, "x", "y")["points"][2:]
    assert name["anchor"] == "start"
    assert float(other["y"]) - float(name["label_y"]) == pytest.approx(12)
