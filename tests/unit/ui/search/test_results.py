"""Views of an answer."""

import csv
import io
import json
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query, Span
from nt2vr.search.answers import Answer, Hit, Ranking, Seen, Verdict
from nt2vr.search.systems import System
from nt2vr.ui.search.clip import detail_view
from nt2vr.ui.search.results import (
    NO_GOOD_MATCH,
    NOTHING_LEFT,
    Marked,
    columns_view,
    corrected,
    downloads,
    offers_view,
    parts_view,
    picture_remark,
    short_name,
    told,
    understood_view,
    with_corrections,
)
from nt2vr.ui.search.state import SearchState
from nt2vr.world.scenes import Figure, Scene

NEGATED = Query("a dog, no cat", ("a dog",), ("cat",), (Span(7, 9),), (Span(10, 13),))


def ranking(name: str, ids: str, verdicts: tuple[Verdict | None, ...] = (), **facts: object) -> Ranking:
    hits = tuple(
        Hit(video_id, rank, 1 - rank / 10, verdicts[rank - 1] if verdicts else None)
        for rank, video_id in enumerate(ids, 1)
    )
    ranks = {video_id: rank for rank, video_id in enumerate(ids, 1)}
    return Ranking(System(*name.split()), hits, **{"ranks": ranks, **facts})  # type: ignore[arg-type]


def columns(*rankings: Ranking, query: Query = NEGATED) -> list[dict]:  # type: ignore[type-arg]
    view = columns_view(
        Answer(query, rankings), lambda name: Video(name, Path(name)), lambda video: {"src": f"clips/{video.video_id}"}
    )
    return view["columns"]  # type: ignore[no-any-return]


def understood(answer: Answer, parsed: Query | None = None, **state: Any) -> dict[str, Any]:
    return understood_view(answer, SearchState(**state), {}, parsed or answer.query)


def no_urls(video: Video) -> dict[str, str]:
    return {"src": "", "poster": ""}


def test_the_sentence_is_cut_at_cue_and_scope_and_nothing_is_lost() -> None:
    pieces = understood(Answer(NEGATED, ()))["pieces"]
    assert [(piece["kind"], piece["text"]) for piece in pieces] == [
        ("plain", "a dog, "),
        ("cue", "no"),
        ("plain", " "),
        ("scope", "cat"),
    ]


def test_a_cue_inside_its_scope_stays_visible() -> None:
    query = Query("wearing no hat", (), ("wearing hat",), (Span(8, 10),), (Span(0, 14),))
    kinds = [piece["kind"] for piece in understood(Answer(query, ()))["pieces"]]
    assert kinds == ["scope", "cue", "scope"]


def test_movement_is_counted_against_the_first_column_as_far_as_it_is_shown() -> None:
    first = ranking("CLIP", "abc", ranks={"a": 1, "b": 2, "c": 3, "d": 4})
    moves = [hit["move"] for hit in columns(first, ranking("CLIP boolean", "cbad"))[1]["hits"]]
    assert moves == ["▲2", "=", "▼2", "="]
    assert [hit["move"] for hit in columns(first, ranking("CLIP drop", "cde"))[1]["hits"]] == ["▲2", "new", "new"]
    assert [hit["move"] for hit in columns(first)[0]["hits"]] == ["", "", ""]


@pytest.mark.parametrize(
    ("verdicts", "kind", "text", "more"),
    [
        (("violation", "right", "miss", "violation"), "bad", "1 of 4 right", "2 violate"),
        (("right", "miss", "right", "violation"), "good", "2 of 4 right", "1 violate"),
        (("miss", "miss", "miss", "miss"), "bad", "0 of 4 right", "0 violate"),
    ],
)
def test_the_badge_counts_what_is_right_first_and_that_decides_its_colour(
    verdicts: tuple[Verdict, ...], kind: str, text: str, more: str
) -> None:
    (column,) = columns(ranking("CLIP", "abcd", verdicts))
    assert [column["badge"][key] for key in ("kind", "text", "more")] == [kind, text, more]


def test_the_badge_of_a_plain_query_counts_no_violations_and_without_truth_there_is_none() -> None:
    query = Query("a dog", ("a dog",))
    (column,) = columns(ranking("CLIP", "abc", ("right", "right", "miss")), query=query)
    assert (column["badge"]["text"], column["badge"]["more"]) == ("2 of 3 right", "")
    assert columns(ranking("CLIP", "abc"), query=query)[0]["badge"] == {}


