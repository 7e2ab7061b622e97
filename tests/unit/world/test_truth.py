"""Parsing phrases into claims, and judging clips by them."""

import itertools
import random

import pytest

from nt2vr.language.query import Query
from nt2vr.search.answers import Verdict
from nt2vr.world.captions import describe
from nt2vr.world.lexicon import lexicon
from nt2vr.world.scenes import PEOPLE, Actor, Scene, sample_scenes
from nt2vr.world.stories import STORIES
from nt2vr.world.truth import Claim, Who, judge, read_claim
from nt2vr.world.vocabulary import SUBJECTS

MAN_SINGS = Actor("man", "sing")
DUET = Scene("stage", (MAN_SINGS, Actor("woman", "guitar", "tophat")), ("trophy",))
DOG_ON_BEACH = Scene("beach", (Actor("dog", "run"),), ("sun", "bucket"))


def holds(phrase: str, scene: Scene) -> bool:
    claim = read_claim(phrase)
    assert claim is not None, f"{phrase!r} is not understood"
    return claim.holds(scene)


def test_captions_are_parsed_into_their_claims_and_hold_for_their_scenes() -> None:
    rng = random.Random(0)
    for scene in sample_scenes("train", 1500, seed=11):
        for _ in range(2):
            caption = describe(scene, rng)
            assert read_claim(caption.text) == caption.claim, caption.text
            assert caption.claim.holds(scene), caption.text


def test_a_full_claim_fails_without_any_of_its_actors() -> None:
    rng = random.Random(1)
    for scene in sample_scenes("train", 300, seed=12):
        claim = describe(scene, rng).claim
        for i in range(len(scene.actors) if len(claim.actors) == len(scene.actors) else 0):
            rest = Scene(scene.place, scene.actors[:i] + scene.actors[i + 1 :], scene.props)
            assert not claim.holds(rest)


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("a man singing", True),
        ("a man and a woman", True),
        ("a woman plays the guitar while a guy is singing", True),  # in the other order
        ("a woman singing", False),  # somebody sings, and there is a woman, but not she
        ("a man playing the guitar", False),
        ("a man singing and a man", False),  # each is another one
        ("a man dancing and a man singing", False),
        ("a person singing and a person playing the guitar", True),
        ("three", None),
        ("a man and a woman and a dog", False),
        ("a lady in a top hat", True),
        ("a man wearing a hat", False),
        ("somebody wearing a hat", True),
        ("a hat", True),
        ("a green cap", False),
        ("on stage with a golden cup", True),
        ("a trophy and a gift", False),
        ("at the beach", False),
    ],
)
def test_claims_bind_activities_to_subjects(phrase: str, expected: bool | None) -> None:
    claim = read_claim(phrase)
    assert (claim and claim.holds(DUET)) == expected


@pytest.mark.parametrize(
    ("word", "true_of"),
    [
        ("a person", set(PEOPLE)),
        ("people", set(PEOPLE)),
        ("a kid", {"boy", "girl"}),
        ("children", {"boy", "girl"}),
        ("an adult", {"man", "woman"}),
        ("an animal", {name for name, subject in SUBJECTS.items() if subject.kind == "animal"}),
        ("a pet", {"dog", "cat", "rabbit"}),
        ("vehicles", {name for name, subject in SUBJECTS.items() if subject.kind == "vehicle"}),
        ("puppies", {"dog"}),
        ("men", {"man"}),
    ],
)
def test_a_general_word_covers_all_its_kinds(word: str, true_of: set[str]) -> None:
    assert {name for name in SUBJECTS if holds(word, Scene("park", (Actor(name, "run"),)))} == true_of


@pytest.mark.parametrize(
    ("phrase", "activities"),
    [
        ("an instrument", {"guitar", "violin", "trumpet", "saxophone", "drum", "piano", "accordion"}),
        ("playing an instrument", {"guitar", "violin", "trumpet", "saxophone", "drum", "piano", "accordion"}),
        ("eating", {"pizza", "icecream", "burger", "eat"}),
        ("eats a pizza", {"pizza"}),
        ("a horse", {"horse"}),  # it is ridden, else it is not there
        ("guitars", {"guitar"}),
        ("riding a bike", {"bike"}),
        ("riding", {"bike", "horse", "skate", "snowboard", "surf"}),
        ("a cup of coffee", {"coffee"}),  # not the golden cup
        ("taking a picture", {"photo"}),
        ("a picture", {"photo", "paint"}),
        ("running", {"run"}),
        ("flying a kite", {"kite"}),
    ],
)
def test_a_noun_stands_for_its_activity(phrase: str, activities: set[str]) -> None:
    assert read_claim(phrase) == Claim((Who(activities=frozenset(activities)),))


