"""What a system made of a query, in a sentence, and how many clips stay when the negation is taken away."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nt2vr.errors import counted
from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Ranking
from nt2vr.ui.search.tally import grade
from nt2vr.world.query_claims import read_query
from nt2vr.world.reasons import lacking

VideoOf = Callable[[str], Video]  # by its id


def headline(columns: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Say what the first and the last column made of a query, each with a `kind`; none of what is learning."""
    found = [each for each in columns if "run" not in each]
    ends = (*found[:1], *found[1:][-1:])
    return [
        {**each["told"], "text": f"{each['system']} {each['told']['text']}"}
        for each in ends
        if each["told"]
    ]


def outcome(
    ranking: Ranking, answer: Answer, video_of: VideoOf, other: Answer | None
) -> dict[str, str]:
    """Say what a system made of a query, by verdicts, or by what changed since the `other` answer, with the negation.

    Nothing where these say nothing.
    """
    if not ranking.hits:
        return {}
    if other:
        return _flipped(ranking, other)
    unwanted, by = answer.query.unwanted, f" by {answer.judged_by}" if answer.judged_by else ""
    total = len(ranking.hits)
    right, violations, misses = (
        ranking.counts[verdict] for verdict in ("right", "violation", "miss")
    )
    is_complete = right + misses + violations == total
    lost, kind = (
        _lost(ranking, answer.query, video_of) if by or is_complete else "",
        grade(right, total),
    )
    if not answer.has_verdicts or (not unwanted and not by and not is_complete):
        return {}
    if not unwanted:
        return {
            "kind": kind,
            "text": f"is right in {right} of {total}{by}{f'; {lost}' * bool(lost)}.",
        }
    if violations:
        shows = "shows it" if len(unwanted) == 1 else "shows some of it"
        text = f"{shows} anyway, in {violations} of {total}{by}{f'; {lost}' * bool(lost)}."
        return {"kind": "bad" if 2 * violations > total else "fair", "text": text}
    if not by and not (right and is_complete and read_query(answer.query).is_known):
        return {"kind": "bad", "text": f"misses what is wanted: {lost}."} if lost else {}
    return {"kind": kind, "text": f"leaves it out{by}{f', but {lost}' * bool(lost)}."}


def _lost(ranking: Ranking, query: Query, video_of: VideoOf) -> str:
    """Say what most clips lack of what is wanted, and how many: "7 of 8 show no pizza"."""
    total = len(ranking.hits)
    reasons = Counter[str]()
    for hit in ranking.hits:
        if hit.verdict in ("miss", "violation"):
            reasons.update(lacking(query, video_of(hit.video_id)))
    if not reasons:
        misses = ranking.counts["miss"]
        return (
            f"{misses} of {total} {'lacks' if misses == 1 else 'lack'} the rest" if misses else ""
        )

    (reason, count), *_ = reasons.most_common(1)
    if reason.startswith("not "):
        return f"{count} of {total} {'is' if count == 1 else 'are'} {reason}"
    if reason.startswith("no "):
        return f"{count} of {total} {'shows' if count == 1 else 'show'} {reason}"
    return f"{count} of {total}: {reason}"


def _flipped(ranking: Ranking, other: Answer) -> dict[str, str]:
    """Say what taking the negation away changed; that nothing did is what a model gets wrong."""
    total, stayed = len(ranking.hits), _stayed(ranking, other)
    if stayed == total:
        return {"kind": "bad", "text": f"gives the same {counted(total, 'clip')}."}
    changed = f"all {total}" if not stayed else f"{total - stayed} of {total}"
    return {"kind": grade(total - stayed, total), "text": f"changes {changed}."}


def _stayed(ranking: Ranking, other: Answer) -> int:
    """Count a column's clips that it also shows with the negation taken away, or put back."""
    before = {
        hit.source for each in other.rankings if each.system == ranking.system for hit in each.hits
    }
    return sum(hit.source in before for hit in ranking.hits)


def stays_view(ranking: Ranking, other: Answer | None) -> dict[str, str]:
    """Say how many clips stayed since the `other` answer, at length and in a word."""
    if other is None or not ranking.hits:
        return {"stayed": "", "same": ""}
    stayed = _stayed(ranking, other)
    return {"stayed": f"{stayed} of {len(ranking.hits)} clips stayed", "same": f"{stayed} stayed"}
