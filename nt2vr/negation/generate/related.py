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
    groups = [group for group in groups_in("related.txt") if lemma in group]
    return frozenset([lemma]).union(*groups)


def derived_from(lemma: str, vocabulary: Collection[str]) -> set[str]:
    """Return the words of `vocabulary` that start like `lemma`: "wrestle" finds "wrestler"."""
    stem = lemma.removesuffix("e")
    if len(stem) < _MIN_CHARS:
        return {lemma}.intersection(vocabulary)
    return {word for word in vocabulary if word.startswith(stem)}
