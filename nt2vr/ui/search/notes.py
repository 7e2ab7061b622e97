"""Remarks on a ranking, below its column and on the command line."""

from collections.abc import Iterator

from nt2vr.errors import listed
from nt2vr.search.answers import Answer, Ranking

NOTHING_LEFT = "Without its negated part, this query is empty."
NO_GOOD_MATCH = "No good match: the best score is below what matching clips usually get."


def notes(ranking: Ranking, answer: Answer, judged: bool) -> Iterator[str]:
    """Yield remarks on a ranking, one sentence each; where it is `judged`, none is on a low score."""
    if ranking.notice:
        yield ranking.notice
    if not ranking.hits:
        yield NOTHING_LEFT
        return
    if ranking.recall < 1:
        yield f"Approximate search: it finds {100 * ranking.recall:.1f} % of the ten best clips."
    if ranking.low and not judged:  # verdicts know better
        yield NO_GOOD_MATCH
    if as_typed := answer.as_typed(ranking):
        words = listed(*(f"“{word}”" for word in as_typed))
        yield f"{ranking.system.model} knows {words}, so nothing was replaced."
    if ranking.reads:
        yield f"Its bag of words sees only: {ranking.reads}."
    if ranking.unseen:
        yield f"{ranking.system.model} has never seen: {', '.join(ranking.unseen)}."
