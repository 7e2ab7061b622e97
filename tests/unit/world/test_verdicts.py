"""Verdicts on typed queries: what they say of whom, and what the world cannot tell."""

from pathlib import Path

import pytest

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query, understand
from nt2vr.world.lexicon import things_and_places
from nt2vr.world.reader import read_asked
from nt2vr.world.reasons import lacking
from nt2vr.world.scenes import Action, Figure, Scene
from nt2vr.world.verdicts import judge, unknown_words

SMILE = Action("smile")
HAT = Action("wear", "top hat")
RIDER = Figure("man", "red", actions=(Action("ride", "horse", colour="brown"), HAT))
WALKER = Figure("woman", "blue", actions=(Action("walk"), SMILE))
PAIR = Scene("field", False, (RIDER, WALKER, Figure("sofa", "red"), Figure("cat", "white")))


def verdict(text: str, scene: Scene = PAIR) -> str | None:
    return judge(understand(text), scene)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a man on a horse", "right"),
        # She walks beside it.
        ("a woman on a horse", "miss"),
        ("a man sitting on a horse", "right"),
        ("a woman in a car", "miss"),
        # Both are there.
        ("a cat on a sofa", None),
        # At least the dog is not.
        ("a dog on a sofa", "miss"),
        ("people in the background", None),
        ("a statue of a man", "miss"),
        ("a sofa, not a cat on a sofa", None),
        # a denied action is that of its subject
        # She is.
        ("a man who isn't smiling", "right"),
        ("a woman who isn't smiling", "violation"),
        ("a man, nobody smiling", "violation"),
        ("a man, no smiling", "violation"),
        # One is, one is not.
        ("a person who isn't smiling", None),
        ("a man without a hat", "violation"),
        # It is somebody else's.
        ("a woman without a hat", None),
        ("a woman and no hat", "violation"),
        ("a woman who isn't wearing a hat", "right"),
        ("a girl who isn't smiling", "miss"),
        ("a quokka that isn't smiling", "miss"),
        # He is on a horse.
        ("a man who isn't sitting", "violation"),
        # He is beside it.
        ("a sofa with nobody on it", None),
        ("a man that isn't funny", None),
        ("a man and nobody else", "violation"),
        # She is.
        ("neither the man nor the woman is smiling", "violation"),
        ("neither the man nor the woman is dancing", "right"),
        ("the man and the woman are not smiling", None),
        # words with other senses and what the world lacks get no green verdict
        *((f"no {thing}", None) for thing in ("coach", "weddings", "planets", "cup", "quokkas")),
        ("not looking at the camera", None),
    ],
)
def test_positions_and_denials_are_judged_by_the_scene(text: str, expected: str | None) -> None:
    assert verdict(text) == expected


def test_eating_is_standing_and_driving_past_is_not() -> None:
    eater = Figure("man", actions=(Action("eat", "apple"),))
    van = Figure("van", actions=(Action("drive past"),))
    scene = Scene("street", False, (eater,))
    assert (verdict("a man standing", scene), verdict("a man standing still", scene)) == (
        "right",
        "miss",
    )
    assert verdict("a van that is standing", Scene("street", False, (van, eater))) != "right"


@pytest.mark.parametrize(
    ("phrase", "is_vague"),
    [
        ("a fluffy dog", True),
        ("a poodle", True),
        ("a baseball bat", True),
        ("street food", True),
        ("an elephant herd", False),
        ("a woman dancer", False),
        ("a senior couple", False),
        ("a crowd", False),
        ("lying", False),
        ("flamingos, volcanos and tornados", False),
        ("a beach or a lake", False),
        # Not read.
        *(
            (phrase, None)
            for phrase in ("a movie star", "a horse trailer", "of", "a dog or a sparkly")
        ),
    ],
)
def test_compounds_are_read_as_far_as_known(phrase: str, is_vague: bool | None) -> None:
    claim = read_asked(phrase)
    assert (claim.vague if claim else None) is is_vague


@pytest.mark.parametrize(
    ("count", "team", "crowd"), [(1, "miss", "miss"), (2, "right", "miss"), (3, "right", "right")]
)
def test_a_team_is_two_and_a_crowd_four(count: int, team: str, crowd: str) -> None:
    dancers = Figure("girl", "red", count=count, actions=(Action("dance"),))
    scene = Scene(
        "stage",
        False,
        (dancers, Figure("man", "red", actions=(Action("sing"),))) if count > 2 else (dancers,),
    )
    assert (verdict("a team", scene), verdict("a crowd of people", scene)) == (team, crowd)


def test_words_that_the_world_lacks_are_named_with_near_ones() -> None:
    query = Query("", ("two quokkas and a poodle",), ("sparkly stars",))
    unknown_to_world = [(unknown.word, unknown.near) for unknown in unknown_words(query)]
    assert unknown_to_world == [
        ("quokkas", ("kangaroos", "koalas")),
        ("poodle", ("dog",)),
        ("sparkly", ()),
    ]


@pytest.mark.parametrize("word", sorted(" ".join(words) for words in things_and_places()))
def test_a_thing_and_place_word_fits_either(word: str) -> None:
    things, places = things_and_places()[(word,)]
    somebody = Figure("alien")
    showing = [Scene("zoo", False, (somebody, Figure(thing))) for thing in sorted(things)]
    showing += [Scene(place, False, (somebody,)) for place in sorted(places)]
    elsewhere = Scene("zoo", False, (somebody,))
    for scene in showing:
        video = Video("", Path(), scene=scene.to_dict())
        assert verdict(f"the {word} without a robot", scene) == "right"
        assert verdict(f"an alien without the {word}", scene) == "violation"
        assert lacking(understand(f"the {word}"), video) == []
    assert verdict(f"the {word} without a robot", elsewhere) == "miss"
    assert verdict(f"an alien without the {word}", elsewhere) == "right"


def test_a_preposition_means_the_place_and_numbers_the_thing() -> None:
    in_the_sky = Scene("forest", True, (Figure("owl"), Figure("moon")))
    on_it = Scene("moon", True, (Figure("alien"),))
    assert verdict("on the moon", in_the_sky) == "miss"
    assert verdict("on the moon", on_it) == "right"
    assert verdict("two churches", Scene("church", False, ())) == "miss"
