"""Suggestions: queries close to one that no clip fits, which lead to clips that are right and others that are not."""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple

import numpy as np

from nt2vr.negation.parse.inflect import inflect, inflect_phrase, is_noun, verb_of
from nt2vr.negation.parse.query import Query
from nt2vr.negation.parse.wordlists import listed as words_of
from nt2vr.world.claims import Claim, SceneMask, SceneTable
from nt2vr.world.lexicon import Words, lexicon, longest, tokens_of
from nt2vr.world.query_claims import read_as_meant, read_query
from nt2vr.world.reader import NOTHING, read_asked
from nt2vr.world.scenes import Figure, Scene, main_actions
from nt2vr.world.things import Names, all_nouns, places, things
from nt2vr.world.verdicts import judge
from nt2vr.world.words import PhraseWord, words_in

# Clips that fit a query for which others are suggested.
FEW = 1
MAX_SUGGESTIONS = 2
# Sentences that are tried for a query.
MOST_TRIED = 60
# Of these, sentences with the unwanted part as typed.
MOST_OF_TYPED = 40
MOST_SUBJECTS = 3
MOST_COMPANIONS = 12
# A word for so many things says little: "an animal".
_TOO_MANY_THINGS = 30
_SOMEBODY = re.compile(r"(?:any|every|some)(?:one|body)")
_WHOEVER = re.compile(rf"^(?:{_SOMEBODY.pattern}|people) (?=[a-z]+ing\b)", re.IGNORECASE)
_ARTICLE = re.compile(r"^(an?|the|any) ", re.IGNORECASE)
_BEFORE_PLACES = frozenset({"at", "behind", "in", "inside", "near", "on", "under"})
_ANYWHERE = frozenset({"indoors", "inside", "outdoors", "outside"})
_ANYBODY = ("a person", "an animal", "a vehicle")

Understand = Callable[[str], Query]


class _FigurePosition(NamedTuple):
    """A figure by the row of its scene, and its number there."""

    row: int
    number: int


class _Masks(NamedTuple):
    """The scenes that fit a query, and those that show what it excludes."""

    right: SceneMask
    wrong: SceneMask


