"""Every story of the built-in world has clips that tell it, is understood as typed, and shows what CLIP overlooks."""

from pathlib import Path

import pytest

import nt2vr
from nt2vr.api import understand
from nt2vr.search.answers import Answer
from nt2vr.world.offers import stories, story_queries
from nt2vr.world.reader import read_claim
from nt2vr.world.scenes import Action, Figure, Scene
from nt2vr.world.verdicts import judge

PENGUIN = Figure("penguin", actions=(Action("walk"),))
MAN = Figure("man", "red", actions=(Action("eat", "apple", 0, 0.5), Action("dance", None, 0.5, 1)))
GIRL = Figure("girl", "blue", actions=(Action("ride", "bike", colour="red"),))
DOG = Figure("dog", "brown", actions=(Action("run"),))


def test_sixty_stories_are_distinct_and_read_as_meant() -> None:
    assert len(set(stories())) == 60
    for (wanted, unwanted), text in zip(stories(), story_queries(), strict=True):
        query = understand(text)
        for read_parts, part in ((query.wanted, wanted), (query.unwanted, unwanted)):
            claim = read_claim(part)
            assert claim is not None
            assert [*map(read_claim, read_parts)] == [claim], text


@pytest.mark.parametrize(
    ("query", "scene", "verdict"),
    [
        ("a penguin, no ice", Scene("ice field", False, (PENGUIN,)), "violation"),
        ("a penguin, no ice", Scene("zoo", False, (PENGUIN,)), "right"),
        ("a penguin, no ice", Scene("zoo", False, (DOG,)), "miss"),
        ("a girl riding a bike, no dog", Scene("park", False, (GIRL,)), "right"),
        ("a girl riding a bike, no dog", Scene("park", False, (GIRL, DOG)), "violation"),
        ("a person eating and then dancing, no dog", Scene("park", False, (MAN,)), "right"),
        ("a person eating and then dancing, no dog", Scene("park", False, (GIRL,)), "miss"),
        ("a cow, not on the farm", Scene("farm", False, (DOG,)), "violation"),
        ("a street at night, no people", Scene("street", True, (DOG,)), "right"),
        ("a street at night, no people", Scene("street", False, (DOG,)), "miss"),
    ],
)
def test_the_truth_of_stories(query: str, scene: Scene, verdict: str) -> None:
    assert query in story_queries()
    assert judge(understand(query), scene) == verdict


@pytest.mark.parametrize(
    ("query", "alone", "beside"),
    [
        ("a dog and no other animals", "right", "violation"),
        ("no animals except dogs", "right", "violation"),
        ("a park with no animals but a dog", "right", "violation"),
        ("a penguin, no other animals", "violation", "violation"),
        ("a dog and no other dogs", None, None),
        ("a dog and nothing else", None, None),
        # The world has none.
        ("a quokka and no other animals", "miss", "miss"),
        ("a sparkly and no other animals", None, None),
        ("a dog, no people or other animals", "right", "violation"),
    ],
)
def test_what_else_is_there_counts(query: str, alone: str | None, beside: str | None) -> None:
    scenes = (Scene("park", False, figures) for figures in ((DOG,), (DOG, PENGUIN)))
    assert [judge(understand(query), scene) for scene in scenes] == [alone, beside]


@pytest.mark.parametrize(
    ("query", "verdict"),
    [
        # The bike is the one that she rides.
        ("a girl riding a bike and no other vehicles", "right"),
        ("nobody except a girl", "right"),
        ("except for the dog, nobody is there", "violation"),
        ("a dog and nobody else", "violation"),
        ("an empty park except for a dog", None),
    ],
)
def test_who_else_is_there_counts(query: str, verdict: str | None) -> None:
    assert judge(understand(query), Scene("park", False, (GIRL, DOG))) == verdict


def test_clip_ranks_many_violations_high_and_boolean_fewer(gallery_data: Path) -> None:
    queries = [f"{wanted} and not {unwanted}" for wanted, unwanted in stories()]
    with nt2vr.open_searcher(gallery_data) as searcher:
        answers = searcher.search(queries, ["CLIP", "CLIP boolean"])
    clip = boolean = 0
    for answer in answers:
        assert isinstance(answer, Answer)
        clip_ranking, boolean_ranking = answer.rankings
        clip += clip_ranking.counts["violation"]
        boolean += boolean_ranking.counts["violation"]
    # Of 8 each: the effect that the page is there to show.
    assert clip >= len(stories())
    assert boolean <= clip / 2
