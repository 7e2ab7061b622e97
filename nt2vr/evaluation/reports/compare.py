"""Error analysis of a report: single queries, and each system's first results."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.measures import FIRST_PAGE
from nt2vr.evaluation.reports.facets import facets_of
from nt2vr.evaluation.reports.report import Report
from nt2vr.search.answers import Verdict

IMPROVED, WORSENED = "improved", "worsened"


@dataclass(frozen=True)
class Filter:
    """Which queries to list; an empty value includes all.

    Attributes:
        part: kind of the unwanted part, as in `Facets`.
        text: words that the query has, in any order and case; parts of words count.
        change: "improved" or "worsened": only where `second` is better, or worse, than `first`.
        fails_everywhere: include only queries without a relevant video on any system's first page; for negated
            queries, those with the wrong video on all first pages.
        places: positions of queries; None includes all.
    """

    kind: str = ""
    cue: str = ""
    part: str = ""
    concept: str = ""
    text: str = ""
    change: str = ""
    fails_everywhere: bool = False
    places: Collection[int] | None = None


ALL = Filter()


def places_by_difference(report: Report, first: str, second: str, only: Filter = ALL) -> list[int]:
    """Return positions of queries, from those where `second` beats `first` most to those where it loses most.

        difference = log(rank of first) - log(rank of second)

    Rank 1 instead of 10 counts as much as 10 instead of 100. For negated queries, whose video is wrong, the sign is
    reversed. A ConfigError refuses systems that the report does not have.
    """
    ranks = ranks_of(report)
    if missing := [name for name in (first, second) if name not in ranks]:
        raise ConfigError(f"The report has no system {quoted(missing[0])}. Choose one of: {', '.join(ranks)}.")
    negated = np.array([query.kind == "negated" for query in report.queries])
    gains = np.log(ranks[first]) - np.log(ranks[second])
    gains[negated] *= -1
    listed = _listed(report, only, gains, negated)
    return [int(place) for place in np.argsort(-gains, kind="stable") if listed[place]]


def ranks_of(report: Report) -> dict[str, NDArray[np.int32]]:
    return {result.system: result.measured.ranks for result in report.results}


def _listed(report: Report, only: Filter, gains: NDArray[np.float64], negated: NDArray[np.bool_]) -> NDArray[np.bool_]:
    listed = np.ones(len(report.queries), bool)
    if only.change:
        listed &= gains > 0 if only.change == IMPROVED else gains < 0
    if only.fails_everywhere:
        shown = np.stack(list(ranks_of(report).values())) <= FIRST_PAGE  # (S, Q)
        listed &= np.where(negated, shown.all(axis=0), ~shown.any(axis=0))
    if only.places is not None:
        listed &= np.isin(np.arange(len(listed)), list(only.places))
    words = only.text.lower().split()
    facets = facets_of(report) if only.part or only.concept else ()
    for place, query in enumerate(report.queries):
        listed[place] &= (
            only.kind in ("", query.kind)
            and only.cue in ("", query.cue)
            and (not only.part or facets[place].part == only.part)
            and (not only.concept or only.concept in facets[place].concepts)
            and all(word in query.text.lower() for word in words)
        )
    return listed


def first_videos(report: Report, place: int, system: str) -> list[tuple[str, Verdict | None]]:
    """Return the ids of the first videos of a system for a query, with their verdicts; [] where they are unknown.

    The video of a negated query's original caption violates, since it no longer matches.
    """
    first = next(result.measured.first for result in report.results if result.system == system)
    if not len(first):
        return []
    query, negated = report.queries[place], report.queries[place].kind == "negated"
    right = frozenset(() if negated else query.relevant.tolist())
    wrong = frozenset((query.relevant if negated else query.violating).tolist())
    return [
        (report.video_ids[row], "right" if row in right else "violation" if row in wrong else None)
        for row in first[place].tolist()
        if row >= 0
    ]


@lru_cache(4)
def titles_of(report: Report) -> Mapping[str, str]:
    """Return a caption per video, by id, as far as original queries have them."""
    return {report.video_ids[q.relevant[0]]: q.text for q in reversed(report.queries) if q.kind == "original"}
