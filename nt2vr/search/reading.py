"""What systems are asked, and how their models read it: unseen words are replaced by known ones of like meaning.

A model that knows the word is asked for it as typed. Models that do not know it are all asked for the same word.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType

from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import WORD
from nt2vr.negation.parse.inflect import forms_of
from nt2vr.negation.parse.query import Query
from nt2vr.negation.parse.tokens import EMOJI, NO_EMOJI
from nt2vr.search.embed_query import texts_of
from nt2vr.search.live import LoadedModel
from nt2vr.search.references import Reference
from nt2vr.search.strategies import Vector
from nt2vr.search.systems import System

Synonyms = Mapping[str, str]  # word -> words to read it as
Knows = Callable[[str], bool]
Known = Mapping[str, Mapping[str, Vector]]  # embeddings of texts, by model and text
NOTHING_KNOWN: Known = MappingProxyType({})
NO_TEXT = Query("")

_WITH_ARTICLE = re.compile(rf"(?:\b([Aa])n? )?({WORD.pattern})")
_JOINING = frozenset({"or"})  # in "boy or girl"; helps whether or not a model knows it


@dataclass(frozen=True)
class Asking:
    """What systems are asked: all of a search but its query."""

    systems: tuple[System, ...]
    loaded: Mapping[str, LoadedModel]
    k: int | None
    references: Sequence[Reference]
    strengths: Mapping[str, float]
    literal: Collection[str]

    @property
    def encoders(self) -> dict[str, Encoder]:
        return {name: model.encoder for name, model in self.loaded.items()}


@dataclass(frozen=True)
class Reading:
    """A query as one model is asked."""

    query: Query
    read_as: Mapping[str, str]  # word typed to words asked, for those that differ
    unseen: tuple[str, ...]  # words that never occurred in the model's training and have no known substitute
    reads: str = ""  # the words of the query that a model without stop words reads; empty for one that reads all


@dataclass(frozen=True)
class Read:
    """A query as asked, and as each model reads it."""

    asked: Query
    readings: Mapping[str, Reading]
    queries: Sequence[tuple[str, Query]]  # of each system, its model and what this is asked
    vector: Vector | None = None  # searched as it is, instead of a text

    def texts(self, model: str) -> list[str]:
        return [text for name, query in self.queries if name == model for text in texts_of(query)]

    @classmethod
    def of_vector(cls, vector: Vector, asking: Asking) -> "Read":
        """Return a query vector as read."""
        return cls(NO_TEXT, dict.fromkeys(asking.loaded, Reading(NO_TEXT, {}, ())), (), vector)


def read_query(
    query: Query, models: Mapping[str, Encoder], synonyms: Synonyms, literal: Collection[str] = ()
) -> dict[str, Reading]:
    """Return each model's reading by its name; synonyms are consulted if no other form of a word is known."""
    parts = " ".join((*query.wanted, *query.unwanted, *(each for each in query.text if each in NO_EMOJI)))
    unseen = {name: model.unseen_words(parts) for name, model in models.items()}
    kept = {word.lower() for word in literal}
    known: dict[str, str] = {}
    for word in dict.fromkeys(word for words in unseen.values() for word in words if word not in kept):
        unknowing = [models[name] for name, words in unseen.items() if word in words]
        if substitute := known_substitute(word, _known_to(unknowing), synonyms):
            known[word] = substitute
    return {name: _reading(query, words, known, models[name]) for name, words in unseen.items()}


def _known_to(models: Collection[Encoder]) -> Knows:
    return cache(lambda word: not any(model.unseen_words(word) for model in models))


def _reading(query: Query, unseen: tuple[str, ...], known: Mapping[str, str], model: Encoder) -> Reading:
    read_as = {word: known[word] for word in unseen if word in known}
    asked = with_words(query, read_as) if read_as else query
    reads = getattr(model, "reads", None)  # not every `Encoder` has it
    return Reading(
        asked, read_as, tuple(word for word in unseen if word not in read_as), reads(asked.text) if reads else ""
    )


def known_substitute(word: str, knows: Knows, synonyms: Synonyms) -> str | None:
    """Return a known form of the same word, otherwise its synonym with each word in a known form; None without one."""
    if (form := _known_form(word, knows)) is not None:
        return form
    for form in (word, *forms_of(word)):
        phrase = [_known_form(each, knows) for each in synonyms.get(form, "").split()]
        if phrase and None not in phrase:
            return " ".join(filter(None, phrase))
    return None


def _known_form(word: str, knows: Knows) -> str | None:
    return next((form for form in (word, *forms_of(word)) if form in _JOINING or knows(form)), None)


def with_words(query: Query, read_as: Mapping[str, str]) -> Query:
    """Replace words of a query and of its parts; "a" and "an" follow. Cues and scopes, positions in the text, go."""
    emoji = "".join(word for word in read_as if re.fullmatch(EMOJI, word))

    def replaced(text: str) -> str:
        if emoji:
            text = " ".join(re.sub(rf"([{emoji}])\ufe0f?", r" \1 ", text).split())
        return _WITH_ARTICLE.sub(lambda match: _with_article(match, read_as), text)

    wanted, unwanted = (tuple(map(replaced, parts)) for parts in (query.wanted, query.unwanted))
    return replace(query, text=replaced(query.text), wanted=wanted, unwanted=unwanted, cues=(), scopes=())


def _with_article(match: re.Match[str], read_as: Mapping[str, str]) -> str:
    word = read_as.get(match[2].lower())
    if word is None:
        return match[0]
    return word if match[1] is None else f"{match[1]}{'n' if word[0] in 'aeiou' else ''} {word}"
