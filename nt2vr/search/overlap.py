"""What two queries have in common: how many of a system's first k clips both find.

A system that ignores a negation finds the same for "a cat" as for "not a cat".
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nt2vr.errors import ConfigError
from nt2vr.search.answers import Answer, Hit


@dataclass(frozen=True)
class Overlap:
    """The clips that one system, by its name, finds for two queries.

    Attributes:
        shared: ids of the clips that both queries found, in the order of the first; films for windows of films.
        k: number of clips that were compared, those of the query with fewer.
    """

    system: str
    shared: tuple[str, ...]
    k: int

    @property
    def share(self) -> float | None:
        """Share of the first k that both found, 0 to 1; None if a query found nothing."""
        return len(self.shared) / self.k if self.k else None

    def as_dict(self) -> dict[str, Any]:
        return {"name": self.system, "shared": list(self.shared), "k": self.k, "share": self.share}


def overlap(first: Answer, second: Answer) -> list[Overlap]:
    """Compare two answers; a ConfigError if their systems or galleries differ."""
    names = [ranking.system.name for ranking in first.rankings]
    if names != [ranking.system.name for ranking in second.rankings] or first.gallery != second.gallery:
        raise ConfigError("Two queries are compared in one gallery with the same systems. Ask both alike.")
    found = []
    for name, one, other in zip(names, first.rankings, second.rankings, strict=True):
        k = min(len(one.hits), len(other.hits))
        of_other = set(_ids(other.hits[:k]))
        found.append(Overlap(name, tuple(clip for clip in _ids(one.hits[:k]) if clip in of_other), k))
    return found


def _ids(hits: Sequence[Hit]) -> list[str]:
    return list(dict.fromkeys(map(clip_of, hits)))


def clip_of(hit: Hit) -> str:
    """Name what a hit is of: its film, of which another query finds other windows, or the clip itself."""
    return hit.film or hit.video_id
