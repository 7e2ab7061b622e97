"""Counts of verdicts: the badge of a column, its summary on the stage, and whether all clips have one."""

from collections.abc import Iterable
from itertools import chain

from nt2vr.errors import counted
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.hits import Hit
from nt2vr.ui.view import View
from nt2vr.world.query_claims import read_query


def hits_of(rankings: Iterable[Ranking]) -> list[Hit]:
    """Return the hits of all columns."""
    return list(chain.from_iterable(ranking.hits for ranking in rankings))


def has_all_verdicts(answer: Answer) -> bool:
    """Return whether every clip has a verdict; with an unknown word in the query, only violations have one."""
    return all(hit.verdict for hit in hits_of(answer.rankings))


def badge_view(ranking: Ranking, answer: Answer) -> View:
    """Count the clips that are right, which decides the colour, and the violations.

    By captions, violations decide the colour.
    """
    total = len(ranking.hits)
    if not total:
        return {}
    if not answer.judged_by and not has_all_verdicts(answer):
        return _violations_badge(ranking, answer.query)

    right = ranking.counts["right"]
    violations = ranking.counts["violation"]
    kind = grade(right, total)
    if answer.judged_by:
        kind = _grade_violations(violations, total)
    badge = {
        "kind": kind,
        "text": f"{right} of {total} right{source_text(answer)}",
        "short": f"{right}/{total}",
        "violations": "",
        "violations_kind": "",
    }
    if _is_negated(answer.query):
        badge["violations"] = counted(violations, "shows it", "show it")
        badge["violations_kind"] = kind if violations else ""
    return badge


def _violations_badge(ranking: Ranking, query: Query) -> View:
    """Count the violations alone; empty if none can be known."""
    violations = ranking.counts["violation"]
    if not _is_negated(query) or not (violations or read_query(query).is_known):
        return {}
    total = len(ranking.hits)
    return {
        "kind": _grade_violations(violations, total),
        "text": share_text(violations, total, "shows it", "show it"),
        "short": counted(violations, "shows it", "show it"),
        "violations": "",
    }


def _is_negated(query: Query) -> bool:
    return bool(query.unwanted or query.others)


def share_text(count: int, total: int, one: str, many: str) -> str:
    """Write how many clips do something: "1 of 8 shows it", "2 of 8 show it"."""
    return f"{count} of {total} {one if count == 1 else many}"


def source_text(answer: Answer) -> str:
    """Say, after a count, what its verdicts derive from: " by captions"; empty if the truth is known."""
    return f" by {answer.judged_by}" if answer.judged_by else ""


def grade(right: int, total: int) -> str:
    """Grade a share of clips by a colour: green from three quarters, red below half."""
    if 4 * right >= 3 * total:
        return "good"
    return "fair" if 2 * right >= total else "bad"


def _grade_violations(violations: int, total: int) -> str:
    """Grade the clips that do not violate; without a violation, that says nothing."""
    return grade(total - violations, total) if violations else "neutral"


def stage_summary(ranking: Ranking, answer: Answer) -> View:
    """Sum a column up for the stage, with the same numbers for every system."""
    total = len(ranking.hits)
    right = ranking.counts["right"]
    violations = ranking.counts["violation"]
    if not total:
        return {"kind": "bad", "text": "nothing left to search for"}
    if has_all_verdicts(answer):
        text = f"{right} of {total} right"
        if answer.query.unwanted:
            text += f", {counted(violations, 'shows it', 'show it')}"
        return {"kind": grade(right, total), "text": text}
    if not violations:
        return {}
    text = ""
    if answer.query.unwanted:
        text = share_text(violations, total, "shows it", "show it")
    return {"kind": grade(total - violations, total), "text": text}
