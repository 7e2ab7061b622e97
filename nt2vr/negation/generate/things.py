"""Things that captions name."""

from collections.abc import Iterator
from typing import NamedTuple

from nt2vr.negation.generate.subjects import also_called, is_plural_noun
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.wordlists import listed, words

_ARTICLES = words("a an the")
_PARTS = words("NOUN ADJ POS ADP DET VBG VBN")
_MOST_WORDS = 5


class NamedThing(NamedTuple):
    """One noun phrase.

    Attributes:
        text: "a red car".
        bare: "red car".
        is_plural: whether it is several.
        head: lemma, "car".
        names: the head with hypernyms: "guy" has "man" and "person".
        modifiers: {"red"}.
    """

    text: str
    bare: str
    is_plural: bool
    head: str
    names: frozenset[str]
    modifiers: frozenset[str]

    @property
    def kind(self) -> str:
        """The lemma that things of a kind share, but people do not: "cat" for a cat and a kitten."""
        return min(self.names)

    def is_a(self, other: "NamedThing") -> bool:
        """Return whether this thing is surely of the other kind: "a red car" is "a car"."""
        return other.head in self.names and other.modifiers <= self.modifiers


def things(phrases: Phrases) -> Iterator[NamedThing]:
    """Yield the things a caption names, in order; skips pronouns and vague nouns."""
    i = 0
    while i < len(phrases.tokens):
        noun = None
        if phrases.tag(i) in {"DET", "NUM", "ADJ", "NOUN"}:
            noun = phrases.noun_phrase(i)
        if noun is None:
            i += 1
            continue

        # a group of | people
        is_group = phrases.lemma_is_listed(noun.head, "collectives", "vague_nouns")
        if is_group and phrases.word(noun.head + 1) == "of":
            i = noun.head + 2
            continue
        thing = _thing(phrases, noun)
        if thing:
            yield thing
        i = noun.end


def _thing(phrases: Phrases, noun: Phrase) -> NamedThing | None:
    """Return the thing that a noun phrase names; None if it is vague or odd."""
    first = phrases.after(noun.start, {"DET", "NUM"})
    is_vague = phrases.any_form_is_listed(noun.head, "vague_nouns")
    if is_vague or _is_odd(phrases, noun, first):
        return None
    lemma = phrases.lemma(noun.head)
    bare = phrases.text(first, noun.end).replace(" '", "'")
    is_plural = is_plural_noun(phrases, noun.head)

    determiner = phrases.word(noun.start)
    if first == noun.start + 1 and determiner in _ARTICLES:
        text = f"{determiner} {bare}"
    elif is_plural or _needs_no_article(phrases.word(noun.head), lemma):
        text = bare
    else:
        return None
    modifiers = {phrases.word(i) for i in range(first, noun.end) if i != noun.head}
    return NamedThing(
        text=text,
        bare=bare,
        is_plural=is_plural,
        head=lemma,
        names=also_called(lemma),
        modifiers=frozenset(modifiers),
    )


def _is_odd(phrases: Phrases, noun: Phrase, first: int) -> bool:
    """Return whether a noun is no plain word, or the words from word `first` on hardly go with it."""
    if not phrases.word(noun.head).isalpha() or phrases.tag(noun.head) != "NOUN":
        return True
    tags = phrases.tags[first : noun.end]
    return len(tags) > _MOST_WORDS or not _PARTS.issuperset(tags)


def _needs_no_article(head: str, lemma: str) -> bool:
    mass_nouns = listed("mass_nouns") - listed("bare_places")
    return not mass_nouns.isdisjoint((lemma, head))
