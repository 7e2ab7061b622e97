"""Query understanding: typed queries with expected parts, highlighted spans, and arbitrary pasted text."""

import json
import random
from collections import defaultdict
from pathlib import Path

import pytest

from nt2vr.errors import QueryError
from nt2vr.negation.parse import misspelt_cues, query
from nt2vr.negation.parse.cues import LESS, cues, forms
from nt2vr.negation.parse.inflect import is_known
from nt2vr.negation.parse.query import MAX_QUERY_CHARS, MAX_UNWANTED, Query, check_query, understand
from nt2vr.negation.parse.tagger import load_tagger
from tests.support.sentence_frames import framed, judge

FAMILIES: dict[str, list[dict[str, list[str]]]] = defaultdict(list)
for line in (
    (Path(__file__).parent / "data" / "families.jsonl").read_text(encoding="utf-8").splitlines()
):
    FAMILIES[json.loads(line)["family"]].append(json.loads(line))


def read(text: str) -> Query:
    return understand(text, load_tagger())


@pytest.mark.parametrize("family", FAMILIES)
def test_every_query_of_a_family_is_split_as_expected(family: str) -> None:
    wrong = []
    for row in FAMILIES[family]:
        query = read(str(row["text"]))
        if [*query.wanted] != row["wanted"] or [*query.unwanted] != row["unwanted"]:
            wrong.append((row, query.wanted, query.unwanted))
    assert wrong == []


def test_sentences_of_frames_are_split_right() -> None:
    sentences = list(framed())
    num_right = 0
    num_turned = 0
    for sentence in sentences:
        query = read(sentence.text)
        is_right, is_turned = judge(sentence, query.wanted, query.unwanted)
        num_right += is_right
        num_turned += is_turned
    assert num_right / len(sentences) >= 0.985
    assert num_turned / len(sentences) <= 0.01


def test_the_example_of_each_form_is_understood() -> None:
    readings = {form.example: read(form.example) for form in forms()}
    assert {text: (" ".join(query.wanted), query.unwanted) for text, query in readings.items()} == {
        form.example: (form.wanted, form.unwanted) for form in forms()
    }


@pytest.mark.parametrize("cue", [cue for cue, kind in cues().items() if kind == "without"])
def test_every_cue_before_a_thing_excludes_it(cue: str) -> None:
    query = read(f"a street {cue} cars")
    assert (query.wanted, query.unwanted) == (("a street",), ("cars",))


def test_words_in_less_exclude_what_they_name() -> None:
    for word, thing in LESS.items():
        query = read(f"the {word} bike")
        assert (query.wanted, query.unwanted) == (("the bike",), (thing,))
        assert [query.text[slice(*span)] for span in (*query.cues, *query.scopes)] == [word, word]


@pytest.mark.parametrize(
    "predicate",
    [
        *(
            "is not present",
            "cannot be seen",
            "does not appear anywhere in the picture",
            "is nowhere to be found",
        ),
        "is missing",
    ],
)
def test_what_is_denied_is_unwanted_and_never_wanted(predicate: str) -> None:
    query = read(f"a dog runs, but a dining table {predicate}.")
    assert (query.wanted, query.unwanted) == (("a dog runs",), ("a dining table",))
    assert read(f"A dining table {predicate}.").wanted == ()


@pytest.mark.parametrize(
    ("text", "cues", "scopes"),
    [
        ("a dog on a beach, no people", ["no"], ["people"]),
        ("a man doesn’t sit on a stool", ["n’t"], ["sit on a stool"]),  # noqa: RUF001 (as phones type it)
        ("beach -t-shirt", ["-"], ["t-shirt"]),
        ("a cat instead of a dog or a cow", ["instead of"], ["a dog", "a cow"]),
        ("nobody", ["nobody"], ["nobody"]),
        ("a man sings", [], []),
        ("can you show me cows with no bells plz", ["no"], ["bells"]),
        ("hey, uh, no dogs & cats", ["no"], ["dogs", "cats"]),
    ],
)
def test_highlights_point_into_the_text_as_typed(
    text: str, cues: list[str], scopes: list[str]
) -> None:
    query = read(text)
    assert query.text == text
    assert [text[slice(*cue)] for cue in query.cues] == cues
    assert [text[slice(*scope)] for scope in query.scopes] == scopes


