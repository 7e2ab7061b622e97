"""Truth of sentences about scenes: parses phrases into claims and judges clips by them.

Limited to the words of the data files: phrases with other words have no claim, and hence no verdict.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import pairwise

from nt2vr.negation.parse.query import Query
from nt2vr.search.answers import Verdict
from nt2vr.world.claims import MANY, Claim
from nt2vr.world.lexicon import Meaning, ambiguous, emojis, lexicon, longest, tokens_of, verbs
from nt2vr.world.nouns import meanings
from nt2vr.world.reader import Reader
from nt2vr.world.scenes import Scene
from nt2vr.world.things import Names

_NOBODY = frozenset({"anyone", "anybody", "anything"})
MAX_READ = 4096  # phrases remembered: a search judges many clips by the same ones


@lru_cache(MAX_READ)
def read_claim(phrase: str) -> Claim | None:
    """Parse a phrase into a claim; None if it has unknown words, no content, or says what the world cannot tell."""
    tokens = _without_first(tokens_of(phrase))
    if "before" in tokens and not _NOBODY.isdisjoint(tokens):
        return None  # "flies away before anyone catches it": nobody does
    if any(map(_is_young, pairwise(phrase.lower().split()))):
        return None  # "baby animals" are drawn like others
    reader = Reader(behind="background" in tokens)
    named: Names = frozenset()
    for meaning, words in _meanings(tokens):
        if words[0] in emojis() and meaning and meaning.names <= named:
            continue  # "a rocket 🚀"
        if meaning is None or not reader.read(meaning, words):
            return None
        named |= meaning.names if meaning.kind == "noun" else frozenset()
    return reader.claim


def _is_young(words: tuple[str, str]) -> bool:
    """Return whether two words in a row name a young animal that has no name of its own, as "baby chicken" has."""
    meaning = lexicon().get(words[1:]) if words[0] == "baby" and words not in lexicon() else None
    return meaning is not None and meaning.kind == "noun" and meaning.names <= meanings()["animal"]


def _meanings(tokens: tuple[str, ...]) -> Iterator[tuple[Meaning | None, tuple[str, ...]]]:
    """Yield the longest words that have a meaning, from left to right; None for a word without one."""
    position, before = 0, Meaning("filler")
    while position < len(tokens):
        for length in range(min(longest(), len(tokens) - position), 0, -1):
            if meaning := lexicon().get(tokens[position : position + length]):
                break
        else:
            length, meaning = 1, None
        words, position = tokens[position : position + length], position + length
        if words[-1] == "orange" and _is_colour(tokens, position):
            meaning = Meaning("colour", value="orange")
        if before.kind == "noun" and words[-1] in ambiguous():
            third_person = words[-1].endswith("s") and not before.plural
            meaning = verbs().get(words) if third_person else None  # "a chef cooks"; not: "boys fish"
        yield meaning, words
        before = meaning or Meaning("filler")


def read_asked(phrase: str) -> Claim | None:
    """Parse a part of a query: who asks for "dogs" is content with one, and "no dogs" excludes a single one, too."""
    claim = read_claim(phrase)
    if claim is None:
        return None
    some = (replace(who, least=1) if who.most == MANY and not who.total else who for who in claim.whos)
    return replace(claim, whos=tuple(some))


def read_parts(query: Query) -> tuple[list[Claim | None], list[Claim | None]]:
    """Parse the wanted and the unwanted parts; a mere quality is one of a wanted thing: "a car that is not | red".

    What else there may not be is unwanted, too: all "animals" but dogs in "a dog and no other animals".
    """
    wanted = [read_asked(part) for part in query.wanted]
    others = [part for part in query.unwanted if part.startswith("other ")]  # a dog, no people or other animals
    unwanted = [read_asked(part) or _quality_of(query.wanted, part) for part in query.unwanted if part not in others]
    return wanted, unwanted + [_others(kind, wanted) for kind in (*others, *query.others)]


def _others(kind: str, wanted: Sequence[Claim | None]) -> Claim | None:
    """Claim something of a kind that what is wanted does not name; None if that cannot be told."""
    claim = read_asked(kind)
    if claim is None or len(claim.whos) != 1 or None in wanted:
        return None
    whos = [who for each in wanted if each for who in each.whos]
    named = [names for who in whos for names in (who.names, *(act.objects | act.targets for act in who.acts))]
    left = claim.whos[0].names.difference(*named)
    return replace(claim, whos=(replace(claim.whos[0], names=left),)) if left else None


@lru_cache(MAX_READ)
def _quality_of(wanted: tuple[str, ...], quality: str) -> Claim | None:
    """Read "red" as "red car"; None if it fits none, or several, of the wanted things."""
    found = (each for part in wanted for each in _meanings(tokens_of(part)))
    nouns = dict.fromkeys(" ".join(words) for meaning, words in found if meaning and meaning.kind == "noun")
    read = (read_asked(f"{quality} {noun}") or read_asked(f"{noun} {quality}") for noun in nouns)
    claims = [claim for claim in read if claim]
    return claims[0] if len(claims) == 1 else None


def _without_first(tokens: tuple[str, ...]) -> tuple[str, ...]:
    """Drop the "first" that says no more than the "then" after it."""
    if "first" in tokens and "then" in tokens[tokens.index("first") :]:
        number = tokens.index("first")
        return tokens[: number - (tokens[number - 1 : number] == ("at",))] + tokens[number + 1 :]
    return tokens


def _is_colour(tokens: tuple[str, ...], after: int) -> bool:
    """Return whether the "orange" before a token is a colour: "in orange", "an orange cat"."""
    following = (lexicon().get(tokens[after : after + length]) for length in range(1, 4))
    return tokens[after - 2 : after - 1] == ("in",) or any(
        each and each.kind in ("noun", "filler") for each in following
    )


def judge(query: Query, scene: Scene) -> Verdict | None:
    """Judge a clip: "right", "violation" (shows an unwanted part) or "miss" (lacks a wanted one).

    None if the query has unknown words, unless what it excludes is seen.
    """
    wanted, unwanted = read_parts(query)
    if any(claim is not None and claim.holds(scene) for claim in unwanted):
        return "violation"
    if None in wanted or None in unwanted or not wanted + unwanted:
        return None
    return "right" if all(claim is not None and claim.holds(scene) for claim in wanted) else "miss"
