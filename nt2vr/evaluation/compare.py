"""Query lists for error analysis: largest differences between two systems, and common failures."""

from collections.abc import Collection

import numpy as np

from nt2vr.errors import ConfigError, quoted
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
    """Return positions of queries, from those where `second` beats `first` most to those where it loses most.

        difference = log(rank of first) - log(rank of second)

    Rank 1 instead of 10 counts as much as 10 instead of 100. For negated queries, whose video is wrong, the sign is
    reversed.

    Args:
        report: the report.
        first: name of a system.
        second: name of another system.
        kinds: kinds of queries to include; empty includes all.
        cues: negation words to include; empty includes all.
        fails_everywhere: include only queries without a relevant video on any system's first page; for negated
            queries, those with the wrong video on all first pages.

    Raises:
        ConfigError: if the report does not have both systems.
    """
    ranks = {result.system: result.measured.ranks for result in report.results}
    if missing := [name for name in (first, second) if name not in ranks]:
        raise ConfigError(f"The report has no system {quoted(missing[0])}. Choose one of: {', '.join(ranks)}.")
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
