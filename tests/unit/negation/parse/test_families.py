"""Families of typed queries: exceptions, preferences, absences, operators, typos, idioms, requests."""

import json
import time
from collections import defaultdict
from pathlib import Path

import pytest

from nt2vr.negation.parse import spelling
from nt2vr.negation.parse.inflect import is_known
from nt2vr.negation.parse.query import MAX_QUERY_CHARS, understand
from nt2vr.negation.parse.tagger import Tagger

DATA = Path(__file__).parent / "data"


def families() -> dict[str, list[dict[str, list[str]]]]:
    found = defaultdict(list)
    for line in (DATA / "families.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        found[row["family"]].append(row)
    return found


FAMILIES = families()


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return Tagger()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_query_of_a_family_is_split_as_expected(tagger: Tagger, family: str) -> None:
    wrong = []
    for row in FAMILIES[family]:
        query = understand(str(row["text"]), tagger)
        if [*query.wanted] != row["wanted"] or [*query.unwanted] != row["unwanted"]:
            wrong.append((row, query.wanted, query.unwanted))
    assert wrong == []


@pytest.mark.parametrize(
    ("text", "cues", "scopes"),
    [
        ("a dog does'nt bark", ["does'nt"], ["bark"]),
        ("fruits excpet apples", ["excpet"], ["apples"]),
        ("can you show me cows with no bells plz", ["no"], ["bells"]),
        ("dog (-cat)", ["-"], ["cat"]),
        ("dog,-cat,!bird", ["-", "!"], ["cat", "bird"]),
        ("park; no: dogs", ["no"], ["dogs"]),
        ("tag:forest -tag:bear", ["-"], ["bear"]),
        ("a field with no animals except a cow", ["no", "except"], []),
        ("walking rather then running", ["rather then"], ["running"]),
        ("I prefer tea to coffee", ["to"], ["coffee"]),
        ("i hate clowns lol", ["i hate"], ["clowns"]),
        ("a recipe that leaves the eggs out", ["leaves"], ["the eggs"]),
        ("neither dog is on a leash", ["neither"], ["on a leash"]),
        ("hey, uh, no dogs & cats", ["no"], ["dogs", "cats"]),
        ("minus:snow hiking", ["minus:"], ["snow"]),
        ("owl/no cage", ["no"], ["cage"]),
        ("nobody in the pool swims", ["nobody"], ["swims"]),
        ("hardly any of the monks sing", ["hardly any"], ["sing"]),
        ("tea over coffee any day", ["over"], ["coffee"]),
        ("keep camels and drop tourists", ["and drop"], ["tourists"]),
        ("besides the goalkeeper, players running", ["besides"], ["the goalkeeper"]),
        ("tea preferred to coffee", ["preferred to"], ["coffee"]),
        ("i'm so over cats, give me dogs", ["i'm so over"], ["cats"]),
        ("sports (excl. golf)", ["excl."], ["golf"]),
    ],
)
def test_highlights_point_into_the_text_as_typed(
    tagger: Tagger, text: str, cues: list[str], scopes: list[str]
) -> None:
    query = understand(text, tagger)
    assert query.text == text
    assert [text[slice(*cue)] for cue in query.cues] == cues
    assert [text[slice(*scope)] for scope in query.scopes] == scopes


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("show me videos of cows", "cows"),
        ("hey can you find me a clip where a cow jumps please", "a cow jumps"),
        ("I'd like to see something with drums thanks", "drums"),
        ("if you're not busy, show me dogs", "dogs"),
        ("please", "please"),
        ("a show about dogs", "a show about dogs"),
        ("people search for gold", "people search for gold"),
        ("guys talk about cars", "guys talk about cars"),
        ("a man looks to the right", "a man looks to the right"),
    ],
)
def test_requests_are_no_content(tagger: Tagger, text: str, wanted: str) -> None:
    assert understand(text, tagger).wanted == (wanted,)


@pytest.mark.parametrize(
    ("text", "wanted", "others"),
    [
        ("a black dog and no other animals", "a black dog", ("animals",)),
        ("no animals or vehicles except dogs", "dogs", ("animals", "vehicles")),
        ("a kitchen with nobody else but a chef", "a kitchen with a chef", ("people",)),
        ("nobody except a chef", "a chef", ("people",)),
        ("except for the dog, nobody is there", "the dog", ("people",)),
        ("a dog and nothing else", "a dog", ("anything",)),
        ("a dog and no others", "a dog", ("anything",)),
        ("an empty beach except for a boat", "an empty beach, a boat", ("anything",)),
        ("not without a dog", "a dog", ()),
        ("any animal except dogs", "any animal", ()),
    ],
)
def test_what_else_there_may_not_be_is_named(tagger: Tagger, text: str, wanted: str, others: tuple[str, ...]) -> None:
    query = understand(text, tagger)
    assert (query.wanted, query.others) == ((wanted,), others)


def test_no_english_word_is_taken_for_a_misspelt_cue() -> None:
    slips = {*spelling._MISSPELT, *(slip for slip in spelling._MISSPELT_CONTRACTED if slip.endswith("t"))}
    assert {slip for slip in slips if is_known(slip)} <= spelling._WORDS
    assert [spelling.cue_of(word) for word in ("nether", "noting", "excerpt")] == ["nether", "noting", "excerpt"]


UNITS = (
    "no/|to |i prefer to |a - |.|,-|!(|no cats & |hey |show me |not without |neither |no |w/o|expect |if you |"
    "all but |leaves out |u| |-|'|tag:|(|nothing but "
    "|ok google |show me some of the |not a young one, |more like a |you know |no one in the "
    "|a cat, no wait, |swap the |used to a but |all except when it |not so much a as |i'm so over |a cat as long as "
    "|drop the ones with |no better |old but not |none of the |wait, |excl. "
)


@pytest.mark.parametrize("unit", UNITS.split("|"))
def test_the_longest_queries_of_one_form_take_no_time(tagger: Tagger, unit: str) -> None:
    text = (unit * MAX_QUERY_CHARS)[:MAX_QUERY_CHARS]
    start_s = time.process_time()
    query = understand(text, tagger)
    assert time.process_time() - start_s < 1
    assert all(0 <= start < end <= len(text) for start, end in (*query.cues, *query.scopes))
