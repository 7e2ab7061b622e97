"""What a query claims about scenes: its wanted and unwanted parts, read as people mean them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from nt2vr.negation.parse.query import Query
from nt2vr.world.claims import Act, Claim, SubjectClaim
from nt2vr.world.lexicon import TOGETHER, things_and_places, tokens_of, unsure_words
from nt2vr.world.reader import NOTHING, may_do, read_asked
from nt2vr.world.scenes import Figure, Scene
from nt2vr.world.things import ACTING, Names, actions, those
from nt2vr.world.wording import meanings, persons
from nt2vr.world.words import PhraseWord, words_in

# Queries whose claims are kept: a search may judge by 60 others, which it could suggest.
MAX_QUERIES = 1024
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
# rolling a ball away
_WHERE_TO = re.compile(r" (?:away|around|up and down|along the ground|a kick)$")
# Cues that deny an action of everybody.
_OF_EVERYBODY = re.compile(r"\b(?:no|nobody|none|noone|anyone|anybody)\b", re.IGNORECASE)

# A word that names only one picture, such as "lady", means all women, and so on.
_PEOPLE_BY_NAMES = {frozenset((name,)): name for name in ("man", "woman", "boy", "girl")}
# Actions that the word for one covers, too: who reads on a chair is sitting, and a car that drives
# past drives.
_ALSO_MEANT = {
    "sit": "read write use fish sit_on game ride sled drive row bathe yoga",
    "walk": "carry push pull follow walk_pet",
    "lie": "sleep",
    "run": "chase",
    "eat": "feed_self",
    "talk": "talk_to phone",
    "fly": "fly_past take_off",
    "drive": "drive_past",
}
# Motions of subjects who stay in place, and so stand while they do something else.
_IN_PLACE = frozenset(
    {"none", "shake", "sway", "throw", "dribble", "kick", "catch", "float", "wave", "face"}
)
# standing still
_STILL = re.compile(r"\b(?:still|in place)\b")


class PartClaim(NamedTuple):
    """The claim of one part of a query, and perhaps who must not do or wear it.

    Attributes:
        claim: None if it cannot be told.
        subjects: those who are denied an act.
        act: the act.
        by_any: whether one who does it is enough: "neither the man nor the woman".
        other_reading: the claim with a thing read as the place of that name, or vice versa. One of
            the two readings is enough.
    """

    claim: Claim | None
    subjects: tuple[SubjectClaim, ...] = ()
    act: Act = Act()
    by_any: bool = False
    other_reading: Claim | None = None

    @property
    def readings(self) -> tuple[Claim, ...]:
        """The claims of which one is enough; none if it cannot be told."""
        return tuple(claim for claim in (self.claim, self.other_reading) if claim is not None)

    def shown_in(self, scene: Scene) -> bool | None:
        """Return whether a scene shows it; None if that cannot be told."""
        if self.claim is None:
            return None
        if not any(claim.holds(scene) for claim in self.readings):
            return False
        if self.claim.vague:
            return None
        if not self.subjects:
            return True

        done = {_does(subject, self.act, scene.figures) for subject in self.subjects}
        if done == {True} or (self.by_any and True in done):
            return True
        # A hat may be somebody else's.
        if self.act.verbs and done == {False}:
            return False
        return None


def _does(subject: SubjectClaim, act: Act, figures: Sequence[Figure]) -> bool | None:
    """Return whether a subject does something; None if one does and another one does not.

    Where nobody does all that the subject does, somebody of its kind counts: a man who sings, of "a
    man reading".
    """
    fitting = [figure for figure in figures if subject.fits(figure, figures)]
    if not fitting and not subject.names >= meanings()["person"]:
        at_rest = replace(subject, acts=())
        fitting = [figure for figure in figures if at_rest.fits(figure, figures)]

    done = {act.is_done_by(figure, figures) for figure in fitting}
    if True not in done:
        return False
    return None if False in done else True


class QueryClaims(NamedTuple):
    """The claims of a query's parts."""

    wanted: tuple[PartClaim, ...]
    unwanted: tuple[PartClaim, ...]

    @property
    def is_known(self) -> bool:
        """Whether the world can show all that is unwanted, so that clips without it are right."""
        return all(part.claim is not None for part in self.unwanted)


@lru_cache(MAX_QUERIES)
def read_query(query: Query) -> QueryClaims:
    """Read the parts of a query as claims.

    A mere quality is read as that of a wanted thing: in "a car, not red", a red car is unwanted. In
    "a dog and no other animals", all animals but dogs are unwanted, too.
    """
    wanted = [read_as_meant(part) for part in query.wanted]
    wanted_parts = []
    for text, claim in zip(query.wanted, wanted, strict=True):
        wanted_parts.append(_with_other_reading(text, PartClaim(claim)))

    unwanted_parts = []
    for number, text in enumerate(query.unwanted):
        unwanted_part = _read_unwanted(query, number, wanted)
        unwanted_parts.append(_with_other_reading(text, unwanted_part))
    for kind in query.others:
        unwanted_parts += [PartClaim(claim) for claim in _claims_of_other(kind, query, wanted)]
    return QueryClaims(tuple(wanted_parts), tuple(unwanted_parts))


