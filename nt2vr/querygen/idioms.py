"""Sentences whose negation word denies nothing, like "can't stop singing".

Each has an affirmative paraphrase. A model that reads "not" as a reversal pushes them away from the videos they
describe. Some wordings are for training and others only for measuring, in the same families.
"""

import random
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from nt2vr.language.inflect import inflect_phrase
from nt2vr.language.subjects import Subject
from nt2vr.querygen.things import Thing


class Wording(NamedTuple):
    """A sentence and its affirmative paraphrase.

    {A} is a caption, {S} the subject of one of its actions, {B_ing} the action, {B2_ing} another one of the same
    subject, {is_}, {does} and {s} agree with the subject, {N} and {M} are things.
    """

    text: str
    meaning: str


Wordings = Mapping[str, Sequence[Wording]]  # by family

TRAINED: Wordings = {
    "can't stop": (
        Wording("{S} can't stop {B_ing}", "{S} keep{s} {B_ing}"),
        Wording("{S} never stop{s} {B_ing}", "{S} keep{s} {B_ing}"),
        Wording("{S} {is_} not done {B_ing} yet", "{S} {is_} still {B_ing}"),
        Wording("{S} cannot get enough of {B_ing}", "{S} keep{s} {B_ing}"),
        Wording("{S} never tire{s} of {B_ing}", "{S} keep{s} {B_ing}"),
        Wording("{S} {is_} {B_ing} without a break", "{S} keep{s} {B_ing}"),
        Wording("{S} {is_} {B_ing} without stopping", "{S} keep{s} {B_ing}"),
    ),
    "nothing but": (
        Wording("{S} {is_} doing nothing but {B_ing}", "{S} {is_} only {B_ing}"),
        Wording("{S} {is_} not doing anything but {B_ing}", "{S} {is_} only {B_ing}"),
        Wording("nothing but {N}", "only {N}"),
        Wording("there is nothing but {N}", "there is only {N}"),
        Wording("nothing to see but {N}", "only {N}"),
        Wording("nothing apart from {N}", "only {N}"),
        Wording("nothing besides {N} is shown", "only {N} is shown"),
    ),
    "no one but": (
        Wording("no one but {S} {is_} {B_ing}", "only {S} {is_} {B_ing}"),
        Wording("nobody but {S} {is_} {B_ing}", "only {S} {is_} {B_ing}"),
        Wording("no one apart from {S} {is_} {B_ing}", "only {S} {is_} {B_ing}"),
        Wording("not a soul but {S} {is_} {B_ing}", "only {S} {is_} {B_ing}"),
    ),
    "not a single": (
        Wording("{S} {does} not stop {B_ing} for a single moment", "{S} keep{s} {B_ing}"),
        Wording("{S} {is_} {B_ing} without missing a single beat", "{S} keep{s} {B_ing}"),
        Wording("not a single moment passes without {S} {B_ing}", "{S} keep{s} {B_ing}"),
        Wording("not a single person but {S} {is_} {B_ing}", "only {S} {is_} {B_ing}"),
        Wording("there is not a single thing but {N}", "there is only {N}"),
        Wording("not a single thing apart from {N} is shown", "only {N} is shown"),
    ),
    "not only": (
        Wording("{S} {is_} not only {B_ing} but also {B2_ing}", "{S} {is_} {B_ing} and {B2_ing}"),
        Wording("{S} {is_} not simply {B_ing} but also {B2_ing}", "{S} {is_} {B_ing} and {B2_ing}"),
        Wording("not only {N} but also {M}", "{N} and {M}"),
        Wording("not {N} alone but {M}, too", "{N} and {M}"),
        Wording("{N}, but not only that: {M}", "{N} and {M}"),
    ),
    "no doubt": (
        Wording("no doubt {A}", "{A}"),
        Wording("without a doubt, {A}", "{A}"),
        Wording("believe it or not, {A}", "{A}"),
        Wording("no kidding, {A}", "{A}"),
        Wording("not surprisingly, {A}", "{A}"),
        Wording("{S} start{s} {B_ing} in no time", "{S} quickly start{s} {B_ing}"),
        Wording("{S} {is_} {B_ing} like there is no tomorrow", "{S} {is_} {B_ing}"),
        Wording("{S} {is_} {B_ing} for no reason", "{S} {is_} {B_ing}"),
        Wording("{S} {is_} {B_ing} as if nothing had happened", "{S} {is_} {B_ing}"),
    ),
    "title": (
        Wording("{A} in the movie No Country for Old Men", "{A} in a movie"),
        Wording("{A} in the movie Never Let Me Go", "{A} in a movie"),
        Wording("{A} in the movie Nothing to Lose", "{A} in a movie"),
        Wording("{A} to the song No Woman No Cry", "{A} to a song"),
        Wording("{A} to the song Nothing Compares 2 U", "{A} to a song"),
        Wording("{A} to the song Can't Buy Me Love", "{A} to a song"),
        Wording("{A} in the series Never Have I Ever", "{A} in a series"),
        Wording("{A} in the game Don't Starve", "{A} in a game"),
    ),
}
UNSEEN: Wordings = {
    "can't stop": (
        Wording("{S} can't help {B_ing}", "{S} keep{s} {B_ing}"),
        Wording("{S} won't quit {B_ing}", "{S} keep{s} {B_ing}"),
    ),
    "nothing but": (
        Wording("{S} {is_} doing nothing else than {B_ing}", "{S} {is_} only {B_ing}"),
        Wording("nothing other than {N}", "only {N}"),
    ),
    "no one but": (
        Wording("nobody except {S} {is_} {B_ing}", "only {S} {is_} {B_ing}"),
        Wording("none other than {S} {is_} {B_ing}", "{S} {is_} {B_ing}"),
    ),
    "not a single": (
        Wording("{S} can't go a single minute without {B_ing}", "{S} keep{s} {B_ing}"),
        Wording("not a single thing except {N}", "only {N}"),
    ),
    "not only": (
        Wording("{S} {is_} not just {B_ing} but {B2_ing} as well", "{S} {is_} {B_ing} and {B2_ing}"),
        Wording("not merely {N} but {M} too", "{N} and {M}"),
    ),
    "no doubt": (
        Wording("there is no question that {A}", "{A}"),
        Wording("{S} waste{s} no time and start{s} {B_ing}", "{S} quickly start{s} {B_ing}"),
    ),
    "title": (
        Wording("{A} in the movie Don't Look Up", "{A} in a movie"),
        Wording("{A} to the song Ain't No Sunshine", "{A} to a song"),
    ),
}


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
        family: fit for family, some in wordings.items() if (fit := [each for each in some if _fits(each, fields)])
    }
    if not fitting:
        return None
    wording = rng.choice(fitting[rng.choice(list(fitting))])
    return Wording(*(part.format(**fields) for part in wording))


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


def _fits(wording: Wording, fields: Mapping[str, str]) -> bool:
    try:
        return all(part.format(**fields) for part in wording)
    except KeyError:
        return False
