"""Negated sentences about scenes, with the exact truth of both parts.

Five kinds: "negated", a caption with a verb or a "with" denied (nT2VR's negated queries); "composed", A and not B
(nT2VR's composed queries); "without", A without a thing N; "not", not B alone; and "typed", A and not B or A without N
in the words of people who search. A denial applies to everybody in the clip, as in nT2VR's rule of relevance: "a man
sings and does not dance" requires that nobody dances.
"""

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal

from nt2vr.language.inflect import inflect_phrase
from nt2vr.querygen.denials import NO_DEED, NO_THING, WITHOUT, Denial
from nt2vr.querygen.templates import WITH_PRONOUN, WITHOUT_PRONOUN
from nt2vr.querygen.wordings import word
from nt2vr.world.captions import SceneCaption, with_article
from nt2vr.world.scenes import Actor, Scene
from nt2vr.world.truth import Claim, Who
from nt2vr.world.vocabulary import ACCESSORIES, ACTIVITIES, ANIMAL_ACTIVITIES, PROPS, SUBJECTS

SceneDenialKind = Literal["negated", "composed", "without", "not", "typed"]
SceneThing = tuple[Literal["subject", "prop", "accessory"], str]

PRONOUNS = {"man": "he", "boy": "he", "woman": "she", "girl": "she"}


@dataclass(frozen=True)
class SceneDenial(Denial):
    """A negated sentence with the claims of its parts."""

    kind: SceneDenialKind
    wanted_claim: Claim
    unwanted_claim: Claim

    def fits(self, scene: Scene) -> bool:
        """Return whether the scene shows the wanted part and not the unwanted one."""
        return self.wanted_claim.holds(scene) and not self.unwanted_claim.holds(scene)


def _thing_claim(thing: SceneThing) -> Claim:
    kind, name = thing
    if kind == "prop":
        return Claim(props=(frozenset((name,)),))
    return Claim((Who(frozenset((name,))) if kind == "subject" else Who(wearing=frozenset((name,))),))


def _thing_words(thing: SceneThing, rng: random.Random) -> str:
    """Name a thing with its article."""
    kind, name = thing
    if kind == "subject":
        return with_article(rng.choice(SUBJECTS[name].words))
    return rng.choice((PROPS if kind == "prop" else ACCESSORIES)[name].words)


def _bare(words: str) -> str:
    return re.sub(r"^(an?|the) ", "", words)


def _deed_claim(deed: str) -> Claim:
    return Claim((Who(activities=frozenset((deed,))),))


def _is_doing(subject: str, deed: str, form: str) -> str:
    return f"{subject} {form.format(ing=inflect_phrase(deed, 'VBG'), s=inflect_phrase(deed, 'VBZ'))}"


def compose(actor: Actor, deed: str, rng: random.Random) -> SceneDenial:
    """Build "A and not B" from one of nT2VR's twelve templates; the six with a pronoun are for people."""
    template = rng.choice(WITH_PRONOUN + WITHOUT_PRONOUN if actor.subject in PRONOUNS else WITHOUT_PRONOUN)
    subject = with_article(rng.choice(SUBJECTS[actor.subject].words))
    wanted, unwanted = (rng.choice(ACTIVITIES[name].phrases) for name in (actor.activity, deed))
    fields = {
        "S": subject,
        "P": PRONOUNS.get(actor.subject, ""),
        "A": inflect_phrase(wanted, "VBZ"),
        "A_ing": inflect_phrase(wanted, "VBG"),
        "B": unwanted,
        "B_ing": inflect_phrase(unwanted, "VBG"),
        "does_not": rng.choice(("does not", "doesn't")),
        "is_": "is",
        "is_not": rng.choice(("is not", "isn't")),
    }
    return SceneDenial(
        kind="composed",
        text=template.text.format(**fields),
        wanted=template.wanted.format(**fields),
        unwanted=fields["B_ing"],
        wanted_claim=Claim((Who(frozenset((actor.subject,)), frozenset((actor.activity,))),)),
        unwanted_claim=_deed_claim(deed),
    )


def leave_out(subject: str, deed: str, thing: SceneThing, rng: random.Random) -> SceneDenial:
    """Build "A without N"; A is a subject with an activity, or the subject alone if `deed` is empty."""
    wanted = with_article(rng.choice(SUBJECTS[subject].words))
    if deed:
        form = rng.choice(("is {ing}", "{ing}", "{s}"))
        wanted = _is_doing(wanted, rng.choice(ACTIVITIES[deed].phrases), form)
    words = _thing_words(thing, rng)
    return SceneDenial(
        kind="without",
        text=rng.choice(WITHOUT).format(A=wanted, N=words, n=_bare(words)),
        wanted=wanted,
        unwanted=words,
        wanted_claim=Claim((Who(frozenset((subject,)), frozenset((deed,) if deed else ())),)),
        unwanted_claim=_thing_claim(thing),
    )


def deny_deed(deed: str, rng: random.Random) -> SceneDenial:
    """Build "not B" for an activity; "nobody" only for activities of people."""
    phrase = rng.choice(ACTIVITIES[deed].phrases)
    doing = inflect_phrase(phrase, "VBG")
    template = NO_DEED[0] if deed in ANIMAL_ACTIVITIES else rng.choice(NO_DEED)
    text = template.format(B_ing=doing, B_s=inflect_phrase(phrase, "VBZ"))
    return SceneDenial("not", text, "", doing, Claim(), _deed_claim(deed))


