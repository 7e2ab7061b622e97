"""Verdicts from captions, for clips whose content is known only from descriptions."""

from collections.abc import Sequence
from functools import lru_cache

from nt2vr.errors import QueryError
from nt2vr.media.gallery import Video
from nt2vr.negation.generate.related import derived_from, related
from nt2vr.negation.parse.inflect import verb_of
from nt2vr.negation.parse.query import MAX_QUERY_CHARS, Query, understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.wordlists import words
from nt2vr.search.judge import Verdict

_CONTENT = frozenset({"NOUN", "ADJ"}) | VERB_TAGS
_EMPTY = words("be have do get go there video clip scene")
# Captions whose content is remembered.
_REMEMBERED = 20_000


def judge_by_captions(query: Query, video: Video, reference: Video | None = None) -> Verdict | None:
    """Judge a clip by what its captions say.

    What they do not mention is no evidence, and gets no verdict.

    Returns:
        "violation" if a caption has all content words of an unwanted part. "right" if a caption has
        all those of the wanted part, none has a content word of an unwanted part or a related one,
        and the query does not ask what else is there, or what of a reference a clip keeps.
        Otherwise None.
    """
    captions = [_content_of(caption) for caption in video.captions]
    unwanted = list(filter(None, map(_content_of, query.unwanted)))
    if any(_has_caption(captions, content) for content in unwanted):
        return "violation"

    if reference or query.others:
        return None
    denied_words = frozenset[str]().union(*unwanted)
    caption_words = frozenset[str]().union(*captions)
    for word in denied_words:
        # Captions may have a word of nearly the same meaning.
        if related(word) & caption_words or derived_from(word, caption_words):
            return None
    wanted = _content_of(" ".join(query.wanted))
    if not wanted or not _has_caption(captions, wanted):
        return None
    return "right"


def _has_caption(captions: Sequence[frozenset[str]], content: frozenset[str]) -> bool:
    """Return whether a caption has all these words."""
    return any(content <= caption for caption in captions)


@lru_cache(_REMEMBERED)
def _content_of(text: str) -> frozenset[str]:
    """Return the lemmas of the content words that a text affirms, and none that it denies."""
    try:
        affirmed = " ".join(understand(text[:MAX_QUERY_CHARS]).wanted)
    # The text is not valid Unicode.
    except QueryError:
        return frozenset()
    tokens = load_tagger().tag(affirmed)
    lemmas = {token.lemma for token in tokens if token.tag in _CONTENT}
    verbs = {verb_of(token.text.lower()) for token in tokens if token.tag in VERB_TAGS}
    return frozenset(lemmas | verbs) - _EMPTY
