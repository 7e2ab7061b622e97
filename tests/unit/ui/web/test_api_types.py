"""Requests are refused by their first fault, and answers are as the API describes them."""

from typing import Any

import pytest

import nt2vr
from nt2vr.errors import ConfigError
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.hits import Hit, Moment
from nt2vr.ui.web.api_types import MAX_ITEMS, SearchAnswer, SearchRequest, checked_request

LISTS = ("systems", "references", "literal")


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("item", [1, "a", {}, [], {"no such": 1}], ids=repr)
def test_a_long_list_is_refused_whatever_its_items(name: str, item: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: .*{MAX_ITEMS}"):
        checked_request(SearchRequest, {name: [item] * 1_000_000})
    few: Any = {"systems": ["CLIP"] * MAX_ITEMS, "references": [{"clip": "a"}] * MAX_ITEMS}
    # A few too many are left to the searcher's own sentence.
    request = checked_request(SearchRequest, few)
    assert len(request.systems) == len(request.references) == MAX_ITEMS


def test_answers_are_as_described() -> None:
    system = nt2vr.System("CLIP")
    window = Moment("video#1", 0.0, None, 0.5)
    hits = (Hit("a", 1, 0.5, "right"), Hit("video#1", 2, 0.4, None, "video", (window,)))
    query = nt2vr.understand("le chien n'est pas sur la table")
    plain = Ranking(system, hits[:1])
    full = Ranking(system, hits, read_as={"hound": "dog"}, epoch=3, missing=2)
    for answer in (Answer(query, (plain,)), Answer(query, (plain, full), "captions", "library")):
        data = answer.as_dict()
        assert SearchAnswer.model_validate(data, strict=True).model_dump(exclude_unset=True) == data
