"""Slips of typing in words of negation."""

from collections.abc import Collection, Iterator
from functools import lru_cache

from nt2vr.negation.parse.wordlists import listed, spellings

_CONTRACTIONS = listed("contractions")
# A test compares them with the dictionary.
_NOT_MISSPELT = listed("not_misspelt")
_USUAL_SPELLINGS = spellings("usual")
_USUAL_CONTRACTIONS = spellings("contractions")
# Shorter words have too many neighbours: only swapped or doubled letters count.
_SURE_CHARS = 6
_LETTERS = "abcdefghijklmnopqrstuvwxyz"
# Added to a word, "s" and "d" may make another one.
_ENDING_NO_WORD = "abcefghijklmnopqrtuvwxyz"


def _slips(word: str) -> Iterator[str]:
    """Yield slips of typing a word: two letters swapped, or a letter doubled.

    Of longer words, a letter may also be missing, wrong or added.
    """
    is_sure = len(word) >= _SURE_CHARS
    yield word + word[-1]
    if is_sure:
        for letter in _ENDING_NO_WORD:
            yield word + letter

    for i in range(1, len(word)):
        before = word[:i]
        rest = word[i:]
        # swapped, doubled
        yield before[:-1] + rest[0] + before[-1] + rest[1:]
        yield before + before[-1] + rest
        if not is_sure:
            continue
        # missing, added, wrong
        yield before + rest[1:]
        for letter in _LETTERS:
            yield before + letter + rest
            yield before + letter + rest[1:]


def _misspellings(cues: Collection[str]) -> dict[str, str]:
    """Map the slips of some cues to the cues; a slip of two, such as "excluds", to the later by alphabet."""
    misspelt = {}
    for cue in sorted(cues):
        for slip in _slips(cue):
            if slip not in cues:
                misspelt[slip] = cue
    return misspelt


_MISSPELT = _misspellings(listed("mended"))
_MISSPELT_CONTRACTIONS = _misspellings(_CONTRACTIONS)


@lru_cache(10_000)
def cue_of(word: str) -> str:
    """Return the cue that a lower-case word is a misspelling of; otherwise the word."""
    usual = _USUAL_SPELLINGS.get(word)
    if usual:
        return usual
    if word in _NOT_MISSPELT:
        return word
    return _MISSPELT.get(word, word)


@lru_cache(10_000)
def contraction(word: str) -> str | None:
    """Return the contraction that a word misspells: "doesn't" for "does'nt" or "dosent"."""
    letters = "".join(filter(str.isalpha, word))
    usual = _USUAL_CONTRACTIONS.get(letters)
    if usual:
        return usual

    right = _MISSPELT_CONTRACTIONS.get(letters, letters)
    if right not in _CONTRACTIONS or letters in _NOT_MISSPELT or not letters.endswith("t"):
        return None
    with_apostrophe = f"{right[:-1]}'t"
    if word in {right, with_apostrophe}:
        return None
    return with_apostrophe
