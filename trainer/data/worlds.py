"""The built-in worlds as training data: the one that ships, and the large one that is to replace it."""

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from nt2vr.evaluation.built_in import Grammar
from nt2vr.querygen.denials import Denial
from nt2vr.world import captions, negation, scenes, sentences
from nt2vr.world.drawn.clips import DRAWING, Drawing
from nt2vr.world_large import captions as large_captions
from nt2vr.world_large import negation as large_negation
from nt2vr.world_large import sampling as large_sampling
from nt2vr.world_large import sentences as large_sentences
from nt2vr.world_large.drawn import render
from trainer.config import WORLD, WORLDS


@dataclass(frozen=True)
class World:
    """Functions of a world. Scenes, captions and denying sentences are its own classes, whose names are the same.

    Attributes:
        kinds: of denying sentences that its grammar makes.
    """

    name: str
    kinds: tuple[str, ...]
    sample_scenes: Callable[[scenes.SceneSplit, int, int], Sequence[Any]]
    describe: Callable[[Any, random.Random], Any]
    negate: Callable[[Any], Sequence[Denial]]
    grammar: Callable[[Sequence[Any]], Grammar]
    denial: type[Denial]
    drawing: Drawing


SMALL = World(
    "built-in world",
    WORLDS[WORLD],
    scenes.sample_scenes,
    captions.describe,
    negation.negate,
    sentences.SceneDenials,
    negation.SceneDenial,
    DRAWING,
)
LARGE = World(
    "large built-in world",
    WORLDS["world-large"],
    large_sampling.sample_scenes,
    large_captions.describe,
    large_negation.negate,
    large_sentences.SceneDenials,
    large_negation.SceneDenial,
    Drawing(render.draw_clip, "large 1"),
)
BY_DATA = {WORLD: SMALL, "world-large": LARGE}
