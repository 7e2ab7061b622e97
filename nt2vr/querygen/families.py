"""Covr families of either built-in world: a reference, its twins, and its edits, with texts that ask for them.

A twin has the content of the reference and another look: without twins, the picture alone would win every removal.
"""

import random
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from types import MappingProxyType
from typing import Any, Literal, Protocol

from nt2vr.querygen.modifications import CHANGE_KINDS, ChangeKind, Fields, Modification, modify

TWO = "two changes"
EDIT_KINDS = (*CHANGE_KINDS, TWO)
COPIES = 5  # right clips per query, and twins per reference, at least
Split = Literal["train", "validation", "test"]


class Change(Protocol):
    """One thing that is different in a scene."""

    @property
    def kind(self) -> ChangeKind:
        """What is changed, and how."""

    @property
    def old(self) -> Any:
        """The actor or thing that is changed or removed; None for an addition or another place."""

    @property
    def shown(self) -> Any:
        """Claim of the addition; None for a removal."""

    @property
    def gone(self) -> Any:
        """Claim of the removal; None for an addition."""

    @property
    def names(self) -> frozenset[str]:
        """Names of the vocabulary that a text about it mentions."""

    def applied(self, scene: Any) -> Any: ...


@dataclass(frozen=True)
class Wish:
    """Requirements of a changed scene: its gist, which is its place and who does what; the rest is free."""

    gist: Hashable
    shown: tuple[Any, ...]  # claims added by the changes
    gone: tuple[Any, ...]  # taken away by them

    @classmethod
    def of(cls, scene: Any, changes: Sequence[Change]) -> "Wish":
        """Return the requirements of changes that led to `scene`."""
        shown, gone = ([getattr(change, name) for change in changes] for name in ("shown", "gone"))
        return cls(scene.gist, tuple(filter(None, shown)), tuple(filter(None, gone)))

    def holds(self, scene: Any) -> bool:
        return (
            scene.gist == self.gist and all(claim.holds(scene) for claim in self.shown) and not self.violated_by(scene)
        )

    def violated_by(self, scene: Any) -> bool:
        """Return whether a scene still shows something to be taken away."""
        return any(claim.holds(scene) for claim in self.gone)


@dataclass(frozen=True)
class Edit:
    """One covr query on a reference."""

    kind: str  # one of EDIT_KINDS
    changes: tuple[Change, ...]  # one or two
    modification: Modification
    unseen: bool  # its wording is not of training
    scene: Any  # the changed reference
    wish: Wish  # content of a right clip

    @property
    def names(self) -> frozenset[str]:
        """Names of the vocabulary that the text mentions."""
        return frozenset[str]().union(*(change.names for change in self.changes))


@dataclass(frozen=True)
class Family:
    """A reference and edits of it, all of one split."""

    reference: Any
    edits: tuple[Edit, ...]


