"""Stories of the gallery, in people's words: something to show, and something that half of its clips add.

They are in `assets/world/stories.tsv`.
"""

from functools import cache

from nt2vr.world.things import read_table


@cache
def stories() -> tuple[tuple[str, str], ...]:
    """Return the wanted and the unwanted part of each."""
    return tuple((row["wanted"], row["unwanted"]) for row in read_table("stories"))


def story_queries() -> list[str]:
    """Return a query per story: "a penguin, no ice", "a dragon and not flying", "a cow, not on the farm"."""
    return [f"{wanted}{_excluded(unwanted)}" for wanted, unwanted in stories()]


def _excluded(unwanted: str) -> str:
    first, _, rest = unwanted.partition(" ")
    if first.endswith("ing"):
        return f" and not {unwanted}"
    return f", not {unwanted}" if first in ("at", "in", "on") else f", no {rest if first in ('a', 'an') else unwanted}"
