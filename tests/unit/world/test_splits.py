"""The scenes of each split of the built-in world."""

import random
from collections import Counter
from itertools import islice

import pytest

from nt2vr.errors import ConfigError
from nt2vr.world.claims import seen_in
from nt2vr.world.sampling import TRIES, draw_claim, sample_scenes, showing, staged, stream_scenes
from nt2vr.world.scenes import is_valid
from nt2vr.world.things import deeds, things


def test_a_scene_about_every_thing_is_drawn_within_the_tries() -> None:
    rng = random.Random(0)
    missing = [name for name in things() if not any(staged([showing(name)], rng) for _ in range(4 * TRIES))]
    assert not missing


def test_what_scenes_are_about_is_every_thing_and_every_deed() -> None:
    rng = random.Random(1)
    claims = [draw_claim(rng) for _ in range(20_000)]
    named = {name for claim in claims for who in claim.whos for name in who.names}
    done = {verb for claim in claims for who in claim.whos for act in who.acts for verb in act.verbs}
    assert named >= {*things()} and done == {*deeds()}


def test_splits_are_valid_distinct_and_apart() -> None:
    train, test = sample_scenes("train", 60, 0), sample_scenes("test", 60, 0)
    assert train == list(islice(stream_scenes("train", 0), 60)) != sample_scenes("train", 60, 1)
    assert len({scene.content for scene in (*train, *test)}) == 120
    assert all(map(is_valid, (*train, *test)))
    with pytest.raises(ConfigError, match="Choose one of: train, validation, test"):
        next(stream_scenes("all", 0))  # type: ignore[arg-type]


def test_nearly_every_thing_is_seen_often_enough_to_be_learnt() -> None:
    scenes = sample_scenes("train", 1000, 0)
    shown = Counter(name for scene in scenes for name in {figure.thing for figure in seen_in(scene)})
    assert sum(shown[name] < 2 for name in things()) <= 20  # 13 or 14 of 336; of scenes as they come 30 to 44
