"""What a query claims about scenes: its wanted and unwanted parts, read as people mean them."""

from dataclasses import replace
from functools import lru_cache
from typing import NamedTuple

from nt2vr.negation.parse.query import Query
from nt2vr.world.claims import Claim, SubjectClaim
from nt2vr.world.lexicon import things_and_places
from nt2vr.world.meant import read_as_meant
from nt2vr.world.part_claims import PartClaim
from nt2vr.world.unwanted_claims import claims_of_other, read_unwanted
from nt2vr.world.words import words_in

# Queries whose claims are kept: a search may judge by 60 others, which it could suggest.
MAX_QUERIES = 1024


class QueryClaims(NamedTuple):
    """The claims of a query's parts."""

    wanted: tuple[PartClaim, ...]
    unwanted: tuple[PartClaim, ...]

    @property
    def is_known(self) -> bool:
        """Whether the world can show all that is unwanted, so that clips without it are right."""
        return all(part.claim is not None for part in self.unwanted)


@lru_cache(MAX_QUERIES)
def read_query(query: Query) -> QueryClaims:
    """Read the parts of a query as claims.

    A mere quality is read as that of a wanted thing: in "a car, not red", a red car is unwanted. In
    "a dog and no other animals", all animals but dogs are unwanted, too.
    """
    wanted = [read_as_meant(part) for part in query.wanted]
    wanted_parts = []
    for text, claim in zip(query.wanted, wanted, strict=True):
        other_reading = _other_reading(text, claim)
        wanted_parts.append(PartClaim(claim, other_reading=other_reading))

    unwanted_parts = []
    for number, text in enumerate(query.unwanted):
        part = read_unwanted(query, number, wanted)
        other_reading = _other_reading(text, part.claim)
        unwanted_parts.append(part._replace(other_reading=other_reading))
    for kind in query.others:
        unwanted_parts += claims_of_other(kind, query, wanted)
    return QueryClaims(tuple(wanted_parts), tuple(unwanted_parts))


def _other_reading(text: str, claim: Claim | None) -> Claim | None:
    """Read a word for a thing as the place of that name, or vice versa: the moon, ice."""
    if claim is None or claim.orders:
        return None
    for word in words_in(text):
        both = things_and_places().get(word.text)
        if both is None:
            continue
        thing = SubjectClaim(both.things)
        if thing in claim.subjects and not claim.places:
            remaining = tuple(subject for subject in claim.subjects if subject != thing)
            return replace(claim, subjects=remaining, places=both.places)
        if claim.places == word.names:
            return replace(claim, subjects=(*claim.subjects, thing), places=frozenset())
    return None
