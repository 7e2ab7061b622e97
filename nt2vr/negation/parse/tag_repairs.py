"""Corrections of tags where HanTa, trained on newspapers, misreads captions and queries."""

from math import inf

from nt2vr.negation.parse.tokens import HELPERS, VERB_TAGS
from nt2vr.negation.parse.word_in_context import (
    ENDS,
    UNKNOWN_NATS,
    FindLogProbs,
    TaggedSentence,
    WordInContext,
)
from nt2vr.negation.parse.wordlists import listed, words

# Margin for nouns in -s that HanTa's lexicon finds about as likely verbs: runs, swims, plays.
_LIKELY_NATS = 1.0
# These may be nouns even after a noun: "an office building".
_THINGS_IN_ING = words("building painting")
_DOUBTFUL = words("NOUN ADJ VB VBP VBD VBZ MD NUM")
# C5 tags
_BASE = words("VVB VVI VDB VDI VHB VHI")
_THIRD_PERSON = words("VVZ VBZ VDZ VHZ")
_PARTICIPLE = words("VVG VDG")


def repaired_tag(sentence: TaggedSentence, i: int, find_log_probs: FindLogProbs) -> str:
    """Return the tag of word i, corrected if necessary."""
    context = WordInContext(sentence, i, find_log_probs)
    tag = _tag_by_word(context)
    if tag:
        return tag
    if context.tag not in _DOUBTFUL:
        return context.tag

    match context.tag:
        case "NUM" | "ADJ" if context.is_name():
            return "NOUN"
        case "NOUN" | "ADJ" | "NUM":
            return _verb_after_all(context) or context.tag
    if _is_noun_after_all(context):
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


def _is_noun_after_all(context: WordInContext) -> bool:
    """Return whether a word tagged as a verb is a noun: "without a | can", "no free | throws"."""
    if context.ends_denied_list():
        return True

    is_denied = _follows_denial(context)
    if is_denied and context.tag_before == "ADJ" and context.tag_after in ENDS:
        return True

    may_be_singular = "NN1" in context.log_probs
    may_be_plural = "NN2" in context.log_probs
    if may_be_singular or may_be_plural:
        has_article = context.word_before in {"a", "an", "any"}
        if is_denied or has_article or context.ends_denied_noun():
            return True

    # making leaves from clay; but: not singing plays the
    if context.tag == "VBZ":
        if is_denied:
            return True
        return may_be_plural and (context.is_object() or not context.may_be(_THIRD_PERSON))
    # not wine
    is_base_form = context.tag in {"VB", "VBP"}
    return is_base_form and may_be_singular and not context.may_be(_BASE)


def _follows_denial(context: WordInContext) -> bool:
    """Return whether a word of denial comes before a word, or before its adjective."""
    cue = context.word_before
    if context.tag_before == "ADJ":
        cue = context.word_two_before or cue
    return cue in listed("denying_things")


def _verb_after_all(context: WordInContext) -> str:
    """Return the verb tag of a word tagged as a noun, if its neighbours and form say so."""
    is_denied = context.word_before in listed("denying_things")
    # without petting a cat
    if is_denied and context.word.endswith("ing") and context.tag_after == "DET":
        return "VBG"
    # a fight; exclude fights
    if is_denied or context.tag_before in {"DET", "ADJ", "NUM"}:
        return ""

    if context.word.endswith("ing"):
        return "VBG" if _is_participle(context) else ""

    # nobody strums
    if context.word.endswith("s") and _follows_nobody(context):
        return "VBZ"
    if _follows_denied_helper(context):
        return "VB"
    if _is_third_person(context):
        return "VBZ"
    return ""


def _is_third_person(context: WordInContext) -> bool:
    """Return whether a word that may be a plural is a verb: "a man | dances", "but not | sits"."""
    verb_log_prob = context.log_probs.get("VVZ", -inf)
    if verb_log_prob > -inf and context.follows_subject() and not context.word_before.endswith("s"):
        return True
    if verb_log_prob <= _noun_log_prob(context) - _LIKELY_NATS:
        return False
    if context.tag_before == "ADP" or context.is_object():
        return False
    return not context.ends_denied_noun() and not context.ends_denied_list()


def _noun_log_prob(context: WordInContext) -> float:
    log_probs = context.log_probs
    return max(log_probs.get("NN1", -inf), log_probs.get("NN2", -inf))


def _is_participle(context: WordInContext) -> bool:
    """Return whether a word in -ing is a verb: surfing, and building after a form of "be"."""
    if context.tag_before in {"PRON", "NEG"} or HELPERS.get(context.word_before) == "be":
        return True
    if context.word in _THINGS_IN_ING:
        return False
    return context.may_be(_PARTICIPLE) or _noun_log_prob(context) < UNKNOWN_NATS


def _follows_nobody(context: WordInContext) -> bool:
    if context.word_before in {"nobody", "noone", "nothing"}:
        return True
    return context.word_before == "one" and context.word_two_before == "no"


def _follows_denied_helper(context: WordInContext) -> bool:
    """Return whether a word is a verb by "doesn't | pitch", "never | hunt in"."""
    if context.word_before == "never" and context.tag_after == "ADP" and context.may_be(_BASE):
        return True
    if context.tag_before != "NEG":
        return False
    return context.tag_two_before == "MD" or HELPERS.get(context.word_two_before) == "do"
