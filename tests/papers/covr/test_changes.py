"""Changes of scenes of the built-in world: what they lead to, what they leave alone, and what they require then."""

import random
from collections import Counter
from dataclasses import replace
from itertools import islice

import pytest

from nt2vr.negation.parse.query import Query
from nt2vr.papers.covr.change import CHANGE_KINDS, Change, ChangeKind
from nt2vr.papers.covr.draw_changes import changes_of, possible
from nt2vr.papers.covr.edits import (
    Requirements,
    changed,
    gist_of,
    training_families,
    two_changes,
)
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Action, Figure, Scene, is_valid
from nt2vr.world.verdicts import judge_edit

HAT = Action("wear", "hat", colour="red")
MAN = Figure("man", "blue", actions=(Action("feed", 2), HAT))
BALL = Figure("basketball")
DOG = Figure("dog", "brown", actions=(Action("run"),))
GIRL = Figure("girl", "red")
SCENE = Scene("park", False, (BALL, MAN, DOG))
SCENES = sample_scenes("train", 100, seed=3)
READER = replace(GIRL, actions=(Action("read", "book"),))


def all_changes(scene: Scene, kind: ChangeKind) -> list[Change]:
    return list(changes_of(scene, kind, random.Random(kind)))


def changed_thing(change: Change) -> str:
    """Return what a change takes or changes; empty for an addition or another place."""
    return change.old.thing if change.old else ""


def after(scene: Scene, kind: ChangeKind, thing: str) -> Scene | None:
    """Return the scene without a thing; None if the change is not clear."""
    return next(
        (
            change.applied(scene)
            for change in all_changes(scene, kind)
            if changed_thing(change) == thing
        ),
        None,
    )


@pytest.mark.slow
@pytest.mark.parametrize("kind", CHANGE_KINDS)
def test_every_change_leads_to_a_possible_right_scene(
    kind: ChangeKind,
) -> None:
    num_changes = 0
    for scene in SCENES:
        for change in all_changes(scene, kind)[:5]:
            changed_scene = change.applied(scene)
            requirements = Requirements.of(changed_scene, (change,))
            assert possible(changed_scene)
            assert is_valid(changed_scene)
            assert requirements.holds(changed_scene)
            assert not requirements.holds(scene)
            num_changes += 1
    assert num_changes > 10


def test_a_removal_keeps_all_other_actions() -> None:
    remaining = after(SCENE, "remove prop", "basketball")
    assert remaining == replace(
        SCENE, figures=(replace(MAN, actions=(Action("feed", 1), HAT)), DOG)
    )
    # The man feeds the dog.
    assert after(SCENE, "remove actor", "dog") is None
    assert after(SCENE, "remove actor", "man") == replace(SCENE, figures=(BALL, DOG))


def test_what_is_still_seen_is_not_removed() -> None:
    player = replace(GIRL, actions=(Action("kick", "soccer ball"),))
    both = Scene("park", False, (BALL, player, DOG))
    assert after(both, "remove prop", "basketball") is not None
    assert (
        after(
            Scene("park", False, (Figure("beach ball"), player, DOG)), "remove prop", "beach ball"
        )
        is None
    )
    # Of the backdrop.
    assert after(Scene("park", False, (Figure("tree"), DOG)), "remove prop", "tree") is None


def test_the_man_is_not_said_where_an_old_man_is() -> None:
    old = Figure("old man", "red", actions=(Action("dance"),))
    both = replace(SCENE, figures=(*SCENE.figures, old))
    assert after(both, "remove actor", "man") is None
    assert after(both, "remove actor", "old man") is not None
    assert not [
        change
        for change in all_changes(SCENE, "replace subject")
        if change.applied(SCENE).figures[1].thing == "old man"
    ]


def test_groups_are_left_alone() -> None:
    dogs = replace(SCENE, figures=(MAN, replace(DOG, count=2), BALL))
    dogs = replace(dogs, figures=(replace(MAN, actions=(HAT, Action("dance"))), *dogs.figures[1:]))
    assert after(dogs, "remove actor", "dog") is None
    assert {changed_thing(change) for change in all_changes(dogs, "replace activity")} == {"man"}


def test_another_place_has_its_own_things_and_no_night_indoors() -> None:
    night = Scene("park", True, (Figure("fountain"), replace(GIRL, actions=(Action("dance"),))))
    scenes = [change.applied(night) for change in all_changes(night, "replace place")]
    places = {scene.place: scene for scene in scenes}
    assert not places["kitchen"].night
    assert places["street"].night
    assert [figure.thing for figure in places["kitchen"].figures] == ["girl"]
    # Only astronauts are there.
    assert "park" not in places
    assert "moon" not in places


def test_what_is_not_mentioned_is_free() -> None:
    change = next(
        change
        for change in all_changes(SCENE, "remove prop")
        if changed_thing(change) == "basketball"
    )
    requirements = Requirements.of(change.applied(SCENE), (change,))
    bare = replace(MAN, colour="red", actions=(Action("feed", 1),))
    bag = Figure("backpack", "red")
    right = Scene("park", False, (bare, replace(DOG, size="big"), bag), seed=9)
    assert requirements.holds(right)
    for wrong in (
        replace(right, place="zoo"),
        replace(right, night=True),
        replace(right, figures=(bare, DOG, BALL)),
        replace(right, figures=(bare, replace(DOG, count=2))),
        replace(right, figures=(bare, DOG, READER)),
        replace(right, figures=(replace(bare, actions=(Action("pet", 1),)), DOG)),
    ):
        assert not requirements.holds(wrong), wrong


def test_the_order_of_actions_counts_and_their_quarters_do_not() -> None:
    first = Action("dance", end=0.5)
    then = Action("sing", start=0.5)
    scene = Scene("park", False, (replace(GIRL, actions=(first, then)),))
    swapped = (replace(then, start=0.0, end=0.5), replace(first, start=0.5, end=1.0))
    later = (replace(first, end=0.25), then)
    assert gist_of(scene) == gist_of(replace(scene, figures=(replace(GIRL, actions=later),)))
    assert gist_of(scene) != gist_of(replace(scene, figures=(replace(GIRL, actions=swapped),)))


def test_two_changes_hold_together_in_either_order() -> None:
    rng = random.Random(1)
    pairs = 0
    for scene in sample_scenes("train", 40, seed=4):
        for first, second in islice(two_changes(scene, rng), 10):
            both = changed(scene, (first, second))
            requirements = Requirements.of(both, (first, second))
            assert first.kind != second.kind
            assert first.old is None or first.old != second.old
            assert requirements.holds(both)
            assert not requirements.holds(scene)
            assert is_valid(both)
            assert both.content == changed(scene, (second, first)).content
            pairs += 1
    assert pairs > 100


def test_the_judge_finds_every_edited_scene_right() -> None:
    verdicts: Counter[str | None] = Counter()
    for family in training_families(40, 11):
        for edit in family.edits:
            query = Query(
                edit.modification.text, edit.modification.wanted, edit.modification.unwanted
            )
            verdicts[judge_edit(query, family.reference, edit.scene)] += 1
    assert set(verdicts) == {"right", None}
    assert verdicts[None] <= 0.05 * verdicts.total()
