"""Systems: a model with a query strategy and its strength, as in "CLIP boolean α 0.5"."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nt2vr.errors import ConfigError, did_you_mean, quoted
from nt2vr.models.card import Card
from nt2vr.registry import pick
from nt2vr.search.strategies import STRATEGIES, STRENGTHS

MAX_NAME = 100  # characters of a system's name
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


def check_model_name(name: str) -> None:
    """Refuse a model name that would parse as a model and a strategy, such as "mine drop α 0.5"."""
    _check_length(name)
    _, strategy, written = _split(name)
    if strategy and (not written or re.fullmatch(r"([^\d\s]+[\s=]*)?[+-]?[\d.]+", written)):
        names = ", ".join(STRATEGIES)
        raise ConfigError(f"A model cannot be called {quoted(name)}: choose a name not ending in {names}.")


def check_strategy(system: "System", card: Card) -> None:
    """Refuse a strategy that needs parts of queries, for a model that knows whole queries only."""
    if card.queries and system.strategy != "plain":
        raise ConfigError(f"{card.name} knows whole queries only, without their parts: {system.name} cannot be asked.")


def _check_length(name: str) -> None:
    if len(name) > MAX_NAME:
        raise ConfigError(f"A name has at most {MAX_NAME} characters: {quoted(name)} has {len(name):,}.")


def _split(name: str) -> tuple[str, str, str]:
    """Split a name at its last strategy: what is before, the strategy, and what is written after it."""
    words = name.split()
    for place in range(len(words) - 1, 0, -1):
        if words[place].lower() in STRATEGIES:
            return " ".join(words[:place]), words[place].lower(), " ".join(words[place + 1 :])
    return " ".join(words), "", ""


@dataclass(frozen=True)
class System:
    """A model and a query strategy."""

    model: str
    strategy: str = "plain"
    strength: float | None = None  # how strongly the strategy excludes; None takes the search's, or the model's

    def __post_init__(self) -> None:
        if self.strength is not None:
            pick("strategy with a number", self.strategy, STRENGTHS).check(self.strength)

    @property
    def name(self) -> str:
        """Name for drop-downs, links and the API: "CLIP", "CLIP drop", "CLIP boolean α 1"."""
        strength = f" {STRENGTHS[self.strategy].symbol} {self.strength:g}" if self.strength is not None else ""
        return self.model + (f" {self.strategy}" if self.strategy != "plain" else "") + strength

    @classmethod
    def named(cls, name: str, models: Sequence[str]) -> "System":
        """Parse a system's name, ignoring case and the width of spaces."""
        _check_length(name)
        known = {" ".join(model.casefold().split()): model for model in models}
        if model := known.get(" ".join(name.casefold().split())):
            return cls(model)
        before, strategy, written = _split(name)
        if before.casefold() in known and strategy:
            return cls(known[before.casefold()], strategy, _number(strategy, written) if written else None)
        if not before or before.lower() in STRATEGIES:
            advice = "Write a model and a strategy, as in 'CLIP boolean'."
            raise ConfigError(f"{quoted(name)} is not the name of a system. {advice}")
        words = name.split()
        for place in range(len(words) - 1, 0, -1):
            if " ".join(words[:place]).casefold() in known and words[place].isalpha():
                near = did_you_mean(words[place].lower(), STRATEGIES)
                choices = ", ".join(STRATEGIES)
                raise ConfigError(f"Unknown strategy {quoted(words[place].lower())}.{near} Choose one of: {choices}.")
        near = did_you_mean(before, known.values())
        raise ConfigError(f"Unknown model {quoted(before)}.{near} Choose one of: {', '.join(sorted(known.values()))}.")

    def strength_for(self, card: Card, chosen: Mapping[str, float] | None = None) -> float:
        """Return the system's strength, otherwise the chosen one (by strategy), the model's or the default; or 0."""
        if (known := STRENGTHS.get(self.strategy)) is None:
            return 0.0
        if self.strength is not None:
            return self.strength
        own = card.exclusion.get(known.word, known.default)
        strength = float((chosen or {}).get(self.strategy, known.default if isinstance(own, list) else own))
        known.check(strength)
        return strength


def _number(strategy: str, written: str) -> float:
    known = pick("strategy with a number", strategy, STRENGTHS)
    symbols = "|".join(filter(None, (known.symbol, known.word, known.typed)))
    found = re.fullmatch(rf"(?:(?:{symbols})\s*=?\s*)?(\S*)", written, re.I)
    if found is None or not _NUMBER.fullmatch(found[1]):
        example = System("CLIP", strategy, known.default).name
        raise ConfigError(f"{quoted(written)} is not a number for {strategy}. Write it as in '{example}'.")
    return float(found[1])
