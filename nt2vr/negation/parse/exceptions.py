"""Rule 6 of `scope`: exceptions, which are unwanted, or wanted if they are from a denial."""

from dataclasses import replace
from typing import Literal

from nt2vr.negation.parse.negations import Cue, Negation, Negations
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.tokens import FINITE_TAGS
from nt2vr.negation.parse.wordlists import listed

_VERBS_AND_MARKS = FINITE_TAGS | {"VB", "PUNCT"}

ExceptionStatus = Literal["unwanted", "wanted", "none"]


def exception_status(phrases: Phrases, cue: Cue, negations: Negations) -> ExceptionStatus:
    """Return whether the thing after a cue is unwanted or wanted, or is no exception at all."""
    if phrases.is_end(cue.end) or phrases.is_listed(cue.end, "denials"):
        return "none"
    clause = _clause_start(phrases, cue)
    if clause == cue.start:
        return _status_at_start(phrases, cue)

    denial = _denial_before(phrases, cue, clause=clause, negations=negations)
    universals = [i for i in range(clause, cue.start) if phrases.is_listed(i, "universal")]
    if _is_weak(phrases, cue) and not _excludes_from(
        phrases, cue, universals=universals, denial=denial
    ):
        return "none"
    # all animals | except
    if universals and not phrases.is_listed(universals[-1], "entities"):
        return "unwanted"
    # an empty room | except
    words_before = phrases.words[clause : cue.start]
    if denial is None and listed("bare").isdisjoint(words_before):
        return "unwanted"
    return "wanted"


def _excludes_from(
    phrases: Phrases, cue: Cue, universals: list[int], denial: Negation | None
) -> bool:
    """Return whether "but" makes an exception: from "every animal", not from "all sing"."""
    if universals:
        tags_between = phrases.tags[universals[-1] + 1 : cue.start]
        if _VERBS_AND_MARKS.isdisjoint(tags_between):
            return True
    return denial is not None and _excludes_from_denial(phrases, cue, denial)


def _status_at_start(phrases: Phrases, cue: Cue) -> ExceptionStatus:
    """Return the status of an exception that starts its clause: "except for dogs, no pets"."""
    if _is_weak(phrases, cue) and not _is_besides(phrases, cue):
        return "none"
    if listed("denials", "hardly_any", "bare").isdisjoint(phrases.words[cue.end :]):
        return "unwanted"
    return "wanted"


def _is_besides(phrases: Phrases, cue: Cue) -> bool:
    """Return whether a cue is that of "besides dogs, no pets"."""
    if phrases.word(cue.start) != "besides":
        return False
    excepted = phrases.noun_phrase(cue.end)
    return excepted is not None and phrases.word(excepted.end) == ","


def take_back(phrases: Phrases, cue: Cue, negations: list[Negation]) -> list[Negation]:
    """Return the negations, in which the exception is wanted and its denial has no items."""
    denial = _denial_before(phrases, cue, clause=_clause_start(phrases, cue), negations=negations)
    if denial is None:
        return [*negations, _exception_from_emptiness(phrases, cue)]

    first = denial.items[0]
    start = cue.start
    joint = _link(phrases, denial)
    if first.kind == "verb":
        # doesn't | wear | anything except | a hat
        end = first.start
        denial_link = joint
        if first.object is not None:
            start = min(start, first.object)
        exception_link = " "
    else:
        # no pets except | a dog
        end = min(start, denial.items[-1].core)
        denial_link = ""
        exception_link = joint

    taken_back = replace(
        denial,
        items=(),
        verb=None,
        other_kinds=_denied_kinds(phrases, denial, cue),
        end=max(end, denial.cue.end),
        link=denial_link,
    )
    exception = Negation(cue=cue, start=start, end=cue.end, link=exception_link)
    return [*negations[:-1], taken_back, exception]


def _exception_from_emptiness(phrases: Phrases, cue: Cue) -> Negation:
    """Read "an empty room except for a chair"."""
    link = ", "
    if phrases.word(cue.start - 1) == "with":
        link = " with "
    return Negation(
        cue=cue,
        start=cue.start,
        end=cue.end,
        link=link,
        other_kinds=("anything",) if cue.start else (),
    )


def _link(phrases: Phrases, denial: Negation) -> str:
    if denial.cue.kind == "without" or phrases.word(denial.cue.start - 1) == "with":
        return " with "
    return " "


def _denied_kinds(phrases: Phrases, denial: Negation, cue: Cue) -> tuple[str, ...]:
    """Return the words of a denial for what there may not be, other than the exception."""
    kinds = [denial.thing]
    for item in denial.items:
        start = max(item.start, denial.cue.end)
        end = min(item.core, cue.start)
        kinds.append(phrases.text(start, end))
    return tuple(filter(None, kinds))


def _denial_before(
    phrases: Phrases, cue: Cue, clause: int, negations: Negations
) -> Negation | None:
    """Return the last negation if it denies something in the clause of the exception."""
    if not negations:
        return None
    last = negations[-1]
    if last.cue.kind not in {"no", "not", "without", "nobody"} or not last.items:
        return None
    if clause <= last.cue.start and last.cue.end <= cue.start:
        return last
    return None


def _excludes_from_denial(phrases: Phrases, cue: Cue, denial: Negation) -> bool:
    """Return whether "but" makes an exception: "no one on it but", and not "no dog but"."""
    is_nobody = denial.cue.kind == "nobody"
    if is_nobody and denial.cue.end == cue.start:
        return True

    after_cue = cue.start + 1
    excepted = phrases.noun_phrase(after_cue) or phrases.quality(after_cue)
    if excepted is None or phrases.tag(excepted.end) not in {"", "PUNCT", "ADP"}:
        return False
    if phrases.word(cue.start - 1) == ",":
        return False
    denied_words = phrases.words[denial.cue.end : cue.start]
    return is_nobody or not listed("entities", "kinds").isdisjoint(denied_words)


def _is_weak(phrases: Phrases, cue: Cue) -> bool:
    """Return whether a cue has other meanings as well, as "but" has."""
    return phrases.is_listed(cue.start, "weak") and cue.end == cue.start + 1


def _clause_start(phrases: Phrases, cue: Cue) -> int:
    """Return the first word of the clause; a comma right before the exception is inside."""
    start = cue.start
    if phrases.word(start - 1) == ",":
        start -= 1
    while not phrases.is_end(start - 1):
        start -= 1
    if phrases.word(start) == ",":
        return cue.start
    return start
