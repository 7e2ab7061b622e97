"""The stories that the app ships for talks show what their notes claim."""

import httpx
import pytest

from nt2vr.ui.search.layout import built_in_stories
from tests.conftest import RunningApp
from tests.paths import ROOT

STORIES = built_in_stories(ROOT / "assets" / "ui")
CLAIMS = {  # query -> per system, of 8 clips: right, violations, misses; as far as the note says
    "a boy is dancing and not playing the drum": ({"violation": 7}, {"right": 6, "violation": 0}),
    "a girl, no bike": ({"violation": 8}, {"right": 8}),
    "a cat": ({"right": 6}, {"right": 7}),
    "a woman is dancing and not using a phone": ({"right": 0}, {"right": 3, "violation": 3}),
    "a dog, no cat": ({"right": 7}, {"right": 8}),
    "a boy is catching a fish and not rowing a boat": ({"right": 5}, {"miss": 8}),
    "neither a man nor a dog": ({"violation": 8}, {"right": 8}),
    "a man is singing and not playing the guitar": ({"miss": 7, "violation": 0}, {"miss": 8}),
    "a boy is playing the drum, no crown": ({"violation": 5}, {"violation": 4}),
    "not dancing": ({}, {"right": 8}),
    "a man is doing yoga and not playing the piano": ({"violation": 4}, {"right": 7}),
}


def test_there_are_eleven_stories_each_with_two_systems_and_a_note() -> None:
    assert [story["query"] for story in STORIES] == list(CLAIMS)
    assert all(len(story["systems"]) == 2 and story["k"] == 8 and story["note"] for story in STORIES)


@pytest.mark.parametrize("story", STORIES, ids=lambda story: story["query"])
def test_a_story_shows_what_its_note_claims(story: dict[str, object], running_app: RunningApp) -> None:
    asked = {name: story[name] for name in ("query", "systems", "k", "versus") if name in story}
    answer = httpx.post(running_app.url + "api/search", json=asked, timeout=60).json()
    verdicts = [[hit["verdict"] for hit in system["hits"]] for system in answer["systems"]]
    for found, claimed in zip(verdicts, CLAIMS[str(story["query"])], strict=True):
        assert {verdict: found.count(verdict) for verdict in claimed} == claimed
    if story["query"] == "a cat":
        assert [len(each["shared"]) for each in answer["overlap"]] == [7, 0]
    if story["query"] == "not dancing":
        assert verdicts[0] == []  # nothing is left to search for
