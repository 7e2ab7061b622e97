"""Corrections of tags where HanTa, trained on newspapers, misreads captions and queries."""

from collections.abc import Mapping
from math import inf

from nt2vr.negation.parse.tokens import HELPERS, VERB_TAGS
from nt2vr.negation.parse.word_in_context import (
    ENDS,
    UNKNOWN_NATS,
    LogProbs,
    TaggedSentence,
    WordInContext,
)
from nt2vr.negation.parse.wordlists import listed

# Margin for nouns in -s that HanTa's lexicon finds about as likely verbs: runs, swims, plays.
_LIKELY_NATS = 1.0
# These may be nouns even after a noun: "an office building".
_THINGS_IN_ING = frozenset({"building", "painting"})
_BASE = frozenset({"VVB", "VVI", "VDB", "VDI", "VHB", "VHI"})
_DOUBTFUL = frozenset({"NOUN", "ADJ", "VB", "VBP", "VBD", "VBZ", "MD", "NUM"})
_THIRD_PERSON = frozenset({"VVZ", "VBZ", "VDZ", "VHZ"})


def repaired_tag(sentence: TaggedSentence, i: int, log_probs: LogProbs) -> str:
    """Return the tag of word i, corrected if necessary."""
    context = WordInContext(sentence, i)
    tag = _tag_by_word(context)
    if tag:
        return tag
    if context.tag not in _DOUBTFUL:
        return context.tag

    log_probs_of_tags = log_probs(context.word)
    match context.tag:
        case "NUM" | "ADJ" if context.is_name(log_probs_of_tags):
            return "NOUN"
        case "NOUN" | "ADJ" | "NUM":
            return _verb_after_all(context, log_probs_of_tags) or context.tag
    if _is_noun_after_all(context, log_probs_of_tags):
        return "NOUN"
    return context.tag


def _tag_by_word(context: WordInContext) -> str:
    """Return the tag of a word whose neighbours alone decide it; "" for other words."""
    match context.word:
        case "to":
            if context.tag_after in {"VB", "VBP"}:
                return "TO"
            return "ADP"
        case "that":
            if context.tag_before in {"NOUN", "PRON"}:
                return "WH"
            return "DET"
        case "run" | "come" if context.tag == "VBN" and context.tag_before not in VERB_TAGS | {""}:
            return "VBP"
        case "one" if context.word_before == "no":
            return "PRON"
        case "does":
            return "VBZ"
    return ""


def _is_noun_after_all(context: WordInContext, log_probs: Mapping[str, float]) -> bool:
    """Return whether a word tagged as a verb is a noun: "without a | can", "no free | throws"."""
    if context.ends_denied_list():
        return True

    follows_adjective = context.tag_before == "ADJ"
    word_before = context.word_before
    if follows_adjective:
        word_before = context.words[max(0, context.i - 2)]
    is_denied = word_before in listed("denying_things")
    if is_denied and follows_adjective and context.tag_after in ENDS:
        return True

    may_be_singular = "NN1" in log_probs
    may_be_plural = "NN2" in log_probs
    if may_be_singular or may_be_plural:
        has_article = context.word_before in {"a", "an", "any"}
        if is_denied or has_article or context.ends_denied_noun():
            return True

    # making leaves from clay; but: not singing plays the
    if context.tag == "VBZ":
        if is_denied:
            return True
        is_no_verb = log_probs.keys().isdisjoint(_THIRD_PERSON)
        return may_be_plural and (context.is_object() or is_no_verb)
    # not wine
    is_base_form = context.tag in {"VB", "VBP"}
    return is_base_form and may_be_singular and log_probs.keys().isdisjoint(_BASE)


def _verb_after_all(context: WordInContext, log_probs: Mapping[str, float]) -> str:
    """Return the verb tag of a word tagged as a noun, if its neighbours and form say so."""
    is_denied = context.word_before in listed("denying_things")
    # without petting a cat
    if is_denied and context.word.endswith("ing") and context.tag_after == "DET":
        return "VBG"
    # a fight; exclude fights
    if is_denied or context.tag_before in {"DET", "ADJ", "NUM"}:
        return ""

    noun_log_prob = max(log_probs.get("NN1", -inf), log_probs.get("NN2", -inf))
    if context.word.endswith("ing"):
        if _is_participle(context, log_probs, noun_log_prob):
            return "VBG"
        return ""
    # nobody strums
    if context.word.endswith("s") and _follows_nobody(context):
        return "VBZ"
    if _follows_denied_helper(context, log_probs):
        return "VB"

    # a man dances
    verb_log_prob = log_probs.get("VVZ", -inf)
    if verb_log_prob > -inf and context.follows_subject() and not context.word_before.endswith("s"):
        return "VBZ"
    # but not sits
    if (
        verb_log_prob <= noun_log_prob - _LIKELY_NATS
        or context.tag_before == "ADP"
        or context.is_object()
    ):
        return ""
    if context.ends_denied_noun() or context.ends_denied_list():
        return ""
    return "VBZ"


def _is_participle(
    context: WordInContext, log_probs: Mapping[str, float], noun_log_prob: float
) -> bool:
    """Return whether a word in -ing is a verb: surfing, and building after a form of "be"."""
    if context.tag_before in {"PRON", "NEG"} or HELPERS.get(context.word_before) == "be":
        return True
    may_be_verb = not log_probs.keys().isdisjoint({"VVG", "VDG"}) or noun_log_prob < UNKNOWN_NATS
    return may_be_verb and context.word not in _THINGS_IN_ING


def _follows_nobody(context: WordInContext) -> bool:
    if context.word_before in {"nobody", "noone", "nothing"}:
        return True
    return context.words[: context.i][-2:] == ["no", "one"]


def _follows_denied_helper(context: WordInContext, log_probs: Mapping[str, float]) -> bool:
    """Return whether a word is a verb by "doesn't | pitch", "never | hunt in"."""
    may_be_base_form = not log_probs.keys().isdisjoint(_BASE)
    if may_be_base_form and context.word_before == "never" and context.tag_after == "ADP":
        return True
    if context.tag_before != "NEG":
        return False
    is_do = HELPERS.get(context.words[max(0, context.i - 2)]) == "do"
    return is_do or context.tag_two_before == "MD"
