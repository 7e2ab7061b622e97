"""Wordings and word lists that rules fill in: the files of `assets/wordings`."""

import json
from functools import cache
from typing import Any

from nt2vr.negation.parse.wordlists import lines_of, text_of, words


@cache
def groups_in(file: str) -> tuple[frozenset[str], ...]:
    """Read groups of words, one a line."""
    return tuple(map(words, lines_of(f"wordings/{file}")))


@cache
def wordings_in(file: str) -> dict[str, Any]:
    """Read wordings by use, mostly with a family each."""
    found: dict[str, Any] = json.loads(text_of(f"wordings/{file}"))
    return found
