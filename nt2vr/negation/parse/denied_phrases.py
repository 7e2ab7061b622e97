"""Rule 1 of `scope`: the phrase after a cue that the cue denies."""

from dataclasses import replace

from nt2vr.negation.parse.negations import Cue
from nt2vr.negation.parse.phrases import Phrase, Phrases, noun_of
from nt2vr.negation.parse.tagged_words import CLAUSE_EDGES
from nt2vr.negation.parse.tokens import FINITE_TAGS, VERB_TAGS
from nt2vr.negation.parse.wordlists import words

# I don't want to see …
WATCHING = words("see watch hear want need like")
# Don't show me …
US = words("me us")
_EXCEPTING = words("but except save other besides")
_MARK_TAGS = CLAUSE_EDGES | {"WH"}
# Of what does not follow "without".
_ODD_TAGS = FINITE_TAGS | {"ADJ", "VBN"}
_CONTENT_TAGS = words("NOUN ADJ ADP NUM OTHER") | VERB_TAGS


def denied_phrase(phrases: Phrases, cue: Cue, is_typed: bool) -> Phrase | None:
    """Return the denied phrase; it is the cue itself for "nobody" without a verb."""
    # a not very crowded | beach
    if cue.kind == "not":
        quality = phrases.quality(cue.end)
        if quality and _describes_noun(phrases, cue, quality):
            return quality

    phrase = _phrase_after(phrases, cue)
    if phrase is None or (cue.kind == "without" and _is_odd(phrases, phrase)):
        # Each cue that can denies something of what is typed.
        return _up_to_mark(phrases, cue) if is_typed else None
    return _without_showing(phrases, phrase, cue)


def verb_before(phrases: Phrases, cue: Cue, phrase: Phrase) -> int | None:
    """Return the verb before a cue if it is denied, too: "wearing no hat", "eats nothing"."""
    before = cue.start - 1
    if not phrases.is_main_verb(before):
        return None
    if cue.kind == "no":
        is_denied = phrases.lemma_is_listed(before, "held")
    else:
        # eats | nothing; but not: has | nothing
        is_object = phrase.start == cue.start and phrases.lemma(before) not in {"be", "have"}
        has_exception = phrases.word(cue.end) in _EXCEPTING
        is_denied = is_object and not has_exception
    return before if is_denied else None


def _phrase_after(phrases: Phrases, cue: Cue) -> Phrase | None:
    if cue.kind == "minus":
        return noun_of(cue.end, cue.end + 1)
    start = _skip_helpers(phrases, cue)
    if cue.kind == "nobody":
        return _phrase_of_nobody(phrases, cue, start)

    start = _skip_sign(phrases, start)
    phrase = None
    if cue.kind in {"no", "order"}:
        phrase = phrases.noun_phrase(start)
    elif cue.kind == "not":
        # not shown | eating
        is_shown = phrases.is_listed(start, "shown") and phrases.tag(start + 1) == "VBG"
        if is_shown:
            start += 1
    if phrase is None:
        phrase = phrases.any_phrase(start)
    if phrase is None:
        return None

    if phrase.kind == "noun" and cue.kind != "not":
        phrase = _without_predicate(phrases, phrase)
    return _with_quality(phrases, phrase)


def _phrase_of_nobody(phrases: Phrases, cue: Cue, start: int) -> Phrase:
    """Return what nobody does, or what none of some things is; otherwise the cue itself."""
    acts = phrases.verb_phrase(start) and phrases.after_tail(cue.end) == cue.end
    if acts or _none_is(phrases, cue, start):
        phrase = phrases.any_phrase(_skip_sign(phrases, start))
        if phrase:
            return phrase
    return Phrase(kind="noun", start=cue.start, end=cue.end, head=cue.start)


def _none_is(phrases: Phrases, cue: Cue, start: int) -> bool:
    """Return whether none of some things is what follows: "none of them | men"."""
    if phrases.word(cue.start) != "none":
        return False
    return start > cue.end or phrases.place_phrase(start) is not None


def _without_predicate(phrases: Phrases, noun: Phrase) -> Phrase:
    """Cut off a last word that only says "in the picture": "no person | present"."""
    last = noun.end - 1
    if noun.start < last and phrases.after_predicate(last) > last:
        return noun_of(noun.start, last)
    return noun


def _with_quality(phrases: Phrases, phrase: Phrase) -> Phrase:
    """Add the quality to something vague: "leave out anything | indoors"."""
    end = phrase.end
    if not phrases.is_listed(end - 1, "anything") or phrases.after_tail(end) != end:
        return phrase
    quality = phrases.quality(end)
    if quality is None:
        return phrase
    return replace(phrase, end=quality.end, setting=None)


