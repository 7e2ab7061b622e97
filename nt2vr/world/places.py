"""Places of the world: their phrases, what is seen and what is found there: `assets/world/places.tsv`."""

from dataclasses import dataclass
from functools import cache

from nt2vr.world.things import Names, read_table, those


@dataclass(frozen=True)
class Place:
    """One place.

    Attributes:
        phrases: each with its preposition, the usual one first.
        tags: what may be done there; see `DeedKind.where`.
        shows: things of the backdrop and how many of each, seen in every clip of the place.
        found: names of further things that may be there.
    """

    name: str
    phrases: tuple[str, ...]
    indoors: bool
    tags: Names
    shows: tuple[tuple[str, int], ...]
    found: tuple[str, ...]


@cache
def places() -> dict[str, Place]:
    """All places by name."""
    found = {}
    for row in read_table("places"):
        shows = tuple(part.partition(":") for part in row["shows"].split(",") if part)
        found[row["name"]] = Place(
            name=row["name"],
            phrases=tuple(row["phrases"].split("|")),
            indoors=row["setting"] == "indoors",
            tags=frozenset(row["tags"].split(",")),
            shows=tuple((thing, int(number)) for thing, _, number in shows),
            found=those(tuple(row["found"].split(","))),
        )
    return found
