"""Scenes: valid content, disjoint splits, and reproducible seeds."""

import hashlib
import itertools
import json
import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from nt2vr.world.captions import captions
from nt2vr.world.drawn.render import Renderer
from nt2vr.world.scenes import Actor, Scene, SceneSplit, draw_scene, sample_scenes, stream_scenes
from nt2vr.world.vocabulary import FLYING, PLACES, SUBJECTS
from tests.paths import ROOT

SPLITS: tuple[SceneSplit, ...] = ("train", "validation", "test")


def digest() -> str:
    """Hash scenes of all splits, their captions and their pictures."""
    seen = hashlib.sha256()
    for split in SPLITS:
        for scene in sample_scenes(split, 8, seed=5):
            seen.update(json.dumps([scene.to_dict(), captions(scene, 5)]).encode())
            seen.update(Renderer(32).frames(scene, 2).tobytes())
    return seen.hexdigest()


def test_scenes_follow_the_rules_of_their_places() -> None:
    rng = random.Random(0)
    for scene in (draw_scene(rng) for _ in range(3000)):
        place = PLACES[scene.place]
        assert 1 <= len(scene.actors) <= 3
        assert len({(actor.subject, actor.activity) for actor in scene.actors}) == len(scene.actors)
        assert len(set(scene.props)) == len(scene.props) <= 2
        assert set(scene.props) <= set(place.props)
        assert sum(SUBJECTS[actor.subject].kind == "vehicle" for actor in scene.actors) <= 1
        for actor in scene.actors:
            match SUBJECTS[actor.subject].kind:
                case "person":
                    assert actor.activity in place.activities
                case "animal":
                    assert (actor.subject in place.animals, actor.wearing) == (True, None)
                case "vehicle":
                    assert actor.subject in place.vehicles
                    assert actor.activity == ("fly" if actor.subject in FLYING else "drive")


def test_scenes_often_have_several_actors() -> None:
    rng = random.Random(1)
    counts = [len(draw_scene(rng).actors) for _ in range(3000)]
    assert sum(count > 1 for count in counts) / len(counts) > 0.7


def test_contents_are_unique_across_and_within_splits() -> None:
    contents = [scene.content for split in SPLITS for scene in sample_scenes(split, 300, seed=0)]
    assert len(set(contents)) == len(contents)


def test_splits_are_disjoint_across_seeds() -> None:
    train = {scene.content for scene in sample_scenes("train", 1000, seed=1)}
    others = (scene.content for split in ("validation", "test") for scene in sample_scenes(split, 500, seed=2))
    assert train.isdisjoint(others)


def test_the_order_of_actors_and_props_does_not_matter() -> None:
    """Else the same picture could be trained on and tested with."""
    actors, props = (Actor("man", "sing", "cap"), Actor("dog", "run"), Actor("boy", "dance")), ("cake", "gift")
    scenes = [
        Scene("room", tuple(order), tuple(laid), look)
        for look, order in enumerate(itertools.permutations(actors))
        for laid in (props, props[::-1])
    ]
    assert len({scene.content for scene in scenes}) == 1
    assert len({scene.split for scene in scenes}) == 1
    assert Scene("room", actors, ("cake",)).content != scenes[0].content
    assert Scene("room", (Actor("man", "sing"), *actors[1:]), props).content != scenes[0].content


def test_splits_have_their_shares() -> None:
    rng = random.Random(2)
    splits = [draw_scene(rng).split for _ in range(4000)]
    assert [splits.count(split) / len(splits) for split in SPLITS] == pytest.approx([0.8, 0.1, 0.1], abs=0.02)


def test_more_scenes_of_a_seed_start_with_the_same_ones() -> None:
    assert sample_scenes("test", 60, seed=9)[:20] == sample_scenes("test", 20, seed=9)
    assert sample_scenes("test", 20, seed=9) != sample_scenes("test", 20, seed=10)


def test_another_process_with_another_hash_seed_gives_the_same_world() -> None:
    """A set in a place where order counts would change the world from run to run."""
    code = "import sys, test_scenes; sys.stdout.write(test_scenes.digest())"
    environment = {
        **os.environ,
        "PYTHONHASHSEED": "1",
        "PYTHONPATH": os.pathsep.join((str(ROOT), str(Path(__file__).parent))),
    }
    command = [sys.executable, "-c", code]
    other = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert other.stdout == digest()


def test_scenes_are_those_of_the_shipped_models() -> None:
    """A change here makes the models' cards and the committed gallery untrue: train and build both again."""
    scenes = [scene.to_dict() for split in SPLITS for scene in sample_scenes(split, 3, seed=0)]
    assert hashlib.sha256(json.dumps(scenes).encode()).hexdigest()[:16] == "ccc938776df5b692"


def test_a_scene_survives_json() -> None:
    for scene in sample_scenes("train", 50, seed=4):
        assert Scene.from_dict(json.loads(json.dumps(scene.to_dict()))) == scene


def test_an_unknown_split_is_refused_before_anything_is_drawn() -> None:
    with pytest.raises(ConfigError, match=r"Unknown split 'dev'\. Choose one of: train, validation, test"):
        next(stream_scenes("dev", 0))  # type: ignore[arg-type]
