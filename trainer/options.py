"""Config and loss options: dataclass fields with a default and a help text."""

import json
import math
from collections.abc import Collection, Mapping
from dataclasses import field, fields
from typing import Any, Literal, TypeVar, get_args, get_origin, get_type_hints

from nt2vr.errors import MAX_QUOTED, ConfigError, quoted
from nt2vr.querygen.denials import DenialKind

T = TypeVar("T")
SENTENCE_KINDS = (*get_args(DenialKind), "list", "except", "place")  # the last three by the built-in world's grammar


def option(default: T, text: str) -> T:
    """Declare a dataclass field with its default and help text; instances share a default mapping."""
    if isinstance(default, Mapping):
        return field(default_factory=lambda: default, metadata={"help": text})
    return field(default=default, metadata={"help": text})


def help_of(kind: type) -> dict[str, str]:
    """Return the help text of every field of a dataclass; that of a plug-in may have none."""
    return {one.name: one.metadata.get("help", "") for one in fields(kind)}


def check_kind(key: str, value: object, default: object) -> None:
    """Reject a value whose type differs from the default's; an integer passes as a float."""
    kind = int | float if isinstance(default, float) else type(default)
    if not isinstance(value, kind) or (isinstance(value, bool) and not isinstance(default, bool)):
        raise ConfigError(f"{key} must be like {json.dumps(default)}, not {json.dumps(value)}.")


def read_settings(kind: type[T], key: str, values: Mapping[str, Any], known: Collection[str]) -> T:
    """Build a dataclass of settings from the mapping that a config has as its `key`.

    Args:
        known: names that the mapping may have; the others keep their defaults.

    Raises:
        ConfigError: in one sentence.
    """
    if unknown := sorted(set(values) - set(known)):
        raise ConfigError(f"{key} has no setting {quoted(unknown[0])}. Choose among: {', '.join(sorted(known))}.")
    hints, default = get_type_hints(kind), kind()
    for name, value in values.items():
        check_kind(f"{key}.{name}", value, getattr(default, name))
        choices = get_args(hints[name]) if get_origin(hints[name]) is Literal else (value,)
        if value not in choices:
            raise ConfigError(f"{key}.{name} must be one of {', '.join(choices)}, not {quoted(value)}.")
    return kind(**values)


def check_shares(shares: Mapping[str, float]) -> None:
    """Reject unknown kinds of sentences and unusable shares."""
    if unknown := sorted(set(shares) - set(SENTENCE_KINDS)):
        kinds = ", ".join(SENTENCE_KINDS)
        raise ConfigError(
            f"There are no sentences of the kind {', '.join(unknown)[:MAX_QUOTED]}. Choose among: {kinds}."
        )
    for kind, share in shares.items():
        check_kind(f"The share of {kind} sentences", share, 0.5)
    if not (all(0 <= share < math.inf for share in shares.values()) and sum(shares.values()) > 0):
        raise ConfigError("The shares of sentences must be numbers from 0 up, at least one of them above 0.")
