"""Corrections of mistyped names of commands, models, libraries and keys."""

from collections.abc import Iterable
from difflib import get_close_matches

CLOSE = 0.8  # of two names, from 0 to 1: "serch" is close to "search", "CLAP" not to "CLIP"


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Suggest the closest of the names, ignoring case, as a sentence that follows another; empty if none is close."""
    by_key = {each.casefold(): each for each in names}
    near = get_close_matches(name.casefold(), by_key, n=1, cutoff=CLOSE)
    return f" Did you mean {by_key[near[0]]!r}?" if near else ""
