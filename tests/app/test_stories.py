"""The stories that the app ships for talks show what their notes claim."""

import httpx
import pytest

from nt2vr.ui.search.tab_layout import built_in_stories
from tests.conftest import RunningApp

STORIES = built_in_stories()
# Query -> per system, of 8 clips: right, violations, misses; as far as the note says.
CLAIMS = {
    "a person without a dog": ({"violation": 8}, {"right": 8}),
    "a dog but no cat": ({"violation": 8}, {"right": 8}),
    "a man without a hat": ({"violation": 6}, {"right": 5}),
    "a bird that is not a penguin": ({"violation": 6}, {"right": 8}),
    "people dancing but no children": ({"right": 3}, {"right": 6}),
    "a boat but not on the lake": ({"right": 8}, {"right": 8}),
    "a fish but not a shark": ({"right": 4}, {"miss": 8}),
    "neither a man nor a dog": ({"violation": 3}, {"right": 8}),
    "an animal goes away": ({"right": 2}, {"right": 8}),
    "a man is playing the guitar and not singing": (
        {"miss": 7, "violation": 0},
        {"miss": 7, "violation": 0},
    ),
    "not dancing": ({}, {"right": 8}),
    "any vehicle except a car": ({"violation": 7}, {"right": 8}),
}
# Query -> per system, the number of the line that it takes for the clip, and the lines' truth.
TAKEN = {
    "a man is singing and not playing the guitar": ([0, 1], ["miss", "right"]),
    "a robot": ([0, 1], ["right", "violation", "miss"]),
    "a dog chasing a cat": ([0, 1], ["right", "miss"]),
    "an alien dances, then sits": ([1, 0], ["right", "miss"]),
    "a boy is throwing a ball": ([1, 0], ["right", "miss", "miss"]),
}


def test_seventeen_stories_have_two_systems_and_a_note() -> None:
    assert len(STORIES) == 17
    assert {story["query"] for story in STORIES if "match" not in story} == set(CLAIMS)
    assert {story["query"] for story in STORIES if "match" in story} == set(TAKEN)
    assert all(
        len(story["systems"]) == 2 and story["k"] == 8 and story["note"] for story in STORIES
    )


@pytest.mark.parametrize(
    "story", [story for story in STORIES if "match" in story], ids=lambda story: story["query"]
)
def test_systems_take_the_captions_that_a_note_says(
    story: dict[str, str], running_app: RunningApp
) -> None:
    clip, *lines = story["match"].split("\n")
    request = {"clip": clip, "lines": lines, "systems": story["systems"]}
    answer = httpx.post(running_app.url + "api/match", json=request, timeout=60).json()
    choices, truth = TAKEN[story["query"]]
    assert [system["best"] for system in answer["systems"]] == choices
    assert [line["verdict"] for line in answer["lines"]] == truth


@pytest.mark.parametrize(
    "story", [story for story in STORIES if "match" not in story], ids=lambda story: story["query"]
)
def test_a_story_shows_what_its_note_claims(
    story: dict[str, object], running_app: RunningApp
) -> None:
    request = {name: story[name] for name in ("query", "systems", "k")}
    answer = httpx.post(running_app.url + "api/search", json=request, timeout=60).json()
    verdicts = [[hit["verdict"] for hit in system["hits"]] for system in answer["systems"]]
    for counts, claimed in zip(verdicts, CLAIMS[str(story["query"])], strict=True):
        assert {verdict: counts.count(verdict) for verdict in claimed} == claimed
    if story["query"] == "not dancing":
        # Nothing is left to search for.
        assert verdicts[0] == []
