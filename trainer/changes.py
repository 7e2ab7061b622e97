"""Config changes as typed: KEY=VALUE, with dotted keys such as losses.bnl.m4=-.1."""

import json
from collections.abc import Mapping
from contextlib import suppress
from copy import deepcopy
from typing import Any

from nt2vr.errors import ConfigError, quoted


def parse_change(text: str) -> tuple[str, Any]:
    """Parse KEY=VALUE; the value is JSON, a number such as -.1, or a plain string."""
    key, value = _split(text, "KEY=VALUE")
    return key, _value(value)


def parse_choices(text: str) -> tuple[str, list[Any]]:
    """Parse KEY=VALUE,VALUE."""
    key, values = _split(text, "KEY=VALUE,VALUE")
    if not values:
        raise ConfigError(f"The grid has no value of {quoted(key)}. Name some.")
    return key, [_value(each) for each in values.split(",")]


def _split(text: str, form: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not (key and equals):
        raise ConfigError(f"Expected {form}, not {quoted(text)}.")
    return key, value  # which may be empty: base= is random weights


def _value(text: str) -> Any:
    for read in (json.loads, float):
        with suppress(ValueError):
            return read(text)
    return text


def changed(data: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return a copy of a config's data with other values.

    Args:
        changes: value by key, which may be dotted: losses.bnl.m4.
    """
    result = deepcopy(dict(data))
    for key, value in changes.items():
        place = result
        *parents, last = key.split(".")
        for parent in parents:
            place = place.setdefault(parent, {})
            if not isinstance(place, dict):
                raise ConfigError(f"{quoted(key)} is no setting: {parent} has no parts. Correct the key.")
        place[last] = value
    return result
