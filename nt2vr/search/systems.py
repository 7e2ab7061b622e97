"""Systems: a model with a query strategy and its strength, as in "CLIP boolean α 0.5"."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nt2vr.errors import ConfigError, did_you_mean, quoted
from nt2vr.models.card import Card
from nt2vr.registry import pick
from nt2vr.search.strategies import STRATEGIES, STRENGTHS

MAX_NAME = 100  # characters of a system's name
_NUMBER_WORDS = 3  # at most: α = 0.5
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_SYMBOLS = tuple(text for strength in STRENGTHS.values() for text in strength.symbols)


def check_model_name(name: str) -> None:
    """Refuse a model name that would parse as a model and a strategy, such as "mine drop α 0.5"."""
    _check_length(name)
    if _split(name)[1]:
        raise ConfigError(
            f"A model cannot be called {quoted(name)}: choose a name not ending in {', '.join(STRATEGIES)}."
        )


def check_strategy(system: "System", card: Card) -> None:
    """Refuse a strategy that needs parts of queries, for a model that knows whole queries only."""
    if card.queries and system.strategy != "plain":
        raise ConfigError(f"{card.name} knows whole queries only, without their parts: {system.name} cannot be asked.")


def _check_length(name: str) -> None:
    if len(name) > MAX_NAME:
        raise ConfigError(f"A name has at most {MAX_NAME} characters: {quoted(name)} has {len(name):,}.")


def _split(name: str) -> tuple[str, str, str]:
    """Split a system's name into model, strategy and strength as written; the last two may be empty."""
    words = name.split()
    for place in range(len(words) - 1, max(0, len(words) - 2 - _NUMBER_WORDS), -1):
        if words[place].lower() in STRATEGIES:
            written = " ".join(words[place + 1 :]).lower()
            number = _without(_SYMBOLS, written)
            if not written or (" " not in number and number.startswith((*"+-.0123456789", "nan", "inf"))):
                return " ".join(words[:place]), words[place].lower(), written
            break
    return " ".join(words), "", ""


def _without(symbols: Sequence[str], written: str) -> str:
    """Return the number, as written, of "α 0.5", "lambda=1.9" or "0.5"."""
    symbol = next((symbol for symbol in symbols if written.startswith(symbol)), "")
    return written.removeprefix(symbol).lstrip().removeprefix("=").lstrip()


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
        """Parse a system's name, ignoring case."""
        _check_length(name)
        by_key = {_key(model): model for model in models}
        if _key(name) in by_key:
            return cls(by_key[_key(name)])
        model, strategy, written = _split(name)
        if not model:
            raise ConfigError(
                f"{quoted(name)} is not the name of a system. Write a model and a strategy, as in 'CLIP boolean'."
            )
        if _key(model) not in by_key:
            raise ConfigError(_unknown(model, by_key))
        return cls(by_key[_key(model)], strategy or "plain", _number(strategy, written) if written else None)

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


def _unknown(name: str, by_key: Mapping[str, str]) -> str:
    """Say that there is no such model, or no such strategy where the first words name a model."""
    words = name.split()
    for place in range(len(words) - 1, 0, -1):
        strategy = words[place].lower()
        if not (strategy.isalpha() and _key(" ".join(words[:place])) in by_key):
            continue
        if strategy not in STRATEGIES:
            near = did_you_mean(strategy, STRATEGIES)
            return f"Unknown strategy {quoted(strategy)}.{near} Choose one of: {', '.join(STRATEGIES)}."
        if written := " ".join(words[place + 1 :]):
            return f"{quoted(written)} is not a number for {strategy}. Write it as in 'CLIP boolean α 0.5'."
        break  # its last word was a second strategy
    near = did_you_mean(name, by_key.values())
    return f"Unknown model {quoted(name)}.{near} Choose one of: {', '.join(sorted(by_key.values()))}."


def _number(strategy: str, written: str) -> float:
    known = pick("strategy with a number", strategy, STRENGTHS)
    number = _without(known.symbols, written)
    if not _NUMBER.fullmatch(number):
        raise ConfigError(
            f"{quoted(written)} is not a number for {strategy}. "
            f"Write it as in '{System('CLIP', strategy, known.default).name}'."
        )
    return float(number)


def _key(model: str) -> str:
    """Return a model's name as it is compared: ignoring case and the width of spaces."""
    return " ".join(model.casefold().split())
