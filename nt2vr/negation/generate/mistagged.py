"""Denials of verbs that the tagger takes for nouns: "a player scores a goal"."""

from nt2vr.negation.generate.caption_edits import CaptionEdit, not_before
from nt2vr.negation.generate.subjects import is_plural_noun
from nt2vr.negation.parse.inflect import inflect, verb_of, with_not
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

    if word == inflect(verb, "VBG") and _follows_colour(phrases, i):
        return not_before(phrases, i)

    if word == inflect(verb, "VBZ"):
        helper = "does"
        is_verb = _follows_one(phrases, i)
    else:
        helper = "do"
        is_verb = word == verb and _follows_many(phrases, i)
    if not is_verb:
        return None
    return CaptionEdit(
        start=token.start,
        end=token.end,
        texts=with_not(helper, verb),
        says_little=verb in listed("uninformative"),
    )


def _follows_colour(phrases: Phrases, i: int) -> bool:
    """Return whether word i follows that of "a man in black | playing"."""
    return phrases.tag(i - 1) == "ADJ" and phrases.word(i - 2) == "in"


def _follows_one(phrases: Phrases, i: int) -> bool:
    """Return whether word i, like "scores", follows a singular subject, and words follow it."""
    subject = i - 1
    tag_after = phrases.tag(i + 1)
    is_agent = phrases.word(subject).endswith(_AGENTS)
    if phrases.tag(subject) == "ADJ" and (is_agent or _follows_colour(phrases, i)):
        return tag_after in {"DET", "ADP", "ADV"}
    if phrases.tag(subject) != "NOUN" or is_plural_noun(phrases, subject):
        return False
    if tag_after == "DET":
        return True
    if not is_agent and not phrases.is_listed(subject, "actors", "roles"):
        return False
    return tag_after in {"ADP", "ADV"} and phrases.word(i + 1) != "of"


def _follows_many(phrases: Phrases, i: int) -> bool:
    """Return whether word i, like "kick", follows a plural subject, and an object follows it."""
    subject = i - 1
    after = i + 1
    if phrases.tag(subject) != "NOUN" or phrases.is_listed(i, "events"):
        return False
    if phrases.word(after) in {"each", "together"}:
        return True
    if not is_plural_noun(phrases, subject):
        return False
    if phrases.word(after) == "along" or phrases.tag(after) == "DET":
        return True
    if not phrases.lemma_is_listed(subject, "actors"):
        return False
    return phrases.tag(after) == "NOUN" and is_plural_noun(phrases, after)
