"""Who does what in a caption: (subject, verb phrase) pairs by chunk parsing, after Algorithm 1 of the nT2VR paper.

Subjects and verb phrases are compared by lemmas: "a young man plays his guitar" and "a guy playing a guitar" are both
man: play guitar.
"""

from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import NamedTuple

from nt2vr.language.chunks import Chunk, chunks_of
from nt2vr.language.phrases import Phrases
from nt2vr.language.subjects import COLLECTIVES, PEOPLE, Subject, named
from nt2vr.language.tagger import FINITE_TAGS
from nt2vr.querygen.verb_phrases import VerbPhrase, verb_phrases


class Action(NamedTuple):
    """A subject with what it does."""

    subject: Subject
    phrase: VerbPhrase


def actions(phrases: Phrases) -> list[Action]:
    """Return what is done in a caption, given by its tagged words; nothing if it denies something."""
    if any(phrases.tag(i) == "NEG" or word in {"no", "without", "nobody"} for i, word in enumerate(phrases.words)):
        return []
    return list(_actions(phrases, chunks_of(phrases)))


def _actions(phrases: Phrases, chunks: Sequence[Chunk]) -> Iterator[Action]:
    subject: Subject | None = None
    for n, (chunk, following) in enumerate(zip_longest(chunks, chunks[1:])):
        before = chunks[n - 1] if n else None
        if chunk.kind == "NP":
            first, subject = subject, _subject(phrases, chunk, following)
            if before and before.kind == "CONJ" and n > 1 and chunks[n - 2].kind in {"NP", "PP"}:  # a man and a woman
                subject = PEOPLE if first and subject and first.is_human and subject.is_human else None
        elif chunk.kind in {"PUNCT", "PRON", "OTHER", "TO"} or phrases.word(chunk.start) in {"as", "when"}:
            subject = None
        elif chunk.kind == "WH" and before and before.kind == "VP":  # feeds an animal that | jumps
            subject = _actor_at_end(phrases, before) or (subject if phrases.word(chunk.start) == "who" else None)
        elif chunk.kind == "VP":
            if phrases.tag(chunk.start) not in FINITE_TAGS and before and before.kind in {"VP", "PP"}:
                subject = _before_participle(phrases, subject, chunks[:n])
            if subject:
                for phrase in verb_phrases(phrases, chunk, following.kind if following else ""):
                    yield Action(subject, phrase)


def _subject(phrases: Phrases, chunk: Chunk, following: Chunk | None) -> Subject | None:
    """Read a noun phrase as a subject; "a group of girls" are girls."""
    if following and phrases.lemma(chunk.end - 1) in COLLECTIVES and phrases.word(following.start) == "of":
        return named(phrases, following.start + 1, following.end, is_plural=True)
    return named(phrases, chunk.start, chunk.end)


def _actor_at_end(phrases: Phrases, chunk: Chunk) -> Subject | None:
    """Who ends a verb phrase and does what comes next: "a man talks to | a woman | holding a baby"."""
    return named(phrases, *chunk.last_noun) if chunk.last_noun else None


def _before_participle(phrases: Phrases, subject: Subject | None, before: Sequence[Chunk]) -> Subject | None:
    """Who a participle without a conjunction is said of, after the chunks `before`.

    After a verb phrase it may be who ends that, or a thing: "people meet with words | floating in front of them".
    """
    after_verb = next((chunk for chunk in before[-2:] if chunk.kind == "VP"), None)
    if after_verb is None:
        return subject
    if before[-1].kind == "VP" and (actor := _actor_at_end(phrases, before[-1])):
        return actor
    return None if "with" in phrases.words[after_verb.start : before[-1].end] else subject
