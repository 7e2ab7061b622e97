"""Phrases read as claims: captions, and the parts of queries."""

import re
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from nt2vr.world.claims import MANY, Claim, SubjectClaim
from nt2vr.world.lexicon import lexicon
from nt2vr.world.meaning import tokens_of
from nt2vr.world.phrase_reader import PhraseReader
from nt2vr.world.things import meanings
from nt2vr.world.word_tables import emojis
from nt2vr.world.words import has_lacking, known_words, words_in

# It says no more than the "then" after it.
_FIRST = re.compile(r"\b(at )?first\b(?=.*\bthen\b)", re.IGNORECASE)
_NOBODY = frozenset({"anyone", "anybody", "anything"})
# Phrases remembered: a search judges many clips by the same ones.
MAX_READ = 4096
# Holds for no scene.
NOTHING = Claim((SubjectClaim(least=MANY, total=True),))


@lru_cache(MAX_READ)
def read_phrase(phrase: str) -> Claim | None:
    """Parse a phrase into a claim; None if it has no content, or what the world cannot tell.

    The claim is `vague` if it holds for other scenes, too. What the world lacks is NOTHING.
    """
    phrase = _FIRST.sub("", phrase, count=1)
    tokens = tokens_of(phrase)
    # In "flies away before anyone catches it", nobody catches it.
    if "before" in tokens and not _NOBODY.isdisjoint(tokens):
        return None
    # "Baby animals" are drawn like others.
    if any(_is_young(pair) for pair in pairwise(phrase.lower().split())):
        return None

    words = words_in(phrase)
    if has_lacking(words):
        return None if "or" in tokens else NOTHING
    meaningful = known_words(words)
    reader = PhraseReader(meaningful.is_vague, has_background="background" in tokens)
    names: set[str] = set()
    for word in meaningful.words:
        # a rocket 🚀
        is_repeated = word.first in emojis() and word.names <= names
        if is_repeated:
            continue
        if not reader.read(word):
            return None
        names |= word.names
    return reader.finish()


def read_claim(phrase: str) -> Claim | None:
    """Parse a phrase into a claim that is not vague; None if that is impossible.

    It is with unknown words, without content, or with what the world cannot tell.
    """
    claim = read_phrase(phrase)
    if claim and not claim.vague and claim != NOTHING:
        return claim
    return None


def read_asked(phrase: str) -> Claim | None:
    """Parse a part of a query: "dogs" asks for at least one, and "no dogs" excludes any."""
    claim = read_phrase(phrase)
    if claim is None:
        return None
    subjects = []
    for subject in claim.subjects:
        has_number = subject.most != MANY or subject.total
        if not has_number:
            subject = replace(subject, least=1)
        subjects.append(subject)
    return replace(claim, subjects=tuple(subjects))


def _is_young(words: tuple[str, str]) -> bool:
    """Return whether two words name a young animal without a name of its own: "baby panda"."""
    if words[0] != "baby" or words in lexicon():
        return False
    meaning = lexicon().get(words[1:])
    if meaning is None or meaning.kind != "noun":
        return False
    return meaning.names <= meanings()["animal"]