@dataclass(frozen=True)
class Families:
    """The families of a world.

    Attributes:
        stream_scenes: yields distinct scenes of a split, by a seed.
        changes_of: yields the clear changes of a kind to a scene, in random order.
        possible: whether scenes like this one are drawn.
        fields_of: draws words for all that a wording of a change may name, see `modifications`.
        look: field of a scene with the seed of all that captions never mention.
    """

    stream_scenes: Callable[[Split, int], Iterator[Any]]
    changes_of: Callable[[Any, ChangeKind, random.Random], Iterator[Change]]
    possible: Callable[[Any], bool]
    fields_of: Callable[[Any, Any, random.Random], Fields]
    look: str

    def stream(
        self, split: Split, seed: int, unseen_share: float = 0.0, left: Mapping[str, int] = MappingProxyType({})
    ) -> Iterator[Family]:
        """Yield families of a split, endlessly, each with at most one edit per kind.

        Args:
            unseen_share: share of texts in wordings that training has not seen.
            left: kind to number of edits still wanted, for kinds that not every family should have.
        """
        rng = random.Random(f"families {split}-{seed}")
        for reference in self.stream_scenes(split, seed):
            kinds = (kind for kind in EDIT_KINDS if left.get(kind, 1) > 0)
            edits = (self._edit(reference, kind, split, unseen_share, rng) for kind in kinds)
            yield Family(reference, tuple(edit for edit in edits if edit is not None))

    def choose(self, split: Split, per_kind: int, seed: int, unseen_share: float = 0.5) -> list[Family]:
        """Choose families with `per_kind` edits of every kind; half of them, by default, in unseen wordings."""
        left = dict.fromkeys(EDIT_KINDS, per_kind)
        families: list[Family] = []
        stream = self.stream(split, seed, unseen_share, left)
        while any(left.values()):
            family = next(stream)
            for edit in family.edits:
                left[edit.kind] -= 1
            families += [family] if family.edits else []
        return families

    def of_training(self, count: int, seed: int) -> list[Family]:
        """Return families of the training split, in seen wordings."""
        return list(islice(self.stream("train", seed), count))

    def modify(self, scene: Any, changes: Iterable[Change], rng: random.Random, unseen: bool = False) -> Modification:
        """Write a text that asks for one or two changes of a scene, in wordings of training or in unseen ones."""
        return modify(((each.kind, self.fields_of(scene, each, rng)) for each in changes), rng, unseen)

    def two_changes(self, scene: Any, rng: random.Random) -> Iterator[tuple[Change, Change]]:
        """Yield pairs of changes of different kinds, to different things, that lead to possible scenes."""
        kinds = rng.sample(CHANGE_KINDS, len(CHANGE_KINDS))
        found: list[Change] = []
        for change in filter(None, (next(self.changes_of(scene, kind, rng), None) for kind in kinds)):
            for other in found:
                pair = (change, other) if rng.random() < 0.5 else (other, change)
                after = changed(scene, pair)
                apart = change.old is None or change.old != other.old
                if apart and self.possible(after) and Wish.of(after, pair).holds(after):
                    yield pair
            found.append(change)

    def copies(self, scene: Any, count: int) -> list[Any]:
        """Return the scene in `count` other looks."""
        rng = random.Random(f"copies {getattr(scene, self.look)}")
        return [self._relooked(scene, rng) for _ in range(count)]

    def gallery_of(self, families: Sequence[Family], count: int = COPIES) -> list[Any]:
        """Return the clips that are searched: `count` twins of each reference, and as many looks of each edit."""
        return [
            copy
            for family in families
            for scene in (family.reference, *(edit.scene for edit in family.edits))
            for copy in self.copies(scene, count)
        ]

    def _relooked(self, scene: Any, rng: random.Random) -> Any:
        return replace(scene, **{self.look: rng.getrandbits(32)})

    def _edit(self, reference: Any, kind: str, split: Split, unseen_share: float, rng: random.Random) -> Edit | None:
        """Return the first of the kind's changes that leads to a scene of the split."""
        unseen = rng.random() < unseen_share
        for changes in self._changes(reference, kind, rng):
            scene = self._relooked(changed(reference, changes), rng)
            if scene.split == split:
                wish = Wish.of(scene, changes)
                return Edit(kind, changes, self.modify(reference, changes, rng, unseen), unseen, scene, wish)
        return None

    def _changes(self, reference: Any, kind: str, rng: random.Random) -> Iterator[tuple[Change, ...]]:
        if kind == TWO:
            yield from self.two_changes(reference, rng)
        else:
            yield from ((change,) for change in self.changes_of(reference, kind, rng))  # type: ignore[arg-type]


def changed(scene: Any, changes: Iterable[Change]) -> Any:
    """Return the scene with all changes; what leaves figures out comes last: it renumbers them."""
    for change in sorted(changes, key=lambda each: each.kind.startswith(("remove", "replace place"))):
        scene = change.applied(scene)
    return scene


class WishTable:
    """`Wish.holds` for all scenes of a gallery at once."""

    def __init__(self, scenes: Sequence[Any]) -> None:
        self._scenes = scenes
        self._rows: dict[Hashable, list[int]] = {}
        for row, scene in enumerate(scenes):
            self._rows.setdefault(scene.gist, []).append(row)

    def right(self, wish: Wish) -> list[int]:
        """Return the rows of the scenes that are right."""
        return [row for row in self._rows.get(wish.gist, ()) if wish.holds(self._scenes[row])]
