"""Verbs in captions that are tagged without one: "a man loads a clip", "people dance"."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.word_in_context import (
    PLURALS,
    UNKNOWN_NATS,
    LogProbs,
    TaggedSentence,
    WordInContext,
    value_at,
)
from nt2vr.negation.parse.wordlists import listed

_VERB_READINGS = frozenset({"VVB", "VVI", "VVZ"})


class MissingVerb(NamedTuple):
    """Position and tag of a word that must be the verb of a caption tagged without one."""

    position: int
    tag: str


class MissingVerbFinder:
    """Finds the verb after somebody who may act."""

    def __init__(self, log_probs: LogProbs) -> None:
        self._log_probs = log_probs

    def find(self, sentence: TaggedSentence) -> MissingVerb | None:
        if _has_verb(sentence.tags):
            return None
        for context in _nouns_in(sentence):
            actor = sentence.lemmas[context.i - 1]()
            if actor not in listed("actors", "roles"):
                continue
            if context.tag_after not in {"DET", "PRON", "ADP", "ADV", ""}:
                continue
            is_plural = context.word_before != actor or context.word_before in PLURALS
            form = self._form_after_actor(context, is_plural)
            if form:
                return MissingVerb(context.i, form)
        return None

    def _form_after_actor(self, context: WordInContext, is_plural: bool) -> str:
        """Return the verb form that a word after an actor has; "" if it is no verb."""
        word = context.word
        if word.endswith("s"):
            is_subject = context.tag_two_before in VERB_TAGS | {"DET", "NUM", "ADJ"}
            if is_plural or not (context.i == 1 or is_subject):
                return ""
            if self._may_be_verb(word[:-1], word[:-2], word):
                return "VBZ"
            return ""

        agrees = (
            is_plural or context.tag_after in {"DET", "PRON"} or "and" in context.words[: context.i]
        )
        if agrees and self._may_be_verb(word):
            return "VBP"
        return ""

    def _may_be_verb(self, *words: str) -> bool:
        for word in words:
            for tag, log_probability in self._log_probs(word).items():
                if tag in _VERB_READINGS and log_probability > UNKNOWN_NATS:
                    return True
        return False


def _nouns_in(sentence: TaggedSentence) -> Iterator[WordInContext]:
    """Yield the nouns of a sentence, except for its first word."""
    for i in range(1, len(sentence.words)):
        if sentence.tags[i] == "NOUN":
            yield WordInContext(sentence, i)


def _has_verb(tags: Sequence[str]) -> bool:
    """Return whether any word is a verb that does not modify a noun: "a grey haired man"."""
    for i, tag in enumerate(tags):
        if tag in VERB_TAGS:
            may_modify = value_at(tags, i - 1) in {"DET", "ADJ", "ADP"}
            if not may_modify or value_at(tags, i + 1) != "NOUN":
                return True
    return False
