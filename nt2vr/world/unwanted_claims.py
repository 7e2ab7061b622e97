"""What an unwanted part of a query claims, beside the wanted parts and the cue that denies it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from nt2vr.negation.parse.query import Query
from nt2vr.world.abilities import may_do
from nt2vr.world.claims import Act, Claim, SubjectClaim
from nt2vr.world.meant import read_as_meant
from nt2vr.world.part_claims import PartClaim
from nt2vr.world.reader import NOTHING
from nt2vr.world.small_words import TOGETHER
from nt2vr.world.things import ACTING, Names, meanings, persons, those
from nt2vr.world.words import PhraseWord, words_in

# Cues that deny an action of the subject, unlike "no dancing" and "nobody dances".
_OF_SUBJECT = re.compile(
    r"\b(?:not|never|neither|nor|without|rather|instead|yet to|refus\w+|fail\w*)\b|n['\u2019]?t\b",
    re.IGNORECASE,
)
# with a coat but no | hat
_WORN = re.compile(
    r"(?:\bwithout|\b(?:with|wearing|have|has)\b[^,.;]{1,40}\bno|\bwith not|\bw/?o)$", re.IGNORECASE
)
# nobody | on it
_ON_IT = re.compile(r"(?: (?:is|are|sitting))? (?:in|on|inside|under) (?:it|them)\b", re.IGNORECASE)
_NOBODY = re.compile(r"\b(?:nobody|no one|noone|anyone|anybody)\b", re.IGNORECASE)
# Cues that deny an action of everybody.
_OF_EVERYBODY = re.compile(r"\b(?:no|nobody|none|noone|anyone|anybody)\b", re.IGNORECASE)


# Of the wanted parts; None for one that cannot be told.
WantedClaims = Sequence[Claim | None]


class _CueText(NamedTuple):
    text: str
    query_start: str  # the query to the end of the cue


def read_unwanted(query: Query, number: int, wanted: WantedClaims) -> PartClaim:
    """Parse one of the unwanted parts, given the claims of the wanted ones."""
    part = query.unwanted[number]
    # a dog, no people or other animals
    if part.startswith("other "):
        return claims_of_other(part, query, wanted)[0]

    claim = read_as_meant(part) or _quality_of_wanted(query, part)
    if claim is None or claim == NOTHING:
        return PartClaim(None)
    wants_subject = any(wanted_claim.subjects for wanted_claim in filter(None, wanted))
    if wants_subject and _is_ambiguous(query, number, claim):
        return PartClaim(replace(claim, vague=True))
    is_of_subjects = claim == Claim(claim.subjects, vague=claim.vague)
    if not is_of_subjects or len(claim.subjects) != 1:
        return PartClaim(claim)
    return _of_subject(claim, part=part, cue=_cue_before(query, number), wanted=wanted)


def _of_subject(claim: Claim, part: str, cue: _CueText, wanted: WantedClaims) -> PartClaim:
    """Read a part about one subject as the cue before it denies it: of everybody, or of one."""
    (subject,) = claim.subjects
    if _is_action(subject) and _NOBODY.search(cue.text):
        by_person = replace(subject, names=persons())
        return PartClaim(replace(claim, subjects=(by_person,)))
    act = _act_denied(subject, cue, part)
    if act is None:
        return PartClaim(claim)
    return _denied_of_wanted(claim, act=act, cue=cue, wanted=wanted)


def _is_action(subject: SubjectClaim) -> bool:
    """Return whether a claim about a subject is that somebody does one thing."""
    return len(subject.acts) == 1 and subject == SubjectClaim(acts=subject.acts)


def _cue_before(query: Query, number: int) -> _CueText:
    """Return the last cue before an unwanted part, or else the first cue; empty if corrected."""
    if not query.cues or number >= len(query.scopes):
        return _CueText("", "")
    part_start = query.scopes[number].start
    before = [cue for cue in query.cues if cue.end <= part_start]
    start, end = max(before, default=query.cues[0])
    return _CueText(query.text[start:end], query_start=query.text[:end])


def _act_denied(subject: SubjectClaim, cue: _CueText, part: str) -> Act | None:
    """Return what a part denies of its subject, to do or to wear; None if nobody is to do it."""
    if _is_action(subject):
        if _OF_EVERYBODY.search(cue.text) or not _OF_SUBJECT.search(cue.text):
            return None
        return subject.acts[0]

    if not subject.names.issubset(those("worn")):
        return None
    worn = Act(objects=subject.names, colour=subject.colour, looks=subject.looks)
    is_plain = subject == SubjectClaim(worn.objects, colour=worn.colour, looks=worn.looks)
    is_worn = _WORN.search(cue.query_start) or part.startswith("hav")
    if is_plain and is_worn:
        return worn
    return None


def _denied_of_wanted(claim: Claim, act: Act, cue: _CueText, wanted: WantedClaims) -> PartClaim:
    """Read a denied act as one of those who are wanted, if these are known."""
    acting = _actors_wanted(wanted)
    # Whose action it is cannot be told.
    if acting is None:
        return PartClaim(replace(claim, vague=True))

    if act.verbs:
        subjects = [subject for subject in acting if may_do(subject.names or persons(), act)]
        # Babies never cry.
        if acting and not subjects:
            claim = NOTHING
    else:
        subjects = [subject for subject in acting if subject.names <= persons()]
        # It may be somebody else's hat than a dog's.
        claim = replace(claim, vague=bool(acting) and not subjects)
    return PartClaim(
        claim=claim,
        subjects=tuple(subjects),
        act=act,
        by_any=cue.text.lower() == "neither",
    )


def _actors_wanted(wanted: WantedClaims) -> list[SubjectClaim] | None:
    """Return those who are wanted and may act; None if a wanted part is not known."""
    acting = []
    actors = those(*ACTING)
    for claim in wanted:
        if claim is None or claim.vague or claim == NOTHING:
            return None
        for subject in claim.subjects:
            if not subject.names or not subject.names.isdisjoint(actors):
                acting.append(subject)
    return acting


def _is_ambiguous(query: Query, number: int, claim: Claim) -> bool:
    """Return whether "no guests" are some of those who are wanted, or nobody is "on it"."""
    if number < len(query.scopes) and _ON_IT.match(query.text, query.scopes[number].end):
        return True
    if not any(_is_group_of_people(subject) for subject in claim.subjects):
        return False
    return any(word.names & persons() for word in _wanted_words(query))


def _is_group_of_people(subject: SubjectClaim) -> bool:
    if subject.least != 2 or subject.most != TOGETHER:
        return False
    return subject.names >= meanings()["adult"]


def _wanted_words(query: Query) -> Iterator[PhraseWord]:
    for part in query.wanted:
        yield from words_in(part)


def claims_of_other(kind: str, query: Query, wanted: WantedClaims) -> list[PartClaim]:
    """Claim what is of a kind but is not wanted, and a second one of what is wanted once.

    Both are unwanted in "a man and nobody else". The list is never empty.
    """
    claim = read_as_meant(kind)
    if claim is None or len(claim.subjects) != 1 or None in wanted or NOTHING in wanted:
        return [PartClaim(None)]

    (subject,) = claim.subjects
    wanted_names = list(_names_wanted(wanted, subject.names))
    present = frozenset().union(*wanted_names)
    other_names = subject.names - present
    if not other_names:
        return [PartClaim(None)]
    unwanted_subjects = [SubjectClaim(other_names)]
    if present and not _wants_several(query, subject.names):
        one_more = len(wanted_names) + 1
        unwanted_subjects.append(SubjectClaim(present, least=one_more, total=True))
    return [PartClaim(replace(claim, subjects=(unwanted,))) for unwanted in unwanted_subjects]


def _wants_several(query: Query, names: Names) -> bool:
    """Return whether a wanted noun for some things is in the plural."""
    return any(word.meaning.plural and word.names & names for word in _wanted_words(query))


def _names_wanted(wanted: WantedClaims, names: Names) -> Iterator[Names]:
    """Yield those of some names by which each wanted subject or object of these is called."""
    for claim in filter(None, wanted):
        for subject in claim.subjects:
            wanted_names = [subject.names]
            wanted_names += [act.objects | act.targets for act in subject.acts]
            yield from filter(None, map(names.intersection, wanted_names))


def _quality_of_wanted(query: Query, quality: str) -> Claim | None:
    """Read "red" as "red car"; None if it fits none, or several, of the wanted things."""
    # a clown that isn't | funny
    if all(word.kind == "filler" for word in words_in(quality)):
        return None

    nouns = dict.fromkeys(word.typed for word in _wanted_words(query) if word.kind == "noun")
    readings = [_with_quality(noun, quality) for noun in nouns]
    claims = list(filter(None, readings))
    return claims[0] if len(claims) == 1 else None


def _with_quality(noun: str, quality: str) -> Claim | None:
    """Read "red car", or else "car red"; None if neither is understood."""
    for text in (f"{quality} {noun}", f"{noun} {quality}"):
        claim = read_as_meant(text)
        if claim and not claim.vague:
            return claim
    return None