@pytest.mark.parametrize(
    ("text", "wanted", "others"),
    [
        ("a black dog and no other animals", "a black dog", ("animals",)),
        ("no animals or vehicles except dogs", "dogs", ("animals", "vehicles")),
        ("nobody except a chef", "a chef", ("people",)),
        ("a dog and nothing else", "a dog", ("anything",)),
        ("any animal except dogs", "any animal", ()),
    ],
)
def test_what_else_there_may_not_be_is_named(
    text: str, wanted: str, others: tuple[str, ...]
) -> None:
    assert (read(text).wanted, read(text).others) == ((wanted,), others)


def test_a_dotted_capital_i_moves_no_word() -> None:
    query = read("a ferry in İSTANBUL, no dogs")
    assert (query.wanted, query.unwanted) == (("a ferry in İSTANBUL",), ("dogs",))
    assert read("a tram, not in İzmir. a cat").unwanted == ("in İzmir",)


def test_marks_of_writing_direction_hide_no_negation() -> None:
    query = read("a beach, \u2067no dog\u2069")
    assert (query.wanted, query.unwanted) == (("a beach",), ("dog",))
    assert read("\u202eno dog\u202c").unwanted == ("dog",)
    assert read("\u061c no dog").wanted == ()
    assert read("\u2067a\u2069 \u2067beach\u2069 \u2067wo\u2069 \u2067dogs\u2069").unwanted == (
        "dogs",
    )


def test_marks_of_writing_direction_are_no_part_of_the_query() -> None:
    assert read("\u200f").wanted == ()
    marked = read("\u2067show me a beach without dogs\u2069")
    assert (marked.wanted, marked.unwanted) == (("a beach",), ("dogs",))
    both = read("\u2067a man\u2069 \u2067with a dog\u2069, no cat")
    assert (both.wanted, both.unwanted) == (("a man with a dog",), ("cat",))


def test_a_place_stays_wanted_unless_something_else_is() -> None:
    alone, composed = (
        read(f"a man is {gap} singing in a park") for gap in ("not", "dancing and not")
    )
    assert (alone.wanted, alone.unwanted) == (("a man in a park",), ("singing",))
    assert (composed.wanted, composed.unwanted) == (("a man is dancing",), ("singing in a park",))


@pytest.mark.parametrize(
    "text", [r"a guitar\1 but nobody is playing it", r"a \g<9> guitar, not playing it"]
)
def test_backslashes_of_a_named_thing_are_letters_like_others(text: str) -> None:
    (unwanted,) = read(text).unwanted
    assert unwanted.startswith(("people playing", "playing"))
    assert "it" not in unwanted.split()


@pytest.mark.parametrize(
    "text", ["?!…", "-", "not", "no", "never nor", "🐶 🏖️", "犬が海辺を走る", "kein Hund am Strand"]
)
def test_text_without_english_negation_is_wanted_as_typed(
    text: str,
) -> None:
    assert read(text) == Query(text, (text,))
    for blank in ("", " \n\t ", "\u200b"):
        assert not read(blank).unwanted


UNITS = (
    "no/|to |i prefer to |a - |.|,-|!(|no cats & |hey |show me |not without |neither |no |w/o|if you |all but "
    "|leaves out |u| |-|'|tag:|(|nothing but |ok google |more like a |no one in the |none of the |wait, |x|not to "
    '| + a - |cats 👎|n no |isn\'t no |a "b" no |never mind a, '
)


@pytest.mark.parametrize("unit", UNITS.split("|"))
def test_the_longest_queries_of_one_form_are_understood(unit: str) -> None:
    text = (unit * MAX_QUERY_CHARS)[:MAX_QUERY_CHARS]
    query = read(text)
    assert query.text == text
    for start, end in (*query.cues, *query.scopes):
        assert 0 <= start < end <= len(text)


def test_the_longest_list_of_words_is_searched_for() -> None:
    query = read("no cat" + ", dog" * 196 + " or cow")
    assert len(query.text) > MAX_QUERY_CHARS - 10
    assert len(query.unwanted) == 198
    check_query(query)


