"""Modification texts, as people type them next to a reference, with both parts known."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from nt2vr.language.inflect import inflect_phrase
from nt2vr.world.captions import with_article
from nt2vr.world.edits.changes import Change, ChangeKind
from nt2vr.world.scenes import Actor, Scene
from nt2vr.world.vocabulary import ACCESSORIES, ACTIVITIES, PLACES, PROPS, SUBJECTS


class Wording(NamedTuple):
    """One way to ask for a kind of change.

    Attributes:
        text: the sentence, with fields in braces, see `_fields`.
        wanted: the part to show; empty in most removals.
        unwanted: the part not to show; may be empty.
    """

    text: str
    wanted: str
    unwanted: str = ""


@dataclass(frozen=True)
class Modification:
    """A text that asks for changes.

    Attributes:
        text: what the person types.
        wanted: phrases to show.
        unwanted: phrases not to show.
    """

    text: str
    wanted: tuple[str, ...]
    unwanted: tuple[str, ...]

    @property
    def wanted_text(self) -> str:
        """The wanted phrases as one; empty if there is none."""
        return " and ".join(self.wanted)


SEEN: Mapping[ChangeKind, tuple[Wording, ...]] = {  # wordings of training
    "replace subject": (
        Wording("replace the {old} with {a_new}", "{a_new}", "the {old}"),
        Wording("change the {old} to {a_new}", "{a_new}", "the {old}"),
        Wording("{a_new} instead of the {old}", "{a_new}", "the {old}"),
        Wording("{a_new} and not {a_old}", "{a_new}", "{a_old}"),
        Wording("{a_new} {doing} instead of the {old}", "{a_new} {doing}", "the {old}"),
    ),
    "replace activity": (
        Wording("{doing} instead of {did}", "{doing}", "{did}"),
        Wording("the {new} is {doing} instead of {did}", "the {new} is {doing}", "{did}"),
        Wording("replace {did} by {doing}", "{doing}", "{did}"),
        Wording("change {did} to {doing}", "{doing}", "{did}"),
        Wording("the {new} is {doing} and not {did}", "the {new} is {doing}", "{did}"),
    ),
    "replace place": (
        Wording("{there} instead", "{there}"),
        Wording("but {there}", "{there}"),
        Wording("{there} instead of {here}", "{there}", "{here}"),
        Wording("the same {there}", "{there}"),
    ),
    "add actor": (
        Wording("add {a_new} {doing}", "{a_new} {doing}"),
        Wording("with {a_new} {doing}", "with {a_new} {doing}"),
        Wording("and {a_new} is {doing}", "{a_new} is {doing}"),
        Wording("with {a_new} {doing} too", "with {a_new} {doing}"),
    ),
    "add prop": (
        Wording("add {thing}", "{thing}"),
        Wording("with {thing}", "with {thing}"),
        Wording("with {thing} in the background", "with {thing} in the background"),
        Wording("the same with {thing}", "with {thing}"),
    ),
    "add accessory": (
        Wording("the {new} is wearing {thing}", "the {new} is wearing {thing}"),
        Wording("with the {new} wearing {thing}", "with the {new} wearing {thing}"),
        Wording("the {new} with {thing}", "the {new} with {thing}"),
        Wording("{a_new} in {thing}", "{a_new} in {thing}"),
    ),
    "remove actor": (
        Wording("remove the {old}", "", "the {old}"),
        Wording("without the {old}", "", "the {old}"),
        Wording("no {old}", "", "{old}"),
        Wording("like this without the {old}", "", "the {old}"),
        Wording("but not {a_old}", "", "{a_old}"),
    ),
    "remove activity": (
        Wording("but not {did}", "", "{did}"),
        Wording("nobody {did}", "", "{did}"),
        Wording("without anybody {did}", "", "anybody {did}"),
        Wording("remove the one {did}", "", "the one {did}"),
    ),
    "remove prop": (
        Wording("remove {the_thing}", "", "{the_thing}"),
        Wording("without {thing}", "", "{thing}"),
        Wording("no {bare}", "", "{bare}"),
        Wording("like this without {the_thing}", "", "{the_thing}"),
    ),
    "remove accessory": (
        Wording("remove {the_thing}", "", "{the_thing}"),
        Wording("without {thing}", "", "{thing}"),
        Wording("no {bare}", "", "{bare}"),
        Wording("the {old} without {thing}", "the {old}", "{thing}"),
    ),
}
UNSEEN: Mapping[ChangeKind, tuple[Wording, ...]] = {  # only of tests
    "replace subject": (
        Wording("{a_new} rather than the {old}", "{a_new}", "the {old}"),
        Wording("swap the {old} for {a_new}", "{a_new}", "the {old}"),
    ),
    "replace activity": (
        Wording("{doing} rather than {did}", "{doing}", "{did}"),
        Wording("the {new} now {does} and does not {was_doing}", "the {new} now {does}", "{was_doing}"),
    ),
    "replace place": (
        Wording("{there} rather than {here}", "{there}", "{here}"),
        Wording("like this but {there}", "{there}"),
    ),
    "add actor": (
        Wording("also {a_new} {doing}", "{a_new} {doing}"),
        Wording("include {a_new} who is {doing}", "{a_new} who is {doing}"),
    ),
    "add prop": (
        Wording("also show {thing}", "{thing}"),
        Wording("there is {thing} too", "there is {thing}"),
    ),
    "add accessory": (
        Wording("the {new} wears {thing}", "the {new} wears {thing}"),
        Wording("like this, and the {new} has {thing} on", "the {new} has {thing} on"),
    ),
    "remove actor": (
        Wording("take away the {old}", "", "the {old}"),
        Wording("the same but with no {old}", "", "{old}"),
    ),
    "remove activity": (
        Wording("the same but nobody is {did}", "", "{did}"),
        Wording("get rid of the one {did}", "", "the one {did}"),
    ),
    "remove prop": (
        Wording("take away {the_thing}", "", "{the_thing}"),
        Wording("there should be no {bare}", "", "{bare}"),
    ),
    "remove accessory": (
        Wording("take off {the_thing}", "", "{the_thing}"),
        Wording("the {old} is not wearing {thing}", "the {old}", "wearing {thing}"),
    ),
}
JOINTS, UNSEEN_JOINTS = (", ", " and "), (", but ", "; ")


def modify(scene: Scene, changes: Sequence[Change], rng: random.Random, unseen: bool = False) -> Modification:
    """Write a text that asks for changes of a scene.

    Args:
        scene: before the changes.
        changes: one or two.
        rng: draws wordings and synonyms.
        unseen: use wordings that training has not seen.
    """
    parts = [_worded(scene, change, rng, UNSEEN if unseen else SEEN) for change in changes]
    texts = [part.text for part in parts]
    if len(texts) > 1:
        texts = [texts[0].removesuffix(" instead"), texts[1].removeprefix("but ").removeprefix("and ")]
    return Modification(
        rng.choice(UNSEEN_JOINTS if unseen else JOINTS).join(texts),
        tuple(part.wanted for part in parts if part.wanted),
        tuple(part.unwanted for part in parts if part.unwanted),
    )


def _worded(
    scene: Scene, change: Change, rng: random.Random, wordings: Mapping[ChangeKind, Sequence[Wording]]
) -> Wording:
    fields = _fields(scene, change, rng)
    return Wording(*(template.format(**fields) for template in rng.choice(wordings[change.kind])))


def _fields(scene: Scene, change: Change, rng: random.Random) -> dict[str, str]:
    """Draw words for everything that a wording of a change may name."""
    fields = {"here": rng.choice(PLACES[scene.place].phrases)}
    if change.place:
        fields["there"] = rng.choice(PLACES[change.place].phrases)
    if change.old:
        fields |= {"old": (old := rng.choice(SUBJECTS[change.old.subject].words)), "a_old": with_article(old)}
        phrase = rng.choice(ACTIVITIES[change.old.activity].phrases)
        fields |= {"did": inflect_phrase(phrase, "VBG"), "was_doing": phrase}
    if change.new:
        fields |= {"new": (new := rng.choice(SUBJECTS[change.new.subject].words)), "a_new": with_article(new)}
        phrase = rng.choice(ACTIVITIES[change.new.activity].phrases)
        fields |= {"doing": inflect_phrase(phrase, "VBG"), "does": inflect_phrase(phrase, "VBZ")}
    if thing := _thing(change, rng):
        bare = thing.removeprefix("a ").removeprefix("an ").removeprefix("the ")
        fields |= {"thing": thing, "bare": bare, "the_thing": f"the {bare}"}
    return fields


def _thing(change: Change, rng: random.Random) -> str:
    """Draw words for the prop or accessory of a change, with their article; empty if it has none."""
    if change.prop:
        return rng.choice(PROPS[change.prop].words)
    worn = {"add accessory": change.new, "remove accessory": change.old}.get(change.kind)
    return rng.choice(ACCESSORIES[_wearing(worn)].words) if worn else ""


def _wearing(actor: Actor) -> str:
    return actor.wearing or ""
