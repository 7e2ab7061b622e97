"""Verdicts next to a reference: what the text changes, and what it leaves alone."""

from pathlib import Path

import pytest

from nt2vr.language.query import understand
from nt2vr.language.tagger import Tagger, load_tagger
from nt2vr.media.gallery import Video
from nt2vr.search.answers import Judge, judge_beside
from nt2vr.search.references import Reference
from nt2vr.world.edits.edits import judge_edit, judge_video
from nt2vr.world.scenes import Actor, Scene

DANCER, DOG, READER = Actor("boy", "dance"), Actor("dog", "run"), Actor("woman", "read", "tophat")
REFERENCE = Scene("park", (DANCER, DOG))


@pytest.fixture(scope="module")
def tagger() -> Tagger:
    return load_tagger()


@pytest.mark.parametrize(
    ("text", "scene", "verdict"),
    [
        ("without the dog", Scene("park", (DANCER,)), "right"),
        ("without the dog", Scene("stage", (DANCER, READER)), "right"),  # place and further actors are free
        ("without the dog", Scene("park", (DANCER, DOG)), "violation"),
        ("without the dog", Scene("park", (READER,)), "miss"),  # no dog, but no dancer either
        ("without the dog", Scene("park", (Actor("boy", "read"),)), "miss"),
        ("remove the one dancing", Scene("park", (DOG,)), "right"),
        ("replace the dog with a cat", Scene("park", (DANCER, Actor("cat", "run"))), "right"),
        ("replace the dog with a cat", Scene("park", (DANCER, Actor("cat", "sleep"))), "miss"),  # it ran
        ("reading instead of dancing", Scene("park", (Actor("boy", "read"), DOG)), "right"),
        ("reading instead of dancing", Scene("park", (Actor("man", "read"), DOG)), "miss"),
        ("on the beach instead", Scene("beach", (DANCER, DOG)), "right"),
        ("on the beach instead", Scene("beach", (DANCER,)), "miss"),
        ("add a woman reading", Scene("park", (DANCER, DOG, READER)), "right"),
        ("add a woman reading", Scene("park", (DOG, READER)), "miss"),
        ("the boy is wearing a top hat", Scene("park", (Actor("boy", "dance", "tophat"), DOG)), "right"),
        ("the boy is wearing a top hat", Scene("park", (Actor("boy", "read", "tophat"), DOG)), "miss"),
        ("", Scene("stage", (DANCER, DOG)), "right"),
        ("", Scene("park", (DANCER,)), "miss"),
        ("without the zeppelin", Scene("park", (DANCER, DOG)), None),
    ],
)
def test_a_clip_is_right_with_the_change_and_what_is_left_alone(
    tagger: Tagger, text: str, scene: Scene, verdict: str | None
) -> None:
    query = understand(text, tagger, True)
    assert judge_edit(query, REFERENCE.to_dict(), scene.to_dict()) == verdict


def test_next_to_several_references_or_an_unknown_one_nothing_is_called_right(tagger: Tagger) -> None:
    query = understand("without the dog", tagger, True)
    scenes = {"park": REFERENCE, "dancer": Scene("park", (DANCER,)), "dog": Scene("park", (DOG,))}
    known = {name: Video(name, Path(name), (), scene.to_dict()) for name, scene in scenes.items()}
    judge: Judge = judge_video
    like, unlike = Reference(video_id="park"), Reference(video_id="dog", wanted=False)
    for references, verdicts in (
        ([like], ["right", "violation"]),
        ([like, unlike], ["right", "violation"]),
        ([unlike], ["right", "violation"]),  # by the text alone
        ([like, like], [None, "violation"]),
        ([Reference()], [None, "violation"]),
    ):
        beside = judge_beside(judge, references, lambda name: known[name])
        assert [beside(query, known[name]) for name in ("dancer", "dog")] == verdicts


def test_foreign_scenes_get_no_verdict(tagger: Tagger) -> None:
    for scene in ({}, {"actors": [], "place": "park"}, {"actors": [{"x": 1}], "place": "", "props": [], "look": 0}):
        assert judge_edit(understand("", tagger, True), REFERENCE.to_dict(), scene) is None
