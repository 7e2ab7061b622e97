"""Lookup by name: built-in implementations, those of extensions, and those that a program registers in its process."""

import re
from collections.abc import Callable, Iterator, Mapping, MutableMapping
from typing import Any, TypeVar

from nt2vr.errors import ConfigError, quoted
from nt2vr.extension import Extension, References, loaded

T = TypeVar("T")
_WORD = re.compile(r"[a-z][a-z0-9_-]+")


def pick(kind: str, name: str, choices: Mapping[str, T]) -> T:
    """Return `choices[name]`, or raise a ConfigError that lists the names."""
    try:
        return choices[name]
    except KeyError:
        raise ConfigError(
            f"Unknown {kind} {quoted(name)}. Choose one of: {', '.join(sorted(choices))}."
        ) from None


class Registry(MutableMapping[str, T]):
    """Implementations of one kind by name: the core's, then those of extensions, then those registered.

    Those of extensions are imported at the first look-up, since their modules import ours.
    """

    def __init__(
        self,
        kind: str,
        built_in: Mapping[str, T],
        accept: Callable[[str, Any], T] = lambda _, value: value,
        references: Callable[[Extension], References] | None = None,
    ) -> None:
        """Create a registry; `accept` checks and returns what a program registers.

        Args:
            kind: in messages, such as "loss".
            references: returns what an extension adds, by name.
        """
        self._kind = kind
        self._accept = accept
        self._references = references
        self._values = dict(built_in)
        self._permanent = frozenset(built_in)

    def _all(self) -> dict[str, T]:
        references = self._references
        if references is not None:
            self._references = None
            self._values.update(loaded(references))
            self._permanent = frozenset(self._values)
        return self._values

    def __getitem__(self, name: str) -> T:
        return self._all()[name]

    def __setitem__(self, name: str, value: T) -> None:
        self._all()[name] = value

    def __delitem__(self, name: str) -> None:
        del self._all()[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._all())

    def __len__(self) -> int:
        return len(self._all())

    def register(self, name: str, value: object) -> None:
        """Add an implementation, or replace one that was added before; a built-in name is refused."""
        values = self._all()
        if name in self._permanent:
            raise ConfigError(
                f"There is a built-in {self._kind} {quoted(name)}. Choose another name."
            )
        values[name] = self._accept(name, value)

    @property
    def added(self) -> list[str]:
        """Names that a program has registered."""
        return [name for name in self if name not in self._permanent]


def check_word(kind: str, name: str) -> None:
    """Refuse a name that is not a word as it is typed within others: two or more of a-z, 0-9, "_" and "-"."""
    if not (isinstance(name, str) and _WORD.fullmatch(name)):
        raise ConfigError(
            f"A {kind} cannot be called {quoted(name)}: use lower-case letters, digits, _ and -."
        )
