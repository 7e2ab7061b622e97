"""Config and loss options: dataclass fields with a default and a help text."""

import json
import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import field, fields
from functools import cache
from typing import Annotated, Any, Literal, NamedTuple, TypeVar, get_args, get_origin, get_type_hints

from nt2vr.errors import MAX_QUOTED, ConfigError, quoted
from nt2vr.negation.generate.denials import DenialKind

T = TypeVar("T")
SENTENCE_KINDS = (*get_args(DenialKind), "list", "except", "place")  # the last three by the built-in world's grammar


class Rule(NamedTuple):
    """What a setting must be, and how a refusal says it."""

    holds: Callable[[Any], bool]
    refusal: str


Count = Annotated[int, Rule(lambda value: value >= 1, "must be at least 1, not")]
Whole = Annotated[int, Rule(lambda value: value >= 0, "must not be below 0, but is")]
AnySize = Annotated[float, Rule(lambda value: 0 <= value < math.inf, "must not be below 0 or infinite, but is")]
Positive = Annotated[float, Rule(lambda value: 0 < value < math.inf, "must be above 0 and finite, not")]
PositiveOrInfinite = Annotated[float, Rule(lambda value: value > 0, "must be above 0, not")]
Share = Annotated[float, Rule(lambda value: 0 < value <= 1, "must be a share above 0 and up to 1, not")]
ShareOrNone = Annotated[float, Rule(lambda value: 0 <= value <= 1, "must be a share from 0 to 1, not")]


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


@cache
def rules_of(kind: type) -> dict[str, Rule]:
    """Return the rules of a dataclass's fields: that of their type, or of the choices that it lists."""
    rules = dict[str, Rule]()
    for key, hint in get_type_hints(kind, include_extras=True).items():
        if get_origin(hint) is Literal:
            choices = get_args(hint)
            rules[key] = Rule(choices.__contains__, f"must be one of {', '.join(map(str, choices))}, not")
        for each in getattr(hint, "__metadata__", ()):
            if isinstance(each, Rule):
                rules[key] = each
    return rules


def check_settings(settings: Any, prefix: str = "") -> None:
    """Reject a value that breaks the rule of its field."""
    for key, rule in rules_of(settings.__class__).items():
        if not rule.holds(value := getattr(settings, key)):
            raise ConfigError(f"{prefix}{key} {rule.refusal} {quoted(value)}.")


def read_settings(kind: type[T], key: str, values: Mapping[str, Any], known: Collection[str]) -> T:
    """Build a dataclass of settings from a config's mapping `key`, which may have the `known` names only."""
    if unknown := sorted(set(values) - set(known)):
        raise ConfigError(f"{key} has no setting {quoted(unknown[0])}. Choose among: {', '.join(sorted(known))}.")
    default = kind()
    for name, value in values.items():
        check_kind(f"{key}.{name}", value, getattr(default, name))
    settings = kind(**values)
    check_settings(settings, f"{key}.")
    return settings


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
