"""Modification texts, as people type them next to a reference, with both parts known."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from nt2vr.negation.generate.templates import Template
from nt2vr.negation.generate.written import wordings_in

ChangeKind = Literal[
    "replace subject",
    "replace activity",
    "replace place",
    "add actor",
    "add prop",
    "add accessory",
    "remove actor",
    "remove activity",
    "remove prop",
    "remove accessory",
]
CHANGE_KINDS: tuple[ChangeKind, ...] = ChangeKind.__args__  # type: ignore[attr-defined]


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
    changes: Iterable[tuple[ChangeKind, Mapping[str, str]]], rng: random.Random, unseen: bool = False
) -> Modification:
    """Write a text that asks for one or two changes, in wordings of training or in unseen ones."""
    wordings = wordings_in("modifications.json")["unseen" if unseen else "seen"]
    parts = [Template(*(part.format(**fields) for part in rng.choice(wordings[kind]))) for kind, fields in changes]
    texts = [part.text for part in parts]
    if len(texts) > 1:
        texts = [texts[0].removesuffix(" instead"), texts[1].removeprefix("but ").removeprefix("and ")]
    return Modification(
        rng.choice(UNSEEN_JOINTS if unseen else JOINTS).join(texts),
        tuple(part.wanted for part in parts if part.wanted),
        tuple(part.unwanted for part in parts if part.unwanted),
    )
