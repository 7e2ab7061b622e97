"""Single queries of a report, for the eye: where two systems differ most, and where all fail."""

from collections.abc import Collection

import numpy as np

from nt2vr.errors import ConfigError
from nt2vr.evaluation.measures import FIRST_PAGE
from nt2vr.evaluation.report import Report


def places_by_difference(
    report: Report,
    first: str,
    second: str,
    kinds: Collection[str] = (),
    cues: Collection[str] = (),
    fails_everywhere: bool = False,
) -> list[int]:
    """Return places of queries: first those where `second` is far better than `first`, last those where it is worse.

        difference = log(rank of first) - log(rank of second)

    So 1 instead of 10 is as much as 10 instead of 100. Of a negated query, whose video is wrong, less is better.

    Args:
        report: what was measured.
        first: a system's name.
        second: another's.
        kinds: what to keep; empty keeps all.
        cues: words that deny, likewise.
        fails_everywhere: keep only queries that no system answers on its first page; of negated ones, those whose
            wrong video is on all of them.

    Raises:
        ConfigError: if the report has no such system.
    """
    ranks = {result.system: result.measured.ranks for result in report.results}
    if missing := [name for name in (first, second) if name not in ranks]:
        raise ConfigError(f"The report has no system {missing[0]!r}. Choose one of: {', '.join(ranks)}.")
    negated = np.array([query.kind == "negated" for query in report.queries])
    gains = np.log(ranks[first]) - np.log(ranks[second])
    gains[negated] *= -1
    shown = np.stack(list(ranks.values())) <= FIRST_PAGE  # (S, Q)
    failed = np.where(negated, shown.all(axis=0), ~shown.any(axis=0))
    return [
        int(place)
        for place in np.argsort(-gains, kind="stable")
        if (not kinds or report.queries[place].kind in kinds)
        and (not cues or report.queries[place].cue in cues)
        and (not fails_everywhere or failed[place])
    ]
