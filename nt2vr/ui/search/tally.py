"""Counts of a column's verdicts: the badge at its head, and its line on the stage."""

from typing import Any

from nt2vr.search.answers import Answer, Ranking
from nt2vr.ui.search.verdict_texts import shows_it
from nt2vr.world.query_claims import read_query


def badge_view(ranking: Ranking, answer: Answer, complete: bool) -> dict[str, Any]:
    """Count the clips that are right, which decides the colour; then the violations.

    Only violations are known where a word of the query is unknown: verdicts are not `complete`.
    """
    total, right, violations = (
        len(ranking.hits),
        ranking.counts["right"],
        ranking.counts["violation"],
    )
    negated = bool(answer.query.unwanted or answer.query.others)
    if not total:
        return {}
    kind = grade(total - violations, total) if violations else "neutral"
    if not complete and not answer.judged_by:
        if not negated or (not violations and not read_query(answer.query).is_known):
            return {}
        return {
            "kind": kind,
            "text": _shows_of(violations, total),
            "brief": shows_it(violations),
            "more": "",
        }
    kind = kind if answer.judged_by else grade(right, total)
    return {
        "kind": kind,
        "text": f"{right} of {total} right{f' by {answer.judged_by}' if answer.judged_by else ''}",
        "brief": f"{right}/{total}",
        "more": shows_it(violations) if negated else "",
        "worse": kind if negated and violations else "",
    }


def _shows_of(violations: int, total: int) -> str:
    return f"{violations} of {total} {'shows' if violations == 1 else 'show'} it"


def grade(right: int, total: int) -> str:
    """Grade a share of clips by a colour: green from three quarters, red below half."""
    return "good" if 4 * right >= 3 * total else "fair" if 2 * right >= total else "bad"


def stage_line(ranking: Ranking, answer: Answer, complete: bool) -> dict[str, str]:
    """Sum a column up for the stage, with the same numbers for every system."""
    right, violations, total = (
        ranking.counts["right"],
        ranking.counts["violation"],
        len(ranking.hits),
    )
    if not total:
        return {"kind": "bad", "text": "nothing left to search for"}
    if not (complete or violations):
        return {}
    show = shows_it(violations) if complete else _shows_of(violations, total)
    texts = [f"{right} of {total} right"] * complete + [show] * bool(answer.query.unwanted)
    return {
        "kind": grade(right if complete else total - violations, total),
        "text": ", ".join(texts),
    }
