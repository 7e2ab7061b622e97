"""Verdicts from captions, for clips whose content is known only from descriptions."""

from collections.abc import Sequence
from functools import lru_cache

from nt2vr.errors import QueryError
from nt2vr.media.gallery import Video
from nt2vr.negation.generate.content import derived_from, related
from nt2vr.negation.parse.inflect import verb_of
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.query import MAX_QUERY_CHARS, Query, understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.wordlists import words
from nt2vr.search.answers import Verdict

_CONTENT = frozenset({"NOUN", "ADJ"}) | VERB_TAGS
_EMPTY = words("be have do get go there video clip scene")
_READ = 20_000  # captions remembered


def judge_by_captions(query: Query, video: Video, reference: Video | None = None) -> Verdict | None:
    """Judge a clip by what its captions say; what they do not mention is no evidence, and gets no verdict.

    Returns "violation" if a caption has all content words of an unwanted part; "right" if a caption
    has all those of the wanted part, none has a content word of an unwanted part or a related one,
    and the query does not ask what else is there, or what of a reference a clip keeps; otherwise
    None.
    """
    said = [_content_of(caption) for caption in video.captions]
    unwanted = [content for content in map(_content_of, query.unwanted) if content]
    if any(_is_said(content, said) for content in unwanted):
        return "violation"
    denied, everything = frozenset[str]().union(*unwanted), frozenset[str]().union(*said)
    # Where a word is said that means nearly the same as a denied one, the thing itself may be
    # there.
    is_near = (related(word) & everything or derived_from(word, everything) for word in denied)
    if reference or query.others or any(is_near):
        return None
    wanted = _content_of(" ".join(query.wanted))
    return "right" if wanted and _is_said(wanted, said) else None


def _is_said(content: frozenset[str], captions: Sequence[frozenset[str]]) -> bool:
    return any(content <= caption for caption in captions)


@lru_cache(_READ)
def _content_of(text: str) -> frozenset[str]:
    """Return the lemmas of the content words that a text says are there, and none that it denies."""
    try:
        affirmed = " ".join(understand(text[:MAX_QUERY_CHARS], load_tagger()).wanted)
    except QueryError:  # not valid Unicode
        return frozenset()
    tokens = Phrases(load_tagger().tag(affirmed)).tokens
    lemmas = {token.lemma for token in tokens if token.tag in _CONTENT}
    verbs = {verb_of(token.text.lower()) for token in tokens if token.tag in VERB_TAGS}
    return frozenset(lemmas | verbs) - _EMPTY
