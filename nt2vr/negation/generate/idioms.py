"""Sentences whose negation word denies nothing, like "can't stop singing".

Each has an affirmative paraphrase. A model that reads "not" as a reversal pushes them away from the videos they
describe. Some wordings are for training and others only for measuring, in the same families.
"""

import random
from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

from nt2vr.negation.generate.things import Thing
from nt2vr.negation.generate.written import wordings_in
from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.negation.parse.subjects import Subject


class Wording(NamedTuple):
    """A sentence and its affirmative paraphrase.

    {A} is a caption, {S} the subject of one of its actions, {B_ing} the action, {B2_ing} another one of the same
    subject, {is_}, {does} and {s} agree with the subject, {N} and {M} are things.
    """

    text: str
    meaning: str


Wordings = Literal["trained", "unseen"]  # uses of `assets/wordings/idioms.json`
TRAINED: Wordings = "trained"
UNSEEN: Wordings = "unseen"


def draw_idiom(
    caption: str,
    deeds: Sequence[tuple[Subject, str]],
    things: Sequence[Thing],
    rng: random.Random,
    wordings: Wordings = TRAINED,
) -> Wording | None:
    """Fill a random wording that a caption has the parts for; None if it has none. Families are equally likely.

    Args:
        deeds: the caption's actions, each with the verb as a lemma: (a man, "play the guitar").
    """
    fields = _fields(caption, deeds, things, rng)
    fitting = {
        family: fit
        for family, some in wordings_in("idioms.json")[wordings].items()
        if (fit := [each for each in some if _fits(each, fields)])
    }
    if not fitting:
        return None
    found = rng.choice(fitting[rng.choice(list(fitting))])
    return Wording(*(part.format(**fields) for part in found))


def _fields(
    caption: str, deeds: Sequence[tuple[Subject, str]], things: Sequence[Thing], rng: random.Random
) -> dict[str, str]:
    fields = {"A": caption} if caption else {}
    if deeds:
        subject, deed = rng.choice(deeds)
        others = [other for who, other in deeds if who == subject and other != deed]
        plural = subject.is_plural
        fields |= {"S": subject.text, "is_": "are" if plural else "is", "s": "" if plural else "s"}
        fields |= {"does": "do" if plural else "does", "B_ing": inflect_phrase(deed, "VBG")}
        if others:
            fields["B2_ing"] = inflect_phrase(rng.choice(others), "VBG")
    named = list(dict.fromkeys(thing.text for thing in things))
    rng.shuffle(named)
    return fields | dict(zip(("N", "M"), named, strict=False))


def _fits(wording: Sequence[str], fields: Mapping[str, str]) -> bool:
    try:
        return all(part.format(**fields) for part in wording)
    except KeyError:
        return False
