"""How a system's ranking is made: its best clips, merged into hits, with all that is known about them."""

from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Ranking
from nt2vr.search.embed_query import unseen_words
from nt2vr.search.hits import ScoredClip, hits_of, merge_windows, ranks_of
from nt2vr.search.judge import ClipJudge
from nt2vr.search.plan import SearchPlan
from nt2vr.search.strategies import STRATEGIES
from nt2vr.search.system_search import QueryOrVector, SystemSearch

# Clips ranked per search, even if fewer are shown.
MIN_RANKED = 1000
# Metric in a card: 99 % of captions that fit a clip have a higher best score.
LOW_SCORE = "validation/low_score"


def rank(
    search: SystemSearch,
    query: QueryOrVector,
    plan: SearchPlan,
    judge: ClipJudge,
) -> Ranking:
    """Rank the clips of a gallery with one system.

    Args:
        query: as typed; its verdicts come from the judge.
    """
    gallery = search.gallery
    k = len(gallery.gallery.videos) if plan.k is None else plan.k
    clips = _best_clips(search, k, plan)
    clips_of_hits = merge_windows(clips, k)
    hits = hits_of(clips_of_hits, judge)
    model = search.model
    card = model.encoder.card
    return Ranking(
        search.system,
        hits=hits,
        unseen=_unseen_words(search, query),
        read_as=search.parts.replacements,
        reads=_words_read(search),
        low=bool(hits) and hits[0].score < _low_score(search),
        strength=search.parts.strength,
        vector=search.vector,
        exclusion=search.exclusion,
        ranks=ranks_of(clips_of_hits, clips),
        epoch=model.epoch,
        notice=_notice(search),
        gallery=gallery,
        # Only libraries, which have a key, are searched before all clips are indexed.
        missing=len(gallery.skipped) if gallery.gallery.key else 0,
        summary=card.summary,
        explained_in=card.explained_in,
    )


def _best_clips(search: SystemSearch, k: int, plan: SearchPlan) -> list[ScoredClip]:
    """Return the best clips and their scores, at least k of them; references are left out."""
    if search.vector is None:
        return []
    reference_ids = {reference.video_id for reference in plan.references}
    num_ranked = max(k + len(reference_ids), MIN_RANKED)
    scores, rows = search.gallery.search(search.vector, num_ranked, search.exclusion)
    videos = search.gallery.gallery.videos
    # Most queries have no reference, so a loop with a condition would only cost time.
    best = list(zip([videos[row] for row in rows.tolist()], scores.tolist(), strict=True))
    if not reference_ids:
        return best
    return [clip for clip in best if clip[0].video_id not in reference_ids]


def _notice(search: SystemSearch) -> str:
    """Return why a newer checkpoint, or the index that was asked for, is not used."""
    if search.model.notice or search.vector is None:
        return search.model.notice
    return search.gallery.notice


def _unseen_words(search: SystemSearch, query: QueryOrVector) -> tuple[str, ...]:
    """Return the words of a query that never occurred in the model's training, and stay in it."""
    if not isinstance(query, Query):
        return ()
    unseen = unseen_words(query, search.model.encoder)
    return tuple(word for word in unseen if word not in search.parts.replacements)


def _words_read(search: SystemSearch) -> str:
    """Return the words that a model reads of a sentence, where it does not read all."""
    query = search.parts.query
    if search.system.strategy != "plain" or query is None:
        return ""
    return search.model.encoder.words_read(query.text)


def _low_score(search: SystemSearch) -> float:
    """Return the score below which a best clip does not fit.

    It is -1 where scores are not cosines with a text alone.
    """
    parts = search.parts
    if not STRATEGIES[search.system.strategy].is_cosine:
        return -1.0
    if parts.query is None or parts.query.unwanted:
        return -1.0
    if parts.combined is not None or parts.away is not None:
        return -1.0
    return search.model.encoder.card.metrics.get(LOW_SCORE, -1.0)
