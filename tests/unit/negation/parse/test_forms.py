"""Every form of negation in the table, and typed queries that no form describes."""

import pytest

from nt2vr.negation.parse.forms import LESS, Form, cues, forms
from nt2vr.negation.parse.query import Query, understand
from nt2vr.negation.parse.tagger import Tagger


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger()


def parts(query: Query) -> tuple[str, list[str]]:
    return "; ".join(query.wanted), [*query.unwanted]


@pytest.mark.parametrize("form", forms(), ids=lambda form: form.name)
def test_the_example_of_each_form_is_understood(tagger: Tagger, form: Form) -> None:
    assert parts(understand(form.example, tagger)) == (form.wanted, [*form.unwanted])


@pytest.mark.parametrize("cue", [cue for cue, kind in cues().items() if kind == "without"])
def test_every_cue_before_a_thing_excludes_it(tagger: Tagger, cue: str) -> None:
    assert parts(understand(f"a street {cue} cars", tagger)) == ("a street", ["cars"])


@pytest.mark.parametrize(
    "word",
    "wihtout witout withot whitout whitouth withouth withou wihout withut witohut withour wthout wothout".split(),
)
def test_without_is_known_in_usual_misspellings(tagger: Tagger, word: str) -> None:
    assert parts(understand(f"a man {word} a hat", tagger)) == ("a man", ["a hat"])


@pytest.mark.parametrize(("word", "thing"), LESS.items())
def test_words_in_less_exclude_what_they_name(tagger: Tagger, word: str, thing: str) -> None:
    query = understand(f"the {word} bike", tagger)
    assert parts(query) == ("the bike", [thing])
    assert [query.text[slice(*span)] for span in (*query.cues, *query.scopes)] == [word, word]


@pytest.mark.parametrize(
    "predicate",
    [
        "is not present",
        "isn't visible",
        "is not shown in this image",
        "cannot be seen",
        "is not part of this scene",
        "does not appear anywhere in the picture",
        "is absent",
        "is noticeably absent from the scene",
        "is nowhere to be found",
        "is missing",
        "is not in the image",
        "is not included",
    ],
)
def test_what_is_said_not_to_be_there_is_unwanted_and_never_wanted(tagger: Tagger, predicate: str) -> None:
    assert parts(understand(f"a dog runs, but a dining table {predicate}.", tagger)) == (
        "a dog runs",
        ["a dining table"],
    )
    assert parts(understand(f"A dining table {predicate}.", tagger)) == ("", ["A dining table"])


@pytest.mark.parametrize(
    "text",
    [
        "No cat is present in the image.",
        "There is no cat in this scene.",
        "In this image, a cat is not visible.",
        "This image does not include a cat.",
        "You won't find a cat in this picture.",
        "This video lacks a cat.",
        "The scene is cat-free.",
        "Noticeably absent from the image is a cat.",
    ],
)
def test_a_sentence_that_only_negates_wants_nothing(tagger: Tagger, text: str) -> None:
    query = understand(text, tagger)
    assert query.wanted == ()
    assert [part.removeprefix("a ") for part in query.unwanted] == ["cat"]


