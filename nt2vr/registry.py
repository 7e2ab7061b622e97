"""Lookup by name: built-in implementations, and those that a program registers in its process."""

import re
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from nt2vr.errors import ConfigError, quoted

T = TypeVar("T")
_WORD = re.compile(r"[a-z][a-z0-9_-]+")


def pick(kind: str, name: str, choices: Mapping[str, T]) -> T:
    """Return `choices[name]`, or raise a ConfigError that lists the names."""
    try:
        return choices[name]
    except KeyError:
        raise ConfigError(f"Unknown {kind} {quoted(name)}. Choose one of: {', '.join(sorted(choices))}.") from None


class Registry(dict[str, T]):
    """Implementations of one kind by name, built-in ones first; `accept` checks and returns those from outside."""

    def __init__(
        self, kind: str, built_in: Mapping[str, T], accept: Callable[[str, Any], T] = lambda _, value: value
    ) -> None:
        super().__init__(built_in)
        self._kind, self._accept, self._built_in = kind, accept, frozenset(built_in)

    def register(self, name: str, value: object) -> None:
        """Add an implementation, or replace one that was added before; a built-in name is refused."""
        if name in self._built_in:
            raise ConfigError(f"There is a built-in {self._kind} {quoted(name)}. Choose another name.")
        self[name] = self._accept(name, value)

    @property
    def added(self) -> list[str]:
        """Names that are not built in."""
        return [name for name in self if name not in self._built_in]


def check_word(kind: str, name: str) -> None:
    """Refuse a name that is not a word as it is typed within others: two or more of a-z, 0-9, "_" and "-"."""
    if not (isinstance(name, str) and _WORD.fullmatch(name)):
        raise ConfigError(f"A {kind} cannot be called {quoted(name)}: use lower-case letters, digits, _ and -.")
