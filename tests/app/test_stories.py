"""The stories that the app ships for talks show what their notes claim."""

from collections import Counter

import pytest

from nt2vr.ui.search.tab_layout import built_in_stories
from nt2vr.ui.view import View
from tests.conftest import RunningApp
from tests.support.app_calls import post_api

# Query -> for each system, how many of its 8 clips have a verdict, as far as the note says.
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
    # CLIP drop has nothing left to search for.
    "not dancing": ({"right": 0, "violation": 0, "miss": 0}, {"right": 8}),
    "any vehicle except a car": ({"violation": 7}, {"right": 8}),
}
# Query -> the number of the line that each system chooses for the clip, and the verdict of each line.
CHOICES = {
    "a man is singing and not playing the guitar": ([0, 1], ["miss", "right"]),
    "a robot": ([0, 1], ["right", "violation", "miss"]),
    "a dog chasing a cat": ([0, 1], ["right", "miss"]),
    "an alien dances, then sits": ([1, 0], ["right", "miss"]),
    "a boy is throwing a ball": ([1, 0], ["right", "miss", "miss"]),
}


STORIES = built_in_stories()
# Stories by their queries: those of a search, and those in which systems choose a line for a clip.
SEARCHES: dict[str, View] = {}
MATCHES: dict[str, View] = {}
for _story in STORIES:
    if "match" in _story:
        MATCHES[_story["query"]] = _story
    else:
        SEARCHES[_story["query"]] = _story


def test_seventeen_stories_have_two_systems_and_a_note() -> None:
    assert len(STORIES) == 17
    assert SEARCHES.keys() == CLAIMS.keys()
    assert MATCHES.keys() == CHOICES.keys()
    for story in STORIES:
        assert len(story["systems"]) == 2
        assert story["k"] == 8
        assert story["note"]


@pytest.mark.parametrize("query", MATCHES)
def test_systems_take_the_captions_that_a_note_says(running_app: RunningApp, query: str) -> None:
    story = MATCHES[query]
    clip, *lines = story["match"].split("\n")
    request = {"clip": clip, "lines": lines, "systems": story["systems"]}

    answer = post_api(running_app, "match", request).json()

    best_lines, verdicts = CHOICES[query]
    assert [system["best"] for system in answer["systems"]] == best_lines
    assert [line["verdict"] for line in answer["lines"]] == verdicts


@pytest.mark.parametrize("query", SEARCHES)
def test_a_story_shows_what_its_note_claims(running_app: RunningApp, query: str) -> None:
    request = {"query": query, "systems": SEARCHES[query]["systems"], "k": 8}

    answer = post_api(running_app, "search", request).json()

    for system, claim in zip(answer["systems"], CLAIMS[query], strict=True):
        verdicts = Counter(hit["verdict"] for hit in system["hits"])
        for verdict, count in claim.items():
            assert verdicts[verdict] == count, system["name"]


def test_without_a_wanted_part_dropping_leaves_nothing_to_search(running_app: RunningApp) -> None:
    systems = SEARCHES["not dancing"]["systems"]
    assert systems[0] == "CLIP drop"
    request = {"query": "not dancing", "systems": systems, "k": 8}

    answer = post_api(running_app, "search", request).json()

    assert answer["systems"][0]["hits"] == []
