"""Sentences in the words of people, from `assets/wordings`.

Exclusions and requests, modifications of a reference, and idioms. An idiom has a negation word that
denies nothing ("can't stop singing"): a model that reads it as a negation ranks the videos that it
describes low. Some wordings are for training, others of the same families only for measuring.
"""

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, get_args

from nt2vr.negation.generate.actions import Subject
from nt2vr.negation.generate.content import NamedThing
from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.negation.parse.wordlists import text_of

# The shares of sentences with a misspelt cue, and without capitals.
_MISSPELT_SHARE = 0.15
_LOWER_CASE_SHARE = 0.3
_FIELD = re.compile(r"\{(\w+)\}")
_SAYS_LITTLE = re.compile(r"\b(?:an?|the|is|are|his|her|its|their|some|and) (?=.)")


@cache
def wordings_in(file: str) -> dict[str, Any]:
    """Read wordings by use, mostly with a family each."""
    wordings: dict[str, Any] = json.loads(text_of(f"wordings/{file}"))
    return wordings


def draw_exclusion(
    wanted: str, unwanted: str, further: str, is_action: bool, rng: random.Random
) -> tuple[str, bool]:
    """Draw a sentence that wants one phrase and excludes another.

    Args:
        wanted: the phrase to show.
        unwanted: the phrase not to show, an action if `is_action`, otherwise a thing.
        further: another one, which only a list excludes as well; "" for none.
        is_action: chooses the wordings.
        rng: draws them.

    Returns:
        The sentence, and whether it is a list.
    """
    typed = wordings_in("typed.json")
    families = typed["either"] | typed["action" if is_action else "thing"]
    names = list(families)
    if not further:
        names.remove("list")
    family = rng.choice(names)
    fields = _fields_of_wanted(wanted) | {
        "U": unwanted,
        "u": bare(unwanted),
        "q": _term(unwanted),
        "V": further,
        "v": bare(further),
        "r": _term(further),
    }
    text = rng.choice(families[family]).format(**fields)
    return mistyped(text, rng), family == "list"


def draw_request(wanted: str, rng: random.Random) -> str:
    """Draw a request that excludes nothing."""
    template = rng.choice(wordings_in("typed.json")["asked"])
    return mistyped(template.format(**_fields_of_wanted(wanted)), rng)


def draw_refusal(unwanted: str, use: str, rng: random.Random) -> str:
    """Draw a sentence that excludes a phrase and wants nothing.

    The use is a key of "refused" in `typed.json`.
    """
    templates = wordings_in("typed.json")["refused"][use]
    fields = {"U": unwanted, "u": bare(unwanted), "q": _term(unwanted)}
    return mistyped(rng.choice(templates).format(**fields), rng)


def _fields_of_wanted(phrase: str) -> dict[str, str]:
    """Return a wanted phrase as it is, without "is", and in its telling words."""
    without_is = re.sub(r" (?:is|are) (?=\w+ing\b)", " ", phrase)
    return {"A": phrase, "C": without_is, "k": _SAYS_LITTLE.sub("", phrase)}


def mistyped(text: str, rng: random.Random) -> str:
    """Misspell the cues of some sentences, and leave some without capitals."""
    if rng.random() < _MISSPELT_SHARE:
        slips = wordings_in("typed.json")["slips"]
        cue = rf"\b(?:{'|'.join(slips)})\b"
        text = re.sub(cue, lambda match: rng.choice(slips[match[0]]), text)
    loses_capitals = rng.random() < _LOWER_CASE_SHARE
    # Nobody types "NOT" by mistake.
    if loses_capitals and not re.search(r"\bNOT\b", text):
        return text.lower()
    return text


def bare(phrase: str) -> str:
    """Return a phrase without its article."""
    return re.sub(r"^(an?|the) ", "", phrase)


def _term(phrase: str) -> str:
    """Return a phrase as a search operator takes it: its telling words, several in quotes."""
    words = _SAYS_LITTLE.sub("", phrase)
    if " " in words:
        return f'"{words}"'
    return words


