"""Self-contained noun phrases of captions: "a red car", "people", "a glass of water"."""

from collections.abc import Iterator
from typing import NamedTuple

from nt2vr.language.phrases import Phrase, Phrases
from nt2vr.language.subjects import COLLECTIVES, also_called, is_plural_noun
from nt2vr.language.wordlists import MASS_NOUNS, words

# Nouns for a place in the picture, an amount or the video itself
_VAGUE = words(
    "thing something anything someone everything way kind type sort front side top bottom back middle center end edge "
    "corner part area lot bit bunch couple pair number amount time day time background foreground distance video clip "
    "footage scene camera picture image photo view shot screen movie film show one other another each two three four "
    "many few different various left right line row order place action style name game turn look fun use air"
)
# Mass nouns only as places or in idioms: "on stage", "in bed", "on tv"
_BARE_PLACES = words("stage camera front top tv television bed work school church land space")
_ARTICLES = words("a an the")
_MOST_WORDS = 5


class Thing(NamedTuple):
    """One noun phrase."""

    text: str  # "a red car"
    bare: str  # "red car"
    is_plural: bool
    head: str  # lemma, "car"
    names: frozenset[str]  # the head with hypernyms: "guy" has "man" and "person"
    modifiers: frozenset[str]  # {"red"}

    def is_a(self, other: "Thing") -> bool:
        """Return whether this thing is surely of the other kind: "a red car" is "a car", but not the reverse."""
        return other.head in self.names and other.modifiers <= self.modifiers


def things(phrases: Phrases) -> Iterator[Thing]:
    """Yield the things a caption names, in order; skips pronouns and vague nouns."""
    i = 0
    while i < len(phrases.tokens):
        noun = phrases.noun_phrase(i) if phrases.tag(i) in {"DET", "NUM", "ADJ", "NOUN"} else None
        if noun is None:
            i += 1
            continue
        if phrases.word(noun.head + 1) == "of" and phrases.lemma(noun.head) in COLLECTIVES | _VAGUE:
            i = noun.head + 2  # a group of | people
            continue
        if thing := _thing(phrases, noun):
            yield thing
        i = noun.end


def _thing(phrases: Phrases, noun: Phrase) -> Thing | None:
    """Parse a noun phrase; without an article only plurals and mass nouns count."""
    head, lemma = phrases.word(noun.head), phrases.lemma(noun.head)
    first = noun.start
    while phrases.tag(first) in {"DET", "NUM"}:
        first += 1
    said = phrases.words[first : noun.end]
    if phrases.tag(noun.head) != "NOUN" or {lemma, head} & _VAGUE or len(said) > _MOST_WORDS or not head.isalpha():
        return None
    if any(phrases.tag(j) not in {"NOUN", "ADJ", "POS", "ADP", "DET", "VBG", "VBN"} for j in range(first, noun.end)):
        return None
    bare = " ".join(said).replace(" '", "'")
    is_plural = is_plural_noun(head, lemma)
    article = phrases.word(noun.start) if first == noun.start + 1 else ""
    if article not in _ARTICLES and not (is_plural or {lemma, head} & (MASS_NOUNS - _BARE_PLACES)):
        return None
    text = f"{article} {bare}" if article in _ARTICLES else bare
    modifiers = frozenset(phrases.word(j) for j in range(first, noun.end) if j != noun.head)
    return Thing(text, bare, is_plural, lemma, also_called(lemma), modifiers)
