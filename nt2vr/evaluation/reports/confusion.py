"""Confusion of classes: which class two systems take for which, as shares of the questions about the true one."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.reports.report import Report
from nt2vr.negation.generate.verb_changes import frames_of

MOST = 8  # classes of a matrix
CLASS = "class"


@dataclass(frozen=True, eq=False)
class Confusion:
    """The classes that two systems confuse most.

    Attributes:
        name: of the data set; "" if there is one.
        classes: C sentences that ask for the classes.
        asked: (C,) number of questions about each.
        shares: by system, (C, C + 1) percentages: row t, column p is how often p is chosen where t is true, and the
            last column how often another class is.
        shifts: by system, for each class how often training had its verb phrase as a negative per positive, see
            `Card.shifts`; None where it is unknown. Without systems for which it is known of no class.
    """

    name: str
    classes: tuple[str, ...]
    asked: NDArray[np.int64]
    shares: dict[str, NDArray[np.float64]]
    shifts: dict[str, list[float | None]]


def confusions(report: Report, first: str, second: str) -> list[Confusion]:
    """Compare two systems on the questions about classes, per data set; none where their choices are not known."""
    known = {result.system: result.measured.chosen for result in report.results if result.system in (first, second)}
    if any(len(chosen) != len(report.queries) for chosen in known.values()):
        return []
    rows: dict[str, list[int]] = {}
    for row, query in enumerate(report.queries):
        if query.kind == CLASS:
            rows.setdefault(query.group.partition("; ")[0], []).append(row)
    specs = {result.system: result.spec.get("shifts", {}) for result in report.results if result.system in known}
    found = (_confusion(report, name, some, known, specs) for name, some in sorted(rows.items()))
    return [each for each in found if each is not None]


def _confusion(
    report: Report,
    name: str,
    rows: list[int],
    known: dict[str, NDArray[np.int32]],
    specs: Mapping[str, Mapping[str, float]],
) -> Confusion | None:
    true = [report.queries[row].text for row in rows]
    chosen = {
        system: [text if places[row] < 0 else report.texts[places[row]] for row, text in zip(rows, true, strict=True)]
        for system, places in known.items()
    }
    pairs = Counter(pair for some in chosen.values() for pair in zip(true, some, strict=True) if pair[0] != pair[1])
    most = sorted(pairs, key=lambda pair: (-pairs[pair], pair))
    classes = list(dict.fromkeys(text for pair in most for text in pair))[:MOST]
    if not classes:
        return None
    place = {text: number for number, text in enumerate(classes)}
    asked = np.array([true.count(text) for text in classes])
    shares = {}
    for system, some in chosen.items():
        counts = np.zeros((len(classes), len(classes) + 1))
        for text, other in zip(true, some, strict=True):
            if text in place:
                counts[place[text], place.get(other, -1)] += 1
        shares[system] = 100 * counts / np.maximum(asked, 1)[:, None]
    keys = [[frame.key for frame in frames_of(text)] for text in classes]
    shifts = {
        system: [next((spec[key] for key in some if key in spec), None) for some in keys]
        for system, spec in specs.items()
    }
    known_shifts = {system: some for system, some in shifts.items() if any(some)}
    return Confusion(name, tuple(classes), asked, shares, known_shifts)
