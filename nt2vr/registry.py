"""Lookup by name: built-in implementations, one's own, and those of plug-ins.

They also feed drop-downs, config checks and contract tests. A plug-in is an installed package with an entry point in a
group such as `nt2vr.strategies`; it is imported when a name is asked for that is not built in, or all are listed.
"""

import logging
import re
from collections.abc import Callable, Iterator, Mapping
from importlib.metadata import EntryPoint, entry_points
from threading import RLock
from typing import Any, TypeVar

from nt2vr.errors import ConfigError, quoted, reason_of

logger = logging.getLogger(__name__)
T = TypeVar("T")
_WORD = re.compile(r"[a-z][a-z0-9_-]+")


def pick(kind: str, name: str, choices: Mapping[str, T]) -> T:
    """Return `choices[name]`, or raise a ConfigError that lists the names."""
    try:
        return choices[name]
    except KeyError:
        raise ConfigError(f"Unknown {kind} {quoted(name)}. Choose one of: {', '.join(sorted(choices))}.") from None


class Registry(Mapping[str, T]):
    """Implementations of one kind by name, the built-in ones first.

    Args:
        kind: what they are, in messages.
        group: of the entry points of plug-ins.
        accept: checks a name and a value from outside, and returns the value to keep, or raises a ConfigError.
    """

    def __init__(
        self,
        kind: str,
        group: str,
        built_in: Mapping[str, T],
        accept: Callable[[str, Any], T] = lambda _, value: value,
    ) -> None:
        self._kind, self._group, self._accept = kind, group, accept
        self._built_in = built_in
        self._added: dict[str, T] = {}  # by `register`
        self._plugged: dict[str, T] | None = None
        self._loading = RLock()  # a plug-in may register something itself

    def register(self, name: str, value: object) -> None:
        """Add an implementation, or replace one that was added before; a ConfigError refuses any other taken name."""
        self._check_free(name)
        self._added[name] = self._accept(name, value)

    @property
    def added(self) -> list[str]:
        """Names that are not built in."""
        return [name for name in self if name not in self._built_in]

    def __getitem__(self, name: str) -> T:
        """Return an implementation; plug-ins are loaded only for a name that is not built in."""
        return self._built_in[name] if name in self._built_in else self._others()[name]

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names, those of plug-ins last."""
        return iter([*self._built_in, *self._others()])

    def __len__(self) -> int:
        return len(self._built_in) + len(self._others())

    def _others(self) -> Mapping[str, T]:
        with self._loading:
            if self._plugged is None:
                self._plugged = {}
                for plug_in in entry_points(group=self._group):
                    self._load(plug_in, self._plugged)
            return {**self._plugged, **self._added}

    def _load(self, plug_in: EntryPoint, loaded: dict[str, T]) -> None:
        """Load a plug-in; one that cannot be used is reported, and left out."""
        try:
            self._check_free(plug_in.name)
            loaded[plug_in.name] = self._accept(plug_in.name, plug_in.load())
        except (Exception, SystemExit) as error:  # it is outside code, which raises anything
            whose = plug_in.dist.name if plug_in.dist else plug_in.value
            why = reason_of(error) if isinstance(error, Exception) else "it ends the program"
            name = f"{self._kind} {quoted(plug_in.name)}"
            logger.warning("The plug-in %s has a %s that cannot be used (%s). Correct or remove it.", whose, name, why)

    def _check_free(self, name: str) -> None:
        if name in self._built_in:
            raise ConfigError(f"There is a built-in {self._kind} {quoted(name)}. Choose another name.")
        if self._plugged and name in self._plugged:
            raise ConfigError(f"A plug-in has a {self._kind} {quoted(name)} already. Choose another name.")


def check_word(kind: str, name: str) -> None:
    """Refuse a name that is not a word as it is typed within others: two or more of a-z, 0-9, "_" and "-"."""
    if not (isinstance(name, str) and _WORD.fullmatch(name)):
        raise ConfigError(f"A {kind} cannot be called {quoted(name)}: use lower-case letters, digits, _ and -.")
