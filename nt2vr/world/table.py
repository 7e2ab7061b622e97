"""Vectorised truth of claims over many scenes."""

from collections.abc import Collection, Sequence
from functools import lru_cache
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from nt2vr.world.scenes import Scene
from nt2vr.world.truth import Claim, Who
from nt2vr.world.vocabulary import ACCESSORIES, ACTIVITIES, PLACES, PROPS, SUBJECTS

CACHED_CLAIMS = 4096  # 32 kB each for 32,000 scenes
SceneMask = NDArray[np.bool_]


class SceneTable:
    """`Claim.holds` for all scenes at once, cached: 0.3 ms per claim for 32,000 scenes."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        """Index the scenes."""
        slots = max((len(scene.actors) for scene in scenes), default=0)
        self._places = _numbered([[scene.place] for scene in scenes], PLACES, 1)  # (N, 1)
        self._props = _numbered([scene.props for scene in scenes], PROPS, 2)
        self._subjects = _numbered([[a.subject for a in scene.actors] for scene in scenes], SUBJECTS, slots)
        self._activities = _numbered([[a.activity for a in scene.actors] for scene in scenes], ACTIVITIES, slots)
        self._wearing = _numbered([[a.wearing or "" for a in scene.actors] for scene in scenes], ACCESSORIES, slots)
        self.holding = lru_cache(CACHED_CLAIMS)(self._holding)

    def _holding(self, claim: Claim) -> SceneMask:
        """Mask of the scenes for which the claim holds: (N,), read-only."""
        holds = np.ones(len(self._places), bool)
        if claim.places:
            holds &= _among(self._places, claim.places, PLACES).any(axis=1)
        for names in claim.props:
            holds &= _among(self._props, names, PROPS).any(axis=1)
        fits = [self._fits(who) for who in claim.actors]  # each (N, slots)
        slots = range(self._subjects.shape[1])
        casts = [
            np.all([fit[:, slot] for fit, slot in zip(fits, cast, strict=True)], axis=0)
            for cast in permutations(slots, len(fits))
        ]
        holds &= np.any(casts, axis=0)
        holds.setflags(write=False)
        return holds

    def _fits(self, who: Who) -> SceneMask:
        fits = self._subjects > 0  # non-empty slots
        if who.subjects:
            fits &= _among(self._subjects, who.subjects, SUBJECTS)
        if who.activities:
            fits &= _among(self._activities, who.activities, ACTIVITIES)
        if who.wearing:
            fits &= _among(self._wearing, who.wearing, ACCESSORIES)
        return fits


def _numbered(lists: Sequence[Sequence[str]], names: Collection[str], width: int) -> NDArray[np.uint8]:
    """Return 1-based numbers of names, 0 for empty slots: (N, width)."""
    numbers = {name: number for number, name in enumerate(names, 1)}
    table = np.zeros((len(lists), width), np.uint8)
    for row, items in enumerate(lists):
        table[row, : len(items)] = [numbers.get(item, 0) for item in items]
    return table


def _among(table: NDArray[np.uint8], wanted: Collection[str], names: Collection[str]) -> SceneMask:
    return np.array([False, *(name in wanted for name in names)])[table]
