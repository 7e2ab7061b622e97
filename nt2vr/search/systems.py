"""Systems: a model with a strategy, which turns the parts of a query into one vector.

Since every strategy yields one vector, every search is one inner product with the gallery's embeddings:
s(x, wanted) - alpha * s(x, unwanted) is x . (wanted - alpha * unwanted).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, quoted
from nt2vr.models.card import Card
from nt2vr.registry import pick

Vector = NDArray[np.float32]

DEFAULT_ALPHA = 0.5


@dataclass(frozen=True)
class Parts:
    """Embeddings of a query's parts, unit vectors.

    Attributes:
        sentence: the sentence as typed, mixed with the reference picture; None if there is neither.
        wanted: the wanted part, mixed likewise; None for "not a dog".
        unwanted: (U, D), one row per unwanted part.
        alpha: weight of the unwanted parts.
    """

    sentence: Vector | None
    wanted: Vector | None
    unwanted: Vector
    alpha: float


def plain(parts: Parts) -> Vector | None:
    """Search for the sentence as typed, negation included."""
    return parts.sentence


def boolean(parts: Parts) -> Vector | None:
    """Subtract: s(x, wanted) - alpha * sum of s(x, unwanted).

    Source: Wu and Ngo, "Interpretable Embedding for Ad-Hoc Video Search", ACM MM 2020, with alpha = 1.
    """
    away = parts.unwanted.sum(axis=0)
    if parts.wanted is None:
        return -away if len(parts.unwanted) else None
    return np.asarray(parts.wanted - parts.alpha * away, np.float32)


def projection(parts: Parts) -> Vector | None:
    """Remove the unwanted directions from the sentence's embedding: q - U^T c, with c minimising the length.

    Unwanted parts with equal embeddings count as one direction.

    Source: the idea of "Seeing What's Not There", ICLR 2026; no training.
    """
    if parts.sentence is None or not len(parts.unwanted):
        return parts.sentence
    away, *_ = np.linalg.lstsq(parts.unwanted.T, parts.sentence, rcond=None)
    return np.asarray(parts.sentence - away @ parts.unwanted, np.float32)


def drop(parts: Parts) -> Vector | None:
    """Search for the wanted part alone: the control, which ignores the negated clause."""
    return parts.wanted


STRATEGIES: dict[str, Callable[[Parts], Vector | None]] = {
    "plain": plain,
    "boolean": boolean,
    "projection": projection,
    "drop": drop,
}
COSINE = ("plain", "drop")  # strategies whose scores are cosines with a sentence, as in validation
MAX_NAME = 100  # characters of a system's name
_ALPHA_WORDS = 3  # at most: α = 0.5
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")


def check_model_name(name: str) -> None:
    """Refuse a model name that would parse as a model and a strategy.

    Raises:
        ConfigError: if it is too long, or ends like a system's name, such as "mine drop α 0.5".
    """
    _check_length(name)
    if _split(name)[1]:
        raise ConfigError(
            f"A model cannot be called {quoted(name)}: choose a name not ending in {', '.join(STRATEGIES)}."
        )


def check_strategy(system: "System", card: Card) -> None:
    """Refuse a strategy that needs parts of queries, for a model that knows whole queries only.

    Raises:
        ConfigError: naming both.
    """
    if card.queries and system.strategy != "plain":
        raise ConfigError(f"{card.name} knows whole queries only, without their parts: {system.name} cannot be asked.")


def _check_length(name: str) -> None:
    if len(name) > MAX_NAME:
        raise ConfigError(f"A name has at most {MAX_NAME} characters: {quoted(name)} has {len(name):,}.")


def _split(name: str) -> tuple[str, str, str]:
    """Split a system's name into model, strategy and α as written; the last two may be empty."""
    words = name.split()
    for place in range(len(words) - 1, max(0, len(words) - 2 - _ALPHA_WORDS), -1):
        if words[place].lower() in STRATEGIES:
            alpha = _alpha(words[place + 1 :])
            if alpha is not None:
                return " ".join(words[:place]), words[place].lower(), alpha
            break
    return " ".join(words), "", ""


def _alpha(words: Sequence[str]) -> str | None:
    """Return the number, as written, of "α 0.5", "alpha=0.5" or "0.5"; None for anything else."""
    text = " ".join(words).lower()
    text = text.removeprefix("α" if text.startswith("α") else "alpha").lstrip().removeprefix("=").lstrip()
    is_number = " " not in text and text.startswith((*"+-.0123456789", "nan", "inf"))
    return text if is_number or not words else None


@dataclass(frozen=True)
class System:
    """A model and a query strategy.

    Attributes:
        model: a name in the catalog.
        strategy: a name in STRATEGIES.
        alpha: fixed weight of the unwanted parts; None takes the search's.
    """

    model: str
    strategy: str = "plain"
    alpha: float | None = None

    @property
    def name(self) -> str:
        """Name for drop-downs, links and the API: "CLIP", "CLIP drop", "CLIP boolean α 1"."""
        alpha = f" α {self.alpha:g}" if self.alpha is not None else ""
        return self.model + (f" {self.strategy}" if self.strategy != "plain" else "") + alpha

    @classmethod
    def named(cls, name: str, models: Sequence[str]) -> "System":
        """Parse a system's name, ignoring case.

        Raises:
            ConfigError: if it is too long, there is no such model, or alpha is not a plain decimal number.
        """
        _check_length(name)
        by_key = {_key(model): model for model in models}
        if _key(name) in by_key:
            return cls(by_key[_key(name)])
        model, strategy, alpha = _split(name)
        if not model:
            raise ConfigError(
                f"{quoted(name)} is not the name of a system. Write a model and a strategy, as in 'CLIP boolean'."
            )
        model = pick("model", by_key.get(_key(model), model), {name: name for name in models})
        if alpha and not _NUMBER.fullmatch(alpha):
            raise ConfigError(f"α {quoted(alpha)} is not a plain number. Write it as in 'CLIP boolean α 0.5'.")
        return cls(model, strategy or "plain", float(alpha) if alpha else None)


def _key(model: str) -> str:
    """Return a model's name as it is compared: ignoring case and the width of spaces."""
    return " ".join(model.casefold().split())
