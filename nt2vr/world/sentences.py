"""Negated sentences drawn for scenes, with their relevant and hard scenes."""

import random
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from nt2vr.querygen.denials import DEED_SHARE
from nt2vr.world.captions import describe
from nt2vr.world.negation import (
    SceneDenial,
    SceneDenialKind,
    SceneThing,
    compose,
    deny_deed,
    deny_thing,
    leave_out,
    negate,
    type_out,
)
from nt2vr.world.scenes import Actor, Scene
from nt2vr.world.table import SceneTable
from nt2vr.world.truth import Claim, Who
from nt2vr.world.vocabulary import ACCESSORIES, ACTIVITIES, ANIMAL_ACTIVITIES, PROPS, SUBJECTS

NOT_HUMAN = {*ANIMAL_ACTIVITIES, "drive", "fly"} - {"run"}
HUMAN_ACTIVITIES = tuple(name for name in ACTIVITIES if name not in NOT_HUMAN)
THINGS: tuple[SceneThing, ...] = (
    *(("subject", name) for name, subject in SUBJECTS.items() if subject.kind != "person"),
    *(("prop", name) for name in PROPS),
    *(("accessory", name) for name in ACCESSORIES),
)
BARE_SUBJECT_SHARE = 0.2  # of "A without N": "a man without a dog"
TRIES = 12  # scenes drawn to find a B that occurs together with A


def _kind(actor: Actor) -> str:
    return SUBJECTS[actor.subject].kind


def _things(scene: Scene) -> Iterator[SceneThing]:
    for actor in scene.actors:
        if _kind(actor) != "person":
            yield "subject", actor.subject
        if actor.wearing:
            yield "accessory", actor.wearing
    for prop in scene.props:
        yield "prop", prop


class SceneDenials:
    """Negated sentences for known scenes."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        """Prepare sentences for, and search in, these scenes."""
        self._scenes = scenes
        self.table = SceneTable(scenes)

    def fitting(self, sentence: SceneDenial) -> NDArray[np.bool_]:
        """Mask of the scenes with the wanted and without the unwanted part: (N,)."""
        return self.table.holding(sentence.wanted_claim) & ~self.showing_unwanted(sentence)

    def showing_both(self, sentence: SceneDenial) -> NDArray[np.bool_]:
        """Mask of the hard scenes, which show both parts: (N,)."""
        return self.table.holding(sentence.wanted_claim) & self.showing_unwanted(sentence)

    def showing_unwanted(self, sentence: SceneDenial) -> NDArray[np.bool_]:
        """Mask of the scenes with the unwanted part: (N,)."""
        return self.table.holding(sentence.unwanted_claim)

    def draw(self, row: int, kind: SceneDenialKind, rng: random.Random) -> SceneDenial:
        """Draw a sentence that scene `row` satisfies; "negated" ones contradict it instead.

        If possible, the unwanted part occurs together with the wanted one in another scene.
        """
        match kind:
            case "negated":
                return self.negated(row, rng)
            case "composed":
                return self._composed(row, rng)
            case "without":
                return self._without(row, rng)
            case "not":
                return self._not(row, rng)
            case "typed":
                draw = self._composed if rng.random() < DEED_SHARE else self._without
                return type_out(draw(row, rng), draw(row, rng), rng)

    def negated(self, row: int, rng: random.Random) -> SceneDenial:
        """Deny one thing in the caption that `describe` draws from an equal generator."""
        return rng.choice(negate(describe(self._scenes[row], rng)))

    def _composed(self, row: int, rng: random.Random) -> SceneDenial:
        """Draw "A and not B", both of people or both of animals."""
        scene = self._scenes[row]
        actors = [actor for actor in scene.actors if _kind(actor) != "vehicle"]
        if not actors:
            return self._without(row, rng)
        actor = rng.choice(actors)
        kind = _kind(actor)
        own = Claim((Who(frozenset((actor.subject,)), frozenset((actor.activity,))),))
        done = {other.activity for other in scene.actors}
        for near in self._others(row, own, rng):
            deeds = [a.activity for a in near.actors if _kind(a) == kind and a.activity not in done]
            if deeds:
                break
        else:
            usual = ANIMAL_ACTIVITIES if kind == "animal" else HUMAN_ACTIVITIES
            deeds = [deed for deed in usual if deed not in done]
        return compose(actor, rng.choice(deeds), rng)

    def _without(self, row: int, rng: random.Random) -> SceneDenial:
        """Draw "A without N"; N is an animal, a vehicle, a prop or an accessory."""
        scene = self._scenes[row]
        actor = rng.choice(scene.actors)
        bare = rng.random() < BARE_SUBJECT_SHARE
        who = Who(frozenset((actor.subject,)), frozenset(() if bare else (actor.activity,)))
        seen = set(_things(scene))
        for near in self._others(row, Claim((who,)), rng):
            things = [thing for thing in _things(near) if thing not in seen]
            if things:
                break
        else:
            things = [thing for thing in THINGS if thing not in seen]
        return leave_out(actor.subject, "" if bare else actor.activity, rng.choice(things), rng)

    def _not(self, row: int, rng: random.Random) -> SceneDenial:
        """Draw "not B" for an activity or a thing absent from this scene."""
        scene = self._scenes[row]
        if rng.random() < DEED_SHARE:
            done = {actor.activity for actor in scene.actors}
            deeds = [deed for deed in (*HUMAN_ACTIVITIES, *ANIMAL_ACTIVITIES) if deed not in done]
            return deny_deed(rng.choice(deeds), rng)
        seen = set(_things(scene))
        return deny_thing(rng.choice([thing for thing in THINGS if thing not in seen]), rng)

    def _others(self, row: int, claim: Claim, rng: random.Random) -> Iterator[Scene]:
        """Yield some other scenes for which a claim holds."""
        rows = np.flatnonzero(self.table.holding(claim))
        for _ in range(TRIES if len(rows) > 1 else 0):
            if (other := int(rows[rng.randrange(len(rows))])) != row:
                yield self._scenes[other]