@pytest.mark.parametrize(
    ("wanted", "unwanted", "sentence"),
    [
        (
            "a dog",
            ("a",) * (MAX_UNWANTED + 1),
            "201 .*200",
        ),
        ("a " * 1_001, ("cat",), "2,002 .*2,000"),
        (
            "a dog",
            ("x" * 1_999,) * 6,
            "12,005 .*10,000",
        ),
    ],
)
def test_parts_that_are_long_or_many_are_refused(
    wanted: str, unwanted: tuple[str, ...], sentence: str
) -> None:
    with pytest.raises(QueryError, match=sentence):
        check_query(Query("a dog, no cat", (wanted,), unwanted))


@pytest.mark.parametrize("text", ["\ud800", "a dog \udfff", "no " * 3333])
def test_long_text_and_half_a_surrogate_pair_are_refused(text: str) -> None:
    with pytest.raises(QueryError):
        read(text)


def test_any_text_can_be_split_and_spans_lie_inside_it() -> None:
    rng = random.Random(0)
    pieces = "a the man dogs is does dancing sings hat on beach with and , who that he it to of red only".split()
    pieces += [*cues(), *"'s ' \" '' `` ( -man -- … 🐶 犬 \u200d \x00 1. % dont any".split(" ")]
    for _ in range(300):
        text = rng.choice([" ", " ", ""]).join(rng.choices(pieces, k=rng.randrange(12)))
        query = read(text)
        assert len(query.scopes) == len(query.unwanted)
        assert all(0 <= start < end <= len(text) for start, end in (*query.cues, *query.scopes)), (
            text
        )
        assert all(part and part == part.strip() for part in (*query.wanted, *query.unwanted)), text


def test_an_affirmed_query_wants_what_was_excluded_and_excludes_nothing() -> None:
    affirmed = read("a dog, but no cat and without a bird").affirmed
    assert affirmed == Query("a dog and cat and a bird", ("a dog", "cat", "a bird"))
    assert read("not dancing").affirmed == Query("dancing", ("dancing",))


@pytest.mark.parametrize(
    ("text", "affirmed"),
    [
        ("a bird, not on the beach", "a bird on the beach"),
        ("not at night and without a kite", "a kite at night"),
        ("a crowd that isn't cheering or clapping", "a crowd cheering and clapping"),
        ("a man sings and nobody dances", "a man sings and dances"),
        ("a singer, no band, not dancing, not on stage", "a singer dancing and band on stage"),
        ("two people arguing, not outside", "two people arguing outside"),
        ("a street with no benches, not crowded", "a street and benches, crowded"),
        ("a class w/o mirrors", "a class and mirrors"),
        ("a car, not red", "a car, red"),
    ],
)
def test_an_affirmed_query_reads_as_a_caption(text: str, affirmed: str) -> None:
    assert read(text).affirmed.text == affirmed


def test_no_english_word_is_taken_for_a_misspelt_cue() -> None:
    slips = {
        *misspelt_cues._MISSPELT,
        *(slip for slip in misspelt_cues._MISSPELT_CONTRACTIONS if slip.endswith("t")),
    }
    assert {slip for slip in slips if is_known(slip)} <= misspelt_cues._NOT_MISSPELT
    assert [misspelt_cues.cue_of(word) for word in ("nether", "noting", "excerpt")] == [
        "nether",
        "noting",
        "excerpt",
    ]


def test_every_process_mends_a_slip_of_two_cues_alike() -> None:
    assert misspelt_cues.cue_of("excluds") == misspelt_cues.cue_of("excludse") == "excludes"
    assert misspelt_cues.cue_of("exlude") == "exclude"


@pytest.mark.parametrize(
    "text", ["no ox," + "ox," * 331, "-ox " * 249, "-a " * 333, "a dog, no " + "ox; " * 245]
)
def test_too_many_parts_are_refused_before_reading(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(query, "split_query", lambda *_, **__: pytest.fail("it was read"))
    with pytest.raises(QueryError, match=r"\d+ parts.* 200"):
        understand(text, load_tagger())


@pytest.mark.parametrize("text", ["no ox and " * 99, "dog, " * 199, "no ox or " + "ox or " * 160])
def test_a_list_is_read_up_to_the_limit_of_parts(text: str) -> None:
    check_query(understand(text, load_tagger()))
