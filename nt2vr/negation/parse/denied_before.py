"""Rule 5 of `scope`: what cues deny that come after a thing or name it themselves.

`first` is always the first word that may be denied.
"""

from nt2vr.negation.parse.cues import LESS
from nt2vr.negation.parse.negations import Cue, Negation
from nt2vr.negation.parse.phrases import Phrases, noun_of
from nt2vr.negation.parse.wordlists import words

_NOUN_TAGS = words("DET NOUN ADJ NUM POS")


def negation_before(phrases: Phrases, cue: Cue, first: int) -> Negation | None:
    """Return a negation whose cue comes after what it denies, or names it."""
    match cue.kind:
        case "less":
            return _named_by_cue(phrases, cue)
        case "free":
            return _free(phrases, cue, first)
        case "absent":
            return _absent(phrases, cue, first)
        case "double":
            return _affirmed(phrases, cue)
        case "not":
            return _not_present(phrases, cue, first)
    return None


def _named_by_cue(phrases: Phrases, cue: Cue) -> Negation:
    """Return the negation of "hatless"."""
    return Negation(
        cue=cue,
        items=(noun_of(cue.start, cue.end),),
        start=cue.start,
        end=cue.end,
        thing=LESS[phrases.word(cue.start)],
    )


def _affirmed(phrases: Phrases, cue: Cue) -> Negation:
    """Return two negations that affirm, such as "not without", which deny nothing."""
    cue_words = phrases.words[max(0, cue.start - 1) : cue.end]
    link = " with "
    if {"with", "without", "of", "lacking"}.isdisjoint(cue_words):
        link = " "
    return Negation(cue=cue, start=cue.start, end=cue.end, link=link)


def _free(phrases: Phrases, cue: Cue, first: int) -> Negation | None:
    """Return the negation of "car-free"."""
    start = cue.start
    while start > first and _may_precede_free(phrases, start - 1):
        start -= 1
    if start == cue.start:
        return None

    item = noun_of(start, cue.start)
    end = cue.start + 1
    cue = cue._replace(end=end)
    # In "in a car-free scene", the words around it say nothing more.
    if phrases.is_listed(end, "frames"):
        end += 1
        start = max(first, phrases.before(start, {"DET", "ADP"}))
    return Negation(cue=cue, items=(item,), start=start, end=end)


def _may_precede_free(phrases: Phrases, i: int) -> bool:
    return phrases.tag(i) in {"NOUN", "OTHER", "NUM"} or phrases.word(i).endswith("ing")


def _not_present(phrases: Phrases, cue: Cue, first: int) -> Negation | None:
    """Return "a cat is not visible", "while a truck is not", "with his face not visible"."""
    after_predicate = phrases.after_predicate(cue.end)
    end = after_predicate
    if end == cue.end:
        # lights are not | on
        has_particle = phrases.word(end) in {"on", "in"}
        if has_particle:
            end += 1
        follows_be = phrases.lemma(cue.start - 1) == "be"
        ends_remark = has_particle and phrases.tag(cue.start - 2) == "PUNCT"
        # while a truck is not
        if not phrases.is_end(end) or not (follows_be or ends_remark):
            return None

    part = _missing_part(phrases, cue, after=after_predicate, first=first)
    return part or _denied_subject(phrases, cue, first=first, end=end)


def _absent(phrases: Phrases, cue: Cue, first: int) -> Negation | None:
    """Return "a chair is absent", "absent is a chair" or "is missing a chair"."""
    # a missing slice
    if phrases.tag(cue.start - 1) == "DET":
        return None

    is_linked = _before_helpers(phrases, cue.start, first) < cue.start
    negation = _absent_after(phrases, cue, first=first, is_linked=is_linked)
    if negation is None:
        negation = _missing_part(phrases, cue, after=cue.end, first=first)
    if negation or not _says_absent(phrases, cue, first=first, is_linked=is_linked):
        return negation
    return _denied_subject(phrases, cue, first=first, end=phrases.after_tail(cue.end))