def _without_showing(phrases: Phrases, phrase: Phrase, cue: Cue) -> Phrase:
    """Return what is denied to be shown: "does not include | a dog"; otherwise the phrase."""
    if phrase.kind != "verb":
        return phrase
    action = _action_to_show(phrases, phrase)
    if action is not None:
        return action
    noun = _noun_to_show(phrases, phrase)
    if noun is None:
        return phrase
    clause = phrases.clause_start(cue.start)
    is_about_picture = _depicts(phrases, phrase) or phrases.says_nothing(clause, cue.start)
    return _with_quality(phrases, noun) if is_about_picture else phrase


def _action_to_show(phrases: Phrases, verb: Phrase) -> Phrase | None:
    """Return the action after "does not feature" or "don't want to see"."""
    if phrases.tag(verb.end) != "VBG":
        return None
    last = verb.end - 1
    asks = phrases.lemma(last) in WATCHING or phrases.word(last) in US
    depicts = verb.head == last and _depicts(phrases, verb)
    if asks or depicts:
        return phrases.verb_phrase(verb.end)
    return None


def _noun_to_show(phrases: Phrases, verb: Phrase) -> Phrase | None:
    """Return the object of "does not show us | a dog"."""
    if verb.object is None or not phrases.is_listed(verb.head, "showing"):
        return None
    start = verb.object
    if phrases.word(start) in US:
        start += 1
    if phrases.tag(start) == "PRON" and not phrases.is_listed(start, "actors"):
        return None
    return phrases.noun_phrase(start)


def _depicts(phrases: Phrases, verb: Phrase) -> bool:
    return phrases.lemma_is_listed(verb.head, "depicting")


def _skip_helpers(phrases: Phrases, cue: Cue) -> int:
    """Return the first word after a cue that is neither "of them" nor an auxiliary."""
    i = cue.end
    if phrases.word(i) == "of":
        group = phrases.noun_phrase(i + 1)
        # none of them, none of whom
        if group:
            i = group.end
        elif phrases.tag(i + 1) == "WH":
            i += 2

    while _is_helper(phrases, i) or (cue.kind == "nobody" and phrases.tag(i) == "WH"):
        i += 1
    return i


def _is_helper(phrases: Phrases, i: int) -> bool:
    if phrases.is_auxiliary(i) and not phrases.verb_phrase(i):
        return True
    match phrases.word(i):
        case "gonna" | "wanna":
            return True
        case "really" | "actually" | "exactly" | "quite":
            return phrases.tag(i + 1) == "DET"
    return False


def _skip_sign(phrases: Phrases, i: int) -> int:
    """Return the word after "any sign of", or word i without such words."""
    sign = i
    while phrases.is_listed(sign, "vague_articles"):
        sign += 1
    if phrases.is_listed(sign, "signs") and phrases.word(sign + 1) in {"of", "for"}:
        return sign + 2
    return i


def _describes_noun(phrases: Phrases, cue: Cue, quality: Phrase) -> bool:
    """Return whether a quality is one of a noun: "a not crowded beach"."""
    if phrases.tag(cue.start - 1) == "DET":
        return True
    if phrases.is_listed(quality.end, "frames"):
        return True
    return phrases.tag(quality.end) == "NOUN" and _follows_description(phrases, cue)


def _follows_description(phrases: Phrases, cue: Cue) -> bool:
    """Return whether a cue is that of "an old but | not rusty car"."""
    end = cue.start
    if phrases.word(end - 1) in {"yet", "and", ","}:
        end -= 1
    elif phrases.word(end) != "but":
        return False
    start = phrases.before(end, {"ADJ", "ADV"})
    return start < end and phrases.tag(start - 1) in {"DET", ""}


def _is_odd(phrases: Phrases, phrase: Phrase) -> bool:
    """Return whether a phrase after "without" is likely misread: "w/out | uniform"."""
    return phrase.kind != "noun" and phrases.tag(phrase.start) in _ODD_TAGS


def _up_to_mark(phrases: Phrases, cue: Cue) -> Phrase | None:
    """Return the words up to the next mark, where no phrase fits: "w/out uniform"."""
    end = cue.end
    has_content = False
    while phrases.tag(end) not in _MARK_TAGS or phrases.joins_adjectives(end):
        has_content = has_content or phrases.tag(end) in _CONTENT_TAGS
        end += 1
    return noun_of(cue.end, end) if has_content else None
