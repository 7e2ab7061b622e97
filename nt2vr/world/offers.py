"""What the Search tab offers for the built-in world: words, stories, and other queries where hardly any clip fits."""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from nt2vr.negation.parse.inflect import inflect, inflect_phrase, is_noun, verb_of
from nt2vr.negation.parse.query import Query
from nt2vr.negation.parse.wordlists import listed as words_of
from nt2vr.world.claims import Claim, SceneTable
from nt2vr.world.lexicon import lexicon, longest, tokens_of
from nt2vr.world.reader import read_asked
from nt2vr.world.scenes import Figure, Scene, main_deeds
from nt2vr.world.things import Names, all_nouns, deeds, places, read_table, things
from nt2vr.world.verdicts import read_query

FEW = 1  # clips that fit a query for which others are offered
MOST = 3
_ANYTHING = 30  # things: "an animal" says little
_SHORT = 2  # letters of words not worth offering
_WHOEVER = re.compile(r"^(?:(?:any|some)(?:one|body)|people) (?=[a-z]+ing\b)", re.IGNORECASE)
_ARTICLE = re.compile(r"^(an?|the|any) ", re.IGNORECASE)


def offered_words() -> list[str]:
    """Return the words of the captions for people to choose from, verbs in their -ing form, in alphabetical order."""
    nouns = [noun.word for noun in all_nouns()]
    doing = [
        inflect_phrase(phrase, "VBG").replace("{o}", "")
        for deed in deeds().values()
        for phrase in deed.phrases
    ]
    where = [phrase for place in places().values() for phrase in place.phrases]
    return sorted(
        {
            word
            for phrase in (*nouns, *doing, *where)
            for word in phrase.split()
            if len(word) > _SHORT
        }
    )


@cache
def stories() -> tuple[tuple[str, str], ...]:
    return tuple((row["wanted"], row["unwanted"]) for row in read_table("stories"))


def story_queries() -> list[str]:
    """Return a query per story: "a penguin, no ice", "a dragon and not flying", "a cow, not on the farm"."""
    queries = []
    for wanted, unwanted in stories():
        first = unwanted.split()[0]
        joint = (
            " and not "
            if first.endswith("ing")
            else ", not "
            if first in ("at", "in", "on")
            else ", no "
        )
        queries.append(wanted + joint + re.sub(r"^an? ", "", unwanted))
    return queries


class Offers:
    """What of some scenes fits a query, and what can be asked instead where hardly any does."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self._table = SceneTable(scenes)
        # Figures by what they are and by what they do: the rows of their scenes, and their numbers
        # there.
        self._figures_of: defaultdict[str, list[tuple[int, int]]] = defaultdict(list)
        for row, scene in enumerate(scenes):
            for number, figure in enumerate(scene.figures):
                verbs = {deed.verb for deed in main_deeds(figure)}
                for name in {figure.thing, *verbs}:
                    self._figures_of[name].append((row, number))

    def fitting(self, query: Query) -> int | None:
        """Count the scenes that are `judge`d right; None where words of the query are unknown."""
        asked = read_query(query)
        parts = (*asked.wanted, *asked.unwanted)
        if not parts or any(part.claim is None or part.claim.vague for part in parts):
            return None
        fits = ~self._table.holding_any(claim for part in asked.unwanted for claim in part.readings)
        for part in asked.wanted:
            fits &= self._table.holding_any(part.readings)
        return int(fits.sum())

    def near(self, query: Query) -> list[str]:
        """Return other queries that more scenes fit: near ones, with the same exclusions as far as these are known.

        Subject or deed change, or the place is left out; nothing is offered for a query that names
        neither of the two.
        """
        words = tokens_of(" ".join(query.wanted))
        subjects, verbs, where = (_named(words, kind) for kind in ("noun", "verb", "place"))
        subjects = subjects if len(subjects) < _ANYTHING else frozenset()
        denied = {}
        for part in (part.removeprefix("with ") for part in query.unwanted):
            if (claim := read_asked(part)) and not claim.vague and not _excludes(claim, verbs):
                denied[part] = claim
        allowed = ~self._table.holding_any(denied.values())

        def fits(wanted: str) -> bool:
            return (
                int((self._table.holding_any(filter(None, [read_asked(wanted)])) & allowed).sum())
                > FEW
            )

        near = self._alike(allowed, subjects, verbs, where)
        return [_query_of(wanted, [*denied]) for wanted in islice(filter(fits, near), MOST)]

    def _alike(
        self, allowed: NDArray[np.bool_], subjects: Names, verbs: Names, where: Names
    ) -> list[str]:
        """Return what can be said of allowed scenes with such a subject or deed, that which is most alike first."""
        candidates = {
            place for name in (*subjects, *verbs) for place in self._figures_of.get(name, ())
        }
        counts: Counter[tuple[int, str]] = Counter()
        for row, number in sorted(candidates):
            if not allowed[row]:
                continue
            figure = self._scenes[row].figures[number]
            score = 0
            if figure.thing in subjects:
                score += 2
            if self._scenes[row].place in where:
                score += 1
            if any(deed.verb in verbs for deed in main_deeds(figure)):
                score += 2
            counts.update((score, said) for said in _said(figure))

        def order(scored: tuple[int, str]) -> tuple[int, int]:
            return scored[0], counts[scored]

        best_first = sorted(counts, key=order, reverse=True)
        return [*dict.fromkeys(said for _, said in best_first)]


def _named(words: Sequence[str], kind: str) -> Names:
    """Return what runs of words mean as a kind of thing."""
    runs = (
        words[i:j]
        for i in range(len(words))
        for j in range(i + 1, min(i + longest(), len(words)) + 1)
    )
    meant = (lexicon().get(tuple(run)) for run in runs)
    return frozenset[str]().union(
        *(meaning.names for meaning in meant if meaning and meaning.kind == kind)
    )


def _excludes(claim: Claim, verbs: Names) -> bool:
    """Return whether an exclusion takes all that is wanted: "dances, no dancing"."""
    return bool(verbs) and any(verbs <= act.verbs for who in claim.whos for act in who.acts)


@cache
def _said(figure: Figure) -> list[str]:
    """Say in a few words what a figure does, or that it is there: "a man playing a guitar"."""
    name = figure.kind.nouns[0].with_article()
    said = []
    for deed in main_deeds(figure):
        if not isinstance(deed.object, int):
            thing = things()[deed.object].nouns[0].with_article() if deed.object else ""
            said.append(f"{name} {inflect_phrase(deed.kind.phrases[0].format(o=thing), 'VBG')}")
    return said or [name]


def _query_of(wanted: str, unwanted: Sequence[str]) -> str:
    """Write "WANTED but no UNWANTED and not DOING", the sentence that models trained for negation know best."""
    denied = " and ".join(_denied(part) for part in unwanted if part.strip())
    return (" but " if denied.startswith("no ") else " and ").join(
        filter(str.strip, (wanted, denied))
    )


def _denied(part: str) -> str:
    first, _, rest = _WHOEVER.sub("", part).partition(" ")
    verb, word = verb_of(first.lower()), first.lower()
    if verb and word.endswith("ing") and word != verb:
        return f"not {first} {rest}".strip()
    if verb and (not is_noun(word) or rest.partition(" ")[0] in words_of("function_words")):
        return f"not {inflect(verb, 'VBG')} {rest}".strip()
    return f"no {_ARTICLE.sub('', part)}"