class Suggestions:
    """Counts the scenes that fit a query, and finds other queries where hardly any does."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self._table = SceneTable(scenes)
        self._names = list(things())
        # Whether a scene has a thing as a figure: (T, N).
        self._is_in = np.zeros((len(self._names), len(scenes)), bool)
        # Figures by what they are, and by what they do.
        self._figures_of: defaultdict[str, list[_FigurePosition]] = defaultdict(list)
        for row, scene in enumerate(scenes):
            for number, figure in enumerate(scene.figures):
                self._is_in[self._names.index(figure.thing), row] = True
                names = {figure.thing, *_main_verbs(figure)}
                for name in names:
                    self._figures_of[name].append(_FigurePosition(row, number))

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
        queries: list[str] = []
        texts = dict.fromkeys(self._texts(query))
        for text in islice(texts, MOST_TRIED):
            is_other = text.casefold() != query.text.strip().casefold()
            if is_other and self._is_worthwhile(understand(text), bool(query.unwanted)):
                queries.append(text)
            if len(queries) == MAX_SUGGESTIONS:
                break
        return queries

    def _texts(self, query: Query) -> Iterator[str]:
        """Yield sentences to suggest, the closest to the query first."""
        wanted = " ".join(query.wanted)
        unwanted = list(filter(None, map(self._shown_text, query.unwanted)))
        if unwanted or not query.unwanted:
            for text in islice(self._wanted_texts(wanted, unwanted), MOST_OF_TYPED):
                yield _written(query, text, unwanted)
        # Where clips show nothing that is excluded, exclude something that they do show.
        subjects = [*_shorter(wanted), *self._nearer(wanted)][:MOST_SUBJECTS]
        of_same_kind = islice(_of_same_kind(wanted), MOST_SUBJECTS)
        for text in (*subjects, *of_same_kind, *_ANYBODY):
            for company in self._companions(self._showing(text), besides=text):
                yield _query_of(text, [company])

    def _masks(self, query: Query) -> _Masks | None:
        claims = read_query(query)
        parts = (*claims.wanted, *claims.unwanted)
        if not parts or any(part.claim is None or part.claim.vague for part in parts):
            return None
        has_wanted = np.ones(len(self._scenes), bool)
        for part in claims.wanted:
            has_wanted &= self._table.holding_any(part.readings)
        has_unwanted = np.zeros(len(self._scenes), bool)
        for part in claims.unwanted:
            has_unwanted |= self._table.holding_any(part.readings)
        return _Masks(right=has_wanted & ~has_unwanted, wrong=has_unwanted)

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
            for near in (*map(_with_article, word.meaning.near), *_actions_with(word)):
                if self._showing(near).sum() > FEW:
                    return near
        return ""

    def _showing(self, text: str) -> SceneMask:
        claim = read_as_meant(text) if text else None
        if claim is None or claim.vague or claim == NOTHING:
            return np.zeros(len(self._scenes), bool)
        return self._table.holding(claim)

    def _companions(self, scenes: SceneMask, besides: str = "") -> list[str]:
        """Name the things that are most often in some scenes; without scenes, in all of them."""
        is_in = self._is_in[:, scenes] if scenes.any() else self._is_in
        counts = is_in.sum(axis=1)  # (T,)
        # Of things that are in as many scenes, the one that comes first.
        most_often_first = np.lexsort((is_in.argmax(axis=1), -counts))
        nouns = _named(tokens_of(besides), "noun")
        companions: list[str] = []
        for row in most_often_first.tolist():
            name = self._names[row]
            if len(companions) == MOST_COMPANIONS or not counts[row]:
                break
            if name not in nouns:
                companions.append(things()[name].nouns[0].with_article())
        return companions

    # What is wanted

    def _wanted_texts(self, wanted: str, unwanted: Sequence[str]) -> Iterator[str]:
        """Yield what may be wanted instead, the closest first."""
        if not wanted:
            yield ""
        yield from _shorter(wanted)
        yield from self._nearer(wanted)
        yield from self._similar_texts(wanted, unwanted)
        yield from _of_same_kind(wanted)
        excluded = np.zeros(len(self._scenes), bool)
        for text in unwanted:
            excluded |= self._showing(text)
        yield _ANYBODY[0]
        yield from self._companions(excluded)
        yield from _ANYBODY[1:]

    def _nearer(self, wanted: str) -> Iterator[str]:
        """Yield words that the world has for those that it lacks."""
        for word in words_in(wanted):
            for near in word.meaning.near:
                yield _with_article(near)

    def _similar_texts(self, wanted: str, unwanted: Sequence[str]) -> list[str]:
        """Describe scenes with the same subject or action, and nothing unwanted."""
        words = tokens_of(wanted)
        subjects = _named(words, "noun")
        if len(subjects) >= _TOO_MANY_THINGS:
            subjects = frozenset()
        claims: list[Claim] = []
        for text in unwanted:
            claim = read_asked(text.removeprefix("with "))
            if claim is not None:
                claims.append(claim)
        allowed = ~self._table.holding_any(claims)
        return self._descriptions(
            allowed, subjects, verbs=_named(words, "verb"), where=_named(words, "place")
        )

    def _descriptions(
        self, allowed: SceneMask, subjects: Names, verbs: Names, where: Names
    ) -> list[str]:
        """Describe allowed scenes with such a subject or action, the most similar first."""
        candidates: set[_FigurePosition] = set()
        for name in (*subjects, *verbs):
            candidates.update(self._figures_of.get(name, ()))

        # By the similarity of the figure, and the text.
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


def _shorter(wanted: str) -> Iterator[str]:
    """Yield the things of a phrase with one of its actions or its place, and then each alone."""
    words = words_in(wanted)
    nouns = [word for word in words if word.meaning.kind == "noun"]
    actions = []
    for word in words:
        if word.meaning.kind == "verb" and _stands_alone(word):
            actions.append(word.doing)
    where = []
    for word in words:
        if word.meaning.kind == "place":
            where.append(_place_phrase(word))
    for noun in nouns:
        for addition in (*where, *actions):
            yield f"{_noun_text(noun)} {addition}"
    for noun in nouns:
        yield _noun_text(noun)
    if "night" in tokens_of(wanted):
        for place in where:
            yield f"a person {place} at night"
    for addition in (*actions, *where):
        yield f"a person {addition}"


def _of_same_kind(wanted: str) -> Iterator[str]:
    """Yield things of the smallest kind that those of a phrase belong to."""
    for word in words_in(wanted):
        if word.meaning.kind == "noun":
            names = word.meaning.names
        else:
            names = frozenset()
        if not names or len(names) >= _TOO_MANY_THINGS:
            continue
        kinds = frozenset.intersection(*(things()[name].kinds for name in names))
        members = [_members(kind) - names for kind in sorted(kinds)]
        for group in sorted(filter(None, members), key=len)[:1]:
            for name in sorted(group):
                yield things()[name].nouns[0].with_article()


@cache
def _members(kind: str) -> Names:
    return frozenset(name for name, thing in things().items() if kind in thing.is_a)


def _stands_alone(word: PhraseWord) -> bool:
    return word.meaning.alone or not word.meaning.takes_object


def _place_phrase(word: PhraseWord) -> str:
    """Write a place with its preposition, in the typed way if the world calls it so."""
    phrases = []
    for name in sorted(word.meaning.names):
        for text in places()[name].phrases:
            phrases.append(text)
    typed = [text for text in phrases if tokens_of(text) == word.text]
    # "outside" means many places.
    if word.text[0] in _ANYWHERE:
        typed.append(word.typed)
    return (typed or phrases)[0]


def _actions_with(word: PhraseWord) -> Iterator[str]:
    """Yield actions whose phrase has a word that alone means nothing: "moving to music"."""
    if word.meaning.kind != "vague":
        return
    for words, meaning in lexicon().items():
        is_doing = meaning.kind == "verb" and words[0].endswith("ing")
        if is_doing and not meaning.takes_object and set(word.text) <= set(words[1:]):
            yield " ".join(words)


def _noun_text(word: PhraseWord) -> str:
    if word.meaning.plural or _SOMEBODY.fullmatch(word.typed):
        return word.typed
    return _with_article(word.typed)


def _with_article(text: str) -> str:
    for noun in all_nouns():
        if noun.word == text:
            return noun.with_article()
    return f"{'an' if text[0] in 'aeiou' else 'a'} {text}"


def _main_verbs(figure: Figure) -> set[str]:
    return {action.verb for action in main_actions(figure)}


def _named(words: Words, kind: str) -> Names:
    """Return the names that a text has for one kind of meaning: "noun", "verb" or "place"."""
    names: set[str] = set()
    for start in range(len(words)):
        last = min(start + longest(), len(words))
        for end in range(start + 1, last + 1):
            meaning = lexicon().get(words[start:end])
            if meaning and meaning.kind == kind:
                names |= meaning.names
    return frozenset(names)


@cache
def _texts_about(figure: Figure) -> list[str]:
    """Say in a few words what a figure does, or that it is there: "a man playing a guitar"."""
    name = figure.kind.nouns[0].with_article()
    texts = []
    for action in main_actions(figure):
        if isinstance(action.object, int):
            continue
        thing = ""
        if action.object:
            thing = things()[action.object].nouns[0].with_article()
        phrase = action.kind.phrases[0].format(o=thing)
        texts.append(f"{name} {inflect_phrase(phrase, 'VBG')}")
    return texts or [name]


def _written(query: Query, wanted: str, unwanted: Sequence[str]) -> str:
    """Write a suggestion: the typed sentence with another wanted part, if it has one part of its own."""
    before = " ".join(query.wanted)
    is_same = list(unwanted) == list(query.unwanted)
    if is_same and before and wanted and before in query.text:
        return query.text.strip().replace(before, wanted, 1)
    return _query_of(wanted, unwanted)


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
    """Write "not DOING", "not AT NIGHT" or "no UNWANTED"."""
    first, _, rest = _WHOEVER.sub("", part).partition(" ")
    word = first.lower()
    if word in _BEFORE_PLACES:
        return f"not {part}"
    verb = verb_of(word)
    if verb and word.endswith("ing") and word != verb:
        return f"not {first} {rest}".strip()
    is_verb = not is_noun(word) or rest.partition(" ")[0] in words_of("function_words")
    if verb and is_verb:
        return f"not {inflect(verb, 'VBG')} {rest}".strip()
    return f"no {_ARTICLE.sub('', part)}"
