"""Denials of verbs that the tagger takes for nouns: "a player scores a goal"."""

from nt2vr.negation.generate.caption_edits import CaptionEdit
from nt2vr.negation.generate.subjects import is_plural_noun
from nt2vr.negation.parse.inflect import inflect, verb_of
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.wordlists import listed

_AGENTS = ("er", "or", "ist")


def edit_of_mistagged(phrases: Phrases, i: int) -> CaptionEdit | None:
    """Deny a verb that the tagger takes for a noun: "a player scores a goal"."""
    word = phrases.word(i)
    verb = verb_of(word)
    token = phrases.tokens[i]
    if not verb or token.tag not in {"NOUN", "VBZ", "VBG"}:
        return None
    if word in listed("taken_for_verbs", "video_words"):
        return None

    # a man in black playing
    after_colour = phrases.tag(i - 1) == "ADJ" and phrases.word(i - 2) == "in"
    if after_colour and word == inflect(verb, "VBG"):
        return CaptionEdit(token.start, token.start, ("not ",))

    if word == inflect(verb, "VBZ"):
        helper = "does"
        is_verb = _follows_one(phrases, i, after_colour)
    else:
        helper = "do"
        is_verb = word == verb and _follows_many(phrases, i)
    if not is_verb:
        return None
    texts = (f"{helper} not {verb}", f"{helper}n't {verb}")
    says_little = verb in listed("uninformative")
    return CaptionEdit(token.start, token.end, texts, says_little)


def _follows_one(phrases: Phrases, i: int, after_colour: bool) -> bool:
    """Return whether word i, like "scores", follows a singular subject, and words follow it."""
    before = phrases.word(i - 1)
    after = phrases.tag(i + 1)
    is_agent = before.endswith(_AGENTS)
    if after_colour or (phrases.tag(i - 1) == "ADJ" and is_agent):
        return after in {"DET", "ADP", "ADV"}
    if phrases.tag(i - 1) != "NOUN" or is_plural_noun(before, phrases.lemma(i - 1)):
        return False
    if after == "DET":
        return True
    if not is_agent and before not in listed("actors", "roles"):
        return False
    return after in {"ADP", "ADV"} and phrases.word(i + 1) != "of"


def _follows_many(phrases: Phrases, i: int) -> bool:
    """Return whether word i, like "kick", follows a plural subject, and an object follows it."""
    if phrases.tag(i - 1) != "NOUN" or phrases.word(i) in listed("events"):
        return False
    subject = phrases.lemma(i - 1)
    is_plural = is_plural_noun(phrases.word(i - 1), subject)
    after = phrases.word(i + 1)
    if after in {"each", "together"}:
        return True
    if after == "along" or phrases.tag(i + 1) == "DET":
        return is_plural
    if not is_plural or subject not in listed("actors"):
        return False
    return phrases.tag(i + 1) == "NOUN" and is_plural_noun(after, phrases.lemma(i + 1))
