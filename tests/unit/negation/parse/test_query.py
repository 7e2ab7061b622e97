"""Query understanding: typed queries with expected parts, highlighted spans, and arbitrary pasted text."""

import json
import os
import random
from pathlib import Path

import nltk
import pytest

from nt2vr.errors import QueryError
from nt2vr.negation.parse.forms import cues
from nt2vr.negation.parse.query import MAX_QUERY_CHARS, MAX_UNWANTED, Query, check_query, understand
from nt2vr.negation.parse.tagger import NltkTagger, Tagger
from nt2vr.negation.parse.typed import read_typed
from tests.paths import SHARED

DATA = Path(__file__).parent / "data"
TYPED = (DATA / "typed_queries.jsonl", DATA / "queries_of_every_kind.jsonl")
NLTK_FOLDERS = (SHARED / "nltk_data", Path(os.environ.get("NLTK_DATA", "nltk_data")))


@pytest.fixture(scope="module", params=["HanTa", "NLTK"])
def tagger(request: pytest.FixtureRequest) -> Tagger:
    if request.param == "HanTa":
        return Tagger()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(nltk.data, "path", [*map(str, NLTK_FOLDERS), *nltk.data.path])
        try:
            return NltkTagger()
        except LookupError:
            pytest.skip("NLTK's tagger data is not installed")


def marked(query: Query) -> tuple[list[str], list[str]]:
    """What the page highlights: the cues and the scopes."""
    return [query.text[slice(*cue)] for cue in query.cues], [query.text[slice(*scope)] for scope in query.scopes]


@pytest.mark.parametrize("file", TYPED, ids=lambda file: file.stem)
def test_typed_queries_are_split_as_expected(tagger: Tagger, file: Path) -> None:
    wrong = []
    for line in file.read_text(encoding="utf-8").splitlines():
        gold = json.loads(line)
        query = understand(gold["text"], tagger)
        if [*query.wanted] != gold["wanted"] or [*query.unwanted] != gold["unwanted"]:
            wrong.append((gold, query.wanted, query.unwanted))
    assert wrong == []


@pytest.mark.parametrize("text", [r"a guitar\1 but nobody is playing it", r"a \g<9> guitar, not playing it"])
def test_backslashes_of_a_named_thing_are_letters_like_others(tagger: Tagger, text: str) -> None:
    (unwanted,) = understand(text, tagger).unwanted
    assert unwanted.startswith(("people playing", "playing")) and "it" not in unwanted.split()


@pytest.mark.parametrize(
    ("text", "cues", "scopes"),
    [
        ("a dog on a beach, no people", ["no"], ["people"]),
        ("a man doesn’t sit on a stool", ["n’t"], ["sit on a stool"]),  # noqa: RUF001 (as phones type it)
        ("a kid dont  run", ["nt"], ["run"]),
        ("beach -t-shirt", ["-"], ["t-shirt"]),
        ("a cat instead of a dog or a cow", ["instead of"], ["a dog", "a cow"]),
        ("a woman not playing the guitar or the piano", ["not"], ["playing the guitar", "the piano"]),
        ("nobody", ["nobody"], ["nobody"]),
        ("a man sings", [], []),
    ],
)
def test_cues_and_scopes_are_located(tagger: Tagger, text: str, cues: list[str], scopes: list[str]) -> None:
    assert marked(understand(text, tagger)) == (cues, scopes)


def test_a_place_stays_wanted_unless_something_else_is(tagger: Tagger) -> None:
    alone = understand("a man is not singing in a park", tagger)
    composed = understand("a man is dancing and not singing in a park", tagger)
    assert (alone.wanted, alone.unwanted) == (("a man in a park",), ("singing",))
    assert (composed.wanted, composed.unwanted) == (("a man is dancing",), ("singing in a park",))


@pytest.mark.parametrize("text", ["", " \n\t ", "\u200b"])
def test_blank_text_has_no_parts(tagger: Tagger, text: str) -> None:
    assert understand(text, tagger).unwanted == ()