def test_badges_count_violations_alone_in_every_column_if_not_every_verdict_is_known() -> None:
    shown, clean = columns(ranking("CLIP", "ab", ("violation", "violation")), ranking("CLIP drop", "ab", (None, None)))
    assert (shown["badge"]["text"], shown["badge"]["kind"]) == ("2 of 2 violate", "bad")
    assert (clean["badge"]["text"], clean["badge"]["kind"]) == ("0 of 2 violate", "neutral")


def test_verdicts_know_better_than_a_low_score() -> None:
    low, other = ranking("CLIP", "a", low=True), ranking("CLIP drop", "b", ("right",))
    assert [column["note"] for column in columns(low, other)] == ["", ""]


@pytest.mark.parametrize(
    ("verdict", "says"),
    [("violation", "The picture shows “cat”, which the text excludes"), (None, "if it shows that"), ("miss", "")],
)
def test_a_picture_that_shows_what_the_text_excludes_is_said_to_be_searched_for_as_a_whole(
    verdict: Verdict | None, says: str
) -> None:
    remark = picture_remark(NEGATED, verdict)
    assert says in remark if says else not remark
    assert not picture_remark(Query("a dog", ("a dog",)), verdict)


def test_a_column_explains_empty_unseen_and_low_results() -> None:
    rankings = (
        ranking("CLIP drop", ""),
        ranking("CLIP", "a", unseen=("yeti",)),
        ranking("SEA", "a", reads="a b"),
        ranking("CLIP", "a", low=True),
    )
    empty, unseen, reads, low = (columns(each)[0]["note"] for each in rankings)
    assert (empty, unseen, low) == (NOTHING_LEFT, "CLIP has never seen: yeti.", NO_GOOD_MATCH)
    assert reads == "reads: a b. The other words: only its GRU."


def test_results_download_as_csv_and_json_whatever_the_query_holds() -> None:
    query = Query('a "dog", ümläut & 100%', ("x",))
    view = downloads(Answer(query, (ranking("CLIP", "ab", ("right", None)),)))
    rows = list(csv.reader(io.StringIO(unquote(view["csv"].partition(",")[2]))))
    assert rows[1:] == [["CLIP", "1", "a", "0.9", "right"], ["CLIP", "2", "b", "0.8", ""]]
    assert json.loads(unquote(view["json"].partition(",")[2]))["query"]["text"] == query.text


def test_a_name_that_a_spreadsheet_would_compute_is_text_in_csv_and_as_it_is_in_json() -> None:
    view = downloads(Answer(Query("=1+1", ("x",)), (ranking("=cmd|'/C calc'!A0", "a", ("right",)),)))
    rows = list(csv.reader(io.StringIO(unquote(view["csv"].partition(",")[2]))))
    assert rows[1] == ["'=cmd\\|'/C calc'!A0", "1", "a", "0.9", "right"]
    answer = json.loads(unquote(view["json"].partition(",")[2]))
    assert answer["query"]["text"] == "=1+1" and answer["systems"][0]["name"] == "=cmd|'/C calc'!A0"


def test_a_slider_shows_what_its_strategy_used_and_only_where_a_name_does_not_fix_it() -> None:
    rankings = (
        Ranking(System("CLIP", "anchored"), (), strength=2.1),
        Ranking(System("CLIP-neg", "anchored"), (), strength=0.0),
        Ranking(System("CLIP", "spherical", 0.9), (), strength=0.9),
    )
    boolean, rectified, anchored, spherical = understood(
        Answer(NEGATED, rankings), strengths={"alpha": "0.8", "beta": "", "lambda": "", "t": ""}
    )["sliders"]
    assert boolean == {"word": "alpha", "value": 0.8, "used": False}
    assert rectified == {"word": "beta", "value": None, "used": False}
    assert anchored == {"word": "lambda", "value": 2.1, "used": True}
    assert spherical == {"word": "t", "value": None, "used": False}


def test_the_enlarged_clip_lists_every_systems_rank_and_frames() -> None:
    seen = (Seen(System("CLIP"), 3, 0.51234, (0.125, 0.375)), Seen(System("CLIP", "drop"), None, None, ()))
    view = detail_view(Video("v", Path("v"), ("a dog runs",)), seen, "right", {"src": "clips/v"})
    assert [(one["name"], one["rank"], one["score"]) for one in view["seen"]] == [
        ("CLIP", "#3", "0.512"),
        ("CLIP drop", "–", ""),
    ]
    assert [frame["at"] for frame in view["seen"][0]["frames"]] == [0.125, 0.375]


