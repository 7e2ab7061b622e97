"""What a system made of a query, in a sentence, and how many clips stay when the negation is taken away."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from nt2vr.errors import counted
from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Ranking
from nt2vr.ui.search.tally import grade, share_text
from nt2vr.world.query_claims import read_query
from nt2vr.world.reasons import lacking

# Returns a clip by its id.
VideoOf = Callable[[str], Video]


def headline(columns: Sequence[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Say what the first and the last column made of a query, each with a `kind`; none of what is learning."""
    finished = [column for column in columns if "run" not in column]
    sentences = []
    for column in (*finished[:1], *finished[1:][-1:]):
        outcome = column["told"]
        if outcome:
            sentences.append({**outcome, "text": f"{column['system']} {outcome['text']}"})
    return sentences


def outcome_view(
    ranking: Ranking, answer: Answer, video_of: VideoOf, other: Answer | None
) -> dict[str, str]:
    """Say what a system made of a query; empty where nothing is known.

    Args:
        other: the answer with the negation, if it was taken away. What changed since then is said
            instead.
    """
    if not ranking.hits:
        return {}
    if other is not None:
        return _change_view(ranking, other)
    if not answer.has_verdicts:
        return {}
    if not answer.query.unwanted:
        return _affirmative_view(ranking, answer, video_of)
    if ranking.counts["violation"]:
        return _violating_view(ranking, answer, video_of)
    return _excluding_view(ranking, answer, video_of)


def _change_view(ranking: Ranking, other: Answer) -> dict[str, str]:
    """Say what taking the negation away changed; that nothing did is what a model gets wrong."""
    total = len(ranking.hits)
    num_changed = total - _num_stayed(ranking, other)
    if not num_changed:
        return {"kind": "bad", "text": f"gives the same {counted(total, 'clip')}."}
    changed = f"{num_changed} of {total}" if num_changed < total else f"all {total}"
    return {"kind": grade(num_changed, total), "text": f"changes {changed}."}


def _affirmative_view(ranking: Ranking, answer: Answer, video_of: VideoOf) -> dict[str, str]:
    """Say how many clips are right for a query that excludes nothing."""
    if not answer.judged_by and not _is_complete(ranking):
        return {}
    total = len(ranking.hits)
    right = ranking.counts["right"]
    lost = _lost(ranking, answer, video_of)
    ending = f"; {lost}" if lost else ""
    text = f"is right in {right} of {total}{_source(answer)}{ending}."
    return {"kind": grade(right, total), "text": text}


def _violating_view(ranking: Ranking, answer: Answer, video_of: VideoOf) -> dict[str, str]:
    """Say how many clips show what is unwanted."""
    total = len(ranking.hits)
    violations = ranking.counts["violation"]
    shows = "shows it" if len(answer.query.unwanted) == 1 else "shows some of it"
    lost = _lost(ranking, answer, video_of)
    ending = f"; {lost}" if lost else ""
    text = f"{shows} anyway, in {violations} of {total}{_source(answer)}{ending}."
    return {"kind": "bad" if 2 * violations > total else "fair", "text": text}


def _excluding_view(ranking: Ranking, answer: Answer, video_of: VideoOf) -> dict[str, str]:
    """Say that no clip shows what is unwanted, and what most of them lack."""
    right = ranking.counts["right"]
    lost = _lost(ranking, answer, video_of)
    is_known = right and _is_complete(ranking) and read_query(answer.query).is_known
    if not answer.judged_by and not is_known:
        return {"kind": "bad", "text": f"misses what is wanted: {lost}."} if lost else {}
    ending = f", but {lost}" if lost else ""
    text = f"leaves it out{_source(answer)}{ending}."
    return {"kind": grade(right, len(ranking.hits)), "text": text}


def _is_complete(ranking: Ranking) -> bool:
    """Return True if every clip has a verdict."""
    return sum(ranking.counts.values()) == len(ranking.hits)


def _source(answer: Answer) -> str:
    return f" by {answer.judged_by}" if answer.judged_by else ""


def _lost(ranking: Ranking, answer: Answer, video_of: VideoOf) -> str:
    """Say what most clips lack of what is wanted, and how many: "7 of 8 show no pizza"; empty if it is unknown."""
    if not answer.judged_by and not _is_complete(ranking):
        return ""
    total = len(ranking.hits)
    reasons = _reasons(ranking, answer.query, video_of)
    if not reasons:
        misses = ranking.counts["miss"]
        return share_text(misses, total, "lacks the rest", "lack the rest") if misses else ""

    [(reason, count)] = reasons.most_common(1)
    if reason.startswith("not "):
        return share_text(count, total, f"is {reason}", f"are {reason}")
    if reason.startswith("no "):
        return share_text(count, total, f"shows {reason}", f"show {reason}")
    return f"{count} of {total}: {reason}"


def _reasons(ranking: Ranking, query: Query, video_of: VideoOf) -> Counter[str]:
    """Count what the clips that are not right lack of what is wanted."""
    reasons = Counter[str]()
    for hit in ranking.hits:
        if hit.verdict in ("miss", "violation"):
            reasons.update(lacking(query, video_of(hit.video_id)))
    return reasons


def stays_view(ranking: Ranking, other: Answer | None) -> dict[str, str]:
    """Say how many clips stayed since the `other` answer, at length and in a word."""
    if other is None or not ranking.hits:
        return {"stayed": "", "same": ""}
    stayed = _num_stayed(ranking, other)
    return {"stayed": f"{stayed} of {len(ranking.hits)} clips stayed", "same": f"{stayed} stayed"}


def _num_stayed(ranking: Ranking, other: Answer) -> int:
    """Count a column's clips that it also shows with the negation taken away, or put back."""
    sources_before: set[str] = set()
    for ranking_before in other.rankings:
        if ranking_before.system == ranking.system:
            sources_before.update(hit.source for hit in ranking_before.hits)
    return sum(hit.source in sources_before for hit in ranking.hits)
