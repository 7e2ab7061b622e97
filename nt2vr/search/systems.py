"""Systems: a model with a strategy, which turns the parts of a query into one vector.

Since every strategy yields one vector, every search is one inner product with the gallery's embeddings:
s(x, wanted) - alpha * s(x, unwanted) is x . (wanted - alpha * unwanted).
"""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError
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
_SYSTEM = re.compile(
    rf"(?P<model>.+?)(?:\s+(?P<strategy>{'|'.join(STRATEGIES)})(?:\s+(?:α|alpha)?\s*=?\s*(?P<alpha>[\d.]+))?)?", re.I
)


def check_model_name(name: str) -> None:
    """Refuse a model name that would parse as a model and a strategy.

    Raises:
        ConfigError: if it ends like a system's name, such as "mine drop α 0.5".
    """
    if (match := _SYSTEM.fullmatch(name.strip())) and match["strategy"]:
        raise ConfigError(f"A model cannot be called {name!r}: choose a name not ending in {', '.join(STRATEGIES)}.")


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
            ConfigError: if there is no such model, or alpha is not a number.
        """
        by_key = {model.casefold(): model for model in models}
        if name.strip().casefold() in by_key:
            return cls(by_key[name.strip().casefold()])
        match = _SYSTEM.fullmatch(name.strip())
        if match is None:
            raise ConfigError(
                f"{name!r} is not the name of a system. Write a model and a strategy, as in 'CLIP boolean'."
            )
        model = pick("model", by_key.get(match["model"].casefold(), match["model"]), {name: name for name in models})
        try:
            alpha = float(match["alpha"]) if match["alpha"] else None
        except ValueError:
            raise ConfigError(f"α {match['alpha']!r} is not a number. Write it as in 'CLIP boolean α 0.5'.") from None
        return cls(model, (match["strategy"] or "plain").lower(), alpha)
