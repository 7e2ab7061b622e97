"""A caption with its claim, and what a negation could deny in it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from nt2vr.world.claims import Claim, Order, Who
from nt2vr.world.nouns import Phrase
from nt2vr.world.wording import Verb, conjugate

# What a caption says: verbs with their piece and act, things worn or held likewise, things behind with their claim
_Said = tuple[
    tuple[tuple[int, Verb, tuple[int, int]], ...],
    tuple[tuple[int, str, tuple[int, int]], ...],
    tuple[tuple[int, Phrase, int], ...],
]


@dataclass(frozen=True)
class Deniable:
    """A piece of a caption that can be denied.

    Attributes:
        piece: its position.
        texts: what to say instead.
        unwanted: what is denied then, as a phrase.
        wanted_claim, unwanted_claim: claims of the rest and of the denied part.
    """

    piece: int
    texts: tuple[str, ...]
    unwanted: str
    wanted_claim: Claim
    unwanted_claim: Claim


@dataclass(frozen=True)
class SceneCaption:
    """A sentence and its claim, which holds for its own scene and possibly for others."""

    text: str
    claim: Claim
    pieces: tuple[str, ...] = ()
    said: _Said = ((), (), ())

    def deniables(self) -> list[Deniable]:
        """Return what can be denied: verbs, things worn or held, and things in the background."""
        verbs, with_things, behind = self.said
        claim = self.claim
        found = []
        for piece, verb, (who, number) in verbs:
            denied = Claim((Who(acts=(claim.whos[who].acts[number],)),))
            doing = conjugate(verb.phrase, "{ing}")
            found.append(Deniable(piece, verb.denied, doing, _without_act(claim, (who, number)), denied))
        for piece, words, (who, number) in with_things:
            act = claim.whos[who].acts[number]
            denied = Claim((Who(act.objects, colour=act.colour),))
            found.append(Deniable(piece, (f"without {words}",), words, _without_act(claim, (who, number)), denied))
        for piece, phrase, number in behind:
            words = f"without {phrase.text} in the background"
            rest = replace(claim, whos=claim.whos[:number] + claim.whos[number + 1 :])
            found.append(Deniable(piece, (words,), phrase.text, rest, Claim((phrase.who,))))
        return found


def joined(pieces: Sequence[str]) -> str:
    """Join the pieces of a caption."""
    return " ".join(" ".join(pieces).replace(" ,", ",").split()).strip(" ,")


def _without_act(claim: Claim, act: tuple[int, int]) -> Claim:
    """Leave an act out of a claim, with the orders it is part of."""
    number, left_out = act
    who = claim.whos[number]
    who = replace(who, acts=who.acts[:left_out] + who.acts[left_out + 1 :])

    def moved(place: tuple[int, int]) -> tuple[int, int]:
        return (number, place[1] - 1) if place[0] == number and place[1] > left_out else place

    orders = tuple(
        Order(moved(first), moved(second), kind) for first, second, kind in claim.orders if act not in (first, second)
    )
    return replace(claim, whos=(*claim.whos[:number], who, *claim.whos[number + 1 :]), orders=orders)
