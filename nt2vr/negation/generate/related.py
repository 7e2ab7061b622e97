"""Related words: "sing" and "song", "cook" and "recipe". Deliberately broad, to exclude videos."""

from collections.abc import Collection
from functools import lru_cache

from nt2vr.negation.generate.written import groups_in

_MIN_CHARS = 4  # shortest stem to match: "guitar" in "guitarist", but not "car" in "card"


@lru_cache(10_000)  # Flickr8k's 40,460 captions need 3,605
def related(lemma: str) -> frozenset[str]:
    """Return `lemma` and the words that a caption may use instead."""
    return frozenset((lemma,)).union(*(group for group in groups_in("related.txt") if lemma in group))


def derived_from(lemma: str, vocabulary: Collection[str]) -> set[str]:
    """Return the words of `vocabulary` that start with `lemma`: "wrestle" finds "wrestler" and "wrestling"."""
    stem = lemma.removesuffix("e")
    return {word for word in vocabulary if word == lemma or (len(stem) >= _MIN_CHARS and word.startswith(stem))}
