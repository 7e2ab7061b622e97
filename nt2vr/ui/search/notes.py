"""Remarks on a ranking, below its column and on the command line."""

from collections.abc import Iterator

from nt2vr.errors import listed
from nt2vr.search.answers import Answer, Ranking


def notes(ranking: Ranking, answer: Answer, judged: bool) -> Iterator[str]:
    """Yield remarks on a ranking, one sentence each.

    Args:
        judged: whether there are verdicts, which know better than a low score.
    """
    if ranking.notice:
        yield ranking.notice
    if not ranking.hits:
        yield "Without its negated part, this query is empty."
        return
    if ranking.recall < 1:
        yield f"Approximate search: it finds {100 * ranking.recall:.1f} % of the ten best clips."
    if ranking.low and not judged:
        yield "No good match: the best score is below what matching clips usually get."
    known_words = [f"“{word}”" for word in answer.not_substituted(ranking)]
    if known_words:
        yield f"{ranking.system.model} knows {listed(*known_words)}, so nothing was replaced."
    if ranking.reads:
        yield f"Its bag of words sees only: {ranking.reads}."
    if ranking.unseen:
        yield f"{ranking.system.model} has never seen: {', '.join(ranking.unseen)}."
