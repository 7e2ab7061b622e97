"""Lookup by name in explicit dicts. They also feed drop-downs, config checks and contract tests."""

from collections.abc import Mapping
from typing import TypeVar

from nt2vr.errors import ConfigError, quoted

T = TypeVar("T")


def pick(kind: str, name: str, choices: Mapping[str, T]) -> T:
    """Return `choices[name]`, or raise a ConfigError that lists the names."""
    try:
        return choices[name]
    except KeyError:
        raise ConfigError(f"Unknown {kind} {quoted(name)}. Choose one of: {', '.join(sorted(choices))}.") from None
