"""Verdicts on clips of the built-in world: a part of a query is shown, not shown, or cannot be told."""

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import NamedTuple

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.negation.parse.wordlists import listed
from nt2vr.search.answers import Verdict
from nt2vr.world.claims import Act, Claim, Who
from nt2vr.world.lexicon import TOGETHER, things_and_places, tokens_of, unsure_words
from nt2vr.world.reader import NOTHING, UNKNOWN, may_do, read_asked, words_in
from nt2vr.world.scenes import Figure, Scene, main_deeds
from nt2vr.world.things import ACTING, Names, deeds, plural_of, things, those
from nt2vr.world.wording import meanings, persons

MAX_QUERIES = 64
# cues that deny a deed of the subject, unlike "no dancing" and "nobody dances"
_OF_SUBJECT = re.compile(
    r"\b(?:not|never|neither|nor|without|rather|instead|yet to|refus\w+|fail\w*)\b|n['\u2019]?t\b",
    re.IGNORECASE,
)
# with a coat but no | hat
_WORN = re.compile(
    r"(?:\bwithout|\b(?:with|wearing|have|has)\b[^,.;]{1,40}\bno|\bwith not|\bw/?o)$", re.IGNORECASE
)
_ON_IT = re.compile(
    r"(?: (?:is|are|sitting))? (?:in|on|inside|under) (?:it|them)\b", re.IGNORECASE
)  # nobody | on it
_NOBODY = re.compile(r"\b(?:nobody|no one|noone|anyone|anybody)\b", re.IGNORECASE)
_WHERE_TO = re.compile(
    r" (?:away|around|up and down|along the ground|a kick)$"
)  # rolling a ball away
_EVERYBODY = re.compile(r"\b(?:no|nobody|none|noone|anyone|anybody)\b", re.IGNORECASE)


class Denied(NamedTuple):
    """An unwanted part: what must not be shown (None: cannot be told), and perhaps who must not do or wear it."""

    claim: Claim | None
    subjects: tuple[Who, ...] = ()
    act: Act = Act()
    by_any: bool = False  # "neither the man nor the woman": one who does it is enough
    otherwise: Claim | None = None  # with a thing read as the place of its name, or vice versa

    @property
    def readings(self) -> tuple[Claim, ...]:
        """The claims of which one is enough; none if it cannot be told."""
        return tuple(claim for claim in (self.claim, self.otherwise) if claim is not None)

    def shown_in(self, scene: Scene) -> bool | None:
        """Return whether a scene shows it; None if that cannot be told."""
        if self.claim is None:
            return None
        if not any(claim.holds(scene) for claim in self.readings):
            return False
        if self.claim.vague:
            return None
        found = {_does(subject, self.act, scene.figures) for subject in self.subjects} or {True}
        if (True in found) if self.by_any else (found == {True}):
            return True
        return (
            False if self.act.verbs and found == {False} else None
        )  # a hat may be somebody else's


def _does(subject: Who, act: Act, figures: Sequence[Figure]) -> bool | None:
    """Return whether a subject does something; None if one does and another one does not.

    Where nobody does all that the subject does, somebody of its kind counts: a man who sings, of "a
    man reading".
    """
    fitting = [figure for figure in figures if subject.fits(figure, figures)]
    if not fitting and not subject.names >= meanings()["person"]:
        fitting = [figure for figure in figures if replace(subject, acts=()).fits(figure, figures)]
    done = {any(act.fits(deed, figures) for deed in figure.doings) for figure in fitting}
    return True in done and (None if False in done else True)


def judge(query: Query, scene: Scene) -> Verdict | None:
    """Judge a clip: "right", "violation" (shows an unwanted part) or "miss" (lacks a wanted one); None: unknown."""
    wanted, denied = read_query(query)
    shown, violated = ([each.shown_in(scene) for each in parts] for parts in (wanted, denied))
    if True in violated:
        return "violation"
    if False in shown:
        return "miss"
    return None if None in shown + violated or not shown + violated else "right"


class Asked(NamedTuple):
    wanted: tuple[Denied, ...]
    unwanted: tuple[Denied, ...]

    @property
    def is_known(self) -> bool:
        """Whether the world can show all that is unwanted, so that clips without it can be praised."""
        return all(part.claim is not None for part in self.unwanted)


