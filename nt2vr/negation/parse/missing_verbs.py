"""Verbs in captions that are tagged without one: "a man loads a clip", "people dance"."""

from collections.abc import Sequence
from math import inf

from nt2vr.negation.parse.tokens import VERB_TAGS
from nt2vr.negation.parse.word_in_context import (
    PLURALS,
    UNKNOWN_NATS,
    FindLogProbs,
    TaggedSentence,
    WordInContext,
    value_at,
)
from nt2vr.negation.parse.wordlists import listed, words

# Tags of words after a verb.
_FOLLOWING_VERB = frozenset({"DET", "PRON", "ADP", "ADV", ""})
_BEFORE_SUBJECT = VERB_TAGS | {"DET", "NUM", "ADJ"}
# C5 tags
_VERB_READINGS = words("VVB VVI VVZ")


def missing_verb(sentence: TaggedSentence, find_log_probs: FindLogProbs) -> tuple[int, str] | None:
    """Return the position and the tag of the verb after somebody who may act, if no word is tagged as a verb."""
    if _has_verb(sentence.tags):
        return None
    for i in range(1, len(sentence.words)):
        if sentence.tags[i] != "NOUN":
            continue
        actor = sentence.lemmas[i - 1]()
        if actor not in listed("actors", "roles"):
            continue
        form = _form_after_actor(WordInContext(sentence, i, find_log_probs), actor)
        if form:
            return i, form
    return None


def _form_after_actor(context: WordInContext, actor: str) -> str:
    """Return the verb form that a word after an actor has; "" if it is no verb."""
    if context.tag_after not in _FOLLOWING_VERB:
        return ""
    is_plural = context.word_before != actor or context.word_before in PLURALS
    word = context.word
    if word.endswith("s"):
        is_subject = context.i == 1 or context.tag_two_before in _BEFORE_SUBJECT
        if is_subject and not is_plural and _may_be_verb(context, word[:-1], word[:-2], word):
            return "VBZ"
        return ""

    is_plural = is_plural or "and" in context.words[: context.i]
    has_object = context.tag_after in {"DET", "PRON"}
    if (is_plural or has_object) and _may_be_verb(context, word):
        return "VBP"
    return ""


def _may_be_verb(context: WordInContext, *forms: str) -> bool:
    """Return whether one of some forms of a word is in the lexicon as a verb."""
    for form in forms:
        log_probs = context.find_log_probs(form)
        if any(log_probs.get(tag, -inf) > UNKNOWN_NATS for tag in _VERB_READINGS):
            return True
    return False


def _has_verb(tags: Sequence[str]) -> bool:
    """Return whether any word is a verb that does not modify a noun: "a grey haired man"."""
    for i, tag in enumerate(tags):
        if tag in VERB_TAGS:
            may_modify = value_at(tags, i - 1) in {"DET", "ADJ", "ADP"}
            if not may_modify or value_at(tags, i + 1) != "NOUN":
                return True
    return False