@pytest.mark.parametrize(
    "text", ["?!…", "-", "not", "no", "never nor", "🐶 🏖️", "犬が海辺を走る", "kein Hund am Strand"]
)
def test_text_without_english_negation_is_wanted_as_typed(tagger: Tagger, text: str) -> None:
    assert understand(text, tagger) == Query(text, (text,))


def test_a_query_of_10_000_characters_is_refused_in_one_sentence(tagger: Tagger) -> None:
    with pytest.raises(QueryError, match=r"^The query has 10,000 characters; shorten it to at most 1,000, .*\.$"):
        understand("no " * 3333 + "a", tagger)


@pytest.mark.parametrize(
    "text", ["x" * MAX_QUERY_CHARS, "not to " * 142, "no dogs, " * 111, "-a " * 333, "not " * 250]
)
def test_the_longest_queries_are_understood(tagger: Tagger, text: str) -> None:
    assert understand(text, tagger).text == text


def test_the_longest_list_of_words_is_searched_for(tagger: Tagger) -> None:
    query = understand("no cat" + ", dog" * 196 + " or cow", tagger)
    assert len(query.text) > MAX_QUERY_CHARS - 10 and len(query.unwanted) == 198
    check_query(query)


@pytest.mark.parametrize(
    ("wanted", "unwanted", "sentence"),
    [
        ("a dog", ("a",) * (MAX_UNWANTED + 1), r"^The query has 201 unwanted parts; name at most 200\.$"),
        ("a dog", ("a",) * 4_900, r"^The query has 4,900 unwanted parts"),
        ("a " * 1_001, ("cat",), r"^The query has 2,002 characters; shorten it to at most 2,000"),
        ("a dog", ("cat", "x" * 2_001), r"^The query has 2,001 characters"),
        ("a dog", ("x" * 1_999,) * 6, r"^The query has 12,005 characters; shorten it to at most 10,000"),
    ],
)
def test_parts_that_are_long_or_many_are_refused_in_one_sentence(
    wanted: str, unwanted: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(QueryError, match=sentence):
        check_query(Query("a dog, no cat", (wanted,), unwanted))


@pytest.mark.parametrize("text", ["\ud800", "a dog \udfff"])
def test_half_a_surrogate_pair_is_refused(tagger: Tagger, text: str) -> None:
    with pytest.raises(QueryError, match="not valid Unicode"):
        understand(text, tagger)


def test_any_text_can_be_split_and_spans_lie_inside_it(tagger: Tagger) -> None:
    rng = random.Random(0)
    pieces = [
        *cues(),
        "a",
        "the",
        "man",
        "dogs",
        "is",
        "does",
        "dancing",
        "sings",
        "hat",
        "on",
        "beach",
        "with",
        "and",
        ",",
    ]
    pieces += [
        "who",
        "that",
        "he",
        "it",
        "to",
        "of",
        "red",
        "only",
        "'s",
        "'",
        '"',
        "''",
        "``",
        "(",
        "-man",
        "--",
        "…",
    ]
    pieces += ["🐶", "犬", "\u200d", "\x00", "1.", "%", "dont", "any"]
    for _ in range(600):
        text = rng.choice([" ", " ", ""]).join(rng.choices(pieces, k=rng.randrange(12)))
        query = understand(text, tagger)
        assert len(query.scopes) == len(query.unwanted)
        assert all(0 <= start < end <= len(text) for start, end in (*query.cues, *query.scopes)), text
        assert all(part and part == part.strip() for part in (*query.wanted, *query.unwanted)), text


def test_an_affirmed_query_wants_what_was_excluded_and_excludes_nothing(tagger: Tagger) -> None:
    affirmed = understand("a dog, but no cat and without a bird", tagger).affirmed
    assert affirmed == Query("a dog and cat and a bird", ("a dog", "cat", "a bird"))
    assert understand("not dancing", tagger).affirmed == Query("dancing", ("dancing",))


def test_a_comma_after_please_still_separates() -> None:
    assert read_typed("no horse please, cow").text == "no horse, cow"
    assert read_typed("no 🐴 please, 🐮").text == "no 🐴, 🐮"
