"""What a system made of a query, in a sentence, and how many clips stay when the negation is taken away."""

from collections import Counter
from collections.abc import Callable, Sequence

from nt2vr.errors import counted
from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Ranking
from nt2vr.ui.search.tally import grade, share_text, source_text
from nt2vr.ui.view import View, Views
from nt2vr.world.query_claims import read_query
from nt2vr.world.reasons import lacking
from nt2vr.world.wording import NUMBERS

# Returns a clip by its id.
VideoOf = Callable[[str], Video]


def headline(columns: Sequence[View]) -> Views:
    """Say what the first and the last column made of a query, each with a `kind`; runs do not count."""
    columns_of_models = [column for column in columns if "run" not in column]
    sentences = []
    first_and_last = columns_of_models[:1] + columns_of_models[1:][-1:]
    for column in first_and_last:
        outcome = column["outcome"]
        if outcome:
            text = f"{column['system']} {outcome['text']}"
            sentences.append({**outcome, "text": text})
    return sentences


def outcome_view(
    ranking: Ranking, answer: Answer, video_of: VideoOf, before: Answer | None
) -> View:
    """Say what a system made of a query; empty where nothing is known.

    Args:
        before: the answer with the negation, if it was taken away. What changed since then is
            said instead.
    """
    if not ranking.hits:
        return {}
    if before is not None:
        return _change_view(ranking, before)
    return _verdicts_view(ranking, answer, video_of) if answer.has_verdicts else {}


def _change_view(ranking: Ranking, before: Answer) -> View:
    """Say how many clips changed when the negation was taken away; the fewer, the worse is the model."""
    total = len(ranking.hits)
    num_changed = total - _num_stayed(ranking, before)
    text = f"changes {num_changed} of {total}."
    if not num_changed:
        text = f"gives the same {counted(total, 'clip')}."
    elif num_changed == total:
        text = f"changes all {total}."
    return {"kind": grade(num_changed, total), "text": text}


def _verdicts_view(ranking: Ranking, answer: Answer, video_of: VideoOf) -> View:
    """Sum the verdicts of a column up, and what most of its clips lack."""
    query = answer.query
    total = len(ranking.hits)
    right = ranking.counts["right"]
    violations = ranking.counts["violation"]
    source = source_text(answer)
    is_judged = bool(source) or sum(ranking.counts.values()) == total
    lost = _lost(ranking, query, video_of) if is_judged else ""
    lost_remark = f"; {lost}" if lost else ""

    if not query.unwanted:
        if not is_judged:
            return {}
        text = f"is right in {right} of {total}{source}{lost_remark}."
        return {"kind": grade(right, total), "text": text}

    if violations:
        shows = "shows it" if len(query.unwanted) == 1 else "shows some of it"
        text = f"{shows} anyway, in {violations} of {total}{source}{lost_remark}."
        return {"kind": "bad" if 2 * violations > total else "fair", "text": text}

    # To show nothing unwanted is no merit unless clips are right.
    if source or (right and is_judged and read_query(query).is_known):
        ending = f", but {lost}." if lost else "."
        return {"kind": grade(right, total), "text": f"leaves it out{source}{ending}"}
    if lost:
        return {"kind": "bad", "text": f"misses what is wanted: {lost}."}
    return {}


def _lost(ranking: Ranking, query: Query, video_of: VideoOf) -> str:
    """Say what most clips lack of what is wanted, and how many: "7 of 8 show no pizza"."""
    total = len(ranking.hits)
    reasons = Counter[str]()
    for hit in ranking.hits:
        if hit.verdict in ("miss", "violation"):
            reasons.update(lacking(query, video_of(hit.video_id)))
    if not reasons:
        misses = ranking.counts["miss"]
        return share_text(misses, total, "lacks the rest", "lack the rest") if misses else ""

    [(reason, count)] = reasons.most_common(1)
    if reason.startswith("not "):
        return share_text(count, total, f"is {reason}", f"are {reason}")
    if reason.split()[0] in NUMBERS:
        return share_text(count, total, f"shows {reason}", f"show {reason}")
    return f"{count} of {total}: {reason}"


def stays_view(ranking: Ranking, before: Answer | None) -> View:
    """Say how many clips are also in the answer before, at length and in short."""
    if before is None or not ranking.hits:
        return {"stayed": "", "stayed_short": ""}
    stayed = _num_stayed(ranking, before)
    return {
        "stayed": f"{stayed} of {len(ranking.hits)} clips stayed",
        "stayed_short": f"{stayed} stayed",
    }


def _num_stayed(ranking: Ranking, before: Answer) -> int:
    """Count a column's clips that it also shows with the negation taken away, or put back."""
    sources_before: set[str] = set()
    for ranking_before in before.rankings:
        if ranking_before.system == ranking.system:
            sources_before.update(hit.source for hit in ranking_before.hits)
    return sum(hit.source in sources_before for hit in ranking.hits)
