"""Bars of the captions for an enlarged clip."""

from types import SimpleNamespace
from typing import Any

import pytest

from nt2vr.api import understand
from nt2vr.errors import ConfigError, QueryError
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import LineScores, Match
from nt2vr.search.strategies import System
from nt2vr.ui.search.match_view import lines_of, match_view, with_and_without_negation, with_change


def test_bars_shrink_with_the_distance_and_show_the_truth() -> None:
    queries = tuple(map(Query, ("a dog", "a cat", "not a cat")))
    scored = (
        LineScores(System("CLIP"), (0.3, 0.25, 0.05)),
        LineScores(System("CLIP", "drop"), (0.1, 0.2, None)),
    )
    view = match_view(
        ["a dog", "a cat", "not a cat"], Match(queries, ("right", "miss", None), scored)
    )
    first, second = (system["rows"] for system in view["systems"])
    assert [row["width"] for row in first] == ["100", "75", "0"]
    assert [row["kind"] for row in first] == ["up", "other", "other"]
    assert [row["is_true"] for row in first] == ["true", "", ""]
    assert [(row["width"], row["kind"], row["score"]) for row in second] == [
        ("50", "other", "0.100"),
        ("100", "down", "0.200"),
        ("0", "other", "–"),
    ]
    assert view["text"] == "a dog\na cat\nnot a cat"


def searcher_of(*captions: str, refusal: str = "") -> Any:
    def checked(line: str) -> None:
        if refusal:
            raise QueryError(refusal)

    videos = [SimpleNamespace(captions=(caption,) if caption else ()) for caption in captions]
    return SimpleNamespace(gallery=SimpleNamespace(videos=videos), checked=checked)


def test_a_change_adds_a_line_to_those_typed() -> None:
    searcher = searcher_of("a man sings", "a dog runs", "")
    video = searcher.gallery.videos[0]
    assert lines_of(" a \n\n b\r\n") == ["a", "b"]
    assert with_change(searcher, video, [], "") == ["a man sings"]
    assert with_change(searcher, video, ["a cow sleeps"], "swap who") == [
        "a cow sleeps",
        "a dog sleeps",
    ]
    first, denied = with_change(searcher, video, [], "negate")
    assert first == "a man sings"
    assert denied in {"a man does not sing", "a man doesn't sing"}
    # There is nothing to change.
    assert with_change(searcher, searcher.gallery.videos[2], [], "negate") == []
    with pytest.raises(ConfigError, match="rm"):
        with_change(searcher, video, ["a"], "rm")
    # It is refused before any of it is parsed.
    with pytest.raises(QueryError):
        with_change(searcher_of("a dog", refusal="too long"), video, ["a" * 10_000], "negate")


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("a lion without a tree", ["a lion and a tree", "a lion without a tree"]),
        ("a man who is not singing", ["a man singing", "a man who is not singing"]),
        ("a car that is not red", []),
        ("a robot", []),
    ],
)
def test_captions_to_compare_begin_with_the_query_s_own_pair(text: str, pair: list[str]) -> None:
    assert with_and_without_negation(understand(text)) == pair
