"""Views of an answer."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import pytest

from nt2vr.media.gallery import Gallery, Video
from nt2vr.negation.parse.query import Query, Span, understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.search.answers import Answer, ClipScore, Ranking
from nt2vr.search.embedded_gallery import EmbeddedGallery
from nt2vr.search.hits import Hit
from nt2vr.search.index import INDEXES
from nt2vr.search.judge import Verdict
from nt2vr.search.strategies import System
from nt2vr.ui.search.clip_view import detail_view
from nt2vr.ui.search.columns import Marked, columns_view
from nt2vr.ui.search.corrections import corrected, parts_view, sliders_view, with_corrections
from nt2vr.ui.search.downloads import downloads
from nt2vr.ui.search.headline import headline
from nt2vr.ui.search.near_duplicates import fold_near_duplicates
from nt2vr.ui.search.query_view import understood_view
from nt2vr.ui.search.state import SearchState

NEGATED = Query("a dog, no cat", ("a dog",), ("cat",), (Span(7, 9),), (Span(10, 13),))


def ranking(
    name: str, ids: str, verdicts: tuple[Verdict | None, ...] = (), **facts: object
) -> Ranking:
    """Return a ranking whose clips have one letter each, such as "abc"."""
    hits = []
    for rank, video_id in enumerate(ids, 1):
        verdict = verdicts[rank - 1] if verdicts else None
        hits.append(Hit(video_id, rank, 1 - rank / 10, verdict))
    ranks = {hit.video_id: hit.rank for hit in hits}
    return Ranking(System(*name.split()), tuple(hits), **{"ranks": ranks, **facts})  # type: ignore[arg-type]


def view_of(answer: Answer, **options: Any) -> dict[str, Any]:
    return columns_view(
        answer, lambda name: Video(name, Path(name)), lambda _: {"src": "", "poster": ""}, **options
    )


def columns(*rankings: Ranking, query: Query = NEGATED) -> list[dict[str, Any]]:
    columns: list[dict[str, Any]] = view_of(Answer(query, rankings))["columns"]
    return columns


def movements(*rankings: Ranking) -> list[str]:
    """Return how the clips of the last column moved."""
    return [hit["movement"] for hit in columns(*rankings)[-1]["hits"]]


def twins(*rankings: Ranking, query: Query = NEGATED) -> list[str]:
    """Return what the columns that are folded say instead of their clips."""
    return [column["twin"] for column in columns(*rankings, query=query)]


def understood(answer: Answer, parsed: Query | None = None, **state: Any) -> dict[str, Any]:
    return understood_view(answer, SearchState(**state), parsed or answer.query, "")


def headlines(answer: Answer, flipped: Answer | None = None) -> list[dict[str, str]]:
    return headline(view_of(answer, flipped=flipped)["columns"])


def test_movement_is_counted_against_the_first_column() -> None:
    first = ranking("CLIP", "abc", ranks={"a": 1, "b": 2, "c": 3, "d": 4})
    assert movements(first, ranking("CLIP boolean", "cbad")) == ["▲2", "=", "▼2", "="]
    assert movements(first, ranking("CLIP drop", "cde")) == ["▲2", "new", "new"]
    assert movements(first) == ["", "", ""]


def test_near_duplicates_share_a_tile_unless_verdicts_differ() -> None:
    vectors = np.array([[1, 0], [0.999, 0.045], [0, 1], [1, 0], [0.6, 0.8], [0.8, 0.6]], np.float32)
    answer_ranking = ranking(
        "CLIP", "abcdef", ("right", "right", "right", "miss", "right", "right")
    )
    gallery = Gallery("", tuple(Video(name, Path(name)) for name in "abcdef"))
    index = INDEXES["exact"](2)
    embedded = EmbeddedGallery(gallery, vectors, index, (), vectors[:, None], np.arange(6))
    column = fold_near_duplicates(
        replace(answer_ranking, gallery=embedded, ranks={**answer_ranking.ranks, "g": 7}), 3
    )
    assert [(hit.video_id, hit.rank) for hit in column.hits] == [("a", 1), ("c", 2), ("d", 3)]
    assert column.ranks == {"a": 1, "b": 1, "c": 2, "d": 3, "e": 4, "f": 5, "g": 6}
    tiles = columns(column)[0]["hits"]
    assert [(tile["id"], tile.get("similar"), tile.get("folded_into")) for tile in tiles] == [
        ("a", "1 more like this", None),
        ("b", None, "a"),
        ("c", "", None),
        ("d", "", None),
    ]


def test_files_that_share_a_rank_come_best_first() -> None:
    files = {"b1": "b", "b9": "b"}
    videos = {
        name: Video(name, Path(name), long_video=files.get(name, ""))
        for name in ("a", "b1", "c", "b9")
    }
    column = ranking("CLIP", "a", ranks={"a": 1, "b1": 1, "c": 1, "b9": 1})
    view = columns_view(Answer(NEGATED, (column,)), videos.__getitem__, lambda _: {})
    assert [tile["id"] for tile in view["columns"][0]["hits"]] == ["a", "b1", "c"]


def test_with_the_negation_taken_away_it_is_told_who_noticed() -> None:
    before = Answer(
        NEGATED, (ranking("CLIP", "abcd"), ranking("CLIP-neg", "abcd"), ranking("CLIP-bnl", "abcd"))
    )
    now = Answer(
        NEGATED.affirmed, (ranking("CLIP", "dcba"), ranking("CLIP-neg", "xyab")), denied=NEGATED
    )
    assert headlines(now, before) == [
        {"kind": "bad", "text": "CLIP gives the same 4 clips."},
        {"kind": "fair", "text": "CLIP-neg changes 2 of 4."},
    ]
    (_, last) = headlines(
        replace(now, rankings=(now.rankings[0], ranking("CLIP-bnl", "wxyz"))), before
    )
    assert last == {"kind": "good", "text": "CLIP-bnl changes all 4."}


def test_a_column_of_equal_clips_folds_beside_two_others() -> None:
    first, same, near, far = (
        ranking("CLIP", ids) for ids in ("abcdefgh", "hgfedcba", "abcdefgx", "abcdefxy")
    )
    eight = "shares 8 of 8 clips with CLIP"
    seven = "shares 7 of 8 clips with CLIP"
    assert twins(first, same, near, far) == ["", eight, seven, ""]
    assert twins(first, same) == ["", ""]
    assert twins(first, ranking("CLIP-bnl", "abcdefgh")) == ["", ""]


def test_a_strategy_that_changes_nothing_always_folds_and_says_why() -> None:
    tuned = ranking("CLIP-neg", "wxyz")
    plain, fusion, parts, boolean = (
        ranking(name, "abcd") for name in ("CLIP", "CLIP fusion", "CLIP parts", "CLIP boolean")
    )
    affirmative = Query("a dog", ("a dog",))
    assert twins(tuned, plain, fusion, parts, boolean, query=affirmative) == [
        "",
        "",
        "shows the same clips as CLIP, as there is no picture",
        "shows the same clips as CLIP, as there is no picture",
        "shows the same clips as CLIP, as nothing is excluded",
    ]
    first, *folded = twins(plain, fusion, parts)
    assert first == ""
    assert all(folded)


def test_a_column_says_what_its_model_learnt() -> None:
    plain, with_strategy = columns(
        ranking("CLIP", "ab", summary="captions only", explained_in="docs/models.md"),
        ranking("CLIP boolean", "cd", summary="captions only"),
    )
    assert (plain["about"], plain["twin_link"]) == ("captions only", "docs/models.md")
    assert (with_strategy["about"], with_strategy["strategy"]) == ("", "boolean")


@pytest.mark.parametrize(
    ("verdicts", "kind", "text", "more"),
    [
        (("violation", "right", "miss", "violation"), "bad", "1 of 4 right", "2 show it"),
        (("right", "miss", "right", "violation"), "fair", "2 of 4 right", "1 shows it"),
        (("miss", "miss", "miss", "miss"), "bad", "0 of 4 right", "0 show it"),
    ],
)
def test_the_badge_counts_right_clips_first(
    verdicts: tuple[Verdict, ...], kind: str, text: str, more: str
) -> None:
    (column,) = columns(ranking("CLIP", "abcd", verdicts))
    assert [column["badge"][key] for key in ("kind", "text", "violations")] == [kind, text, more]


def test_results_download_as_csv_and_json_whatever_the_query_holds() -> None:
    query = Query('a "dog", ümläut & 100%', ("x",))
    view = downloads(Answer(query, (ranking("CLIP", "ab", ("right", None)),)))
    files = {name: content_of(address) for name, address in view.items()}
    rows = list(csv.reader(io.StringIO(files["csv"])))
    assert rows[1:] == [["CLIP", "1", "a", "0.9", "right"], ["CLIP", "2", "b", "0.8", ""]]
    assert json.loads(files["json"])["query"]["text"] == query.text


def content_of(address: str) -> str:
    """Return the content of a data URL as a browser reads it."""
    with urlopen(address) as file:
        assert file.headers.get_content_charset() == "utf-8"
        return str(file.read().decode())


def test_a_slider_shows_the_strength_unless_the_name_fixes_it() -> None:
    rankings = (
        Ranking(System("CLIP", "anchored"), (), strength=2.1),
        Ranking(System("CLIP-neg", "anchored"), (), strength=0.0),
        Ranking(System("CLIP", "spherical", 0.9), (), strength=0.9),
    )
    state = SearchState(strengths={"boolean": 0.8})
    boolean, rectified, anchored, spherical = sliders_view(Answer(NEGATED, rankings), state)
    assert boolean == {"visible": "hidden", "value": 0.8}
    assert rectified == {"visible": "hidden", "value": 1.0}
    assert anchored == {"visible": True, "value": 2.1}
    assert spherical == {"visible": "hidden", "value": 0.95}


def test_the_enlarged_clip_lists_every_systems_rank_and_frames() -> None:
    seen = (
        ClipScore(System("CLIP"), 3, 0.51234, (0.125, 0.375)),
        ClipScore(System("CLIP", "drop"), None, None, ()),
    )
    view = detail_view(
        Video("v", Path("v"), ("a dog runs",)), seen, "right", {"src": "clips/v"}, {}
    )
    plain, drop = view["systems"]
    assert plain["name"] == "CLIP"
    assert plain["rank"] == "#3"
    assert plain["score"] == "0.512"
    assert drop["name"] == "CLIP drop"
    assert drop["rank"] == "–"
    assert drop["score"] == ""
    assert [frame["position"] for frame in plain["frames"]] == [0.125, 0.375]


def relevant_ids(column: dict[str, Any]) -> list[str]:
    return [hit["id"] for hit in column["hits"] if hit["is_relevant"]]


def test_a_judged_query_s_clips_are_marked_in_every_column() -> None:
    answer = Answer(NEGATED, (ranking("CLIP", "abc"), ranking("CLIP drop", "cda")))
    view = view_of(answer, marked=Marked(frozenset("ad"), "relevant"))
    assert view["legend"] == "relevant"
    assert [relevant_ids(column) for column in view["columns"]] == [["a"], ["d", "a"]]

    plain = view_of(answer)
    assert not plain["legend"]
    assert [relevant_ids(column) for column in plain["columns"]] == [[], []]


def test_a_moved_word_leaves_the_other_parts_as_they_are() -> None:
    query = Query("x", ("a dog", "runs"), ("cat", "a car"))
    moves = parts_view(Answer(query, ()), query)["moves"]
    assert moves["wanted"][1] == {"text": "dog", "wanted": "a runs", "unwanted": "cat, a car, dog"}
    assert moves["unwanted"][0] == {
        "text": "cat",
        "wanted": "a dog runs and cat",
        "unwanted": "a car",
    }


@pytest.mark.parametrize(
    ("query", "excluded"),
    [
        (NEGATED, "[no] cat"),
        (
            Query("there isn't a cat", (), ("a cat",), (Span(8, 11),), (Span(12, 17),)),
            "[isn't] a cat",
        ),
        (
            Query("a dog-free street", ("a street",), ("dog",), (Span(5, 10),), (Span(2, 5),)),
            "[no] dog",
        ),
        (
            Query("no cat or dog", (), ("cat", "dog"), (Span(0, 2),), (Span(3, 6), Span(10, 13))),
            "[no] cat or dog",
        ),
        (
            Query("a sea, nobody", ("a sea",), ("people",), (Span(7, 13),), (Span(7, 13),)),
            "[nobody] ",
        ),
        (
            Query("nobody runs", (), ("people running",), (Span(0, 6),), (Span(7, 11),)),
            "[nobody] runs",
        ),
        (
            Query("a childless pair", ("a pair",), ("children",), (Span(2, 11),), (Span(2, 11),)),
            "[childless] ",
        ),
        (
            understand("I don't want rain, snow or fog", load_tagger()),
            "[don't] want rain, snow or fog",
        ),
        (
            understand("a ladder is not involved and no cats or dogs", load_tagger()),
            "[no] ladder and [no] cats or dogs",
        ),
        (
            understand("beach -boats and no hearing aid", load_tagger()),
            "[no] boats and [no] hearing aid",
        ),
        (understand("boy no have hat, cat not eat", load_tagger()), "[no] hat and [not] eating"),
        (understand("a dog\nno cat", load_tagger()), "[no] cat"),
        (understand("it does\nnot rain", load_tagger()), "[not] rain"),
        (Query("a dog", ("a dog",)), ""),
        # Corrected: no scopes.
        (
            Query("a dog, no cat", ("a",), ("cat", "dog"), NEGATED.cues),
            "[no] cat or dog",
        ),
    ],
)
def test_what_was_excluded_is_quoted_in_order(query: Query, excluded: str) -> None:
    words = []
    for piece in understood(Answer(query, ()), parsed=query)["excluded"]:
        words.append(f"[{piece['cue']}]" if "cue" in piece else piece["text"])
    assert " ".join(words) == excluded


def test_the_first_and_last_system_are_summed_up() -> None:
    first = ranking("CLIP", "a", ("violation",))
    last = ranking("CLIP-neg", "a", ("right",))
    notices = headlines(
        Answer(NEGATED, (first, ranking("CLIP-bnl", "a", ("miss",)), last), judged_by="captions")
    )
    assert [notice["text"] for notice in notices] == [
        "CLIP shows it anyway, in 1 of 1 by captions.",
        "CLIP-neg leaves it out by captions.",
    ]
    assert headlines(Answer(NEGATED, (ranking("CLIP", "a"),))) == []
    assert (
        headlines(Answer(Query("a dog", ("a dog",)), (ranking("CLIP", "ab", ("right", None)),)))
        == []
    )


def test_a_corrected_sentence_marks_what_is_unwanted_now() -> None:
    text = "a dog and a cat, no big ball"
    parsed = Query(text, ("a dog and a cat",), ("big ball",), (Span(17, 19),), (Span(20, 28),))

    def pieces(wanted: str, unwanted: str) -> list[tuple[str, str]]:
        view = understood(Answer(corrected(text, wanted, unwanted), ()), parsed=parsed)
        return [(piece["kind"], piece["text"]) for piece in view["pieces"]]

    assert pieces("a cat", "ball, a dog") == [
        ("scope", "a dog"),
        ("plain", " and a cat, "),
        ("cue", "no"),
        ("plain", " big "),
        ("scope", "ball"),
    ]
    apart = [words for kind, words in pieces("", "the cat dog, elephant") if kind == "scope"]
    assert apart == ["dog", "cat"]
    assert pieces("a dog and a cat and a big ball", "") == [("plain", text)]


def test_a_removed_negation_is_struck_out() -> None:
    answer = Answer(NEGATED.affirmed, (), denied=NEGATED)
    view = understood(answer, NEGATED, q=NEGATED.text, flip="1")
    cues = [piece for piece in view["pieces"] if piece["flip"]]
    assert [(cue["text"], cue["flip"]["pressed"]) for cue in cues] == [("no", "true")]


def test_a_correction_ends_the_flip_if_nothing_is_denied() -> None:
    def understand(text: str, editing: bool) -> Query:
        return Query(text, ("a dog",), ("cat", "the dog") if editing else ("cat",))

    def corrected_by(parts: str) -> tuple[str, str, tuple[str, ...]]:
        state, query, parsed = with_corrections(
            SearchState(NEGATED.text, parts=parts, flip="1"), understand
        )
        assert parsed == understand(NEGATED.text, False)
        return state.parts, state.flip, query.unwanted

    assert corrected_by("a dog|bird") == ("a dog|bird", "1", ("bird",))
    assert corrected_by("") == corrected_by("a dog|cat") == ("", "1", ("cat",))
    # Without a negation there is nothing to take away.
    assert corrected_by("a dog|") == ("a dog|", "", ())


def test_columns_count_clips_that_stay_without_the_negation() -> None:
    def stayed(*before: Ranking) -> list[str]:
        rankings = (ranking("CLIP", "abcd"), ranking("CLIP drop", "abcd"), ranking("other", ""))
        answer = Answer(NEGATED, rankings)
        affirmed = Answer(NEGATED.affirmed, before, denied=NEGATED)
        return [column["stayed"] for column in view_of(answer, flipped=affirmed)["columns"]]

    before = ranking("CLIP drop", "dxcy"), ranking("CLIP", "bacd"), ranking("other", "abcd")
    assert stayed(*before) == ["4 of 4 clips stayed", "2 of 4 clips stayed", ""]
    assert [column["stayed"] for column in columns(ranking("CLIP", "abcd"))] == [""]
