"""Which two systems of a report are compared first."""

from typing import Any

import pytest

from nt2vr.evaluation.roles import baseline_of, pairs_to_compare, telling_pair

IMPORTED = "imported from mine.pt"
BASES = {"CLIP": "", "mine": IMPORTED, "A": "CLIP", "B": "CLIP", "far": "A", "lost": "somewhere"}
HARD_PAIRS = {"CLIP": 30.0, "mine": 40.0, "A": 80.0, "B": 70.0, "far": 60.0, "lost": 50.0}


def specs_of(*systems: str) -> dict[str, dict[str, Any]]:
    """Describe systems such as "A" and "A drop"."""
    specs = {}
    for system in systems:
        model, _, strategy = system.partition(" ")
        specs[system] = {"model": model, "base": BASES[model], "strategy": strategy or "plain"}
    return specs


def metrics_of(*systems: str) -> dict[str, dict[str, float]]:
    """Score systems on hard pairs; controls are best, as they may be."""
    metrics = {}
    for system in systems:
        model, _, strategy = system.partition(" ")
        hard_pairs = 99.0 if strategy == "drop" else HARD_PAIRS[model]
        metrics[system] = {"composed/hard_pairs": hard_pairs}
    return metrics


@pytest.mark.parametrize(
    ("chosen", "controls", "pair"),
    [
        (["A"], ["CLIP", "CLIP drop"], ("CLIP", "A")),
        (["CLIP", "A"], ["CLIP drop"], ("CLIP", "A")),
        # The base comes first.
        (["A", "CLIP"], ["CLIP drop"], ("CLIP", "A")),
        (["A", "B"], ["CLIP", "CLIP drop"], ("A", "B")),
        (["B", "far", "A"], ["CLIP", "CLIP drop"], ("CLIP", "A")),
        (["mine", "A"], ["mine drop", "CLIP", "CLIP drop"], ("mine", "A")),
        (["CLIP", "mine"], ["CLIP drop", "mine drop"], ("CLIP", "mine")),
        (["A drop", "A"], ["CLIP", "CLIP drop"], ("CLIP", "A")),
        (["CLIP boolean"], ["CLIP", "CLIP drop"], ("CLIP", "CLIP boolean")),
        # There is nothing else.
        (["mine"], ["mine drop"], ("mine", "mine drop")),
        # 0.2.0 stored reports like this.
        ([], ["CLIP", "CLIP drop", "B", "A"], ("CLIP", "A")),
        (["A"], [], ("A", "A")),
    ],
)
def test_the_pair_is_that_which_a_person_would_compare(
    chosen: list[str], controls: list[str], pair: tuple[str, str]
) -> None:
    systems = dict.fromkeys([*controls, *chosen])
    assert telling_pair(specs_of(*systems), chosen, metrics_of(*systems)) == pair


def test_the_baseline_is_as_far_back_as_the_report_goes() -> None:
    specs = specs_of("CLIP", "A", "far", "lost", "mine")
    baselines = {system: baseline_of(system, specs) for system in specs}
    assert baselines == {"CLIP": "CLIP", "A": "CLIP", "far": "CLIP", "lost": "CLIP", "mine": "mine"}
    assert baseline_of("A", specs_of("A")) == "A"


def test_a_model_that_is_its_own_base_ends_the_search() -> None:
    specs = {
        "one": {"model": "one", "base": "two", "strategy": "plain"},
        "two": {"model": "two", "base": "one", "strategy": "plain"},
    }
    assert baseline_of("one", specs) == "two"


def test_systems_are_compared_with_their_base() -> None:
    systems = ("CLIP", "CLIP drop", "A", "B", "far")
    specs = specs_of(*systems)
    metrics = metrics_of(*systems)
    of_three = pairs_to_compare(specs, ["A", "B", "far"], metrics)
    assert of_three == [("CLIP", "A"), ("CLIP", "B"), ("CLIP", "far")]
    # Two are compared with one another as well.
    of_two = pairs_to_compare(specs, ["A", "B"], metrics)
    assert of_two == [("A", "B"), ("CLIP", "A"), ("CLIP", "B")]
    assert pairs_to_compare(specs_of("A"), ["A"], metrics_of("A")) == []
