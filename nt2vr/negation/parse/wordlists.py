"""Word lists: those in the files of `assets/language`, and those written in modules."""

import tomllib
from collections.abc import Iterable
from functools import cache
from typing import Any

from nt2vr.settings import ASSETS


def words(text: str) -> frozenset[str]:
    """Split text into a set of words, or of tags."""
    return frozenset(text.split())


def renamed(text: str) -> dict[str, str]:
    """Map words to the one before them: "man=guy,gentleman dog=puppy" maps "guy" to "man"."""
    names = {}
    for pair in text.split():
        name, aliases = pair.split("=")
        for alias in aliases.split(","):
            names[alias] = name
    return names


def text_of(file: str) -> str:
    """Read a file of the folder `assets`."""
    return (ASSETS / file).read_text(encoding="utf-8")


def lines_of(file: str) -> list[str]:
    return text_of(file).splitlines()


@cache
def _table() -> dict[str, Any]:
    return tomllib.loads(text_of("language/words.toml"))


@cache
def listed(*names: str) -> frozenset[str]:
    """Return the words of some lists of `words.toml`, together: "actors", "roles"."""
    lists = _table()["lists"]
    return frozenset().union(*(words(lists[name]) for name in names))


@cache
def spellings(name: str) -> dict[str, str]:
    """Map misspelt words of a table of `words.toml` to the right ones."""
    right_words = {}
    for right, misspelt in _table()["spellings"][name].items():
        for word in misspelt.split():
            right_words[word] = right
    return right_words


class Runs(frozenset[str]):
    """A set of runs of words, such as "in sight" and "no one".

    Indexed by their first word and their first two words.
    """

    def __init__(self, runs: Iterable[str]) -> None:
        """Index `runs`, which `frozenset` has stored already."""
        words_of_runs = [tuple(run.split(" ")) for run in self]
        self.openers = frozenset(words_of_run[0] for words_of_run in words_of_runs)
        self.pairs = frozenset(
            words_of_run[:2] for words_of_run in words_of_runs if len(words_of_run) > 1
        )
        self.longest = max(map(len, words_of_runs))


@cache
def listed_runs(name: str) -> Runs:
    """Return a list of `words.toml` whose entries have several words, separated by commas."""
    return Runs(" ".join(_table()["runs"][name].split()).split(", "))
