"""What the Search tab offers for the built-in world: words, stories, and other queries.

Other queries are offered where hardly any clip fits.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

from nt2vr.negation.parse.inflect import inflect, inflect_phrase, is_noun, verb_of
from nt2vr.negation.parse.query import Query
from nt2vr.negation.parse.wordlists import listed as words_of
from nt2vr.world.claims import Act, Claim, SceneMask, SceneTable
from nt2vr.world.lexicon import Words, lexicon, longest, tokens_of
from nt2vr.world.query_claims import PartClaim, read_query
from nt2vr.world.reader import read_asked
from nt2vr.world.scenes import Figure, Scene, main_deeds
from nt2vr.world.things import Names, all_nouns, deeds, places, read_table, things

FEW = 1  # clips that fit a query for which others are offered
MOST = 3
_ANYTHING = 30  # things: "an animal" says little
_SHORT = 2  # letters of words not worth offering
_WHOEVER = re.compile(r"^(?:(?:any|some)(?:one|body)|people) (?=[a-z]+ing\b)", re.IGNORECASE)
_ARTICLE = re.compile(r"^(an?|the|any) ", re.IGNORECASE)


def offered_words() -> list[str]:
    """Return the words of the captions for people to choose from, in alphabetical order.

    Verbs are in their -ing form.
    """
    phrases = [noun.word for noun in all_nouns()]
    for deed in deeds().values():
        for phrase in deed.phrases:
            phrases.append(inflect_phrase(phrase, "VBG").replace("{o}", ""))
    for place in places().values():
        phrases += place.phrases

    words: set[str] = set()
    for phrase in phrases:
        words.update(word for word in phrase.split() if len(word) > _SHORT)
    return sorted(words)


@cache
def stories() -> tuple[tuple[str, str], ...]:
    """Return the wanted and the unwanted part of each story."""
    return tuple((row["wanted"], row["unwanted"]) for row in read_table("stories"))


def story_queries() -> list[str]:
    """Return a query per story: "a penguin, no ice", "a dragon and not flying"."""
    queries = []
    for wanted, unwanted in stories():
        first_word = unwanted.split()[0]
        if first_word.endswith("ing"):
            joint = " and not "
        elif first_word in ("at", "in", "on"):
            joint = ", not "
        else:
            joint = ", no "
        queries.append(wanted + joint + re.sub(r"^an? ", "", unwanted))
    return queries


class _FigurePosition(NamedTuple):
    """A figure by the row of its scene, and its number there."""

    row: int
    number: int


class Offers:
    """Tells which scenes fit a query, and what can be asked instead where hardly any does."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self._table = SceneTable(scenes)
        # By what they are and by what they do.
        self._figures_of: defaultdict[str, list[_FigurePosition]] = defaultdict(list)
        for row, scene in enumerate(scenes):
            for number, figure in enumerate(scene.figures):
                names = {figure.thing, *_main_verbs(figure)}
                for name in names:
                    self._figures_of[name].append(_FigurePosition(row, number))

    def fitting(self, query: Query) -> int | None:
        """Count the scenes that are `judge`d right; None where words of the query are unknown."""
        claims = read_query(query)
        wanted = _certain(claims.wanted)
        unwanted = _certain(claims.unwanted)
        if wanted is None or unwanted is None or not (wanted or unwanted):
            return None
        fits = ~self._table.holding_any(unwanted)
        for claim in wanted:
            fits &= self._table.holding(claim)
        return int(fits.sum())

    def near(self, query: Query) -> list[str]:
        """Return other queries that more scenes fit, with the same exclusions if these are known.

        Subject or deed change, or the place is left out; nothing is offered for a query that names
        neither of the two.
        """
        words = tokens_of(" ".join(query.wanted))
        subjects = _named(words, "noun")
        if len(subjects) >= _ANYTHING:
            subjects = frozenset()
        verbs = _named(words, "verb")

        denied: dict[str, Claim] = {}
        for unwanted in query.unwanted:
            part = unwanted.removeprefix("with ")
            claim = read_asked(part)
            if claim and not claim.vague and not _excludes(claim, verbs):
                denied[part] = claim
        allowed = ~self._table.holding_any(denied.values())

        queries: list[str] = []
        for wanted in self._alike(allowed, subjects, verbs, _named(words, "place")):
            if self._fits_many(wanted, allowed):
                queries.append(_query_of(wanted, list(denied)))
            if len(queries) == MOST:
                break
        return queries

    def _fits_many(self, wanted: str, allowed: SceneMask) -> bool:
        claim = read_asked(wanted)
        if claim is None:
            return False
        return int((self._table.holding(claim) & allowed).sum()) > FEW

    def _alike(self, allowed: SceneMask, subjects: Names, verbs: Names, where: Names) -> list[str]:
        """Return what can be said of allowed scenes with such a subject or deed, best first."""
        candidates: set[_FigurePosition] = set()
        for name in (*subjects, *verbs):
            candidates.update(self._figures_of.get(name, ()))

        # By how alike the figure is, and by the text.
        counts: Counter[tuple[int, str]] = Counter()
        for row, number in sorted(candidates):
            if not allowed[row]:
                continue
            scene = self._scenes[row]
            figure = scene.figures[number]
            score = 0
            if figure.thing in subjects:
                score += 2
            if scene.place in where:
                score += 1
            if not verbs.isdisjoint(_main_verbs(figure)):
                score += 2
            counts.update((score, text) for text in _texts_about(figure))

        def order(candidate: tuple[int, str]) -> tuple[int, int]:
            score, _ = candidate
            return score, counts[candidate]

        best_first = sorted(counts, key=order, reverse=True)
        return list(dict.fromkeys(text for _, text in best_first))


