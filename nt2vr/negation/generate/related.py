"""Words that a caption may use for another one: "sing" and "song", "guitar" and "guitarist".

They are deliberately broad: they exclude videos.
"""

from collections.abc import Collection
from functools import cache, lru_cache

from nt2vr.negation.parse.wordlists import lines_of, words


@cache
def groups_in(file: str) -> tuple[frozenset[str], ...]:
    """Read groups of words, one a line."""
    return tuple(map(words, lines_of(f"wordings/{file}")))


# Shortest stem to match: "guitar" in "guitarist", but not "car" in "card".
_MIN_CHARS = 4


@lru_cache(10_000)  # Flickr8k's 40,460 captions need 3,605
def related(lemma: str) -> frozenset[str]:
    """Return `lemma` and the words that a caption may use instead."""
    words_related = {lemma}
    for group in groups_in("related.txt"):
        if lemma in group:
            words_related |= group
    return frozenset(words_related)


def derived_from(lemma: str, vocabulary: Collection[str]) -> set[str]:
    """Return the words of `vocabulary` that start with `lemma`: "wrestle" finds "wrestler"."""
    stem = lemma.removesuffix("e")
    is_long = len(stem) >= _MIN_CHARS
    return {word for word in vocabulary if word == lemma or (is_long and word.startswith(stem))}
