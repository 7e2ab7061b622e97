"""Wordings, word lists and prompts that rules fill in: the files of `assets/wordings`."""

import json
from functools import cache
from typing import Any

from nt2vr.language.wordlists import words
from nt2vr.settings import ASSETS


def text_of(file: str) -> str:
    return (ASSETS / "wordings" / file).read_text(encoding="utf-8")


@cache
def groups_in(file: str) -> tuple[frozenset[str], ...]:
    """Read groups of words, one a line."""
    return tuple(map(words, text_of(file).splitlines()))


@cache
def wordings_in(file: str) -> dict[str, Any]:
    """Read wordings by use, mostly with a family each."""
    found: dict[str, Any] = json.loads(text_of(file))
    return found
