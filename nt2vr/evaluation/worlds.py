"""The built-in worlds behind one interface: the one that ships, and the large one that is to replace it."""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, get_args

from numpy import bool_
from numpy.typing import NDArray

from nt2vr.querygen.denials import Denial
from nt2vr.querygen.families import Families
from nt2vr.world import altered, captions, negation, scenes, sentences, table
from nt2vr.world.drawn.clips import DRAWING, LOOK, Drawing
from nt2vr.world.edits import changes
from nt2vr.world_large import altered as large_altered
from nt2vr.world_large import captions as large_captions
from nt2vr.world_large import negation as large_negation
from nt2vr.world_large import scenes as large_scenes
from nt2vr.world_large import sentences as large_sentences
from nt2vr.world_large import splits as large_splits
from nt2vr.world_large import table as large_table
from nt2vr.world_large.drawn import render
from nt2vr.world_large.edits import changes as large_changes
from nt2vr.world_large.labels import Label, labels


class Grammar(Protocol):
    """Draws denying sentences for known scenes of either world, see `SceneDenials`."""

    table: Any  # of the scenes, see `SceneTable`

    def draw(self, row: int, kind: Any, rng: random.Random) -> Denial:
        """Draw a sentence that scene `row` satisfies."""

    def negated(self, row: int, rng: random.Random) -> Denial | None:
        """Deny one thing in the caption drawn from an equal generator; None if nothing can be."""

    def fitting(self, sentence: Any) -> NDArray[bool_]:
        """Mask of the scenes that satisfy a sentence: (N,)."""

    def showing_both(self, sentence: Any) -> NDArray[bool_]:
        """Mask of the scenes with both parts: (N,)."""

    def showing_unwanted(self, sentence: Any) -> NDArray[bool_]:
        """Mask of the scenes with the unwanted part: (N,)."""


@dataclass(frozen=True)
class World:
    """Functions of a world. Scenes, captions and denying sentences are its own classes, whose names are the same.

    Attributes:
        data: what configurations and benchmarks call it.
        kinds: of denying sentences that its grammar makes.
        table: truth of claims over scenes, see `SceneTable`.
        look: version of its drawings.
        edits: references with edits, for covr.
        captions: a number of distinct captions of a scene, by a seed.
        altered: yields a scene with one thing changed, by the name of the change.
        labels: words for what scenes may show, with their claims.
        shown_classes: what scenes may show, by sort: a sentence, its denial, and the sentence's claim.
    """

    name: str
    data: str
    kinds: tuple[str, ...]
    sample_scenes: Callable[[scenes.SceneSplit, int, int], Sequence[Any]]
    read_scene: Callable[[Mapping[str, Any]], Any]
    describe: Callable[[Any, random.Random], Any]
    negate: Callable[[Any], Sequence[Denial]]
    grammar: Callable[[Sequence[Any]], Grammar]
    table: Callable[[Sequence[Any]], Any]
    denial: type[Denial]
    drawing: Drawing
    look: int | str
    edits: Families
    captions: Callable[[Any, int, int], Sequence[str]]
    altered: Callable[[Any, str, random.Random], Iterator[Any]]
    shown_classes: Callable[[], Mapping[str, Sequence[tuple[str, str, Any]]]]
    labels: Callable[[], Sequence[Label]]


SMALL = World(
    "built-in world",
    "world",
    get_args(negation.SceneDenialKind),
    scenes.sample_scenes,
    scenes.Scene.from_dict,
    captions.describe,
    negation.negate,
    sentences.SceneDenials,
    table.SceneTable,
    negation.SceneDenial,
    DRAWING,
    LOOK,
    changes.EDITS,
    captions.captions,
    altered.altered,
    altered.shown_classes,
    lambda: [Label((said,), claim) for some in altered.shown_classes().values() for said, _, claim in some],
)
LARGE_LOOK = "large 2"  # cache version, as `LOOK`: raise it when its scenes are drawn differently
LARGE = World(
    "large built-in world",
    "world-large",
    get_args(large_negation.SceneDenialKind),
    large_splits.sample_scenes,
    large_scenes.Scene.from_dict,
    large_captions.describe,
    large_negation.negate,
    large_sentences.SceneDenials,
    large_table.SceneTable,
    large_negation.SceneDenial,
    Drawing(render.draw_clip, LARGE_LOOK),
    LARGE_LOOK,
    large_changes.EDITS,
    large_captions.captions,
    large_altered.altered,
    large_altered.shown_classes,
    labels,
)
BY_DATA = {world.data: world for world in (SMALL, LARGE)}


def world_of(scene: Mapping[str, Any]) -> World:
    """Return the world of a scene in a manifest."""
    return LARGE if "figures" in scene else SMALL
