"""Sentences in the words of people, from `assets/wordings`: exclusions, modifications of a reference, and idioms.

Idioms have a negation word that denies nothing ("can't stop singing"). A model that reads it as a
reversal pushes them away from the videos they describe. Some wordings are for training, others of
the same families only for measuring.
"""

import json
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, NamedTuple, get_args

from nt2vr.negation.generate.actions import Subject
from nt2vr.negation.generate.content import Thing
from nt2vr.negation.parse.inflect import inflect_phrase
from nt2vr.negation.parse.wordlists import text_of

_SLIP_SHARE = 0.15
_LOWER_SHARE = 0.3
_FIELD = re.compile(r"\{(\w+)\}")
_SAYS_LITTLE = re.compile(r"\b(?:an?|the|is|are|his|her|its|their|some|and) (?=.)")


@cache
def wordings_in(file: str) -> dict[str, Any]:
    """Read wordings by use, mostly with a family each."""
    found: dict[str, Any] = json.loads(text_of(f"wordings/{file}"))
    return found


def word(
    wanted: str, unwanted: str, other: str, is_deed: bool, rng: random.Random
) -> tuple[str, bool]:
    """Draw a sentence that wants one phrase and excludes another; return also whether it is a list with `other`."""
    typed = wordings_in("typed.json")
    families = typed["either"] | typed["deed" if is_deed else "thing"]
    family = rng.choice([name for name in families if other or name != "list"])
    fields = {"U": unwanted, "u": bare(unwanted), "q": _term(unwanted)}
    fields |= {"V": other, "v": bare(other), "r": _term(other)}
    text = rng.choice(families[family]).format(**_wanted(wanted), **fields)
    return mistyped(text, rng), family == "list"


def ask(wanted: str, rng: random.Random) -> str:
    """Draw a request that excludes nothing."""
    return mistyped(rng.choice(wordings_in("typed.json")["asked"]).format(**_wanted(wanted)), rng)


def refuse(unwanted: str, use: str, rng: random.Random) -> str:
    """Draw a sentence that excludes a phrase and wants nothing; `use` is a key of "refused" in `typed.json`."""
    templates = wordings_in("typed.json")["refused"][use]
    fields = {"U": unwanted, "u": bare(unwanted), "q": _term(unwanted)}
    return mistyped(rng.choice(templates).format(**fields), rng)


def _wanted(phrase: str) -> dict[str, str]:
    is_doing = re.sub(r" (?:is|are) (?=\w+ing\b)", " ", phrase)
    return {"A": phrase, "C": is_doing, "k": _SAYS_LITTLE.sub("", phrase)}


def mistyped(text: str, rng: random.Random) -> str:
    """Misspell the cues of some sentences, and leave some without capitals."""
    if rng.random() < _SLIP_SHARE:
        slips = wordings_in("typed.json")["slips"]
        text = re.sub(
            rf"\b(?:{'|'.join(slips)})\b", lambda match: rng.choice(slips[match[0]]), text
        )
    return text.lower() if rng.random() < _LOWER_SHARE and not re.search(r"\bNOT\b", text) else text


def bare(phrase: str) -> str:
    """Return a phrase without its article."""
    return re.sub(r"^(an?|the) ", "", phrase)


def _term(phrase: str) -> str:
    words = _SAYS_LITTLE.sub("", phrase)
    return f'"{words}"' if " " in words else words


class Wording(NamedTuple):
    """A sentence and its affirmative paraphrase.

    {A} is a caption, {S} the subject of one of its actions, {B_ing} the action, {B2_ing} another
    one of the same subject, {is_}, {does} and {s} agree with the subject, {N} and {M} are things.
    """

    text: str
    meaning: str


Wordings = Literal["trained", "unseen"]  # uses of `assets/wordings/idioms.json`


def draw_idiom(
    caption: str,
    deeds: Sequence[tuple[Subject, str]],
    things: Sequence[Thing],
    rng: random.Random,
    wordings: Wordings = "trained",
) -> Wording | None:
    """Fill a random wording that a caption has the parts for; None if it has none. Families are equally likely.

    The caption's `deeds` have their verbs as lemmas: (a man, "play the guitar").
    """
    fields = _fields(caption, deeds, things, rng)
    fitting = {
        family: fit
        for family, some in wordings_in("idioms.json")[wordings].items()
        if (fit := [each for each in some if fields.keys() >= {*_FIELD.findall(" ".join(each))}])
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
        agreeing = ("are", "", "do") if subject.is_plural else ("is", "s", "does")
        fields |= dict(zip(("is_", "s", "does"), agreeing, strict=True))
        fields |= {"S": subject.text, "B_ing": inflect_phrase(deed, "VBG")}
        if others:
            fields["B2_ing"] = inflect_phrase(rng.choice(others), "VBG")
    named = list(dict.fromkeys(thing.text for thing in things))
    rng.shuffle(named)
    return fields | dict(zip(("N", "M"), named, strict=False))


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


JOINTS, UNSEEN_JOINTS = (", ", " and "), (", but ", "; ")


def modify(
    changes: Iterable[tuple[ChangeKind, Mapping[str, str]]],
    rng: random.Random,
    unseen: bool = False,
) -> Modification:
    """Write a text that asks for one or two changes, in wordings of training or in unseen ones."""
    wordings = wordings_in("modifications.json")["unseen" if unseen else "seen"]
    parts = [
        [*(part.format(**fields) for part in rng.choice(wordings[kind])), ""][:3]
        for kind, fields in changes
    ]
    texts, wanted, unwanted = zip(*parts, strict=True)
    if len(texts) > 1:
        texts = (
            texts[0].removesuffix(" instead"),
            texts[1].removeprefix("but ").removeprefix("and "),
        )
    text = rng.choice(UNSEEN_JOINTS if unseen else JOINTS).join(texts)
    return Modification(text, tuple(filter(None, wanted)), tuple(filter(None, unwanted)))
