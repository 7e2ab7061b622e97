"""Deeds of the world: verbs with typed slots, their wordings and how they are drawn: `assets/world/deeds.tsv`.

Lists are separated by commas, wordings by "|"; "{o}" stands for the object. An object after "@" is another figure of
the scene, otherwise it is held, worn or ridden.
"""

from dataclasses import dataclass
from functools import cache, cached_property
from typing import Literal

from nt2vr.world.things import Names, Place, Thing, places, read_table, things, those

Layer = Literal["main", "mood", "worn"]  # a figure does one thing of each layer at a time
WEAR, ENTER, LEAVE = "wear", "enter", "leave"
IN_WATER: Names = frozenset({"swim", "surf", "row", "fly", "chase", "look at", "sail", "fly past", "eat"})
AT_SEA: Names = frozenset({"sea", "deep"})  # tags of places without ground


@dataclass(frozen=True)
class DeedKind:
    """What somebody may do.

    Attributes:
        phrases: wordings with the verb first, as a lemma; at least three.
        doers: words for who does it, by the object they need ("" for any): "drummer" by "drum".
        who, objects: names of things.
        targets: whether the object is another figure.
        where: tags of places; empty for any.
        posture, hand, motion, sign: how it is drawn; `sign` is a picture on the face or over the head.
        shows: a thing that is always seen with it, or "".
        share: how often it is drawn, relative to others.
    """

    verb: str
    phrases: tuple[str, ...]
    doers: tuple[tuple[str, str], ...]
    who: Names
    objects: Names
    targets: bool
    where: Names
    posture: str
    hand: str
    motion: str
    sign: str
    shows: str
    share: float

    @cached_property
    def layer(self) -> Layer:
        """Which other deeds it excludes at the same time."""
        return "worn" if self.verb == WEAR else "mood" if self.hand == "face" else "main"

    def may(self, thing: Thing, place: Place) -> bool:
        """Return whether a thing may do it at a place."""
        swims = "sea" in thing.kinds or bool(AT_SEA & place.tags)
        if swims and self.layer == "main" and self.verb not in IN_WATER:
            return False
        return thing.name in self.who and (not self.where or bool(self.where & place.tags))


def _listed(text: str) -> Names:
    return frozenset(those(tuple(text.split(",")))) if text else frozenset()


@cache
def deeds() -> dict[str, DeedKind]:
    """All deeds by verb."""
    return {
        row["verb"]: DeedKind(
            verb=row["verb"],
            phrases=tuple(row["phrases"].split("|")),
            doers=tuple((doer.partition(":")[0], doer.partition(":")[2]) for doer in row["doers"].split("|") if doer),
            who=_listed(row["who"]),
            objects=_listed(row["object"].removeprefix("@")),
            targets=row["object"].startswith("@"),
            where=frozenset(filter(None, row["where"].split(","))),
            posture=row["posture"],
            hand=row["hand"],
            motion=row["motion"],
            sign=row["sign"],
            shows=row["shows"],
            share=float(row["share"]),
        )
        for row in read_table("deeds")
    }


@cache
def deeds_at(place: str, thing: str) -> tuple[DeedKind, ...]:
    """What a thing may do at a place, entering and leaving excepted; both by name."""
    return tuple(deed for deed in deeds().values() if deed.share and deed.may(things()[thing], places()[place]))
