"""Vocabulary of the built-in world: everything occurs and has a picture of its own."""

import itertools
from collections import Counter

import pytest

from nt2vr.world.drawn.backdrops import backdrop_svg
from nt2vr.world.drawn.sprites import SKINS, actor_svg, picture, thing_svg
from nt2vr.world.scenes import PEOPLE, Actor, sample_scenes
from nt2vr.world.vocabulary import ACCESSORIES, ACTIVITIES, ANIMAL_ACTIVITIES, FLYING, PLACES, PROPS, SUBJECTS

PERSON_ACTIVITIES = sorted({activity for place in PLACES.values() for activity in place.activities})


def of_kind(kind: str) -> set[str]:
    return {name for name, subject in SUBJECTS.items() if subject.kind == kind}


def test_the_world_has_the_documented_size() -> None:
    assert set(PEOPLE) == {"man", "woman", "boy", "girl"}
    assert len(PERSON_ACTIVITIES) >= 30
    assert len(of_kind("animal")) >= 8
    assert len(of_kind("vehicle")) >= 4
    assert (len(PLACES) >= 10, len(PROPS) >= 15, len(ACCESSORIES) >= 4) == (True, True, True)


def test_scenes_use_the_complete_vocabulary() -> None:
    scenes = sample_scenes("train", 3000, seed=3)
    met = Counter(
        name
        for scene in scenes
        for name in (
            scene.place,
            *scene.props,
            *(name for actor in scene.actors for name in (actor.subject, actor.activity, actor.wearing) if name),
        )
    )
    assert met.keys() == {*PLACES, *PROPS, *SUBJECTS, *ACTIVITIES, *ACCESSORIES}
    assert min(met.values()) >= 10  # often enough to be learned from 16,000 clips


def test_places_refer_to_existing_names() -> None:
    for place in PLACES.values():
        assert set(place.activities) <= ACTIVITIES.keys() - {*ANIMAL_ACTIVITIES, "drive", "fly"} | {"run"}
        assert set(place.animals) <= of_kind("animal")
        assert set(place.vehicles) <= of_kind("vehicle")
        assert set(place.props) <= PROPS.keys()
    assert of_kind("vehicle") >= FLYING


def test_caption_words_are_unambiguous_within_their_kind() -> None:
    for table in (SUBJECTS, PROPS, ACCESSORIES):
        words = [word for entry in table.values() for word in entry.words]
        assert [word for word, count in Counter(words).items() if count > 1] == []
    phrases = [phrase for table in (ACTIVITIES, PLACES) for entry in table.values() for phrase in entry.phrases]
    assert [phrase for phrase, count in Counter(phrases).items() if count > 1] == []


def test_all_pictures_exist() -> None:
    codes = [subject.picture for subject in SUBJECTS.values()]
    codes += [thing.picture for thing in (*PROPS.values(), *ACCESSORIES.values())]
    codes += [activity.figure for activity in ACTIVITIES.values() if activity.figure]
    codes += [part.picture for entry in SUBJECTS.values() for part in entry.extra]
    codes += [part.picture for entry in ACTIVITIES.values() for part in entry.parts]
    assert [code for code in codes if "<" not in picture(code, 0, 0, 1)[len("<g") : -len("</g>")]] == []
    assert all(backdrop_svg(place, variant).count("<svg") == 1 for place in PLACES for variant in range(4))


@pytest.mark.parametrize("skin", SKINS)
def test_every_subject_and_activity_looks_different(skin: str) -> None:
    """A picture code used twice would make two captions true of one picture."""
    people = [
        Actor(who, does, wearing)
        for who, does, wearing in itertools.product(PEOPLE, PERSON_ACTIVITIES, (None, *ACCESSORIES))
    ]
    animals = [Actor(who, does) for who in of_kind("animal") for does in ANIMAL_ACTIVITIES]
    vehicles = [Actor(who, "fly" if who in FLYING else "drive") for who in of_kind("vehicle")]
    actors = [*people, *animals, *vehicles]
    assert len({actor_svg(actor, skin) for actor in actors}) == len(actors)
    assert len({thing_svg(name) for name in PROPS}) == len(PROPS)
