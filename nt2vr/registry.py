"""Lookup by name in explicit dicts, which also feed drop-downs, config checks and contract tests."""

from collections.abc import Mapping
from typing import TypeVar

from nt2vr.errors import ConfigError

T = TypeVar("T")


def pick(kind: str, name: str, choices: Mapping[str, T]) -> T:
    """Return `choices[name]`, or raise a ConfigError that lists the names."""
    try:
        return choices[name]
    except KeyError:
        raise ConfigError(f"Unknown {kind} {name!r}. Choose one of: {', '.join(sorted(choices))}.") from None
