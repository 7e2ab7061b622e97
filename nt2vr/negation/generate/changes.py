"""Captions with one thing changed by rules.

It is denied, or replaced by another action or actor of other captions, or a thing is added. Nobody
has checked that a changed caption is false of its clip.
"""

from collections.abc import Callable, Iterator, Sequence
from random import Random

from nt2vr.negation.generate.actions import actions
from nt2vr.negation.generate.chunks import Chunk, chunks_of
from nt2vr.negation.generate.negator import negations
from nt2vr.negation.generate.subjects import also_called, is_plural_noun
from nt2vr.negation.generate.things import things
from nt2vr.negation.parse.inflect import Form, inflect_phrase, is_or_are
from nt2vr.negation.parse.phrases import Phrase, Phrases, phrases_of

# Captions that are parsed to take words from them: a tenth of a second's work.
MAX_SOURCES = 60
# Tags of a verb that another one can replace, and the form that this one needs.
_FORMS: dict[str, Form] = {"VBZ": "VBZ", "VBG": "VBG", "VBD": "VBD"}


def _negated(phrases: Phrases, caption: str, sources: Sequence[Phrases]) -> Iterator[str]:
    yield from negations(caption)


def _other_verb(phrases: Phrases, caption: str, sources: Sequence[Phrases]) -> Iterator[str]:
    """Replace the first verb and its object by what somebody does in another caption."""
    chunk = _replaceable_chunk(phrases)
    if chunk is None:
        return
    verb = chunk.start
    form = _FORMS[phrases.tag(verb)]
    # The places stay.
    end = min((*chunk.places, chunk.end))
    for source in sources:
        for _, phrase in actions(source):
            if not phrase.is_bare and phrase.key[0] != phrases.lemma(verb):
                text = inflect_phrase(phrase.text, form)
                yield _replaced(phrases, caption, verb, end, text)


def _replaceable_chunk(phrases: Phrases) -> Chunk | None:
    """Return the first chunk that begins with a verb; what is worn stays."""
    for chunk in chunks_of(phrases):
        verb = chunk.start
        if chunk.kind != "VP" or phrases.tag(verb) not in _FORMS:
            continue
        if not phrases.is_auxiliary(verb) and phrases.lemma(verb) != "wear":
            return chunk
    return None


def _other_subject(phrases: Phrases, caption: str, sources: Sequence[Phrases]) -> Iterator[str]:
    """Replace the first actor by the first one of another caption, in the same number."""
    actor = _first_actor(phrases)
    if actor is None:
        return
    names = also_called(phrases.lemma(actor.head))
    is_plural = is_plural_noun(phrases, actor.head)
    for source in sources:
        new = _first_actor(source)
        if new is None or is_plural_noun(source, new.head) != is_plural:
            continue
        if names.isdisjoint(also_called(source.lemma(new.head))):
            text = source.text(new.start, new.head + 1)
            yield _replaced(phrases, caption, actor.start, actor.head + 1, text)


def _first_actor(phrases: Phrases) -> Phrase | None:
    for i, token in enumerate(phrases.tokens):
        if token.tag in {"DET", "NUM", "ADJ", "NOUN"}:
            noun = phrases.noun_phrase(i)
            if noun and phrases.is_actor(noun):
                return noun
    return None


def _added(phrases: Phrases, caption: str, sources: Sequence[Phrases]) -> Iterator[str]:
    """Add a thing of another caption."""
    names: set[str] = set()
    for token in phrases.tokens:
        names |= also_called(token.lemma)
    for source in sources:
        for thing in things(source):
            if thing.names & names or thing.text.startswith("the "):
                continue
            verb = is_or_are(thing.is_plural)
            yield f"{caption.rstrip(' .')} and there {verb} {thing.text}"


def _replaced(phrases: Phrases, caption: str, start: int, end: int, text: str) -> str:
    """Replace words `start` to `end` of a caption."""
    before = caption[: phrases.tokens[start].start]
    after = caption[phrases.tokens[end - 1].end :]
    return before + text + after


CHANGES: dict[str, Callable[[Phrases, str, Sequence[Phrases]], Iterator[str]]] = {
    "negate": _negated,
    "swap the verb": _other_verb,
    "swap who": _other_subject,
    "add a thing": _added,
}


def changed(caption: str, change: str, captions: Sequence[str], seed: str = "") -> str:
    """Change a caption in one of `CHANGES`, with words of `captions`; "" if that is impossible."""
    rng = Random(f"{seed} {change} {caption}")
    sample = []
    if change != "negate":
        sample = rng.sample(captions, min(MAX_SOURCES, len(captions)))
    sources = list(map(phrases_of, sample))

    texts = dict.fromkeys(CHANGES[change](phrases_of(caption), caption, sources))
    texts.pop(caption, None)
    if texts:
        return rng.choice(list(texts))
    return ""
