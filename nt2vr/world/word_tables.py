"""Words that no caption has, from the tables in `assets/world`, and emoji.

`unseen_words.tsv` has words for one thing, action or place, `typed_words.tsv` those that name
several ("traffic"), and `near_words.tsv` sorts of what is drawn ("poodle") and what the world lacks
("quokka").
"""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache

from nt2vr.negation.parse.tokens import EMOJI, NO_EMOJI
from nt2vr.world.meaning import (
    Entry,
    Meaning,
    Words,
    doer_entries,
    forms_of,
    in_both_numbers,
    tokens_of,
)
from nt2vr.world.things import Names, kinds, meanings, places, plural_of, read_table, things, those


@cache
def emojis() -> dict[str, str]:
    """Map emoji to words for things, by their pictures and by Unicode's names, such as DOG FACE."""
    words = {}
    for thing in things().values():
        for noun in reversed(thing.nouns):
            for name in (f"{noun.word} face", noun.word):
                with suppress(KeyError):
                    words[unicodedata.lookup(name)] = noun.word
        # Pictures of several code points are no numbers.
        with suppress(ValueError):
            code_point = int(thing.picture, 16)
            words[chr(code_point)] = thing.noun.word
    return {emoji: word for emoji, word in words.items() if re.fullmatch(EMOJI, emoji)}


def listed_words(table: str) -> Iterator[Entry]:
    """Yield the entries of a table of words that captions do not have."""
    for row in read_table(table):
        word = row["word"]
        names = row["name"].split(",")
        match row["kind"]:
            case "place":
                fitting = [name for name in places() if _is_among(name, names)]
                yield word, Meaning("place", frozenset(fitting))
            case "action" if "er" in word[-3:] or word.endswith("ist") or row["object"]:
                yield from doer_entries(word, names[0], row["object"])
            case "action":
                for form in forms_of(word):
                    yield form, Meaning("verb", frozenset(names))
            case "group":
                group = Meaning(
                    kind="noun",
                    names=_things_named(names),
                    plural=True,
                    least=int(row["object"]),
                )
                yield from in_both_numbers(word, group)
            case "thing" | "kind":
                yield from in_both_numbers(word, Meaning("noun", _things_named(names)))


def _is_among(place: str, names: Sequence[str]) -> bool:
    setting = "indoors" if places()[place].indoors else "outdoors"
    return place in names or setting in names


@cache
def unsure_words() -> frozenset[Words]:
    """Return the words of captions by which people usually mean something else.

    Examples are "coach", of a bus, and "wedding", in a church.
    """
    unsure: set[Words] = set()
    for row in read_table("typed_words"):
        if row["kind"] == "none":
            word = row["word"]
            unsure |= {tokens_of(word), tokens_of(plural_of(word))}
    return frozenset(unsure)


def _things_named(names: Sequence[str]) -> Names:
    """Return the things of some words, or of some kinds and roles if there are no such words."""
    things_of_words: set[str] = set()
    for name in names:
        things_of_words |= meanings().get(name, frozenset())
    return frozenset(things_of_words or those(*names))


def near_words() -> Iterator[Entry]:
    """Yield words for sorts of what is drawn, vague nouns, and for what the world lacks."""
    for row in read_table("near_words"):
        near = tuple(row["near"].split(","))
        sort = Meaning(
            kind="noun",
            names=_things_named(near),
            value="sort",
            near=near,
        )
        for word in filter(None, row["sorts"].split(",")):
            yield from in_both_numbers(word, sort)
        for word in filter(None, row["lacking"].split(",")):
            yield from in_both_numbers(word, Meaning("lacking", near=near))


@cache
def synonyms() -> dict[str, str]:
    """Map emoji and words of `typed_words.tsv` to words for models: "someone" to "person"."""
    words = {**emojis(), **dict.fromkeys(NO_EMOJI, "no")}
    for row in read_table("typed_words"):
        word = row["word"]
        if " " in word:
            continue
        name, _, _ = row["name"].partition(",")
        if row["kind"] == "place" and name in places():
            usual_phrase = places()[name].phrases[0]
            words[word] = usual_phrase.split()[-1]
        elif row["kind"] == "thing":
            nouns = things()[name].nouns if name in things() else kinds().get(name)
            if nouns:
                words[word] = nouns[0].word
    return words
