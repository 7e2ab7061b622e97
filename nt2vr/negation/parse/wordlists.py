"""Word lists: those in the files of `assets/language`, and those written in modules."""

import tomllib
from collections.abc import Iterable
from functools import cache
from typing import Any

from nt2vr.settings import ASSETS


def words(text: str) -> frozenset[str]:
    """Split text into a set of words."""
    return frozenset(text.split())


def renamed(text: str) -> dict[str, str]:
    """Map words to the one before them: "man=guy,gentleman dog=puppy" maps "guy" to "man"."""
    pairs = (pair.split("=") for pair in text.split())
    return {other: name for name, others in pairs for other in others.split(",")}


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
    """Return the words of some lists of `assets/language/words.toml`, together: "actors", "roles"."""
    return frozenset().union(*(words(_table()["lists"][name]) for name in names))


@cache
def spellings(name: str) -> dict[str, str]:
    """Map misspelt words of a table of `assets/language/words.toml` to the right ones."""
    return {
        wrong: right
        for right, some in _table()["spellings"][name].items()
        for wrong in some.split()
    }


class Runs(frozenset[str]):
    """A set of runs of words: "in sight", "no one"; indexed by their first word and their first two."""

    def __init__(self, runs: Iterable[str]) -> None:
        """Index `runs`, which `frozenset` has stored already."""
        self.openers = frozenset(run.partition(" ")[0] for run in self)
        self.pairs = frozenset(tuple(run.split(" ", 2)[:2]) for run in self if " " in run)
        self.longest = max(run.count(" ") + 1 for run in self)


@cache
def listed_runs(name: str) -> Runs:
    """Return a list of `assets/language/words.toml` whose entries are of several words, separated by commas."""
    return Runs(" ".join(_table()["runs"][name].split()).split(", "))