def deny_thing(thing: SceneThing, rng: random.Random) -> SceneDenial:
    """Build "not B" for a thing."""
    words = _thing_words(thing, rng)
    return SceneDenial(
        "not", rng.choice(NO_THING).format(N=words, n=_bare(words)), "", words, Claim(), _thing_claim(thing)
    )


def type_out(first: SceneDenial, second: SceneDenial, rng: random.Random) -> SceneDenial:
    """Word a sentence as people type it; a list excludes the unwanted part of a second sentence, too."""
    either = _either(first.unwanted_claim, second.unwanted_claim)
    other = second.unwanted if either else ""
    text, with_other = word(first.wanted, first.unwanted, other, first.kind == "composed", rng)
    if either and with_other:
        first = replace(first, unwanted=f"{first.unwanted} and {other}", unwanted_claim=either)
    return replace(first, kind="typed", text=text)


def _either(one: Claim, other: Claim) -> Claim | None:
    """Claim that one or the other of two different things or deeds of the same sort is there."""
    if one == other:
        return None
    if one.props and other.props:
        return Claim(props=(one.props[0] | other.props[0],))
    if not (one.actors and other.actors):
        return None
    mine, its = one.actors[0], other.actors[0]
    either = Who(mine.subjects | its.subjects, mine.activities | its.activities, mine.wearing | its.wearing)
    return (
        Claim((either,))
        if bool(mine.subjects) == bool(its.subjects) and bool(mine.wearing) == bool(its.wearing)
        else None
    )


def negate(caption: SceneCaption) -> list[SceneDenial]:
    """Return all captions with one thing denied; there is at least one.

    Verbs: "is singing" becomes "is not singing" or "isn't singing", "singing" becomes "not singing", "sings" becomes
    "does not sing" or "doesn't sing". "with" becomes "without" before accessories and props in the background. Places
    stay wanted.
    """
    found: list[SceneDenial] = []
    text, claim, start = caption.text, caption.claim, 0
    for number, who in enumerate(claim.actors):
        verb = _find(_verbs(who), text, start)
        worn = _find(_worn(who), text[: verb.start], start)
        start = verb.end
        idle = _with_actor(claim, number, replace(who, activities=frozenset()))
        acts = Claim((Who(activities=who.activities),))
        doing = inflect_phrase(verb.lemma, "VBG")
        found += [_replaced(text, verb, words, doing, idle, acts) for words in _denied(verb)]
        if worn.found:
            bare = _with_actor(claim, number, replace(who, wearing=frozenset()))
            wears = Claim((Who(wearing=who.wearing),))
            found.append(_replaced(text, worn, f"without {worn.lemma}", worn.lemma, bare, wears))
    for number, names in enumerate(claim.props):
        behind = _find(_behind(names), text, start)
        if behind.found:
            rest = replace(claim, props=claim.props[:number] + claim.props[number + 1 :])
            words = f"without {behind.lemma} in the background"
            found.append(_replaced(text, behind, words, behind.lemma, rest, Claim(props=(names,))))
    return found


@dataclass(frozen=True)
class _Place:
    """Position of words in a text (`found` is empty if absent) and their lemma."""

    start: int = 0
    end: int = 0
    found: str = ""
    lemma: str = ""


def _find(forms: Mapping[str, str], text: str, start: int) -> _Place:
    """Find the first of `forms` from `start` on, preferring the longest."""
    pattern = "|".join(re.escape(form) for form in sorted(forms, key=len, reverse=True))
    match = re.compile(rf"\b(?:{pattern})\b").search(text, start) if forms else None
    return _Place(match.start(), match.end(), match[0], forms[match[0]]) if match else _Place()


def _verbs(who: Who) -> dict[str, str]:
    phrases = [phrase for name in who.activities for phrase in ACTIVITIES[name].phrases]
    doing = {inflect_phrase(phrase, "VBG"): phrase for phrase in phrases}
    does = {inflect_phrase(phrase, "VBZ"): phrase for phrase in phrases}
    return {**{f"is {words}": phrase for words, phrase in doing.items()}, **doing, **does}


def _worn(who: Who) -> dict[str, str]:
    return {f"with {words}": words for name in who.wearing for words in ACCESSORIES[name].words}


def _behind(names: frozenset[str]) -> dict[str, str]:
    return {f"with {words} in the background": words for name in names for words in PROPS[name].words}


def _denied(verb: _Place) -> tuple[str, ...]:
    doing = inflect_phrase(verb.lemma, "VBG")
    if verb.found == doing:
        return (f"not {doing}",)
    if verb.found == f"is {doing}":
        return f"is not {doing}", f"isn't {doing}"
    return f"does not {verb.lemma}", f"doesn't {verb.lemma}"


def _replaced(text: str, place: _Place, words: str, unwanted: str, wanted: Claim, denied: Claim) -> SceneDenial:
    before, after = text[: place.start], text[place.end :]
    rest = re.sub(r" +", " ", before + after).replace(" ,", ",").strip(" ,")
    return SceneDenial("negated", before + words + after, rest, unwanted, wanted, denied)


def _with_actor(claim: Claim, number: int, who: Who) -> Claim:
    return replace(claim, actors=(*claim.actors[:number], who, *claim.actors[number + 1 :]))
