"""Words that a model has never seen, replaced by known ones of like meaning.

A model that knows the word is asked for it as typed. Models that do not know it are all asked for the same word.
"""

import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from functools import cache

from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import WORD
from nt2vr.negation.parse.inflect import forms_of
from nt2vr.negation.parse.query import Query
from nt2vr.negation.parse.tokens import EMOJI, NO_EMOJI

Synonyms = Mapping[str, str]  # word -> words to read it as
Knows = Callable[[str], bool]

_WITH_ARTICLE = re.compile(rf"(?:\b([Aa])n? )?({WORD.pattern})")
_JOINING = frozenset({"or"})  # in "boy or girl"; helps whether or not a model knows it


def substitutes(
    query: Query, models: Mapping[str, Encoder], synonyms: Synonyms, literal: Collection[str] = ()
) -> dict[str, dict[str, str]]:
    """Return by model the words to ask for instead of words it has never seen, as far as it knows any.

    Synonyms are consulted if no other form of a word is known; `literal` words stay as typed.
    """
    unseen = {name: unseen_words(query, model) for name, model in models.items()}

    def substitute(word: str) -> str | None:
        unknowing = [models[name] for name, words in unseen.items() if word in words]
        return known_substitute(
            word, cache(lambda text: not any(each.unseen_words(text) for each in unknowing)), synonyms
        )

    words = {word for each in unseen.values() for word in each} - {word.lower() for word in literal}
    known = {word: found for word in words if (found := substitute(word))}
    return {name: {word: known[word] for word in words if word in known} for name, words in unseen.items()}


def unseen_words(query: Query, model: Encoder) -> tuple[str, ...]:
    """List the words of a query's parts that never occurred in a model's training."""
    return model.unseen_words(
        " ".join((*query.wanted, *query.unwanted, *(each for each in query.text if each in NO_EMOJI)))
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
