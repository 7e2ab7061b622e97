"""Self-contained noun phrases of captions: "a red car", "people", "a glass of water"."""

from collections.abc import Iterator
from typing import NamedTuple

from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.subjects import also_called, is_plural_noun
from nt2vr.negation.parse.wordlists import listed, words

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
        if phrases.word(noun.head + 1) == "of" and phrases.lemma(noun.head) in listed("collectives", "vague_nouns"):
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
    is_vague = not listed("vague_nouns").isdisjoint((lemma, head))
    if phrases.tag(noun.head) != "NOUN" or is_vague or len(said) > _MOST_WORDS or not head.isalpha():
        return None
    if any(phrases.tag(j) not in {"NOUN", "ADJ", "POS", "ADP", "DET", "VBG", "VBN"} for j in range(first, noun.end)):
        return None
    bare = " ".join(said).replace(" '", "'")
    is_plural = is_plural_noun(head, lemma)
    article = phrases.word(noun.start) if first == noun.start + 1 else ""
    if article not in _ARTICLES and not (is_plural or {lemma, head} & (listed("mass_nouns") - listed("bare_places"))):
        return None
    text = f"{article} {bare}" if article in _ARTICLES else bare
    modifiers = frozenset(phrases.word(j) for j in range(first, noun.end) if j != noun.head)
    return Thing(text, bare, is_plural, lemma, also_called(lemma), modifiers)
