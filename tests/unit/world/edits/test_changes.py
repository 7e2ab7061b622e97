"""Changes of scenes, against a plain reading of their truth."""

import random
from dataclasses import replace
from itertools import islice

import pytest

from nt2vr.querygen.families import Wish
from nt2vr.querygen.modifications import CHANGE_KINDS, ChangeKind
from nt2vr.world.edits.changes import EDITS, Change, changes_of, possible
from nt2vr.world.scenes import Actor, Scene, draw_scene, sample_scenes

MAN, WOMAN, DOG = Actor("man", "guitar", "cap"), Actor("woman", "sing"), Actor("dog", "run")
SCENE = Scene("stage", (MAN, WOMAN, DOG), ("trophy",))


@pytest.mark.parametrize("kind", CHANGE_KINDS)
def test_every_change_leads_to_a_possible_scene_that_is_right_while_the_reference_is_not(kind: ChangeKind) -> None:
    rng, found = random.Random(kind), 0
    for scene in sample_scenes("train", 60, seed=3):
        for change in islice(changes_of(scene, kind, rng), 5):
            after, wish = change.applied(scene), Wish.of(change.applied(scene), (change,))
            assert possible(after)
            assert wish.holds(after)
            assert not wish.holds(scene)
            found += 1
    assert found > 20


def test_scenes_as_they_are_drawn_are_possible() -> None:
    rng = random.Random(5)
    assert all(possible(draw_scene(rng)) for _ in range(300))


@pytest.mark.parametrize(
    "scene",
    [
        replace(SCENE, actors=()),
        replace(SCENE, actors=(MAN, MAN)),
        replace(SCENE, props=("snowman",)),
        replace(SCENE, place="kitchen"),
        Scene("street", (Actor("car", "drive"), Actor("bus", "drive"))),
    ],
    ids=["nobody", "twice the same", "prop of another place", "activity of another place", "two vehicles"],
)
def test_scenes_that_are_never_drawn_are_not_possible(scene: Scene) -> None:
    assert not possible(scene)


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (Change("replace place", place="gym"), Scene("gym", SCENE.actors, ("trophy",))),
        (Change("replace place", place="lake"), Scene("lake", SCENE.actors)),  # no trophies at the lake
        (Change("remove actor", DOG), replace(SCENE, actors=(MAN, WOMAN))),
        (Change("remove prop", prop="trophy"), replace(SCENE, props=())),
        (Change("add prop", prop="gift"), replace(SCENE, props=("trophy", "gift"))),
        (
            Change("add accessory", WOMAN, replace(WOMAN, wearing="crown")),
            replace(SCENE, actors=(MAN, replace(WOMAN, wearing="crown"), DOG)),
        ),
    ],
)
def test_a_change_changes_one_thing(change: Change, after: Scene) -> None:
    assert change.applied(SCENE) == after


def test_what_is_not_mentioned_is_free() -> None:
    change = Change("remove actor", DOG)
    wish = Wish.of(change.applied(SCENE), (change,))
    bare = Scene("stage", (WOMAN, replace(MAN, wearing=None)), ("gift",), look=9)
    assert wish.holds(bare)
    assert not wish.holds(replace(bare, place="park"))
    assert not wish.holds(replace(bare, actors=(WOMAN,)))
    assert not wish.holds(replace(bare, actors=(WOMAN, replace(MAN, activity="sing"))))


def test_a_removed_accessory_is_gone_from_everybody() -> None:
    change = Change("remove accessory", MAN, replace(MAN, wearing=None))
    wish = Wish.of(change.applied(SCENE), (change,))
    assert wish.violated_by(SCENE)
    assert wish.violated_by(replace(SCENE, actors=(replace(MAN, wearing=None), replace(WOMAN, wearing="cap"), DOG)))
    assert wish.holds(replace(SCENE, actors=(replace(MAN, wearing="crown"), WOMAN, DOG)))


def test_an_ambiguous_thing_is_not_removed() -> None:
    both = Scene("stage", (MAN, Actor("man", "sing")))
    assert not list(changes_of(both, "remove actor", random.Random(0)))
    assert {change.old for change in changes_of(both, "remove activity", random.Random(0))} == set(both.actors)


def test_two_changes_concern_different_things_and_hold_together() -> None:
    rng, pairs = random.Random(1), 0
    for scene in sample_scenes("train", 40, seed=4):
        for one, other in EDITS.two_changes(scene, rng):
            after = other.applied(one.applied(scene))
            wish = Wish.of(after, (one, other))
            assert one.kind != other.kind and (one.old is None or one.old != other.old)
            assert wish.holds(after) and not wish.holds(scene)
            pairs += 1
    assert pairs > 100
