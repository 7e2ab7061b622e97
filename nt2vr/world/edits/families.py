"""Covr families: a reference, its twins, and its edits, with texts that ask for them.

A twin has the content of the reference and another look: without twins, the picture alone would win every removal.
"""

import random
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from types import MappingProxyType

from nt2vr.negation.generate.modifications import CHANGE_KINDS, Modification, modify
from nt2vr.world.claims import Claim
from nt2vr.world.edits.changes import Change, changes_of, fields_of, possible
from nt2vr.world.scenes import Scene, SceneSplit
from nt2vr.world.splits import stream_scenes
from nt2vr.world.things import Names

TWO = "two changes"
EDIT_KINDS = (*CHANGE_KINDS, TWO)
COPIES = 5  # right clips per query, and twins per reference, at least


@dataclass(frozen=True)
class Wish:
    """Requirements of a changed scene: its gist, which is its place and who does what; the rest is free."""

    gist: Hashable
    shown: tuple[Claim, ...]  # added by the changes
    gone: tuple[Claim, ...]  # taken away by them

    @classmethod
    def of(cls, scene: Scene, changes: Sequence[Change]) -> "Wish":
        """Return the requirements of changes that led to `scene`."""
        shown, gone = [change.shown for change in changes], [change.gone for change in changes]
        return cls(scene.gist, tuple(filter(None, shown)), tuple(filter(None, gone)))

    def holds(self, scene: Scene) -> bool:
        return (
            scene.gist == self.gist and all(claim.holds(scene) for claim in self.shown) and not self.violated_by(scene)
        )

    def violated_by(self, scene: Scene) -> bool:
        """Return whether a scene still shows something to be taken away."""
        return any(claim.holds(scene) for claim in self.gone)


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
    def names(self) -> Names:
        """Names of the vocabulary that the text mentions."""
        return frozenset[str]().union(*(change.names for change in self.changes))


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


def choose_families(split: SceneSplit, per_kind: int, seed: int) -> list[Family]:
    """Choose families with `per_kind` edits of every kind, half of them in unseen wordings."""
    left = dict.fromkeys(EDIT_KINDS, per_kind)
    families: list[Family] = []
    stream = stream_families(split, seed, 0.5, left)
    while any(left.values()):
        family = next(stream)
        for edit in family.edits:
            left[edit.kind] -= 1
        families += [family] if family.edits else []
    return families


def training_families(count: int, seed: int) -> list[Family]:
    """Return families of the training split, in seen wordings."""
    return list(islice(stream_families("train", seed), count))


def ask_for(scene: Scene, changes: Iterable[Change], rng: random.Random, unseen: bool = False) -> Modification:
    """Write a text that asks for one or two changes of a scene, in wordings of training or in unseen ones."""
    return modify(((each.kind, fields_of(scene, each, rng)) for each in changes), rng, unseen)


def two_changes(scene: Scene, rng: random.Random) -> Iterator[tuple[Change, Change]]:
    """Yield pairs of changes of different kinds, to different things, that lead to possible scenes."""
    kinds = rng.sample(CHANGE_KINDS, len(CHANGE_KINDS))
    found: list[Change] = []
    for change in filter(None, (next(changes_of(scene, kind, rng), None) for kind in kinds)):
        for other in found:
            pair = (change, other) if rng.random() < 0.5 else (other, change)
            after = changed(scene, pair)
            apart = change.old is None or change.old != other.old
            if apart and possible(after) and Wish.of(after, pair).holds(after):
                yield pair
        found.append(change)


def copies(scene: Scene, count: int) -> list[Scene]:
    """Return the scene in `count` other looks."""
    rng = random.Random(f"copies {scene.seed}")
    return [replace(scene, seed=rng.getrandbits(32)) for _ in range(count)]


def gallery_of(families: Sequence[Family], count: int = COPIES) -> list[Scene]:
    """Return the clips that are searched: `count` twins of each reference, and as many looks of each edit."""
    return [
        copy
        for family in families
        for scene in (family.reference, *(edit.scene for edit in family.edits))
        for copy in copies(scene, count)
    ]


def changed(scene: Scene, changes: Iterable[Change]) -> Scene:
    """Return the scene with all changes; what leaves figures out comes last: it renumbers them."""
    for change in sorted(changes, key=lambda each: each.kind.startswith(("remove", "replace place"))):
        scene = change.applied(scene)
    return scene


def _edit(reference: Scene, kind: str, split: SceneSplit, unseen_share: float, rng: random.Random) -> Edit | None:
    """Return the first of the kind's changes that leads to a scene of the split."""
    unseen = rng.random() < unseen_share
    singles = ((change,) for change in changes_of(reference, kind, rng))  # type: ignore[arg-type]
    for changes in two_changes(reference, rng) if kind == TWO else singles:
        scene = replace(changed(reference, changes), seed=rng.getrandbits(32))
        if scene.split == split:
            wish = Wish.of(scene, changes)
            return Edit(kind, changes, ask_for(reference, changes, rng, unseen), unseen, scene, wish)
    return None


class WishTable:
    """`Wish.holds` for all scenes of a gallery at once."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self._rows: dict[Hashable, list[int]] = {}
        for row, scene in enumerate(scenes):
            self._rows.setdefault(scene.gist, []).append(row)

    def right(self, wish: Wish) -> list[int]:
        """Return the rows of the scenes that are right."""
        return [row for row in self._rows.get(wish.gist, ()) if wish.holds(self._scenes[row])]
