"""Texts that ask for changes of a reference, in the words of people."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from nt2vr.negation.generate.wordings import wordings_in

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
    unseen: bool,
) -> Modification:
    """Write a text that asks for one or two changes, in wordings of training or in unseen ones."""
    wordings = wordings_in("modifications.json")["unseen" if unseen else "seen"]
    texts = []
    all_wanted = []
    all_unwanted = []
    for kind, fields in changes:
        wording = rng.choice(wordings[kind])
        # Some have no unwanted part.
        text, wanted, *unwanted = [part.format(**fields) for part in wording]
        texts.append(text)
        all_wanted.append(wanted)
        all_unwanted += unwanted

    return Modification(
        text=_joined(texts, rng.choice(UNSEEN_JOINTS if unseen else JOINTS)),
        wanted=tuple(filter(None, all_wanted)),
        unwanted=tuple(filter(None, all_unwanted)),
    )


def _joined(texts: list[str], joint: str) -> str:
    """Join one text or two; the joint takes the place of "instead", "but" or "and" between them."""
    if len(texts) == 1:
        return texts[0]
    first, second = texts
    second = second.removeprefix("but ").removeprefix("and ")
    return first.removesuffix(" instead") + joint + second
