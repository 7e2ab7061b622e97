"""Config and loss options: dataclass fields with a default and a help text, which the Train tab displays."""

import json
from collections.abc import Mapping
from dataclasses import field, fields
from typing import TypeVar

from nt2vr.errors import ConfigError

T = TypeVar("T")


def option(default: T, text: str) -> T:
    """Declare a dataclass field with its default and help text; instances share a default mapping."""
    if isinstance(default, Mapping):
        return field(default_factory=lambda: default, metadata={"help": text})
    return field(default=default, metadata={"help": text})


def help_of(kind: type) -> dict[str, str]:
    """Return the help text of every field of a dataclass."""
    return {one.name: one.metadata["help"] for one in fields(kind)}


def check_kind(key: str, value: object, default: object) -> None:
    """Reject a value whose type differs from the default's; an integer passes as a float."""
    kind = int | float if isinstance(default, float) else type(default)
    if not isinstance(value, kind) or (isinstance(value, bool) and not isinstance(default, bool)):
        raise ConfigError(f"{key} must be like {json.dumps(default)}, not {json.dumps(value)}.")
