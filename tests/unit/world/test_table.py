"""Vectorised claims, compared with a slow twin."""

import random

from nt2vr.world.captions import describe
from nt2vr.world.scenes import sample_scenes
from nt2vr.world.table import SceneTable
from nt2vr.world.truth import Claim, Who, read_claim


def test_the_table_agrees_with_each_scene() -> None:
    scenes, rng = sample_scenes("train", 400, seed=3), random.Random(0)
    table = SceneTable(scenes)
    claims = [describe(scene, rng).claim for scene in scenes[:100]]
    phrases = ("a man singing", "two", "a person and a person", "a hat", "a dog and the sun", "outdoors")
    claims += [claim for phrase in phrases if (claim := read_claim(phrase))]
    claims += [Claim(), Claim(actors=(Who(),) * 3), Claim(actors=(Who(),) * 4)]
    for claim in claims:
        assert table.holding(claim).tolist() == [claim.holds(scene) for scene in scenes], claim