def _with_other_reading(text: str, part: PartClaim) -> PartClaim:
    """Read a word for a thing as the place of that name, too, and vice versa: the moon, ice."""
    claim = part.claim
    if claim is None or claim.orders:
        return part
    for word in words_in(text):
        both = things_and_places().get(word.text)
        if both is None:
            continue
        thing = SubjectClaim(both.things)
        if thing in claim.subjects and not claim.places:
            remaining = tuple(subject for subject in claim.subjects if subject != thing)
            elsewhere = replace(claim, subjects=remaining, places=both.places)
            return part._replace(other_reading=elsewhere)
        if claim.places and claim.places == word.meaning.names:
            with_thing = replace(claim, subjects=(*claim.subjects, thing), places=frozenset())
            return part._replace(other_reading=with_thing)
    return part


def read_as_meant(part: str) -> Claim | None:
    """Read a part as people mean it; None if that cannot be told, or nobody could do it."""
    claim = read_asked(part)
    if claim is None or claim.vague:
        claim = read_asked(_WHERE_TO.sub("", part)) or claim
    if claim is None or _has_unsure_words(part):
        return None

    is_still = bool(_STILL.search(part))
    subjects = tuple(_as_meant(subject, is_still) for subject in claim.subjects)
    if not all(_is_able(subject) for subject in subjects):
        return None
    return replace(claim, subjects=subjects)


def _has_unsure_words(part: str) -> bool:
    """Return whether a part has words by which people usually mean something else."""
    tokens = tokens_of(part)
    for start in range(len(tokens)):
        for end in range(start + 1, start + 5):
            if tokens[start:end] in unsure_words():
                return True
    return False


def _as_meant(subject: SubjectClaim, is_still: bool) -> SubjectClaim:
    acts = tuple(_act_as_meant(act, is_still) for act in subject.acts)
    name = _PEOPLE_BY_NAMES.get(subject.names, "")
    return replace(subject, names=meanings().get(name, subject.names), acts=acts)


def _act_as_meant(act: Act, is_still: bool) -> Act:
    """Return an act with the verbs that people mean as well."""
    # Who plays a guitar holds it.
    if act.verbs == {"hold"} and act.objects:
        return replace(act, verbs=_verbs_of_use(act.objects))

    verbs = set(act.verbs)
    for verb in act.verbs:
        verbs.update(name.replace("_", " ") for name in _ALSO_MEANT.get(verb, "").split())
    if "stand" in act.verbs and not is_still:
        verbs |= _standing_verbs()
    return replace(act, verbs=frozenset(verbs))


def _verbs_of_use(objects: Names) -> Names:
    verbs = set()
    for verb, action in actions().items():
        if objects & action.objects and action.layer == "main":
            verbs.add(verb)
    return frozenset(verbs)


def _standing_verbs() -> Names:
    verbs = set()
    for verb, action in actions().items():
        if action.posture == "stand" and action.motion in _IN_PLACE:
            verbs.add(verb)
    return frozenset(verbs)


def _is_able(subject: SubjectClaim) -> bool:
    if not subject.names:
        return True
    return all(may_do(subject.names, act) for act in subject.acts)


def _read_unwanted(query: Query, number: int, wanted: Sequence[Claim | None]) -> PartClaim:
    """Parse one of the unwanted parts, given the claims of the wanted ones."""
    part = query.unwanted[number]
    # a dog, no people or other animals
    if part.startswith("other "):
        return PartClaim(_claims_of_other(part, query, wanted)[0])

    claim = read_as_meant(part) or _quality_of(query.wanted, part)
    if claim is None or claim == NOTHING:
        return PartClaim(None)
    wants_subject = any(claim is not None and claim.subjects for claim in wanted)
    if wants_subject and _is_ambiguous(query, number, claim):
        return PartClaim(replace(claim, vague=True))
    if len(claim.subjects) != 1 or claim != Claim(claim.subjects, vague=claim.vague):
        return PartClaim(claim)

    (subject,) = claim.subjects
    cue = _cue_before(query, number)
    if _is_action(subject) and _NOBODY.search(cue.text):
        by_person = replace(subject, names=persons())
        return PartClaim(replace(claim, subjects=(by_person,)))
    act = _act_denied(subject, cue, part)
    if act is None:
        return PartClaim(claim)
    return _denied_of_wanted(claim, act, cue, wanted)


def _is_action(subject: SubjectClaim) -> bool:
    """Return whether a claim about a subject is that somebody does one thing."""
    return len(subject.acts) == 1 and subject == SubjectClaim(acts=subject.acts)