@lru_cache(MAX_QUERIES)
def read_query(query: Query) -> Asked:
    """Parse the parts of a query; a mere quality is one of a wanted thing: "a car that is not | red".

    What else there may not be is unwanted, too: all "animals" but dogs in "a dog and no other
    animals".
    """
    wanted = [_read(part) for part in query.wanted]
    shown = [_with_other_reading(part, Denied(_read(part))) for part in query.wanted]
    unwanted = [
        _with_other_reading(part, _denied(query, number, wanted))
        for number, part in enumerate(query.unwanted)
    ]
    others = [Denied(claim) for kind in query.others for claim in _others(kind, query, wanted)]
    return Asked(tuple(shown), (*unwanted, *others))


def _with_other_reading(part: str, denied: Denied) -> Denied:
    """Read a word for a thing as the place of that name, too, and vice versa: the moon, ice."""
    claim = denied.claim
    if claim is None or claim.orders:
        return denied
    for word in words_in(part):
        named = things_and_places().get(word.text)
        if named is None:
            continue
        thing = Who(named.things)
        if thing in claim.whos and not claim.places:
            others = tuple(who for who in claim.whos if who != thing)
            return denied._replace(otherwise=replace(claim, whos=others, places=named.places))
        if claim.places and claim.places == word.meaning.names:
            both = (*claim.whos, thing)
            return denied._replace(otherwise=replace(claim, whos=both, places=frozenset()))
    return denied


def _read(part: str) -> Claim | None:
    """Parse a part as people mean it: who reads a book on a chair is sitting; None if somebody could not do a deed."""
    claim, tokens = read_asked(part), tokens_of(part)
    if claim is None or claim.vague:
        claim = read_asked(_WHERE_TO.sub("", part)) or claim
    runs = {
        tokens[start:end] for start in range(len(tokens)) for end in range(start + 1, start + 5)
    }
    if claim is None or runs & unsure_words():
        return None
    is_still = bool(_STILL.search(part))
    whos = []
    for who in claim.whos:
        names, acts = (
            _PEOPLE.get(who.names, ""),
            tuple(_as_meant(act, is_still) for act in who.acts),
        )
        whos.append(replace(who, names=meanings().get(names, who.names), acts=acts))
    able = all(may_do(who.names, act) for who in whos for act in who.acts if who.names)
    return replace(claim, whos=tuple(whos)) if able else None


# "Lady", which captions say of one picture, means all women, and so on.
_PEOPLE = {frozenset((name,)): name for name in ("man", "woman", "boy", "girl")}
# Deeds that people mean as well: who reads on a chair is sitting, who eats stands, and a car that
# drives past drives
_MEANT = {
    "sit": "read write use fish sit_on game ride sled drive row bathe yoga",
    "walk": "carry push pull follow walk_pet",
    "lie": "sleep",
    "run": "chase",
    "eat": "feed_self",
    "talk": "talk_to phone",
    "fly": "fly_past take_off",
    "drive": "drive_past",
}
# motions of who stays in place, and so stands while doing something else
_IN_PLACE = frozenset(
    {"none", "shake", "sway", "throw", "dribble", "kick", "catch", "float", "wave", "face"}
)
_STILL = re.compile(r"\b(?:still|in place)\b")  # standing still


def _as_meant(act: Act, is_still: bool) -> Act:
    if act.verbs == {"hold"} and act.objects:  # who plays a guitar holds it
        held = (
            verb
            for verb, deed in deeds().items()
            if act.objects & deed.objects and deed.layer == "main"
        )
        return replace(act, verbs=frozenset(held))
    also = {name.replace("_", " ") for verb in act.verbs for name in _MEANT.get(verb, "").split()}
    if "stand" in act.verbs and not is_still:
        also |= {
            verb
            for verb, deed in deeds().items()
            if deed.posture == "stand" and deed.motion in _IN_PLACE
        }
    return replace(act, verbs=act.verbs | also)


def _denied(query: Query, number: int, wanted: Sequence[Claim | None]) -> Denied:
    part = query.unwanted[number]
    if part.startswith("other "):  # a dog, no people or other animals
        return Denied(_others(part, query, wanted)[0])
    claim = _read(part) or _quality_of(query.wanted, part)
    if claim == NOTHING or claim is None:
        return Denied(None)
    if any(each and each.whos for each in wanted) and _cannot_be_told(query, number, claim):
        return Denied(replace(claim, vague=True))
    if len(claim.whos) != 1 or claim != Claim(claim.whos, vague=claim.vague):
        return Denied(claim)
    (who,), (said, cue) = claim.whos, _cue_of(query, number)
    if _is_deed(who) and _NOBODY.search(cue):
        return Denied(replace(claim, whos=(replace(who, names=persons()),)))
    act = _denied_of_subject(who, said, cue, part)
    return Denied(claim) if act is None else _tied(claim, act, cue, wanted)


