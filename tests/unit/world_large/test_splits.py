"""The scenes of each split of the large world."""

import random
from itertools import islice

import pytest

from nt2vr.errors import ConfigError
from nt2vr.world_large.claims import seen_in
from nt2vr.world_large.deeds import deeds
from nt2vr.world_large.scenes import problems
from nt2vr.world_large.splits import TRIES, draw_claim, sample_scenes, stream_scenes
from nt2vr.world_large.staging import showing, staged
from nt2vr.world_large.things import things


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
    assert not any(map(problems, (*train, *test)))
    assert len({figure.thing for scene in train for figure in seen_in(scene)}) > 150  # 145 of scenes as they come
    with pytest.raises(ConfigError, match="Choose one of: train, validation, test"):
        next(stream_scenes("all", 0))  # type: ignore[arg-type]