def test_the_clips_of_a_judged_query_are_marked_in_every_column_and_no_others() -> None:
    answer = Answer(NEGATED, (ranking("CLIP", "abc"), ranking("CLIP drop", "cda")))
    view = columns_view(answer, lambda name: Video(name, Path(name)), no_urls, Marked(frozenset("ad"), "relevant"))
    assert [[hit["id"] for hit in column["hits"] if hit["judged"]] for column in view["columns"]] == [
        ["a"],
        ["d", "a"],
    ]
    assert view["legend"] == "relevant"
    plain = columns_view(answer, lambda name: Video(name, Path(name)), no_urls)
    assert not plain["legend"] and not any(hit["judged"] for column in plain["columns"] for hit in column["hits"])


def test_words_read_differently_are_listed_and_a_column_that_knew_them_says_so() -> None:
    small = ranking("CLIP", "a", read_as={"kids": "boy or girl"})
    knows, neither = ranking("ViT", "a"), ranking("run", "a", unseen=("kids",))
    (chip,) = understood(Answer(NEGATED, (knows, small)))["read_as"]
    assert chip == {"word": "kids", "other": "boy or girl"}
    notes = [column["note"] for column in columns(small, knows, neither)]
    assert notes == ["", "ViT knows, and was asked as typed: kids.", "run has never seen: kids."]


def test_a_moved_word_leaves_the_other_parts_as_they_are() -> None:
    query = Query("x", ("a dog", "runs"), ("cat", "a car"))
    moves = parts_view(Answer(query, ()), query)["moves"]
    assert moves["wanted"][1] == {"text": "dog", "wanted": "a runs", "unwanted": "cat, a car, dog"}
    assert moves["unwanted"][0] == {"text": "cat", "wanted": "a dog runs and cat", "unwanted": "a car"}


def test_the_longest_sentence_has_moves_and_longer_parts_have_none_as_each_would_repeat_them_all() -> None:
    sentence, unwanted = "a man in a red hat is playing the guitar " * 22, ("a dog",) * 20
    query = Query("x", (sentence,), unwanted)
    moves = parts_view(Answer(query, ()), query)["moves"]
    assert (len(moves["wanted"]), len(moves["unwanted"])) == (220, 20)
    for parts in (((sentence * 2,), unwanted), ((sentence,), ("a",) * 200)):
        query = Query("x", *parts)
        view = parts_view(Answer(query, ()), query)
        assert view["moves"] == {"wanted": [], "unwanted": []}
        assert len(json.dumps([view, understood(Answer(query, ()))])) < 50_000


def test_a_correction_names_the_systems_whose_search_it_does_not_change_and_can_be_undone() -> None:
    rankings = (ranking("CLIP", "a"), ranking("CLIP drop", "a"), ranking("CLIP-neg", "a"))
    fixed = Query(NEGATED.text, ("a dog",), ("bird",))
    view = understood(Answer(fixed, rankings), parsed=NEGATED)
    assert view["notice"].startswith("CLIP and CLIP-neg search for the whole sentence: ")
    assert parts_view(Answer(fixed, rankings), NEGATED)["undo"] == [{"wanted": "a dog", "unwanted": "cat"}]
    assert not parts_view(Answer(NEGATED, rankings), NEGATED)["undo"]


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (NEGATED, "[no] cat"),
        (Query("there isn't a cat", (), ("a cat",), (Span(8, 11),), (Span(12, 17),)), "[isn't] a cat"),
        (Query("a dog-free street", ("a street",), ("dog",), (Span(5, 10),), (Span(2, 5),)), "dog [-free]"),
        (Query("no cat or dog", (), ("cat", "dog"), (Span(0, 2),), (Span(3, 6), Span(10, 13))), "[no] cat dog"),
        (Query("a sea, nobody", ("a sea",), ("people",), (Span(7, 13),), (Span(7, 13),)), "[nobody] "),
        (Query("nobody runs", (), ("people running",), (Span(0, 6),), (Span(7, 11),)), "[nobody] running"),
        (Query("he eats no one", (), ("eats people",), (Span(8, 14),), (Span(8, 14),)), "eats [no one] "),
        (
            Query("nobody hugs people", (), ("hugging people",), (Span(0, 6),), (Span(7, 18),)),
            "[nobody] hugging people",
        ),
        (Query("a dog", ("a dog",)), ""),
        (Query("a dog, no cat", ("a",), ("cat", "dog"), NEGATED.cues), "[no] cat dog"),  # corrected: no scopes
    ],
)
def test_what_was_excluded_is_said_in_the_words_and_the_order_of_the_sentence(query: Query, said: str) -> None:
    pieces = understood(Answer(query, ()), parsed=query)["said"]
    assert " ".join(f"[{piece['cue']}]" if "cue" in piece else piece["text"] for piece in pieces) == said