def _is_deed(who: Who) -> bool:
    return len(who.acts) == 1 and who == Who(acts=who.acts)


def _denied_of_subject(who: Who, said: str, cue: str, part: str) -> Act | None:
    """Return what a part denies of its subject, to do or to wear; None if nobody is to do it."""
    if _is_deed(who):
        return who.acts[0] if _OF_SUBJECT.search(cue) and not _EVERYBODY.search(cue) else None
    is_thing = who == Who(who.names, colour=who.colour, looks=who.looks) and who.names <= {
        *those(("worn",))
    }
    is_had = _WORN.search(said) or part.startswith("hav")
    return (
        Act(objects=who.names, colour=who.colour, looks=who.looks) if is_thing and is_had else None
    )


def _tied(claim: Claim, act: Act, cue: str, wanted: Sequence[Claim | None]) -> Denied:
    """Tie a denied act to those who are wanted; whose deed it is cannot be told if these are not known."""
    known = [each for each in wanted if each and not each.vague and each != NOTHING]
    if len(known) < len(wanted):
        return Denied(replace(claim, vague=True))
    actors = {*those(tuple(ACTING))}
    acting = [
        who
        for who in chain.from_iterable(each.whos for each in known)
        if (who.names or actors) & actors
    ]
    if not act.verbs:
        subjects = [who for who in acting if who.names <= persons()]
        claim = replace(
            claim, vague=len(subjects) < min(1, len(acting))
        )  # it may be somebody else's hat than a dog's
    else:
        subjects = [who for who in acting if may_do(who.names or persons(), act)]
        claim = NOTHING if len(subjects) < min(1, len(acting)) else claim  # babies never cry
    return Denied(claim, tuple(subjects), act, cue.lower() == "neither")


def _cannot_be_told(query: Query, number: int, claim: Claim) -> bool:
    """Return whether "no guests" are some of those who are wanted, or nobody is "on it"."""
    if any(_ON_IT.match(query.text, scope.end) for scope in query.scopes[number : number + 1]):
        return True
    somebody = any(
        word.meaning.names & persons() for part in query.wanted for word in words_in(part)
    )
    groups = any(
        who.names >= meanings()["adult"] and who.least == 2 and who.most == TOGETHER
        for who in claim.whos
    )
    return somebody and groups


def _cue_of(query: Query, number: int) -> tuple[str, str]:
    """Return the query to the cue before an unwanted part, or to the first one, and that cue; empty if corrected."""
    if not query.cues or number >= len(query.scopes):
        return "", ""
    start = query.scopes[number].start
    cue = max((cue for cue in query.cues if cue.end <= start), default=query.cues[0])
    return query.text[: cue.end], query.text[slice(*cue)]


def _others(kind: str, query: Query, wanted: Sequence[Claim | None]) -> list[Claim | None]:
    """Claim what is of a kind but is not wanted, and a second one of what is wanted once: "a man and nobody else"."""
    claim = _read(kind)
    if claim is None or len(claim.whos) != 1 or None in wanted or NOTHING in wanted:
        return [None]
    names, whos = claim.whos[0].names, [who for each in wanted if each for who in each.whos]
    named = [who.names & names for who in whos]
    named += [(act.objects | act.targets) & names for who in whos for act in who.acts]
    left, taken = names.difference(*named), frozenset[str]().union(*named)
    said = chain.from_iterable(map(words_in, query.wanted))
    is_many = any(word.meaning.plural and word.meaning.names & names for word in said)
    second = (
        [] if is_many or not taken else [Who(taken, least=sum(map(bool, named)) + 1, total=True)]
    )
    return [replace(claim, whos=(who,)) for who in (Who(left), *second)] if left else [None]


def _quality_of(wanted: tuple[str, ...], quality: str) -> Claim | None:
    """Read "red" as "red car"; None if it fits none, or several, of the wanted things."""
    if all(word.meaning.kind == "filler" for word in words_in(quality)):
        return None  # a clown that isn't | funny
    found = (
        word for word in chain.from_iterable(map(words_in, wanted)) if word.meaning.kind == "noun"
    )
    claims = []
    for noun in dict.fromkeys(" ".join(word.text) for word in found):
        read = map(_read, (f"{quality} {noun}", f"{noun} {quality}"))
        claims += [claim for claim in read if claim and not claim.vague][:1]
    return claims[0] if len(claims) == 1 else None


