"""Captions with one thing changed by rules: denied, another deed, somebody else, or a thing more.

What takes the place of what a caption says comes from other captions, so that the rules know no vocabulary. Nobody
has checked that a changed caption is false of its clip.
"""

import random
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from nt2vr.negation.generate.actions import actions, also_called, chunks_of, is_plural_noun
from nt2vr.negation.generate.content import things
from nt2vr.negation.generate.negator import negations
from nt2vr.negation.parse.inflect import Form, inflect_phrase
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tagger import load_tagger

OTHERS = 60  # captions that are parsed for something to take: a tenth of a second's work
FORMS: dict[str, Form] = {"VBZ": "VBZ", "VBG": "VBG", "VBD": "VBD"}  # of a verb that another one can stand for
Change = Callable[[Phrases, str, Sequence[Phrases]], Iterator[str]]


def _negated(phrases: Phrases, caption: str, others: Sequence[Phrases]) -> Iterator[str]:
    yield from negations(caption)


def _other_verb(phrases: Phrases, caption: str, others: Sequence[Phrases]) -> Iterator[str]:
    """Replace the first verb and its object by what somebody does in another caption; what is worn stays."""
    for chunk in chunks_of(phrases):
        verb, form = phrases.lemma(chunk.start), FORMS.get(phrases.tag(chunk.start))
        if chunk.kind == "VP" and form and verb != "wear" and not phrases.is_auxiliary(chunk.start):
            end = next((place for place in chunk.places if place > chunk.start), chunk.end)
            for deed in (action.phrase for other in others for action in actions(other)):
                if not deed.is_bare and deed.key[0] != verb:
                    yield _replaced(phrases, caption, chunk.start, end, inflect_phrase(deed.text, form))
            return


def _other_subject(phrases: Phrases, caption: str, others: Sequence[Phrases]) -> Iterator[str]:
    """Replace the first who acts by the first who acts in another caption, in the same number."""
    if (own := _actor(phrases)) is None:
        return
    for other in others:
        found = _actor(other)
        if found and found.is_plural == own.is_plural and not found.names & own.names:
            yield _replaced(phrases, caption, own.start, own.end, " ".join(other.words[found.start : found.end]))


class _Actor(NamedTuple):
    """Words `start` to `end` (exclusive), which name somebody who can act."""

    start: int
    end: int
    is_plural: bool
    names: frozenset[str]


def _actor(phrases: Phrases) -> _Actor | None:
    for start in range(len(phrases.tokens)):
        noun = phrases.noun_phrase(start) if phrases.tag(start) in {"DET", "NUM", "ADJ", "NOUN"} else None
        if noun and phrases.is_actor(noun):
            word, lemma = phrases.word(noun.head), phrases.lemma(noun.head)
            return _Actor(noun.start, noun.head + 1, is_plural_noun(word, lemma), also_called(lemma))
    return None


def _added(phrases: Phrases, caption: str, others: Sequence[Phrases]) -> Iterator[str]:
    """Add a thing of another caption that this one does not name."""
    named: frozenset[str] = frozenset().union(*(also_called(phrases.lemma(i)) for i in range(len(phrases.tokens))))
    for thing in (thing for other in others for thing in things(other)):
        if not (thing.names & named or thing.text.startswith("the ")):
            yield f"{caption.rstrip(' .')} and there {'are' if thing.is_plural else 'is'} {thing.text}"


CHANGES: dict[str, Change] = {
    "negate": _negated,
    "swap the verb": _other_verb,
    "swap who": _other_subject,
    "add a thing": _added,
}


def changed(caption: str, change: str, others: Sequence[str], seed: str = "") -> str:
    """Change a caption in one way, drawn by the seed; "" where the rules find nothing to change or to take.

    Args:
        change: one of `CHANGES`.
        others: captions to take from.
    """
    rng = random.Random(f"{seed} {change} {caption}")
    taken = rng.sample(list(others), min(OTHERS, len(others))) if change != "negate" else []
    parsed = [Phrases(load_tagger().tag(other)) for other in taken]
    found = list(dict.fromkeys(CHANGES[change](Phrases(load_tagger().tag(caption)), caption, parsed)))
    found = [text for text in found if text != caption]
    return rng.choice(found) if found else ""


def _replaced(phrases: Phrases, caption: str, start: int, end: int, text: str) -> str:
    return caption[: phrases.tokens[start].start] + text + caption[phrases.tokens[end - 1].end :]
