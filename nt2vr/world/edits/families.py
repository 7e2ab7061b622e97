"""Covr families: a reference, its twins, and its edits, with texts that ask for them.

A twin has the content of the reference and another look: without twins, the picture alone would win every removal.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from types import MappingProxyType

from nt2vr.world.edits.changes import CHANGE_KINDS, Change, Wish, cast_of, changes_of, names_in, two_changes
from nt2vr.world.edits.modifications import Modification, modify
from nt2vr.world.scenes import Scene, SceneSplit, stream_scenes

TWO = "two changes"
EDIT_KINDS = (*CHANGE_KINDS, TWO)
COPIES = 5  # right clips per query, and twins per reference, at least


@dataclass(frozen=True)
class Edit:
    """One covr query on a reference."""

    kind: str  # one of EDIT_KINDS
    changes: tuple[Change, ...]  # one or two
    modification: Modification
    unseen: bool  # its wording is not of training
    scene: Scene  # the changed reference
    wish: Wish  # content of a right clip

    @property
    def names(self) -> frozenset[str]:
        """Names of the vocabulary that the text mentions."""
        claimed = (names_in(claim) for claim in (*self.wish.shown, *self.wish.gone))
        actors = (actor.subject for change in self.changes for actor in (change.old, change.new) if actor)
        return frozenset(actors).union(*claimed)


@dataclass(frozen=True)
class Family:
    """A reference and edits of it, all of one split."""

    reference: Scene
    edits: tuple[Edit, ...]


def stream_families(
    split: SceneSplit, seed: int, unseen_share: float = 0.0, left: Mapping[str, int] = MappingProxyType({})
) -> Iterator[Family]:
    """Yield families of a split, endlessly, each with at most one edit per kind.

    Args:
        unseen_share: share of texts in wordings that training has not seen.
        left: kind to number of edits still wanted, for kinds that not every family should have.
    """
    rng = random.Random(f"families {split}-{seed}")
    for reference in stream_scenes(split, seed):
        kinds = (kind for kind in EDIT_KINDS if left.get(kind, 1) > 0)
        edits = (_edit(reference, kind, split, unseen_share, rng) for kind in kinds)
        yield Family(reference, tuple(edit for edit in edits if edit is not None))


def _edit(reference: Scene, kind: str, split: SceneSplit, unseen_share: float, rng: random.Random) -> Edit | None:
    """Return the first of the kind's changes that leads to a scene of the split."""
    unseen = rng.random() < unseen_share
    for changes in _changes(reference, kind, rng):
        scene = reference
        for change in changes:
            scene = change.applied(scene)
        scene = replace(scene, look=rng.getrandbits(32))
        if scene.split == split:
            wish = Wish.of(scene, changes)
            return Edit(kind, changes, modify(reference, changes, rng, unseen), unseen, scene, wish)
    return None


def _changes(reference: Scene, kind: str, rng: random.Random) -> Iterator[tuple[Change, ...]]:
    if kind == TWO:
        yield from two_changes(reference, rng)
    else:
        yield from ((change,) for change in changes_of(reference, kind, rng))  # type: ignore[arg-type]


def choose_families(split: SceneSplit, per_kind: int, seed: int, unseen_share: float = 0.5) -> list[Family]:
    """Choose families with `per_kind` edits of every kind; half of them, by default, in unseen wordings."""
    left = dict.fromkeys(EDIT_KINDS, per_kind)
    families: list[Family] = []
    stream = stream_families(split, seed, unseen_share, left)
    while any(left.values()):
        family = next(stream)
        for edit in family.edits:
            left[edit.kind] -= 1
        families += [family] if family.edits else []
    return families


def training_families(count: int, seed: int) -> list[Family]:
    """Return families of the training split, in seen wordings."""
    return list(islice(stream_families("train", seed), count))


def copies(scene: Scene, count: int) -> list[Scene]:
    """Return the scene in `count` other looks."""
    rng = random.Random(f"copies {scene.look}")
    return [replace(scene, look=rng.getrandbits(32)) for _ in range(count)]


def gallery_of(families: Sequence[Family], count: int = COPIES) -> list[Scene]:
    """Return the clips that are searched: `count` twins of each reference, and as many looks of each edited scene."""
    return [
        copy
        for family in families
        for scene in (family.reference, *(edit.scene for edit in family.edits))
        for copy in copies(scene, count)
    ]


class WishTable:
    """`Wish.holds` for all scenes of a gallery at once."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        """Index the scenes by place and cast."""
        self._scenes = scenes
        self._rows: dict[tuple[str, frozenset[tuple[str, str]]], list[int]] = {}
        for row, scene in enumerate(scenes):
            self._rows.setdefault((scene.place, cast_of(scene)), []).append(row)

    def right(self, wish: Wish) -> list[int]:
        """Return the rows of the scenes that are right."""
        return [row for row in self._rows.get((wish.place, wish.cast), ()) if wish.holds(self._scenes[row])]
