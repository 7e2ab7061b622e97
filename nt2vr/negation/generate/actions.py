"""(Subject, verb phrase) pairs of captions, by the paper's Algorithm 1.

Pairs are compared by lemmas: "a young man plays his guitar" and "a guy playing a guitar" are both man: play guitar.
"""

from collections.abc import Sequence
from itertools import zip_longest
from typing import NamedTuple

from nt2vr.negation.generate.verb_phrases import VerbPhrase, verb_phrases
from nt2vr.negation.parse.chunks import Chunk, chunks_of
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.subjects import PEOPLE, Subject, named
from nt2vr.negation.parse.tagger import FINITE_TAGS
from nt2vr.negation.parse.wordlists import listed


class Action(NamedTuple):
    """A subject and its verb phrase."""

    subject: Subject
    phrase: VerbPhrase


def actions(phrases: Phrases) -> list[Action]:
    """Return the actions in a tagged caption; none if the caption is negated."""
    if any(phrases.tag(i) == "NEG" or word in {"no", "without", "nobody"} for i, word in enumerate(phrases.words)):
        return []
    found, chunks = list[Action](), chunks_of(phrases)
    subject: Subject | None = None
    for n, (chunk, following) in enumerate(zip_longest(chunks, chunks[1:])):
        subject = _subject_after(phrases, subject, chunks[:n], chunk, following)
        if chunk.kind == "VP" and subject:
            after = following.kind if following else ""
            found += [Action(subject, phrase) for phrase in verb_phrases(phrases, chunk, after)]
    return found


def _subject_after(
    phrases: Phrases, subject: Subject | None, earlier: Sequence[Chunk], chunk: Chunk, following: Chunk | None
) -> Subject | None:
    """Return the subject of a verb phrase, or of the verb phrases after any other chunk."""
    before = earlier[-1] if earlier else None
    if chunk.kind == "NP":
        return _subject_of_noun(phrases, subject, earlier, chunk, following)
    if chunk.kind in {"PUNCT", "PRON", "OTHER", "TO"} or phrases.word(chunk.start) in {"as", "when"}:
        return None
    if chunk.kind == "WH" and before and before.kind == "VP":  # feeds an animal that | jumps
        return _actor_at_end(phrases, before) or (subject if phrases.word(chunk.start) == "who" else None)
    if chunk.kind == "VP" and phrases.tag(chunk.start) not in FINITE_TAGS and before and before.kind in {"VP", "PP"}:
        return _before_participle(phrases, subject, earlier)
    return subject


def _subject_of_noun(
    phrases: Phrases, first: Subject | None, earlier: Sequence[Chunk], chunk: Chunk, following: Chunk | None
) -> Subject | None:
    """Parse a noun phrase as a subject, "a group of girls" as girls; with `first` if "and" joins them, as people."""
    if following and phrases.lemma(chunk.end - 1) in listed("collectives") and phrases.word(following.start) == "of":
        subject = named(phrases, following.start + 1, following.end, is_plural=True)
    else:
        subject = named(phrases, chunk.start, chunk.end)
    if len(earlier) > 1 and earlier[-1].kind == "CONJ" and earlier[-2].kind in {"NP", "PP"}:
        return PEOPLE if first and subject and first.is_human and subject.is_human else None
    return subject


def _actor_at_end(phrases: Phrases, chunk: Chunk) -> Subject | None:
    """Return the actor at the end of a verb phrase: "a man talks to | a woman | holding a baby"."""
    return named(phrases, *chunk.last_noun) if chunk.last_noun else None


def _before_participle(phrases: Phrases, subject: Subject | None, before: Sequence[Chunk]) -> Subject | None:
    """Return the subject of a participle that follows the chunks `before` without a conjunction.

    After a verb phrase it may be the actor at its end, or a thing: "people meet with words | floating around them".
    """
    after_verb = next((chunk for chunk in before[-2:] if chunk.kind == "VP"), None)
    if after_verb is None:
        return subject
    if before[-1].kind == "VP" and (actor := _actor_at_end(phrases, before[-1])):
        return actor
    return None if "with" in phrases.words[after_verb.start : before[-1].end] else subject
