"""References as a browser names them: whatever it sends is a list of them or one sentence."""

from typing import Any

import pytest

from nt2vr.errors import ConfigError
from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.hits import Hit
from nt2vr.search.strategies import System
from nt2vr.ui.search.references import remark
from nt2vr.ui.search.state import Chosen, read_chosen, with_clip

ONE = {
    "clip": "a",
    "gallery": "",
    "path": "",
    "weight": 0.5,
    "wanted": True,
    "name": "<b>",
    "percent": 50,
}


def test_what_the_page_sends_is_read() -> None:
    assert read_chosen({}) == read_chosen({"references": []}) == ()
    upload = {"path": "/tmp/x.png", "weight": 1, "wanted": False}
    assert read_chosen({"references": [ONE, upload]}) == (
        Chosen("a"),
        Chosen(path="/tmp/x.png", weight=1, wanted=False),
    )


@pytest.mark.parametrize(
    "sent",
    [
        *({"references": None}, {"references": {"0": ONE}}, {"references": [{}]}),
        *({"references": [ONE] * 5}, {"references": [None] * 100_000}),
        *(
            {"references": [{**ONE, **wrong}]}
            for wrong in ({"path": "/etc/passwd"}, {"clip": ["a"]}, {"wanted": 1})
        ),
        *(
            {"references": [{**ONE, "weight": weight}]}
            for weight in (float("nan"), float("inf"), -1, "0.5", 10**400)
        ),
    ],
)
def test_anything_else_is_refused_in_a_sentence(sent: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        read_chosen(sent)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 200


def test_a_clip_is_added_once_and_turns_round() -> None:
    chosen = with_clip((), "a", "", True)
    assert with_clip(chosen, "a", "", True) == chosen
    assert with_clip(chosen, "a", "", False) == (Chosen("a", wanted=False),)
    assert len(with_clip(chosen, "a", "library", True)) == 2
    with pytest.raises(ConfigError, match=r"4 .*5"):
        with_clip(tuple(Chosen(str(i)) for i in range(4)), "a", "", True)


def test_who_finds_an_unwanted_named_picture_is_said() -> None:
    hits = (Hit("1", 1, 0.5, "violation"),)
    query = Query("without the bird", (), ("the bird",))
    rankings = (Ranking(System("CLIP"), hits), Ranking(System("CLIP", "drop"), hits))
    searcher: Any = None
    unwanted = (Chosen("7a5f6ffed9", wanted=False),)
    text = remark(searcher, Answer(query, rankings), unwanted)
    assert text.startswith("CLIP searches for the sentence, which names “the bird”")
    assert remark(searcher, Answer(Query("a bird", ("a bird",)), rankings), unwanted) == ""
