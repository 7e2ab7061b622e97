"""Captions with one thing changed by rules: denied, or another deed, somebody else or a thing more of other captions.

Nobody has checked that a changed caption is false of its clip.
"""

import random
from collections.abc import Callable, Iterator, Sequence

from nt2vr.negation.generate.actions import actions, also_called, chunks_of, is_plural_noun
from nt2vr.negation.generate.content import things
from nt2vr.negation.generate.negator import negations
from nt2vr.negation.parse.inflect import Form, inflect_phrase
from nt2vr.negation.parse.phrases import Phrase, Phrases
from nt2vr.negation.parse.tagger import load_tagger

OTHERS = 60  # captions that are parsed for something to take: a tenth of a second's work
_FORMS: dict[str, Form] = {
    "VBZ": "VBZ",
    "VBG": "VBG",
    "VBD": "VBD",
}  # of a verb that another one can stand for


def _negated(phrases: Phrases, caption: str, others: Sequence[Phrases]) -> Iterator[str]:
    yield from negations(caption)


def _other_verb(phrases: Phrases, caption: str, others: Sequence[Phrases]) -> Iterator[str]:
    """Replace the first verb and its object by what somebody does in another caption; what is worn stays."""
    verbs = [
        chunk
        for chunk in chunks_of(phrases)
        if chunk.kind == "VP" and phrases.tag(chunk.start) in _FORMS
    ]
    deeds = (
        each
        for each in verbs
        if not phrases.is_auxiliary(each.start) and phrases.lemma(each.start) != "wear"
    )
    if (chunk := next(deeds, None)) is None:
        return
    form, end = _FORMS[phrases.tag(chunk.start)], min({*chunk.places, chunk.end} - {chunk.start})
    for deed in (action.phrase for other in others for action in actions(other)):
        if not deed.is_bare and deed.key[0] != phrases.lemma(chunk.start):
            yield _replaced(phrases, caption, chunk.start, end, inflect_phrase(deed.text, form))


def _other_subject(phrases: Phrases, caption: str, others: Sequence[Phrases]) -> Iterator[str]:
    """Replace the first who acts by the first who acts in another caption, in the same number."""
    own, is_plural, names = _actor(phrases)
    for other in others:
        actor, as_many, theirs = _actor(other)
        if own and actor and as_many == is_plural and not theirs & names:
            said = " ".join(other.words[actor.start : actor.head + 1])
            yield _replaced(phrases, caption, own.start, own.head + 1, said)


def _actor(phrases: Phrases) -> tuple[Phrase | None, bool, frozenset[str]]:
    starts = (
        i for i, token in enumerate(phrases.tokens) if token.tag in {"DET", "NUM", "ADJ", "NOUN"}
    )
    for noun in filter(None, map(phrases.noun_phrase, starts)):
        if phrases.is_actor(noun):
            lemma = phrases.lemma(noun.head)
            return noun, is_plural_noun(phrases.word(noun.head), lemma), also_called(lemma)
    return None, False, frozenset()


def _added(phrases: Phrases, caption: str, others: Sequence[Phrases]) -> Iterator[str]:
    named: frozenset[str] = frozenset().union(
        *(also_called(token.lemma) for token in phrases.tokens)
    )
    for thing in (thing for other in others for thing in things(other)):
        if not (thing.names & named or thing.text.startswith("the ")):
            yield f"{caption.rstrip(' .')} and there {'are' if thing.is_plural else 'is'} {thing.text}"


def _replaced(phrases: Phrases, caption: str, start: int, end: int, text: str) -> str:
    return caption[: phrases.tokens[start].start] + text + caption[phrases.tokens[end - 1].end :]


CHANGES: dict[str, Callable[[Phrases, str, Sequence[Phrases]], Iterator[str]]] = {
    "negate": _negated,
    "swap the verb": _other_verb,
    "swap who": _other_subject,
    "add a thing": _added,
}


def changed(caption: str, change: str, others: Sequence[str], seed: str = "") -> str:
    """Change a caption in one of `CHANGES`, with words of `others`; "" where the rules find nothing to change."""
    rng = random.Random(f"{seed} {change} {caption}")
    taken = rng.sample(list(others), min(OTHERS, len(others))) if change != "negate" else []
    parsed = [Phrases(load_tagger().tag(other)) for other in taken]
    made = CHANGES[change](Phrases(load_tagger().tag(caption)), caption, parsed)
    found = [text for text in dict.fromkeys(made) if text != caption]
    return rng.choice(found) if found else ""
