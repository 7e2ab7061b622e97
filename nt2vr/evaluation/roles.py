"""What each system of a report is: zero-shot, fine-tuned, imported or a control; and which two one would compare."""

from collections.abc import Mapping, Sequence
from typing import Any

from nt2vr.evaluation.differences import Pair
from nt2vr.evaluation.metric_names import (
    CHOICE_ACCURACY,
    CLASS_ACCURACY,
    COMPOSED_HARD_PAIRS,
    COMPOSED_MIR,
    NOT_AUC,
    ORIGINAL_MIR,
    PAIR_ACCURACY,
    PICTURE_ACCURACY,
    RETRIEVAL_MIR,
    WITHOUT_HARD_PAIRS,
)
from nt2vr.models.card import IMPORTED

# Roles of systems that do not compete.
BASE = "base"
CONTROL = "drop"
REFERENCE = "reference"
# Role and label by strategy.
ROLES = {"plain": (BASE, "zero-shot"), "drop": (CONTROL, "control")}
# The best system is chosen by the first of these measures that was measured.
TELLING = (
    COMPOSED_HARD_PAIRS,
    WITHOUT_HARD_PAIRS,
    NOT_AUC,
    COMPOSED_MIR,
    RETRIEVAL_MIR,
    CHOICE_ACCURACY,
    PAIR_ACCURACY,
    PICTURE_ACCURACY,
    CLASS_ACCURACY,
    ORIGINAL_MIR,
)
# What a report says of a system's model and strategy.
Spec = Mapping[str, Any]
# By the systems' names, in table order.
Specs = Mapping[str, Spec]
# By system and measure.
MetricsBySystem = Mapping[str, Mapping[str, float]]


def role_of(spec: Spec) -> tuple[str, str]:
    """Return a system's role in the comparison, and the label that says what it is.

    Only a model that was trained from no other is zero-shot, whether or not the report has its
    base. What an imported model was trained from is unknown unless its card says so.
    """
    strategy = spec.get("strategy", "")
    # It is a control, whatever its model is.
    if strategy == "drop":
        return ROLES[strategy]

    base = str(spec.get("base", ""))
    if base.startswith(IMPORTED):
        return "", "imported"
    if base:
        return "", "fine-tuned"
    return ROLES.get(strategy, ("", "zero-shot"))


def competing(specs: Specs, requested: Sequence[str]) -> list[str]:
    """Return the systems that a person compares: those that were named, or all, without the controls."""
    names = [name for name in requested if name in specs] or list(specs)
    without_controls = [name for name in names if specs[name].get("strategy") != "drop"]
    return without_controls or names


def baseline_of(system: str, specs: Specs) -> str:
    """Return the system to compare another one with: the model that its own was trained from, as far back as known.

    Of a strategy it is the model as it is; of a base itself, the base. Where a model was trained
    from one that the report does not have, it is the first zero-shot model.
    """
    plain = {
        spec.get("model"): name for name, spec in specs.items() if spec.get("strategy") == "plain"
    }
    baseline = plain.get(specs[system].get("model"), system)
    seen = {baseline}
    while specs[baseline].get("base") in plain:
        before = plain[specs[baseline]["base"]]
        if before in seen:
            break
        seen.add(before)
        baseline = before

    _, label = role_of(specs[baseline])
    if label == "fine-tuned":
        for name in plain.values():
            role, _ = role_of(specs[name])
            if role == BASE:
                return name
    return baseline


def telling_pair(specs: Specs, requested: Sequence[str], metrics: MetricsBySystem) -> Pair:
    """Return the two systems that one would compare first: the two that were named, or the best and its base.

    Only where there is nothing else, a control is one of them.
    """
    candidates = competing(specs, requested)
    if len(candidates) == 2 and requested:
        first, second = candidates
        if baseline_of(first, specs) == second:
            return second, first
        return first, second

    measure = _telling_measure([metrics[name] for name in candidates])
    tuned = [name for name in candidates if baseline_of(name, specs) != name] or candidates
    best = max(tuned, key=lambda name: metrics[name].get(measure, 0.0))
    baseline = baseline_of(best, specs)
    if baseline != best:
        return baseline, best

    # All that were named are bases: compare two of them, or the only one with its control.
    for name in candidates:
        if name != best:
            return name, best
    for name in specs:
        if name != best:
            return best, name
    return best, best


def _telling_measure(metrics: Sequence[Mapping[str, float]]) -> str:
    """Return the first of TELLING that all systems have; "" if there is none."""
    for measure in TELLING:
        if all(measure in of_system for of_system in metrics):
            return measure
    return ""


def pairs_to_compare(
    specs: Specs, requested: Sequence[str], metrics: MetricsBySystem
) -> list[Pair]:
    """Return the telling pair, then each system that competes with its base."""
    if not specs:
        return []
    pairs = [telling_pair(specs, requested, metrics)]
    pairs += [(baseline_of(name, specs), name) for name in competing(specs, requested)]
    return [(first, second) for first, second in dict.fromkeys(pairs) if first != second]
