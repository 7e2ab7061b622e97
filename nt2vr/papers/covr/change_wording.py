"""Texts that ask for changes of a scene, in the words of people."""

from collections.abc import Iterable
from dataclasses import dataclass
from random import Random

from nt2vr.negation.generate.wordings import wordings_in
from nt2vr.papers.covr.change import Change, act_of, named
from nt2vr.world.claims import Claim
from nt2vr.world.reader import read_claim
from nt2vr.world.scenes import Action, Scene
from nt2vr.world.things import Noun, places, things
from nt2vr.world.wording import conjugate, draw_action, draw_noun

JOINTS = (", ", " and ")
UNSEEN_JOINTS = (", but ", "; ")


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


def ask_for(changes: Iterable[Change], rng: Random, unseen: bool = False) -> Modification:
    """Write a text that asks for one or two changes, in wordings of training or in unseen ones."""
    wordings = wordings_in("modifications.json")["unseen" if unseen else "seen"]
    texts = []
    all_wanted = []
    all_unwanted = []
    for change in changes:
        fields = _fields_of(change, rng)
        wording = rng.choice(wordings[change.kind])
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


def _fields_of(change: Change, rng: Random) -> dict[str, str]:
    """Draw words for everything that a wording of a change may name."""
    scene = change.before
    fields = {"here": rng.choice(scene.location.phrases)}
    if change.place:
        fields["there"] = rng.choice(places()[change.place].phrases)
    for name, figure in (("old", change.old), ("new", change.new)):
        if figure:
            noun = _noun(figure.thing, rng)
            fields |= {name: noun.word, f"a_{name}": noun.with_article()}
    if change.did:
        phrase = _action(change.did, scene, rng)
        fields |= {"did": conjugate(phrase, "{ing}"), "was_doing": phrase}
    if change.does:
        phrase = _action(change.does, scene, rng)
        fields |= {"doing": conjugate(phrase, "{ing}"), "does": conjugate(phrase, "{s}")}
    thing = _thing(change)
    if thing:
        noun = _noun(thing, rng)
        fields |= {"thing": noun.with_article(), "bare": noun.word, "the_thing": f"the {noun.word}"}
    return fields


def _thing(change: Change) -> str:
    """Return the thing that is worn, or the prop, that a change is about; "" for other changes."""
    worn = change.does or change.did
    if change.kind.endswith("accessory") and worn:
        return str(worn.object)
    figure = change.new or change.old
    if change.kind.endswith("prop") and figure:
        return figure.thing
    return ""


def _noun(thing: str, rng: Random) -> Noun:
    """Draw a word that names exactly what the usual one does, and is read so: "ice cube", as "ice" is a place."""
    claim = Claim.of_things(named(thing))
    while True:
        noun = draw_noun(things()[thing], rng)
        if read_claim(noun.word) == claim:
            return noun


def _action(action: Action, scene: Scene, rng: Random) -> str:
    """Draw words for an action, with the verb as a lemma, that claim what a change does."""
    while True:
        phrase, act = draw_action(action, scene, rng, was_named=True)
        if act == act_of(action, scene):
            return phrase
