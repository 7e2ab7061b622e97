"""Offers where a query leads nowhere: other spellings, words and queries, and why there are no verdicts."""

import re
from functools import lru_cache

from nt2vr.errors import listed
from nt2vr.media.gallery import Video
from nt2vr.negation.parse.foreign import notice_of
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer
from nt2vr.search.embed_query import with_words
from nt2vr.ui.search.headline import VideoOf
from nt2vr.ui.search.references import NONE_RIGHT
from nt2vr.ui.search.tally import has_all_verdicts, hits_of
from nt2vr.ui.view import View, Views
from nt2vr.world.query_claims import read_query
from nt2vr.world.scenes import Scene
from nt2vr.world.spelling import similar_words
from nt2vr.world.suggestions import FEW, Suggestions, Understand
from nt2vr.world.verdicts import UnknownWord, unknown_words

# Unknown words that are named.
MOST_UNKNOWN = 4
# By the number of clips that fit; None if it is not known.
FEW_NOTICES = {None: "", 0: "No clip fits.", 1: "Only one clip fits."}


# Known words by the misspelt one that may stand for them.
Spellings = dict[str, list[str]]


def way_out_view(
    answer: Answer, videos: tuple[Video, ...], understand: Understand, video_of: VideoOf
) -> View:
    """Say why a query has no verdicts or fits, and offer other words and queries.

    Args:
        answer: of the query.
        videos: the clips of the built-in world; none if a library was searched, or with references.
        understand: parses a sentence.
        video_of: returns a clip of the gallery by its id.
    """
    if not videos:
        return {"reason": _reason_without_world(answer, video_of)}
    typed = answer.denied or answer.query
    unknown = unknown_words(typed)[:MOST_UNKNOWN]
    # Words of another language are not misspelt.
    spellings = {} if notice_of(typed.text) else _spellings(unknown)
    num_right = max((ranking.counts["right"] for ranking in answer.rankings), default=0)
    reason = "" if num_right else _reason(typed, unknown)
    if not reason and not has_all_verdicts(answer):
        reason = "Of clips without a mark, it is not known whether they fit."
    view = {
        "spellings": _spellings_view(typed.text, spellings),
        "unknown_words": [_unknown_word_view(typed.text, word) for word in unknown if word.near],
        "reason": reason,
    }
    if answer.denied or num_right > FEW:
        return view
    return view | _suggestions_view(answer, videos, spellings, understand)


def _suggestions_view(
    answer: Answer,
    videos: tuple[Video, ...],
    spellings: Spellings,
    understand: Understand,
) -> View:
    """Say that few clips fit, and offer similar queries; empty if more fit."""
    suggestions = _suggestions_of(videos)
    if suggestions is None:
        return {}
    query = with_words(answer.query, answer.read_as)
    count = suggestions.fitting(query)
    if count is not None and count > FEW:
        return {}
    if spellings:
        query = understand(_with_all(query.text, spellings))
    near = suggestions.near(query, understand)
    few_notice = FEW_NOTICES[count]
    if near:
        few_notice = f"{few_notice} Try"
    return {"few_notice": few_notice, "suggestions": near}


def _spellings(unknown: list[UnknownWord]) -> Spellings:
    """Return the known words that misspelt ones may stand for."""
    spellings = {}
    for word, near in unknown:
        similar = [] if near else similar_words(word)
        if similar:
            spellings[word] = similar
    return spellings


def _spellings_view(text: str, spellings: Spellings) -> Views:
    """Offer the words of one misspelt word, or the sentence with all words corrected."""
    if len(spellings) == 1:
        ((word, similar),) = spellings.items()
        return [
            {"text": spelling, "query": with_word(text, word, spelling)} for spelling in similar
        ]
    if not spellings:
        return []
    corrected = _with_all(text, spellings)
    return [{"text": corrected, "query": corrected}]


def _with_all(text: str, spellings: Spellings) -> str:
    for word, similar in spellings.items():
        text = with_word(text, word, similar[0])
    return text


def _unknown_word_view(text: str, unknown: UnknownWord) -> View:
    near = []
    for word in unknown.near:
        query = with_word(text, unknown.word, word)
        near.append({"word": word, "query": query})
    return {"word": unknown.word, "near": near}


def with_word(text: str, word: str, replacement: str) -> str:
    """Replace a word of a text by another one, with the article that this needs."""
    article = "an" if replacement[0] in "aeiou" else "a"

    def replaced(match: re.Match[str]) -> str:
        return f"{article} {replacement}" if match[1] else replacement

    return re.sub(rf"(\ban? )?\b{re.escape(word)}\b", replaced, text, flags=re.IGNORECASE)


def _reason(query: Query, unknown: list[UnknownWord]) -> str:
    """Say in a sentence why no clip can be called right; empty if clips can."""
    names = [f"“{word.word}”" for word in unknown if not word.near]
    if names:
        return f"No ✓ is possible: the world does not know {listed(*names, joint='or')}."
    claims = read_query(query)
    parts = (*claims.wanted, *claims.unwanted)
    texts = (*query.wanted, *query.unwanted, *query.others)
    for part, text in zip(parts, texts, strict=False):
        if part.claim is None or part.claim.vague:
            return f"No ✓ is possible: nothing says which clips show “{text}”."
    return "" if parts else "No ✓ is possible: the query names nothing that clips show."


def _reason_without_world(answer: Answer, video_of: VideoOf) -> str:
    """Say in a sentence why no clip of a library, or next to references, has a verdict; empty if one has."""
    hits = hits_of(answer.rankings)
    if answer.has_verdicts or not hits:
        return ""
    if not answer.judged_by:
        typed = answer.denied or answer.query
        return _reason(typed, unknown_words(typed)[:MOST_UNKNOWN]) or NONE_RIGHT
    if any(video_of(hit.video_id).captions for hit in hits):
        return "No verdict is possible: the captions of these clips do not say enough."
    return "No verdict is possible: these clips have no captions."


@lru_cache(maxsize=4)
def _suggestions_of(videos: tuple[Video, ...]) -> Suggestions | None:
    scenes = [Scene.from_dict(video.scene).dressed for video in videos if video.scene]
    return Suggestions(scenes) if scenes else None
