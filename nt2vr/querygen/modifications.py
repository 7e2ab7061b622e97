"""Modification texts, as people type them next to a reference, with both parts known; see `Change` of either world."""

import random
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from nt2vr.querygen.templates import Template

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


Wordings = Mapping[ChangeKind, tuple[Template, ...]]  # with fields in braces, see `fields_of` of either world

SEEN: Wordings = {  # of training
    "replace subject": (
        Template("replace the {old} with {a_new}", "{a_new}", "the {old}"),
        Template("change the {old} to {a_new}", "{a_new}", "the {old}"),
        Template("{a_new} instead of the {old}", "{a_new}", "the {old}"),
        Template("{a_new} and not {a_old}", "{a_new}", "{a_old}"),
        Template("{a_new} {doing} instead of the {old}", "{a_new} {doing}", "the {old}"),
    ),
    "replace activity": (
        Template("{doing} instead of {did}", "{doing}", "{did}"),
        Template("the {new} is {doing} instead of {did}", "the {new} is {doing}", "{did}"),
        Template("replace {did} by {doing}", "{doing}", "{did}"),
        Template("change {did} to {doing}", "{doing}", "{did}"),
        Template("the {new} is {doing} and not {did}", "the {new} is {doing}", "{did}"),
    ),
    "replace place": (
        Template("{there} instead", "{there}"),
        Template("but {there}", "{there}"),
        Template("{there} instead of {here}", "{there}", "{here}"),
        Template("the same {there}", "{there}"),
    ),
    "add actor": (
        Template("add {a_new} {doing}", "{a_new} {doing}"),
        Template("with {a_new} {doing}", "with {a_new} {doing}"),
        Template("and {a_new} is {doing}", "{a_new} is {doing}"),
        Template("with {a_new} {doing} too", "with {a_new} {doing}"),
    ),
    "add prop": (
        Template("add {thing}", "{thing}"),
        Template("with {thing}", "with {thing}"),
        Template("with {thing} in the background", "with {thing} in the background"),
        Template("the same with {thing}", "with {thing}"),
    ),
    "add accessory": (
        Template("the {new} is wearing {thing}", "the {new} is wearing {thing}"),
        Template("with the {new} wearing {thing}", "with the {new} wearing {thing}"),
        Template("the {new} with {thing}", "the {new} with {thing}"),
        Template("{a_new} in {thing}", "{a_new} in {thing}"),
    ),
    "remove actor": (
        Template("remove the {old}", "", "the {old}"),
        Template("without the {old}", "", "the {old}"),
        Template("no {old}", "", "{old}"),
        Template("like this without the {old}", "", "the {old}"),
        Template("but not {a_old}", "", "{a_old}"),
    ),
    "remove activity": (
        Template("but not {did}", "", "{did}"),
        Template("nobody {did}", "", "{did}"),
        Template("without anybody {did}", "", "anybody {did}"),
        Template("remove the one {did}", "", "the one {did}"),
    ),
    "remove prop": (
        Template("remove {the_thing}", "", "{the_thing}"),
        Template("without {thing}", "", "{thing}"),
        Template("no {bare}", "", "{bare}"),
        Template("like this without {the_thing}", "", "{the_thing}"),
    ),
    "remove accessory": (
        Template("remove {the_thing}", "", "{the_thing}"),
        Template("without {thing}", "", "{thing}"),
        Template("no {bare}", "", "{bare}"),
        Template("the {old} without {thing}", "the {old}", "{thing}"),
    ),
}
UNSEEN: Wordings = {  # only of tests
    "replace subject": (
        Template("{a_new} rather than the {old}", "{a_new}", "the {old}"),
        Template("swap the {old} for {a_new}", "{a_new}", "the {old}"),
    ),
    "replace activity": (
        Template("{doing} rather than {did}", "{doing}", "{did}"),
        Template("the {new} now {does} and does not {was_doing}", "the {new} now {does}", "{was_doing}"),
    ),
    "replace place": (
        Template("{there} rather than {here}", "{there}", "{here}"),
        Template("like this but {there}", "{there}"),
    ),
    "add actor": (
        Template("also {a_new} {doing}", "{a_new} {doing}"),
        Template("include {a_new} who is {doing}", "{a_new} who is {doing}"),
    ),
    "add prop": (
        Template("also show {thing}", "{thing}"),
        Template("there is {thing} too", "there is {thing}"),
    ),
    "add accessory": (
        Template("the {new} wears {thing}", "the {new} wears {thing}"),
        Template("like this, and the {new} has {thing} on", "the {new} has {thing} on"),
    ),
    "remove actor": (
        Template("take away the {old}", "", "the {old}"),
        Template("the same but with no {old}", "", "{old}"),
    ),
    "remove activity": (
        Template("the same but nobody is {did}", "", "{did}"),
        Template("get rid of the one {did}", "", "the one {did}"),
    ),
    "remove prop": (
        Template("take away {the_thing}", "", "{the_thing}"),
        Template("there should be no {bare}", "", "{bare}"),
    ),
    "remove accessory": (
        Template("take off {the_thing}", "", "{the_thing}"),
        Template("the {old} is not wearing {thing}", "the {old}", "wearing {thing}"),
    ),
}
JOINTS, UNSEEN_JOINTS = (", ", " and "), (", but ", "; ")


Fields = Mapping[str, str]


def modify(changes: Iterable[tuple[ChangeKind, Fields]], rng: random.Random, unseen: bool = False) -> Modification:
    """Write a text that asks for one or two changes, in wordings of training or in unseen ones."""
    wordings = UNSEEN if unseen else SEEN
    parts = [
        Template(*(template.format(**fields) for template in rng.choice(wordings[kind]))) for kind, fields in changes
    ]
    texts = [part.text for part in parts]
    if len(texts) > 1:
        texts = [texts[0].removesuffix(" instead"), texts[1].removeprefix("but ").removeprefix("and ")]
    return Modification(
        rng.choice(UNSEEN_JOINTS if unseen else JOINTS).join(texts),
        tuple(part.wanted for part in parts if part.wanted),
        tuple(part.unwanted for part in parts if part.unwanted),
    )