@pytest.mark.parametrize(
    ("text", "wanted", "unwanted"),
    [
        # as typed
        ('pasta -"tomato sauce"', "pasta", ["tomato sauce"]),
        ("a cyclist !helmet", "a cyclist", ["helmet"]),
        ("a bike w/out rider", "a bike", ["rider"]),
        ("a beach, exclude people and dogs", "a beach", ["people", "dogs"]),
        ("skip the ads", "", ["the ads"]),
        ("please avoid cartoons", "", ["cartoons"]),
        ("neither the man nor the woman is smiling", "the man and the woman", ["smiling"]),
        ("neither the dog nor the cat is visible", "", ["the dog", "the cat"]),
        ("neither Tom Hanks nor Mr. Bean", "", ["Tom Hanks", "Mr. Bean"]),
        ("not red but blue car", "blue car", ["red"]),
        ("a man not without a hat", "a man with a hat", []),
        ("don't show me a park without a dog", "a park with a dog", []),
        ("no beach w/o people and no dogs", "beach with people", ["dogs"]),
        ("no dogs and without cats", "", ["dogs", "cats"]),
        # compounds and names stay together
        ("a forest without chain saw", "a forest", ["chain saw"]),
        ("no Boeing 737", "", ["Boeing 737"]),
        ("a rink with no ice skating", "a rink", ["ice skating"]),
        ("a donut without icing, sprinkles, or filling", "a donut", ["icing", "sprinkles", "filling"]),
        ("a park without a can in sight", "a park", ["a can"]),
        # exceptions and requests that say who does what
        ("all runners except anyone jumping", "all runners", ["jumping"]),
        ("a girl dancing excpet those with a hat", "a girl dancing", ["a hat"]),
        ("a man sings except when playing the piano", "a man sings", ["playing the piano"]),
        ("all animals except kids riding a horse", "all animals", ["kids riding a horse"]),
        ("a guitar with no one playing it", "a guitar", ["playing the guitar"]),
        ("skaters minus the ones wearing helmets", "skaters", ["wearing helmets"]),
        ("people swimming, unless they have goggles", "people swimming", ["goggles"]),
        ("a crowd, with one exception: the referee", "a crowd", ["the referee"]),
        ("nobody is there except people dancing", "dancing", []),
        ("a dog, I don't want to see swimming", "a dog", ["swimming"]),
        ("a band but don't show anyone playing the drum", "a band", ["anyone playing the drum"]),
        ("a band but don't show me people clapping", "a band", ["people clapping"]),
        ("a man plays and there isn't anyone singing", "a man plays", ["anyone singing"]),
        ("a man, no shooting with a bow", "a man", ["shooting with a bow"]),
        ("a guy, no painting a picture", "a guy", ["painting a picture"]),
        ("a house, no building with a roof", "a house", ["building with a roof"]),
        ("a rabbit running, green cap missing", "a rabbit running", ["green cap"]),
        # preferences and verdicts
        ("running? no. walking? yes", "walking", ["running"]),
        ("cats: no, dogs: yes", "dogs", ["cats"]),
        ("yes to dogs, no to cats", "dogs", ["cats"]),
        ("is that a dog? no one knows", "is that a dog", ["knows"]),
        ("i'd rather not see any clowns", "", ["clowns"]),
        ("the only thing i don't want is clowns", "", ["clowns"]),
        ("a cake, no need to show the chef", "a cake", ["chef"]),
        ("walking insteadof running", "walking", ["running"]),
        # where the same words deny something else, or nothing
        ("a dog without a leash runs", "a dog runs", ["a leash"]),
        ("a man with a missing tooth", "a man with a missing tooth", []),
        ("kids skip rope", "kids skip rope", []),
        ("a car avoids a dog", "a car avoids a dog", []),
        ("a stainless steel sink", "a stainless steel sink", []),
        ("a shirtless man", "a shirtless man", []),
        ("a duty-free shop", "a duty-free shop", []),
        ("a man is not shown eating", "a man", ["eating"]),
        ("A dog, a cat and a horse are absent", "", ["A dog", "a cat", "a horse"]),
        ("A man sits on a bench, and a dog is not visible", "A man sits on a bench", ["a dog"]),
        ("in the absence of a dog, a choir and a band play", "a choir and a band play", ["a dog"]),
        ("a bathroom with a sink, but there is no one in the bathroom", "a bathroom with a sink", ["people"]),
    ],
)
def test_typed_queries_are_understood(tagger: Tagger, text: str, wanted: str, unwanted: list[str]) -> None:
    assert parts(understand(text, tagger)) == (wanted, unwanted)


@pytest.mark.parametrize(
    "text",
    [
        "Dr. No",
        "a scene from Dr. No",
        "No Country for Old Men",
        "watching No Country for Old Men",
        "a trailer of Avatar Without Limits",
        "dance like there's no tomorrow",
        "a baby who can't stop laughing",
        "a dog that never gets tired of fetching",
        "a dog on a leash if possible, not required",
        "sans serif font",
        "do not enter tape around a house",
        "notting hill carnival",
        "non stop dancing",
        "dog missing poster",
        "a man dancing like nobody is watching",
        "a dog is not missing",
    ],
)
def test_titles_and_idioms_do_not_negate(tagger: Tagger, text: str) -> None:
    assert parts(understand(text, tagger)) == (text, [])