@pytest.mark.parametrize(
    ("query", "verdicts", "text", "kind"),
    [
        (NEGATED, ("violation", "right", "violation"), "CLIP shows it anyway, in 2 of 3.", "bad"),
        (NEGATED, ("right", "miss", "miss"), "CLIP leaves it out; 2 of 3 miss the rest.", "good"),
        (NEGATED, ("right", "right", "right"), "CLIP leaves it out.", "good"),
        (NEGATED, (None, None, "violation"), "CLIP shows it anyway, in 1 of 3.", "bad"),
        (replace(NEGATED, unwanted=("a", "b")), ("violation",) * 3, "CLIP shows some of it anyway, in 3 of 3.", "bad"),
        (Query("a dog", ("a dog",)), ("right", "miss", "miss"), "CLIP is right in 1 of 3.", "bad"),
        (
            Query("", ("a dog",), others=("animals",)),
            ("right", "violation", "right"),
            "CLIP is right in 2 of 3.",
            "good",
        ),
    ],
)
def test_the_answer_is_told_in_words_by_the_verdicts_that_are_there(
    query: Query, verdicts: tuple[Verdict | None, ...], text: str, kind: str
) -> None:
    assert told(Answer(query, (ranking("CLIP", "abc", verdicts),))) == [{"kind": kind, "text": text}]


def test_the_first_and_the_last_system_are_told_of_and_nothing_that_is_not_known() -> None:
    first, last = ranking("CLIP", "a", ("violation",)), ranking("CLIP-neg", "a", ("right",))
    found = told(Answer(NEGATED, (first, ranking("CLIP-bnl", "a", ("miss",)), last), judged_by="captions"))
    assert [each["text"] for each in found] == [
        "CLIP shows it anyway, in 1 of 1 by captions.",
        "CLIP-neg leaves it out by captions.",
    ]
    assert told(Answer(NEGATED, (ranking("CLIP", "a"),))) == []
    assert told(Answer(Query("a dog", ("a dog",)), (ranking("CLIP", "ab", ("right", None)),))) == []


def test_names_of_runs_are_short_and_others_stay() -> None:
    assert short_name("bnl-20261122-212355 · epoch 3") == "bnl 22/11 21:23 · epoch 3"
    assert short_name("bnl-20261122-212355-2 boolean α 1") == "bnl 22/11 21:23-2 boolean α 1"
    assert short_name("ViT-B-32 / openai") == "ViT-B-32 / openai"


def test_results_are_announced_per_system() -> None:
    answer = Answer(NEGATED, (ranking("CLIP", "ab", ("right", "violation")), ranking("CLIP drop", "a", ("right",))))
    said = columns_view(answer, lambda name: Video(name, Path(name)), no_urls)["said"]
    assert said == "CLIP: 1 of 2 right, 1 violate. CLIP drop: 1 of 1 right, 0 violate."


def test_the_stage_gives_every_system_the_same_two_numbers_and_green_only_above_half() -> None:
    known = columns(ranking("CLIP", "abc", ("right", "right", "miss")), ranking("X", "ab", ("violation", "violation")))
    assert [column["line"]["text"] for column in known] == ["2 of 3 right, 0 show it", "0 of 2 right, 2 show it"]
    assert [column["line"]["kind"] for column in known] == ["good", "bad"]
    (half,) = columns(ranking("CLIP", "ab", ("right", "miss")))
    assert half["line"] == {"kind": "bad", "text": "1 of 2 right, 0 show it"}
    (partly,) = columns(ranking("CLIP", "ab", (None, "violation")))
    assert partly["line"] == {"kind": "bad", "text": "1 of 2 show it"}
    (nothing,) = columns(ranking("CLIP", "a", ("right",)), ranking("CLIP drop", ""))[1:]
    assert nothing["line"]["text"] == "nothing left to search for"
    (unjudged,) = columns(ranking("CLIP", "ab"))
    assert unjudged["line"] == {}


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