def test_a_participle_before_a_noun_is_its_activity() -> None:
    assert read_claim("a singing man") == read_claim("a man singing")
    assert read_claim("a dancing girl and a running dog") == read_claim("a girl dancing and a dog running")
    assert read_claim("singing, a man") == Claim((Who(activities=frozenset({"sing"})), Who(frozenset({"man"}))))


@pytest.mark.parametrize(
    "phrase", ["a unicorn", "a man and a unicorn", "a red car", "😀", "ein Hund", "", " ", "the", "a man's"]
)
def test_phrases_with_unknown_words_have_no_claim(phrase: str) -> None:
    assert read_claim(phrase) is None


def test_articles_and_capitals_do_not_matter() -> None:
    assert read_claim("The Man plays Guitar on a Beach!") == read_claim("a man is playing the guitar on the beach")


def test_ambiguous_words_have_the_meaning_of_the_pictures() -> None:
    """`lexicon` keeps the first kind it meets: another order of its tables would change these."""
    words = {
        "plant": "prop",
        "horse": "activity",
        "cap": "accessory",
        "cup": "prop",
        "snow": "place",
        "fish": "activity",
    }
    assert {word: lexicon()[(word,)].kind for word in words} == words


RIGHT, VIOLATION, MISS, UNKNOWN = "right", "violation", "miss", None


@pytest.mark.parametrize(
    ("wanted", "unwanted", "verdict"),
    [
        # duet: a man sings, a woman in a top hat plays the guitar, on stage, a trophy
        (("a man singing",), (), RIGHT),
        (("a man singing",), ("dancing",), RIGHT),
        (("a man singing",), ("playing the guitar",), VIOLATION),
        (("a man singing",), ("dancing", "a hat"), VIOLATION),  # any one of them
        (("a dog",), ("dancing",), MISS),
        (("a dog",), ("playing the guitar",), VIOLATION),  # both: what it shows weighs more
        ((), ("a dog",), RIGHT),
        ((), ("a man",), VIOLATION),
        (("a man", "a dog"), (), MISS),  # all of them
        (("a man", "a trophy"), (), RIGHT),
        (("a unicorn",), (), UNKNOWN),
        (("a unicorn",), ("a dog",), UNKNOWN),
        (("a unicorn",), ("a man",), VIOLATION),  # whatever else was wanted
        (("a man",), ("a unicorn",), UNKNOWN),
        (("a dog",), ("a unicorn",), UNKNOWN),
        (("a man",), ("a unicorn", "a hat"), VIOLATION),
        ((), (), UNKNOWN),
    ],
)
def test_verdicts(wanted: tuple[str, ...], unwanted: tuple[str, ...], verdict: Verdict | None) -> None:
    assert judge(Query("as typed", wanted, unwanted), DUET.to_dict()) == verdict


def test_a_violation_shows_the_complete_unwanted_part() -> None:
    query = Query("", ("a dog",), ("a dog sleeping",))
    assert judge(query, DOG_ON_BEACH.to_dict()) == RIGHT
    assert judge(Query("", ("a dog",), ("on the beach",)), DOG_ON_BEACH.to_dict()) == VIOLATION
    assert judge(Query("", ("a dog",), ("the sun",)), DOG_ON_BEACH.to_dict()) == VIOLATION


@pytest.mark.parametrize(
    "scene", [{"place": "beach"}, {"actors": 3, "place": "x", "props": [], "look": 0}, {"weather": "rain"}]
)
def test_foreign_scene_data_gets_no_verdict(scene: dict[str, object]) -> None:
    assert judge(Query("a dog", ("a dog",)), scene) is None


def test_both_parts_of_every_story_are_understood() -> None:
    for wanted, unwanted in STORIES:
        assert read_claim(wanted) is not None, wanted
        assert read_claim(unwanted) is not None, unwanted
    claims = [read_claim(phrase) for phrase in itertools.chain(*STORIES)]
    assert len({read_claim(wanted) for wanted, _ in STORIES}) == len(STORIES)
    assert None not in claims
