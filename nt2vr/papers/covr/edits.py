"""Edits of a scene for covr: changes in words, what matches them, and families of a reference and its edits."""

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from random import Random
from types import MappingProxyType

from nt2vr.papers.covr.change import CHANGE_KINDS, Change
from nt2vr.papers.covr.change_wording import Modification, ask_for
from nt2vr.papers.covr.draw_changes import changes_of, possible
from nt2vr.world.claims import Claim
from nt2vr.world.sampling import stream_scenes
from nt2vr.world.scenes import Scene, SceneSplit, main_actions

TWO = "two changes"
EDIT_KINDS = (*CHANGE_KINDS, TWO)
# Right clips per query, and twins per reference, at least.
COPIES = 5


def gist_of(scene: Scene) -> Hashable:
    """Return what an edit keeps unless its text says otherwise.

    That is the place by day or night, and who does what in turn.
    """
    cast = set()
    for figure in scene.actors:
        description: list[Hashable] = [figure.thing, figure.count]
        for action in main_actions(figure):
            description.append((action.verb, scene.object_of(action)))
        cast.add(tuple(description))
    return scene.place, scene.night, frozenset(cast)


@dataclass(frozen=True)
class Requirements:
    """Requirements of a changed scene.

    Attributes:
        gist: its place and who does what; the rest is free.
        added: by the changes.
        removed: by them.
    """

    gist: Hashable
    added: tuple[Claim, ...]
    removed: tuple[Claim, ...]

    @classmethod
    def of(cls, scene: Scene, changes: Sequence[Change]) -> "Requirements":
        """Return the requirements of changes that led to `scene`."""
        return cls(
            gist=gist_of(scene),
            added=tuple(filter(None, [change.added for change in changes])),
            removed=tuple(filter(None, [change.removed for change in changes])),
        )

    def holds(self, scene: Scene) -> bool:
        if gist_of(scene) != self.gist or self.violated_by(scene):
            return False
        return all(claim.holds(scene) for claim in self.added)

    def violated_by(self, scene: Scene) -> bool:
        """Return whether a scene still shows something to be taken away."""
        return any(claim.holds(scene) for claim in self.removed)


@dataclass(frozen=True)
class Edit:
    """A change of a reference, or two, in words.

    Attributes:
        kind: one of EDIT_KINDS.
        unseen: whether its wording is not of training.
        scene: the changed reference.
        requirements: content of a right clip.
    """

    kind: str
    changes: tuple[Change, ...]
    modification: Modification
    unseen: bool
    scene: Scene
    requirements: Requirements

    @property
    def is_removal(self) -> bool:
        return self.kind.startswith("remove")


@dataclass(frozen=True)
class Family:
    """A reference and edits of it, all of one split."""

    reference: Scene
    edits: tuple[Edit, ...]


def stream_families(
    split: SceneSplit,
    seed: int,
    unseen_share: float = 0.0,
    num_missing: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[Family]:
    """Yield families of a split, endlessly, each with at most one edit per kind.

    Kinds of which `num_missing` says 0 are left out. A share of the texts is in wordings that
    training has not seen.
    """
    rng = Random(f"families {split}-{seed}")
    for reference in stream_scenes(split, seed):
        edits = []
        for kind in EDIT_KINDS:
            if num_missing.get(kind, 1) > 0:
                edit = _edit(reference, kind=kind, split=split, unseen_share=unseen_share, rng=rng)
                edits.append(edit)
        yield Family(reference, tuple(filter(None, edits)))


def choose_families(split: SceneSplit, per_kind: int, seed: int) -> list[Family]:
    """Choose families with `per_kind` edits of every kind, half of them in unseen wordings."""
    num_missing = dict.fromkeys(EDIT_KINDS, per_kind)
    stream = stream_families(split, seed, unseen_share=0.5, num_missing=num_missing)
    families = []
    while any(num_missing.values()):
        family = next(stream)
        if family.edits:
            families.append(family)
        for edit in family.edits:
            num_missing[edit.kind] -= 1
    return families


def training_families(count: int, seed: int) -> list[Family]:
    return list(islice(stream_families("train", seed), count))


def two_changes(scene: Scene, rng: Random) -> Iterator[tuple[Change, Change]]:
    """Yield pairs of changes of different kinds, to different things, that lead to possible scenes."""
    earlier_changes: list[Change] = []
    for kind in rng.sample(CHANGE_KINDS, len(CHANGE_KINDS)):
        change = next(changes_of(scene, kind, rng), None)
        if change is None:
            continue
        for earlier in earlier_changes:
            pair = (change, earlier) if rng.random() < 0.5 else (earlier, change)
            is_same_figure = change.old is not None and change.old == earlier.old
            after = changed(scene, pair)
            if not is_same_figure and possible(after) and Requirements.of(after, pair).holds(after):
                yield pair
        earlier_changes.append(change)


def copies(scene: Scene, count: int) -> list[Scene]:
    """Return the scene in `count` other looks."""
    rng = Random(f"copies {scene.seed}")
    return [replace(scene, seed=rng.getrandbits(32)) for _ in range(count)]


def gallery_of(families: Sequence[Family], count: int = COPIES) -> list[Scene]:
    """Return the clips that are searched: `count` twins of each reference, and as many looks of each edit."""
    clips = []
    for family in families:
        clips += copies(family.reference, count)
        for edit in family.edits:
            clips += copies(edit.scene, count)
    return clips


def changed(scene: Scene, changes: Iterable[Change]) -> Scene:
    """Return the scene with all changes; what leaves figures out comes last: it renumbers them."""
    for change in sorted(changes, key=_leaves_figures_out):
        scene = change.applied(scene)
    return scene


def _leaves_figures_out(change: Change) -> bool:
    return change.kind.startswith(("remove", "replace place"))


def _edit(
    reference: Scene, kind: str, split: SceneSplit, unseen_share: float, rng: Random
) -> Edit | None:
    unseen = rng.random() < unseen_share
    for changes in _changes_of_edit(reference, kind, rng):
        scene = replace(changed(reference, changes), seed=rng.getrandbits(32))
        if scene.split == split:
            return Edit(
                kind=kind,
                changes=changes,
                modification=ask_for(changes, rng, unseen),
                unseen=unseen,
                scene=scene,
                requirements=Requirements.of(scene, changes),
            )
    return None


def _changes_of_edit(reference: Scene, kind: str, rng: Random) -> Iterator[tuple[Change, ...]]:
    if kind == TWO:
        yield from two_changes(reference, rng)
        return
    for change in changes_of(reference, kind, rng):  # type: ignore[arg-type]
        yield (change,)


class RequirementTable:
    """`Requirements.holds` for all scenes of a gallery at once."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self._rows: dict[Hashable, list[int]] = defaultdict(list)
        for row, scene in enumerate(scenes):
            self._rows[gist_of(scene)].append(row)

    def right(self, requirements: Requirements) -> list[int]:
        rows = self._rows.get(requirements.gist, ())
        return [row for row in rows if requirements.holds(self._scenes[row])]

    def violating(self, requirements: Requirements) -> list[int]:
        """Return the rows of the scenes that still show something to be taken away."""
        return [row for row, scene in enumerate(self._scenes) if requirements.violated_by(scene)]