def _main_verbs(figure: Figure) -> set[str]:
    return {deed.verb for deed in main_deeds(figure)}


def _certain(parts: Sequence[PartClaim]) -> list[Claim] | None:
    """Return the claims of some parts; None if one of them cannot be told."""
    claims = []
    for part in parts:
        if part.claim is None or part.claim.vague:
            return None
        claims.append(part.claim)
    return claims


def _named(words: Words, kind: str) -> Names:
    """Return what runs of words mean as a kind of thing."""
    names: set[str] = set()
    for start in range(len(words)):
        last = min(start + longest(), len(words))
        for end in range(start + 1, last + 1):
            meaning = lexicon().get(words[start:end])
            if meaning and meaning.kind == kind:
                names |= meaning.names
    return frozenset(names)


def _excludes(claim: Claim, verbs: Names) -> bool:
    """Return whether an exclusion takes all that is wanted: "dances, no dancing"."""
    if not verbs:
        return False
    acts: list[Act] = []
    for subject in claim.subjects:
        acts += subject.acts
    return any(verbs <= act.verbs for act in acts)


@cache
def _texts_about(figure: Figure) -> list[str]:
    """Say in a few words what a figure does, or that it is there: "a man playing a guitar"."""
    name = figure.kind.nouns[0].with_article()
    texts = []
    for deed in main_deeds(figure):
        if isinstance(deed.object, int):
            continue
        thing = things()[deed.object].nouns[0].with_article() if deed.object else ""
        phrase = deed.kind.phrases[0].format(o=thing)
        texts.append(f"{name} {inflect_phrase(phrase, 'VBG')}")
    return texts or [name]


def _query_of(wanted: str, unwanted: Sequence[str]) -> str:
    """Write "WANTED but no UNWANTED and not DOING".

    It is the sentence that models trained for negation know best.
    """
    denied = " and ".join(_denied(part) for part in unwanted if part.strip())
    if not denied.strip() or not wanted.strip():
        return wanted if wanted.strip() else denied
    joint = " but " if denied.startswith("no ") else " and "
    return f"{wanted}{joint}{denied}"


def _denied(part: str) -> str:
    """Write "not DOING" or "no UNWANTED"."""
    first, _, rest = _WHOEVER.sub("", part).partition(" ")
    word = first.lower()
    verb = verb_of(word)
    if verb and word.endswith("ing") and word != verb:
        return f"not {first} {rest}".strip()
    is_verb = not is_noun(word) or rest.partition(" ")[0] in words_of("function_words")
    if verb and is_verb:
        return f"not {inflect(verb, 'VBG')} {rest}".strip()
    return f"no {_ARTICLE.sub('', part)}"
