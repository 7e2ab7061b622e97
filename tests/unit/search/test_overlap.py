"""What two queries have in common, by hand and on the shipped gallery."""

from pathlib import Path

import pytest

import nt2vr
from nt2vr.errors import ConfigError
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Hit, Ranking
from nt2vr.search.overlap import overlap
from nt2vr.search.systems import System


def answer(*hits: str, system: str = "CLIP", gallery: str = "", films: tuple[str, ...] = ()) -> Answer:
    found = tuple(
        Hit(name, rank, 0.5, None, film)
        for rank, (name, film) in enumerate(zip(hits, films or [""] * 9, strict=False), 1)
    )
    return Answer(Query("a", ("a",), ()), (Ranking(System(system), found),), gallery=gallery)


def test_shared_clips_are_counted_among_the_first_of_both() -> None:
    (found,) = overlap(answer("a", "b", "c", "d"), answer("d", "c", "x"))
    assert (found.system, found.shared, found.k, found.share) == ("CLIP", ("c",), 3, 1 / 3)  # "d" is fourth
    assert found.as_dict() == {"name": "CLIP", "shared": ["c"], "k": 3, "share": 1 / 3}


def test_a_query_that_finds_nothing_shares_nothing() -> None:
    (found,) = overlap(answer("a"), answer())
    assert (found.shared, found.k, found.share) == ((), 0, None)


def test_other_windows_of_a_film_are_the_same_film() -> None:
    (found,) = overlap(answer("f#1", "b", films=("f", "")), answer("f#2", "c", films=("f", "")))
    assert found.shared == ("f",)


@pytest.mark.parametrize("other", [answer("a", system="CLIP-neg"), answer("a", gallery="mine")])
def test_answers_of_other_systems_or_galleries_are_not_compared(other: Answer) -> None:
    with pytest.raises(ConfigError, match="same systems"):
        overlap(answer("a"), other)


def test_clip_finds_more_of_the_same_for_a_denial_than_clip_neg(gallery_data: Path) -> None:
    with nt2vr.open_searcher(gallery_data) as searcher:
        answers = [searcher.search(query, ["CLIP", "CLIP-neg"], 20) for query in ("a dog", "not a dog")]
    clip, neg = nt2vr.overlap(*answers)
    assert len(clip.shared) > len(neg.shared) and clip.k == neg.k == 20
    assert nt2vr.overlap(answers[0], answers[0])[0].share == 1
