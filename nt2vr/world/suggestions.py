"""Suggestions: queries close to one that no clip fits, which lead to clips that are right and others that are not."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from itertools import chain, compress, islice
from operator import itemgetter
from typing import NamedTuple

import numpy as np

from nt2vr.negation.parse.query import Query
from nt2vr.world.claims import SceneMask, SceneTable
from nt2vr.world.meant import read_as_meant
from nt2vr.world.nearby_phrases import (
    TOO_MANY_THINGS,
    actions_with,
    main_verbs,
    names_of_kind,
    nearer,
    of_same_kind,
    texts_about,
    with_article,
)
from nt2vr.world.query_claims import read_query
from nt2vr.world.reader import NOTHING, read_asked
from nt2vr.world.scenes import Figure, Scene
from nt2vr.world.suggested_queries import query_of, written
from nt2vr.world.things import Names, things
from nt2vr.world.verdicts import judge
from nt2vr.world.words import words_in

# Clips that fit a query for which others are suggested.
FEW = 1
MAX_SUGGESTIONS = 2
# Sentences that are tried for a query.
MOST_TRIED = 60
# Of these, sentences with the unwanted part as typed.
MOST_OF_TYPED = 40
MOST_SUBJECTS = 3
MOST_COMPANIONS = 12
_ANYBODY = ("a person", "an animal", "a vehicle")

Understand = Callable[[str], Query]


class _Masks(NamedTuple):
    """The scenes that fit a query, and those that show what it excludes."""

    right: SceneMask
    wrong: SceneMask


class _WantedNames(NamedTuple):
    """Names of what a query wants."""

    subjects: Names
    verbs: Names
    places: Names

    def similarity(self, figure: Figure, place: str) -> int:
        """Return how much a figure has of what is wanted; the place counts half."""
        score = 0
        if figure.thing in self.subjects:
            score += 2
        if place in self.places:
            score += 1
        if not self.verbs.isdisjoint(main_verbs(figure)):
            score += 2
        return score


class Suggestions:
    """Counts the scenes that fit a query, and finds other queries where hardly any does."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self._table = SceneTable(scenes)
        # What each scene has, in the order of all things.
        self._things_in: list[list[str]] = []
        for scene in scenes:
            present = {figure.thing for figure in scene.figures}
            self._things_in.append([name for name in things() if name in present])

    def fitting(self, query: Query) -> int | None:
        """Count the scenes that are `judge`d right; None where words of the query are unknown."""
        masks = self._masks(query)
        if masks is None:
            return None
        return int(masks.right.sum())

    def near(self, query: Query, understand: Understand) -> list[str]:
        """Return two other queries, the closest first, with the same exclusions if clips show these.

        Each has clips that are right, and if something is excluded, others that show it.
        """
        queries = []
        texts = dict.fromkeys(self._texts(query))
        is_negated = bool(query.unwanted)
        typed = query.text.strip().casefold()
        for text in islice(texts, MOST_TRIED):
            if text.casefold() != typed and self._is_worthwhile(understand(text), is_negated):
                queries.append(text)
            if len(queries) == MAX_SUGGESTIONS:
                break
        return queries

    def _texts(self, query: Query) -> Iterator[str]:
        """Yield sentences to suggest, the closest to the query first."""
        wanted = " ".join(query.wanted)
        unwanted = list(filter(None, map(self._shown_text, query.unwanted)))
        if unwanted or not query.unwanted:
            wanted_texts = self._wanted_texts(wanted, unwanted)
            for text in islice(wanted_texts, MOST_OF_TYPED):
                yield written(query, text, unwanted)
        yield from self._with_shown_exclusions(wanted)

    def _with_shown_exclusions(self, wanted: str) -> Iterator[str]:
        """Yield sentences that exclude what clips show, for when they show nothing excluded."""
        subjects = islice(nearer(wanted), MOST_SUBJECTS)
        same_kind = islice(of_same_kind(wanted), MOST_SUBJECTS)
        for text in chain(subjects, same_kind, _ANYBODY):
            showing = self._showing(text)
            for company in self._companions(showing, besides=text):
                yield query_of(text, [company])

    def _masks(self, query: Query) -> _Masks | None:
        claims = read_query(query)
        parts = claims.wanted + claims.unwanted
        if not parts or any(part.claim is None or part.claim.vague for part in parts):
            return None

        right = np.ones(len(self._scenes), bool)
        for part in claims.wanted:
            right &= self._table.holding_any(part.readings)
        unwanted = chain.from_iterable(part.readings for part in claims.unwanted)
        wrong = self._table.holding_any(unwanted)
        return _Masks(right & ~wrong, wrong)

    def _is_worthwhile(self, query: Query, is_negated: bool) -> bool:
        masks = self._masks(query)
        if masks is None or masks.right.sum() <= FEW:
            return False
        if not is_negated:
            return True
        if not query.unwanted:
            return False
        wrong_rows = np.flatnonzero(masks.wrong).tolist()
        return any(judge(query, self._scenes[row]) == "violation" for row in wrong_rows)

    # What is unwanted

    def _shown_text(self, part: str) -> str:
        """Return a part if clips show it, otherwise something near to it that they show, or ""."""
        if self._showing(part.removeprefix("with ")).sum() > FEW:
            return part
        for word in words_in(part):
            for near in (*map(with_article, word.meaning.near), *actions_with(word)):
                if self._showing(near).sum() > FEW:
                    return near
        return ""

    def _showing(self, text: str) -> SceneMask:
        claim = read_as_meant(text) if text else None
        if claim is None or claim.vague or claim == NOTHING:
            return self._table.holding_any(())
        return self._table.holding(claim)

    def _companions(self, scenes: SceneMask, besides: str = "") -> list[str]:
        """Name the things that are most often in some scenes; without scenes, in all of them."""
        rows = np.flatnonzero(scenes).tolist() or range(len(scenes))
        # Of things that are in as many scenes, the one that is in the first scene comes first.
        counts = Counter(chain.from_iterable(self._things_in[row] for row in rows))
        nouns = names_of_kind(besides, "noun")
        companions = (name for name, _ in counts.most_common() if name not in nouns)
        return [things()[name].noun.with_article() for name in islice(companions, MOST_COMPANIONS)]

    # What is wanted

    def _wanted_texts(self, wanted: str, unwanted: Sequence[str]) -> Iterator[str]:
        """Yield what may be wanted instead, the closest first."""
        if not wanted:
            yield ""
        yield from nearer(wanted)
        yield from self._similar_texts(wanted, unwanted)
        yield from of_same_kind(wanted)
        excluded = self._table.holding_any(())
        for text in unwanted:
            excluded |= self._showing(text)
        yield _ANYBODY[0]
        yield from self._companions(excluded)
        yield from _ANYBODY[1:]

    def _similar_texts(self, wanted: str, unwanted: Sequence[str]) -> list[str]:
        """Describe scenes with the same subject or action, and nothing unwanted."""
        subjects = names_of_kind(wanted, "noun")
        if len(subjects) >= TOO_MANY_THINGS:
            subjects = frozenset()
        verbs = names_of_kind(wanted, "verb")
        wanted_names = _WantedNames(subjects, verbs, names_of_kind(wanted, "place"))

        claims = [read_asked(text.removeprefix("with ")) for text in unwanted]
        excluded = self._table.holding_any(filter(None, claims))
        return self._descriptions(~excluded, wanted_names)

    def _descriptions(self, allowed: SceneMask, wanted: _WantedNames) -> list[str]:
        """Describe allowed scenes with such a subject or action, the most similar first."""
        # By the similarity of the figure, and the text.
        counts = Counter[tuple[int, str]]()
        for figure, place in self._candidates(allowed, wanted):
            similarity = wanted.similarity(figure, place)
            for text in texts_about(figure):
                counts[similarity, text] += 1

        # Of descriptions that are as similar, the most frequent comes first.
        frequent_first = [description for description, _ in counts.most_common()]
        best_first = sorted(frequent_first, key=itemgetter(0), reverse=True)
        return list(dict.fromkeys(text for _, text in best_first))

    def _candidates(self, allowed: SceneMask, wanted: _WantedNames) -> Iterator[tuple[Figure, str]]:
        """Yield the figures of allowed scenes that are, or do, what is wanted, and their places."""
        wanted_names = wanted.subjects | wanted.verbs
        for scene in compress(self._scenes, allowed):
            for figure in scene.figures:
                names = {figure.thing, *main_verbs(figure)}
                if not names.isdisjoint(wanted_names):
                    yield figure, scene.place
