"""Idioms: sentences with a negation word that denies nothing ("can't stop singing").

A model that reads it as a negation ranks the videos that it describes low. Some wordings are for
training, others of the same families only for measuring.
"""

import re
from collections.abc import Sequence
from random import Random
from typing import Literal

from nt2vr.negation.generate.denial import Sentence
from nt2vr.negation.generate.subjects import Subject
from nt2vr.negation.generate.wordings import wordings_in
from nt2vr.negation.parse.inflect import do_or_does, inflect_phrase, is_or_are

_FIELD = re.compile(r"\{(\w+)\}")

# Uses of `assets/wordings/idioms.json`.
Wordings = Literal["trained", "unseen"]


def draw_idiom(
    caption: str,
    actions: Sequence[tuple[Subject, str]],
    things: Sequence[str],
    rng: Random,
    wordings: Wordings = "trained",
) -> Sentence | None:
    """Fill a random wording, and its affirmative paraphrase as what is wanted.

    Families are equally likely; None if a caption has the parts for none. Its `actions` have their
    verbs as lemmas: (a man, "play the guitar"). {A} is a caption, {S} the subject of one of its
    actions, {B_ing} the action, {B2_ing} another one of the same subject, {is_}, {does} and {s}
    agree with the subject, {N} and {M} are things.
    """
    fields = _fields(caption, actions, things, rng)
    fitting_families = []
    for family in wordings_in("idioms.json")[wordings].values():
        fitting = []
        for wording in family:
            needed_fields = _FIELD.findall(" ".join(wording))
            if fields.keys() >= set(needed_fields):
                fitting.append(wording)
        if fitting:
            fitting_families.append(fitting)
    if not fitting_families:
        return None

    text, meaning = rng.choice(rng.choice(fitting_families))
    return Sentence(text.format(**fields), wanted=meaning.format(**fields), unwanted="")


def _fields(
    caption: str,
    actions: Sequence[tuple[Subject, str]],
    things: Sequence[str],
    rng: Random,
) -> dict[str, str]:
    """Draw the fields of a wording."""
    fields = {"A": caption} if caption else {}
    if actions:
        subject, action = rng.choice(actions)
        fields |= _fields_of_action(subject, action)
        other_actions = [text for doer, text in actions if doer == subject and text != action]
        if other_actions:
            fields["B2_ing"] = inflect_phrase(rng.choice(other_actions), "VBG")
    # No wording has more than two things.
    names = list(dict.fromkeys(things))
    rng.shuffle(names)
    return fields | dict(zip("NM", names, strict=False))


def _fields_of_action(subject: Subject, action: str) -> dict[str, str]:
    fields = {
        "S": subject.text,
        "B_ing": inflect_phrase(action, "VBG"),
        "is_": is_or_are(subject.is_plural),
        "does": do_or_does(subject.is_plural),
        "s": "s",
    }
    # she stops, they stop
    if subject.is_plural:
        fields["s"] = ""
    return fields
