"""Truth of claims over many scenes, quickly: an index rules scenes out, `Claim.holds` judges the rest."""

from collections.abc import Collection, Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from nt2vr.world.claims import Claim, Who, seen_in
from nt2vr.world.deeds import deeds
from nt2vr.world.scenes import Scene
from nt2vr.world.things import places, things

CACHED_CLAIMS = 4096  # 32 kB each for 32,000 scenes
SceneMask = NDArray[np.bool_]


class _Shown:
    """Which scenes show each of some names."""

    def __init__(self, names: Iterable[str], scenes: Sequence[Collection[str]]) -> None:
        self._rows = {name: row for row, name in enumerate(names)}
        self._table = np.zeros((len(self._rows), len(scenes)), bool)
        for column, shown in enumerate(scenes):
            self._table[[self._rows[name] for name in shown], column] = True

    def any_of(self, names: Iterable[str]) -> SceneMask:
        """Mask of the scenes that show one of the names: (N,)."""
        return np.asarray(self._table[[self._rows[name] for name in names]].any(axis=0), bool)


class SceneTable:
    """`Claim.holds` for all scenes at once, cached."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        """Index the scenes by what they show, by deeds and by place."""
        self._scenes = scenes
        self._things = _Shown(things(), [{figure.thing for figure in seen_in(scene)} for scene in scenes])
        done = [{deed.verb for figure in scene.figures for deed in figure.doings} for scene in scenes]
        self._deeds = _Shown(deeds(), done)
        self._places = _Shown(places(), [{scene.place} for scene in scenes])
        self.holding = lru_cache(CACHED_CLAIMS)(self._holding)

    def holding_any(self, claims: Iterable[Claim]) -> SceneMask:
        """Mask of the scenes for which one of the claims holds: (N,)."""
        found = np.zeros(len(self._scenes), bool)
        for claim in claims:
            found |= self.holding(claim)
        return found

    def _holding(self, claim: Claim) -> SceneMask:
        """Mask of the scenes for which the claim holds: (N,), read-only."""
        holds = np.ones(len(self._scenes), bool)
        if claim.places:
            holds &= self._places.any_of(claim.places)
        for who in claim.whos:
            holds &= self._may_show(who)
        if not _is_plain(claim):
            for row in np.flatnonzero(holds).tolist():
                holds[row] = claim.holds(self._scenes[row])
        holds.setflags(write=False)
        return holds

    def _may_show(self, who: Who) -> SceneMask:
        """Mask of the scenes with one of the things, of the verbs and of the objects of a description."""
        masks = [self._things.any_of(names) for act in who.acts for names in (act.objects, act.targets) if names]
        masks += [self._deeds.any_of(act.verbs) for act in who.acts if act.verbs]
        masks += [self._things.any_of(who.names)] if who.names else []
        return np.logical_and.reduce(masks) if masks else np.ones(len(self._scenes), bool)


def _is_plain(claim: Claim) -> bool:
    """Return whether the index alone decides: at most a place, and one thing or one verb."""
    if claim.night is not None or len(claim.whos) > 1:
        return False
    return all(
        who in (Who(who.names), Who(acts=who.acts[:1]))
        and all(not (act.objects or act.targets or act.colour or act.part) for act in who.acts)
        for who in claim.whos
    )
