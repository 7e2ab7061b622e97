"""Actions in captions: subjects, and the verb phrases that make sense without the caption.

They are compared by lemmas: "a young man plays his guitar" and "a guy playing a guitar" are both
man: play guitar.
"""

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

from nt2vr.negation.generate.chunks import Chunk, chunks_of
from nt2vr.negation.generate.subjects import PEOPLE, Subject, subject_named
from nt2vr.negation.generate.verb_phrases import VerbPhrase, verb_phrases
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.wordlists import words

# Words that deny, besides those that are tagged so.
_DENYING = words("no without nobody")


class CaptionAction(NamedTuple):
    """What a caption says that somebody does: a subject and its verb phrase."""

    subject: Subject
    phrase: VerbPhrase


def actions(phrases: Phrases) -> list[CaptionAction]:
    """Return the actions in a tagged caption; none if the caption is negated."""
    if "NEG" in phrases.tags or not _DENYING.isdisjoint(phrases.words):
        return []

    # An empty chunk follows the last one.
    end = len(phrases.tokens)
    chunks = [*chunks_of(phrases), Chunk("", end, end)]
    caption_actions = []
    subject = None
    for number, (chunk, following) in enumerate(pairwise(chunks)):
        subject = _subject_after(phrases, subject, chunks[:number], chunk, following)
        if chunk.kind == "VP" and subject:
            for phrase in verb_phrases(phrases, chunk, following.kind):
                caption_actions.append(CaptionAction(subject, phrase))
    return caption_actions


def _subject_after(
    phrases: Phrases,
    subject: Subject | None,
    earlier: Sequence[Chunk],
    chunk: Chunk,
    following: Chunk,
) -> Subject | None:
    """Return the subject of verbs after a chunk, given that before it."""
    before = earlier[-1].kind if earlier else ""
    first_word = phrases.word(chunk.start)
    match chunk.kind:
        case "NP":
            return _subject_of_noun(
                phrases, first=subject, earlier=earlier, chunk=chunk, following=following
            )
        case "PUNCT" | "PRON" | "OTHER" | "TO":
            return None
        case _ if first_word in {"as", "when"}:
            return None
        case "WH" if before == "VP":
            # feeds an animal that | jumps
            actor = _actor_at_end(phrases, earlier[-1])
            if actor:
                return actor
            return subject if first_word == "who" else None
        case "VP" if before in {"VP", "PP"} and not phrases.is_finite(chunk.start):
            return _before_participle(phrases, subject, earlier)
    return subject


def _subject_of_noun(
    phrases: Phrases,
    first: Subject | None,
    earlier: Sequence[Chunk],
    chunk: Chunk,
    following: Chunk,
) -> Subject | None:
    """Parse a noun phrase as a subject, "a group of girls" as girls.

    If "and" joins it with the `first` subject, they are people.
    """
    is_collective = phrases.lemma_is_listed(chunk.end - 1, "collectives")
    if is_collective and phrases.word(following.start) == "of":
        subject = subject_named(
            phrases, start=following.start + 1, end=following.end, is_plural=True
        )
    else:
        subject = subject_named(phrases, chunk.start, chunk.end)

    kinds_before = [before.kind for before in earlier[-2:]]
    if kinds_before not in (["NP", "CONJ"], ["PP", "CONJ"]):
        return subject
    if first and subject and first.is_human and subject.is_human:
        return PEOPLE
    return None


def _actor_at_end(phrases: Phrases, chunk: Chunk) -> Subject | None:
    """Return the actor at the end of a verb phrase: "a man talks to | a woman | holding a baby"."""
    if chunk.last_noun:
        return subject_named(phrases, *chunk.last_noun)
    return None


def _before_participle(
    phrases: Phrases, subject: Subject | None, earlier: Sequence[Chunk]
) -> Subject | None:
    """Return the subject of a participle without a conjunction.

    Of "a man meets a woman | smiling", it is the woman.
    """
    verb_phrase = next((chunk for chunk in earlier[-2:] if chunk.kind == "VP"), None)
    if verb_phrase is None:
        return subject
    last = earlier[-1]
    if last.kind == "VP":
        actor = _actor_at_end(phrases, last)
        if actor:
            return actor
    # It may be a thing: people meet with words | floating around them
    if "with" in phrases.words[verb_phrase.start : last.end]:
        return None
    return subject