class Wording(NamedTuple):
    """A sentence and its affirmative paraphrase.

    {A} is a caption, {S} the subject of one of its actions, {B_ing} the action, {B2_ing} another
    one of the same subject, {is_}, {does} and {s} agree with the subject, {N} and {M} are things.
    """

    text: str
    meaning: str


# Uses of `assets/wordings/idioms.json`.
Wordings = Literal["trained", "unseen"]


def draw_idiom(
    caption: str,
    actions: Sequence[tuple[Subject, str]],
    things: Sequence[NamedThing],
    rng: random.Random,
    wordings: Wordings = "trained",
) -> Wording | None:
    """Fill a random wording that a caption has the parts for; None if it has none.

    Families are equally likely. The caption's `actions` have their verbs as lemmas: (a man, "play the
    guitar").
    """
    fields = _fields(caption, actions, things, rng)
    fitting: dict[str, list[list[str]]] = {}
    for family, candidates in wordings_in("idioms.json")[wordings].items():
        complete = [wording for wording in candidates if _needed_fields(wording) <= fields.keys()]
        if complete:
            fitting[family] = complete
    if not fitting:
        return None
    family = rng.choice(list(fitting))
    text, meaning = rng.choice(fitting[family])
    return Wording(text.format(**fields), meaning.format(**fields))


def _needed_fields(wording: Sequence[str]) -> set[str]:
    return set(_FIELD.findall(" ".join(wording)))


def _fields(
    caption: str,
    actions: Sequence[tuple[Subject, str]],
    things: Sequence[NamedThing],
    rng: random.Random,
) -> dict[str, str]:
    """Draw the fields of a wording."""
    fields = {"A": caption} if caption else {}
    if actions:
        subject, action = rng.choice(actions)
        fields |= _fields_of_action(subject, action)
        other_actions = [text for doer, text in actions if doer == subject and text != action]
        if other_actions:
            fields["B2_ing"] = inflect_phrase(rng.choice(other_actions), "VBG")
    names = list(dict.fromkeys(thing.text for thing in things))
    rng.shuffle(names)
    return fields | dict(zip(("N", "M"), names, strict=False))


def _fields_of_action(subject: Subject, action: str) -> dict[str, str]:
    fields = {"S": subject.text, "B_ing": inflect_phrase(action, "VBG")}
    if subject.is_plural:
        return fields | {"is_": "are", "s": "", "does": "do"}
    return fields | {"is_": "is", "s": "s", "does": "does"}


# fmt: off
ChangeKind = Literal[
    "replace subject", "replace activity", "replace place", "add actor", "add prop", "add accessory",
    "remove actor", "remove activity", "remove prop", "remove accessory",
]
# fmt: on
CHANGE_KINDS: tuple[ChangeKind, ...] = get_args(ChangeKind)


@dataclass(frozen=True)
class Modification:
    """A text that asks for changes, with the phrases to show and not to show."""

    text: str
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]

    @property
    def wanted_text(self) -> str:
        """The wanted phrases as one; empty if there is none."""
        return " and ".join(self.wanted)


JOINTS = (", ", " and ")
UNSEEN_JOINTS = (", but ", "; ")


def modify(
    changes: Iterable[tuple[ChangeKind, Mapping[str, str]]],
    rng: random.Random,
    unseen: bool = False,
) -> Modification:
    """Write a text that asks for one or two changes, in wordings of training or in unseen ones."""
    wordings = wordings_in("modifications.json")["unseen" if unseen else "seen"]
    texts = []
    all_wanted = []
    all_unwanted = []
    for kind, fields in changes:
        # Some have no unwanted part.
        text, wanted, *unwanted_parts = rng.choice(wordings[kind])
        texts.append(text.format(**fields))
        all_wanted.append(wanted.format(**fields))
        for unwanted in unwanted_parts:
            all_unwanted.append(unwanted.format(**fields))

    # The joint takes the place of these words.
    if len(texts) > 1:
        texts[0] = texts[0].removesuffix(" instead")
        texts[1] = texts[1].removeprefix("but ").removeprefix("and ")
    joint = rng.choice(UNSEEN_JOINTS if unseen else JOINTS)
    return Modification(
        text=joint.join(texts),
        wanted=tuple(filter(None, all_wanted)),
        unwanted=tuple(filter(None, all_unwanted)),
    )