def _says_absent(phrases: Phrases, cue: Cue, first: int, is_linked: bool) -> bool:
    """Return whether a cue says that the thing before it is not there."""
    word = phrases.word(cue.start)
    # What somebody does denies nothing: a tree is removed
    if is_linked:
        return word != "removed"
    return word == "absent" or _is_remark(phrases, cue, first)


def _absent_after(phrases: Phrases, cue: Cue, first: int, is_linked: bool) -> Negation | None:
    """Return the negation of a thing after its cue: "is missing a chair"."""
    after_frame = phrases.after_frame(cue.end)
    thing = after_frame
    while phrases.is_auxiliary(thing) or phrases.word(thing) in {":", "of"}:
        thing += 1

    item = phrases.noun_phrase(thing)
    if item is None:
        return None
    start = max(first, phrases.before(cue.start, {"ADV"}))
    if thing == after_frame and not phrases.is_clause_edge(start - 1):
        # a man missing | a tooth
        loses = is_linked or phrases.is_listed(item.head, "may_be_lost")
        if phrases.word(cue.start) != "missing" or not loses:
            return None
    return Negation(
        cue=cue,
        items=(item,),
        start=start,
        end=phrases.after_tail(item.end),
    )


def _is_remark(phrases: Phrases, cue: Cue, first: int) -> bool:
    """Return whether "a boy runs, hat missing" says so; not "dog missing, please help"."""
    if phrases.words[cue.start : cue.end + 1] == ["missing", "from"]:
        return True
    start = _clause_start(phrases, cue.start, first)
    is_clause = phrases.is_clause_edge(start - 1) and phrases.is_end(cue.end)
    if not is_clause:
        return False
    if start == 0 and not phrases.is_listed(cue.start, "afterthoughts"):
        return False

    # crochet excluded
    if cue.start == start + 1 and phrases.tag(start) in {"VB", "VBP", "VBG"}:
        return True
    noun = phrases.noun_phrase(start)
    return noun is not None and noun.end == cue.start


def _missing_part(phrases: Phrases, cue: Cue, after: int, first: int) -> Negation | None:
    """Return "with the drummer missing", "has a string missing"; `after` ends the predicate."""
    start = max(first, phrases.before(cue.start, _NOUN_TAGS))
    if phrases.word(start - 1) not in {"with", "has", "have", "had"}:
        return None

    noun = phrases.noun_phrase(start)
    if noun is None or noun.end != cue.start:
        return None
    if phrases.lemma_is_listed(noun.head, "parts_of_wholes"):
        return None
    # has a man missing | a tooth
    if phrases.word(cue.start) == "missing" and phrases.noun_phrase(after):
        return None
    return Negation(
        cue=Cue("absent", cue.start, after),
        items=(noun,),
        start=start - 1,
        end=phrases.after_tail(after),
    )


def _denied_subject(phrases: Phrases, cue: Cue, first: int, end: int) -> Negation | None:
    """Deny the thing before a predicate that begins with the cue and ends at word `end`."""
    after = _before_helpers(phrases, cue.start, first)
    start = phrases.after_frame(_clause_start(phrases, after, first))
    if start >= after or phrases.says_nothing(start, after):
        return None
    subject = noun_of(start, after)
    if subject.is_word and phrases.tag(start) == "PRON":
        return None
    return Negation(cue=cue, items=(subject,), start=start, end=end)


def _before_helpers(phrases: Phrases, i: int, first: int) -> int:
    while i > first and (phrases.is_auxiliary(i - 1) or phrases.tag(i - 1) in {"ADV", "TO"}):
        i -= 1
    return i


def _clause_start(phrases: Phrases, end: int, first: int) -> int:
    start = end
    while start > first and not _ends_clause(phrases, start - 1, end):
        start -= 1
    return start


def _ends_clause(phrases: Phrases, i: int, end: int) -> bool:
    if phrases.tag(i) == "PUNCT" or phrases.is_listed(i, "clause_words"):
        return True
    # A "verb" after an article, or at the end, is a noun.
    is_noun = phrases.tag(i - 1) == "DET" or i + 1 == end
    return phrases.is_finite(i) and not is_noun