class _CueText(NamedTuple):
    text: str
    query_start: str  # the query to the end of the cue


def _cue_before(query: Query, number: int) -> _CueText:
    """Return the last cue before an unwanted part, or else the first cue; empty if corrected."""
    if not query.cues or number >= len(query.scopes):
        return _CueText("", "")
    part_start = query.scopes[number].start
    before = [cue for cue in query.cues if cue.end <= part_start]
    cue = max(before) if before else query.cues[0]
    return _CueText(query.text[cue.start : cue.end], query.text[: cue.end])


def _act_denied(subject: SubjectClaim, cue: _CueText, part: str) -> Act | None:
    """Return what a part denies of its subject, to do or to wear; None if nobody is to do it."""
    if _is_action(subject):
        is_of_subject = _OF_SUBJECT.search(cue.text) and not _OF_EVERYBODY.search(cue.text)
        return subject.acts[0] if is_of_subject else None

    clothes = frozenset(those(("worn",)))
    plain = SubjectClaim(subject.names, colour=subject.colour, looks=subject.looks)
    if subject != plain or not subject.names <= clothes:
        return None
    if not _WORN.search(cue.query_start) and not part.startswith("hav"):
        return None
    return Act(objects=subject.names, colour=subject.colour, looks=subject.looks)


def _denied_of_wanted(
    claim: Claim, act: Act, cue: _CueText, wanted: Sequence[Claim | None]
) -> PartClaim:
    """Read a denied act as one of those who are wanted, if these are known."""
    acting: list[SubjectClaim] = []
    actors = frozenset(those(tuple(ACTING)))
    for wanted_claim in wanted:
        # Whose action it is cannot be told.
        if wanted_claim is None or wanted_claim.vague or wanted_claim == NOTHING:
            return PartClaim(replace(claim, vague=True))
        for subject in wanted_claim.subjects:
            if not subject.names or subject.names & actors:
                acting.append(subject)

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


def _is_ambiguous(query: Query, number: int, claim: Claim) -> bool:
    """Return whether "no guests" are some of those who are wanted, or nobody is "on it"."""
    if number < len(query.scopes) and _ON_IT.match(query.text, query.scopes[number].end):
        return True
    if not any(_is_group_of_people(subject) for subject in claim.subjects):
        return False
    return any(word.meaning.names & persons() for word in _wanted_words(query))


def _is_group_of_people(subject: SubjectClaim) -> bool:
    if subject.least != 2 or subject.most != TOGETHER:
        return False
    return subject.names >= meanings()["adult"]


def _wanted_words(query: Query) -> Iterator[PhraseWord]:
    for part in query.wanted:
        yield from words_in(part)


def _claims_of_other(kind: str, query: Query, wanted: Sequence[Claim | None]) -> list[Claim | None]:
    """Claim what is of a kind but is not wanted, and a second one of what is wanted once.

    Both are unwanted in "a man and nobody else". The list is never empty.
    """
    claim = read_as_meant(kind)
    if claim is None or len(claim.subjects) != 1 or None in wanted or NOTHING in wanted:
        return [None]

    names = claim.subjects[0].names
    wanted_names = list(_names_wanted(wanted, names))
    other_names = names.difference(*wanted_names)
    if not other_names:
        return [None]
    claims: list[Claim | None] = [replace(claim, subjects=(SubjectClaim(other_names),))]

    present = frozenset().union(*wanted_names)
    is_plural = any(
        word.meaning.plural and word.meaning.names & names for word in _wanted_words(query)
    )
    if present and not is_plural:
        num_wanted = sum(bool(group) for group in wanted_names)
        second = SubjectClaim(present, least=num_wanted + 1, total=True)
        claims.append(replace(claim, subjects=(second,)))
    return claims


def _names_wanted(wanted: Sequence[Claim | None], names: Names) -> Iterator[Names]:
    """Yield those of some names by which each wanted subject and object is called."""
    for claim in wanted:
        if claim is None:
            continue
        for subject in claim.subjects:
            yield subject.names & names
            for act in subject.acts:
                yield (act.objects | act.targets) & names


def _quality_of(wanted: tuple[str, ...], quality: str) -> Claim | None:
    """Read "red" as "red car"; None if it fits none, or several, of the wanted things."""
    # a clown that isn't | funny
    if all(word.meaning.kind == "filler" for word in words_in(quality)):
        return None

    nouns: dict[str, None] = {}
    for part in wanted:
        for word in words_in(part):
            if word.meaning.kind == "noun":
                nouns[word.typed] = None
    claims = []
    for noun in nouns:
        for text in (f"{quality} {noun}", f"{noun} {quality}"):
            claim = read_as_meant(text)
            if claim and not claim.vague:
                claims.append(claim)
                break
    return claims[0] if len(claims) == 1 else None