class Unknown(NamedTuple):
    """A word that the world lacks, and words for what it has instead."""

    word: str
    near: tuple[str, ...]


def unknown_words(query: Query) -> list[Unknown]:
    """List the words of a query that the world lacks, or knows only by what they are a sort of."""
    found = {}
    for word in chain.from_iterable(map(words_in, (*query.wanted, *query.unwanted))):
        near, first = word.meaning.near, word.text[0]
        is_word = first.isalpha() and first not in listed("function_words", "stop_words")
        if near or (word.meaning == UNKNOWN and is_word):
            found[" ".join(word.text)] = (
                tuple(map(plural_of, near)) if word.meaning.plural else near
            )
    return [Unknown(*each) for each in found.items()]


def scene_of(video: Video) -> Scene | None:
    """Return the scene of a video, with what its pictures wear; None if it is not of the built-in world."""
    try:
        return Scene.from_dict(video.scene or {}).dressed
    except (KeyError, TypeError):
        return None


def judge_video(query: Query, video: Video, reference: Video | None = None) -> Verdict | None:
    """Judge a video of the built-in world, optionally next to a reference from it; None for any other video."""
    scene, before = scene_of(video), scene_of(reference) if reference else None
    if scene is None or (reference and before is None):
        return None
    return judge_edit(query, before, scene) if before else judge(query, scene)


def judge_edit(query: Query, before: Scene, scene: Scene) -> Verdict | None:
    """Judge a clip next to a reference: by the text, and "miss" if it lacks actors that the text does not change.

    Those must do the same as in the reference; its place, looks and things are free, and so are
    further actors. A change leaves the other properties of an actor: "reading instead of dancing"
    asks for the same dancer.
    """
    verdict = judge(query, scene)
    if verdict == "violation" or (verdict is None and (query.wanted or query.unwanted)):
        return verdict
    gone = _whos(query.unwanted)
    taken = [
        actor for actor in before.actors if any(who.fits(actor, before.figures) for who in gone)
    ]
    lost = frozenset(actor.thing for actor in taken)
    left = [actor for actor in before.actors if actor.thing not in lost]
    # the wanted ones, each as the actor that it changes, and the unchanged ones
    required = [(who, _changed(who, left, taken)) for who in _whos(query.wanted)] + [
        (Who(), actor) for actor in left
    ]
    is_right = Claim(tuple(_completed(who, old, before, lost) for who, old in required)).holds(
        scene
    )
    return (verdict or "right") if is_right else "miss"


def _whos(parts: Sequence[str]) -> list[Who]:
    return [
        who for part in parts if (claim := _read(part)) and not claim.vague for who in claim.whos
    ]


def _changed(who: Who, left: list[Figure], taken: list[Figure]) -> Figure | None:
    """Take the actor that a description changes off its list.

    It is one of those left, or one of those taken away, first of its kind: a student replaces a
    boy, not a train.
    """
    for actor in left:
        if actor.thing in who.names:
            left.remove(actor)
            return actor
    roles = {things()[name].role for name in who.names}
    if not taken or (roles.isdisjoint(ACTING) and roles and not who.acts):
        return None  # "a chair" replaces nobody
    first = min(taken, key=lambda actor: actor.kind.role not in roles)
    taken.remove(first)
    return first


def _completed(who: Who, changed: Figure | None, before: Scene, lost: Names) -> Who:
    """Complete a description by what an actor of the reference is and does; clothes leave its deeds as they are.

    Whoever looked at somebody `lost` may look at anybody.
    """
    if changed is None:
        return who
    names, acts = who.names or frozenset((changed.thing,)), [*who.acts]
    for deed in main_deeds(changed) if all(act.verbs <= {"wear"} for act in who.acts) else ():
        objects = frozenset((deed.object,) if isinstance(deed.object, str) else ())
        targets = (
            frozenset((before.figures[deed.object].thing,) if isinstance(deed.object, int) else ())
            - lost
        )
        acts.append(Act(frozenset((deed.verb,)), objects, targets=targets))
    return replace(who, names=names, acts=tuple(acts))
