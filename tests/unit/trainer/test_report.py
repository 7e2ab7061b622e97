"""What the card says an oracle reaches."""

import random

import pytest

from nt2vr.world.captions import Caption, describe
from nt2vr.world.scenes import Actor, Scene, sample_scenes
from nt2vr.world.truth import Claim, Who
from trainer.report import oracle_metrics

DOG = Caption("a dog", Claim((Who(frozenset({"dog"})),)))
DOG_IN_PARK = Caption("a dog in the park", Claim((Who(frozenset({"dog"})),), frozenset({"park"})))
SCENES = [
    Scene("park", (Actor("dog", "run"),)),
    Scene("beach", (Actor("dog", "run"),)),
    Scene("park", (Actor("cat", "run"),)),
]


def test_an_oracle_guesses_among_the_clips_that_a_caption_fits() -> None:
    metrics = oracle_metrics(SCENES, [DOG, DOG_IN_PARK])
    assert metrics["R@1"] == pytest.approx(75)  # 1 of 2, and 1 of 1
    assert metrics["R@5"] == 100
    assert metrics["MIR"] == pytest.approx(((1 + 1 / 2) / 2 + 1) / 2)


def test_what_fits_is_what_holds_scene_by_scene() -> None:
    scenes = sample_scenes("validation", 200, seed=3)
    captions = [describe(scene, random.Random(row)) for row, scene in enumerate(scenes)]
    slow = [1 / sum(caption.claim.holds(scene) for scene in scenes) for caption in captions]
    assert oracle_metrics(scenes, captions)["R@1"] == pytest.approx(100 * sum(slow) / len(slow))