def test_corrections_hold_until_the_sentence_changes_and_are_those_of_a_link_before_the_first_answer() -> None:
    def understand(text: str, editing: bool) -> Query:
        return Query(text, ("a dog",), ("cat", "the dog") if editing else ("cat",))

    def parts(state: SearchState, shown: str | None, wanted: str, unwanted: str) -> tuple[str, str, tuple[str, ...]]:
        previous = None if shown is None else Answer(Query(shown), ())
        found, query, parsed = with_corrections(state, previous, (wanted, unwanted), understand)
        assert parsed == understand(state.q, bool(state.references))
        return found.parts, found.literal, query.unwanted

    state = SearchState("a dog, no cat", literal="dog")
    assert parts(state, state.q, "a dog", "bird") == ("a dog|bird", "dog", ("bird",))
    assert parts(state, "a horse", "a dog", "bird") == ("", "", ("cat",))
    for boxes in ("cat", "cat, the dog"):  # as understood, with a reference or without
        assert parts(state, state.q, "a dog", boxes) == ("", "dog", ("cat",))
    assert parts(replace(state, parts="x|bird"), None, "", "") == ("x|bird", "dog", ("bird",))
    assert parts(state, None, "", "") == ("", "dog", ("cat",))


def test_a_negation_taken_away_is_struck_out_and_holds_until_the_sentence_changes() -> None:
    answer = Answer(NEGATED.affirmed, (), denied=NEGATED)
    view = understood(answer, NEGATED, q=NEGATED.text, flip="1")
    cues = [piece for piece in view["pieces"] if piece["flips"]]
    assert [(cue["text"], cue["flips"]["pressed"]) for cue in cues] == [("no", "true")]
    nothing = {"literal": "", "parts": "", "replay": ""}
    assert view["settled"] == {"wanted": "a dog", "unwanted": "cat", "flip": "1", **nothing}

    def flip(text: str) -> str:
        state = SearchState(text, flip="1")
        found, *_ = with_corrections(
            state, answer, ("a dog", "cat"), lambda text, editing: replace(NEGATED, text=text)
        )
        return found.flip

    assert [flip("a dog, no cat"), flip("a dog and cat"), flip("a bird, no cat")] == ["1", "", ""]


def test_each_column_counts_the_clips_that_stay_when_the_negation_is_flipped() -> None:
    def stayed(*before: Ranking) -> list[str]:
        shown = (ranking("CLIP", "abcd"), ranking("CLIP drop", "abcd"), ranking("other", ""))
        answer, other = Answer(NEGATED, shown), Answer(NEGATED.affirmed, before, denied=NEGATED)
        view = columns_view(answer, lambda name: Video(name, Path(name)), no_urls, other=other)
        return [column["stayed"] for column in view["columns"]]

    before = ranking("CLIP drop", "dxcy"), ranking("CLIP", "bacd"), ranking("other", "abcd")
    assert stayed(*before) == ["4 of 4 clips stayed", "2 of 4 clips stayed", ""]
    assert [column["stayed"] for column in columns(ranking("CLIP", "abcd"))] == [""]


def test_a_film_stays_where_other_windows_of_it_are_found() -> None:
    one, another = (
        replace(ranking("CLIP", "x"), hits=(Hit(window, 1, 0.5, None, film="film"),)) for window in ("x#0", "x#1")
    )
    answer, other = Answer(NEGATED, (one,)), Answer(NEGATED.affirmed, (another,), denied=NEGATED)
    view = columns_view(answer, lambda name: Video(name, Path(name)), no_urls, other=other)
    assert view["columns"][0]["stayed"] == "1 of 1 clips stayed"


def test_where_hardly_any_clip_fits_that_is_said_and_others_are_offered() -> None:
    scenes = [Scene("park", False, (Figure(thing),)) for thing in ("princess", "princess", "zebra", "lion")]
    videos = tuple(Video(f"{number}", Path("v"), scene=scene.to_dict()) for number, scene in enumerate(scenes))

    def offered(wanted: tuple[str, ...], unwanted: tuple[str, ...] = ()) -> dict[str, Any]:
        return offers_view(Answer(Query("", wanted, unwanted), (ranking("CLIP", "a", ("miss",)),)), videos)

    assert offered(("a queen",), ("a crown",)) == {"offers": [], "few": "no clip fits"}
    assert offered(("a queen in the desert",)) == {"offers": ["a princess"], "few": "no clip fits; try"}
    assert offered(("a queen dabbing",)) == {"offers": ["a princess"], "few": "no clip fits for sure; try"}
    assert offered(("a zebra",)) == {"offers": [], "few": "one clip fits"}
    assert offered(("a queen",)) == offered(("an ocelot",)) == {}
