"""Query strategies: the embeddings of a query's parts become one vector. Without training.

With one vector, a search is one inner product with the gallery's embeddings: s(x, wanted) - alpha * s(x, unwanted) is
x . (wanted - alpha * unwanted). A strategy in `EXCLUSIONS` also takes something from the scores of that vector.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, Nt2vrError, quoted, reason_of
from nt2vr.models.card import QUERY_SCORED, Card
from nt2vr.models.encoder import Encoder
from nt2vr.registry import Registry, check_word
from nt2vr.search.exclusion import Exclusion, unit
from nt2vr.search.references import take_away

Vector = NDArray[np.float32]


@dataclass(frozen=True)
class Parts:
    """Embeddings of a query's parts, unit vectors, and the settings of the strategy.

    Attributes:
        sentence: the sentence as typed, mixed with the picture of the wanted references; None if there is neither.
        wanted: the wanted part, mixed likewise; None for "not a dog".
        unwanted: (U, D), one row per unwanted part.
        strength: the strategy's number, see `STRENGTHS`.
        anchor: mean embedding of the model's neutral texts, not normalised; None if it has none.
        combined: combines picture and text by the named combination; None without a picture.
        away: the sum of unwanted references, see `merge_references`; None without them.
        tau: similarity above which an unwanted part counts, see `Exclusion`; None takes it from the gallery.
        texts: sentence and wanted part without any picture, by which a query-scored model weighs frames; None for
            models that pool otherwise.
    """

    sentence: Vector | None
    wanted: Vector | None
    unwanted: Vector
    strength: float
    anchor: Vector | None = None
    combined: Callable[[str], Vector] | None = None
    away: Vector | None = None
    tau: float | None = None
    texts: tuple[Vector | None, Vector | None] | None = None

    def by_text(self, card: Card) -> "Parts":
        """Return the parts with the texts that weigh frames, if the model's pooling is query-scored."""
        return replace(self, texts=(self.sentence, self.wanted)) if card.pooling == QUERY_SCORED else self


Strategy = Callable[[Parts], Vector | None]


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
    return np.asarray(parts.wanted - parts.strength * away, np.float32)


def anchored(parts: Parts) -> Vector | None:
    """Push the sentence out of the unwanted directions, towards the anchor: e - lambda * (U^T c - anchor).

    U^T c is the point closest to e in the span of the unwanted parts; for one part n it is <e, n> / <n, n> * n. Parts
    with equal embeddings count as one direction.

    Source: "Seeing What's Not There", ICLR 2026, for one unwanted part.
    """
    if parts.sentence is None or not len(parts.unwanted):
        return parts.sentence
    shares, *_ = np.linalg.lstsq(parts.unwanted.T, parts.sentence, rcond=None)
    away = shares @ parts.unwanted - (0 if parts.anchor is None else parts.anchor)
    return np.asarray(parts.sentence - parts.strength * away, np.float32)


def projection(parts: Parts) -> Vector | None:
    """Remove the unwanted directions from the sentence and no more: `anchored` with lambda = 1 and no anchor."""
    return anchored(replace(parts, strength=1.0, anchor=None))


def spherical(parts: Parts) -> Vector | None:
    """Search the middle of the directions close to the wanted part p but not to the unwanted part n.

        d = p + sin(phi - theta / 2) / sin(phi + theta / 2) * n, normalised; cos(theta) = <p, n>, cos(phi) = t

    t is the similarity from which a clip counts as close. Each of several unwanted parts adds its own n, weighted as
    if alone. A part equal to the wanted one adds nothing: no direction is close to one and not to the other.

    Source: SpaceVLM, arXiv 2511.12331, Eq. 8 (here up to its length), for one unwanted part.
    """
    if parts.wanted is None or not len(parts.unwanted):
        return boolean(parts)
    cosines = np.clip(parts.unwanted.astype(np.float64) @ parts.wanted, -1, 1)
    phi, half = np.arccos(parts.strength), np.arccos(cosines) / 2
    along = np.maximum(np.sin(phi + half), _TINY)
    weights = np.where(cosines < _EQUAL, np.sin(phi - half) / along, 0)
    return unit(parts.wanted + weights @ parts.unwanted)


def drop(parts: Parts) -> Vector | None:
    """Search for the wanted part alone: the control, which ignores the negated clause."""
    return parts.wanted


def reversed_list(parts: Parts) -> Vector | None:
    """Turn the list of a sentence around if it denies anything: the control of Δ, which this wins blindly."""
    return -parts.sentence if parts.sentence is not None and len(parts.unwanted) else parts.sentence


def rectified(parts: Parts) -> Vector | None:
    """Search for the wanted part, less the excess: s(x, wanted) - alpha * max of max(0, s(x, unwanted) - tau).

    This is its vector; the rest is in `EXCLUSIONS`. "not B" alone has nothing to rectify: it is `boolean`.
    """
    return boolean(parts) if parts.wanted is None else parts.wanted


def _excess(parts: Parts) -> Exclusion | None:
    if parts.wanted is None or not len(parts.unwanted):
        return None
    return Exclusion(parts.unwanted, parts.strength, parts.tau)


def _combining(name: str) -> Strategy:
    """Return the strategy that combines a picture with a text; without a picture it is `plain`."""

    def strategy(parts: Parts) -> Vector | None:
        return plain(parts) if parts.combined is None else parts.combined(name)

    return strategy


def _checked(name: str, function: Any) -> Strategy:
    """Return a strategy from outside as one whose mistakes are one sentence."""
    check_word("strategy", name)
    if not callable(function):
        raise ConfigError(f"The strategy {name} is no function from Parts to a vector: {quoted(function)}.")

    def strategy(parts: Parts) -> Vector | None:
        try:
            found = function(parts)
            vector = None if found is None else np.asarray(found, np.float32)
        except Nt2vrError:
            raise
        except Exception as error:
            raise ConfigError(f"The strategy {name} failed: {reason_of(error)}. Correct it.") from error
        if vector is not None and not (vector.shape == parts.unwanted.shape[1:] and np.isfinite(vector).all()):
            raise ConfigError(
                f"The strategy {name} returned {quoted(found)}. Return a vector of {parts.unwanted.shape[1]} finite "
                "numbers, or None."
            )
        return vector

    return strategy


BUILT_IN: dict[str, Strategy] = {
    "plain": plain,
    "boolean": boolean,
    "rectified": rectified,
    "reworded": plain,  # of a query that `reworded` has written anew
    "anchored": anchored,
    "spherical": spherical,
    "projection": projection,
    "drop": drop,
    "reversed": reversed_list,
    "slerp": _combining("slerp"),
    "parts": _combining("parts"),
    "fusion": _combining("fusion"),
}
STRATEGIES = Registry("strategy", BUILT_IN, _checked)


EXCLUSIONS: dict[str, Callable[[Parts], Exclusion | None]] = {"rectified": _excess}


def exclusion_of(strategy: str, parts: Parts) -> Exclusion | None:
    """Return what a strategy takes from the scores of its vector, and how it weighs frames; None if neither.

    Strategies that search for the sentence weigh frames by it, the others by the wanted part.
    """
    taken = EXCLUSIONS[strategy](parts) if strategy in EXCLUSIONS else None
    focus = parts.texts[0 if strategy in WHOLE else 1] if parts.texts else None
    if focus is None:
        return taken
    return replace(taken or Exclusion(parts.unwanted[:0], 0.0), focus=focus)


def searched(strategy: str, parts: Parts, clips: Vector) -> tuple[Vector | None, Exclusion | None]:
    """Return a strategy's query vector, if anything is left, and what it takes from the scores in a gallery (V, D).

    The vector leads away from unwanted references, which `drop` ignores as it ignores unwanted words.
    """
    vector, exclusion = STRATEGIES[strategy](parts), exclusion_of(strategy, parts)
    if parts.away is not None and strategy != "drop":
        vector = take_away(vector, parts.away)
    return vector, exclusion.within(clips) if exclusion else None


WHOLE = ("plain", "reworded")  # strategies that search for the sentence
COSINE = ("plain", "drop")  # strategies whose scores are cosines with a sentence, as in validation
_EQUAL = 1 - 1e-6  # cosine above which parts are the same up to float32 rounding
_TINY = 1e-12


@dataclass(frozen=True)
class Strength:
    """The number that sets how strongly a strategy excludes."""

    symbol: str  # in names of systems: "α"
    word: str  # the same on a keyboard, and in links and files, where it is the strategy's own: "alpha"
    meaning: str
    default: float  # for models whose card has none
    most: float  # largest value; the smallest is 0
    typed: str = ""  # the symbol on a keyboard, where another strategy has the word

    @property
    def symbols(self) -> tuple[str, ...]:
        """How a name may write it."""
        return tuple(filter(None, (self.symbol, self.word, self.typed)))

    def check(self, value: float) -> None:
        """Refuse a value out of range."""
        if not 0 <= value <= self.most:
            raise ConfigError(f"The {self.meaning} {self.symbol} is {value:g}: choose 0 to {self.most:g}.")


DEFAULT_ALPHA = 0.5  # 1, as published, loses recall
STRENGTHS = {  # λ and t as published
    "boolean": Strength("α", "alpha", "unwanted part's weight", DEFAULT_ALPHA, 10),
    "rectified": Strength("α", "beta", "excess's weight", 1.0, 10, typed="alpha"),
    "anchored": Strength("λ", "lambda", "unwanted direction's weight", 1.9, 10),
    "spherical": Strength("t", "t", "similarity of a match", 0.95, 1),
}


def tau_of(card: Card) -> float | None:
    """Return the similarity above which unwanted parts count for a model; None if its card has none."""
    tau = card.exclusion.get("tau")
    return None if tau is None else float(tau)


def anchor_of(encoder: Encoder) -> Vector | None:
    """Return the mean embedding of the neutral texts on a model's card; None if there are none."""
    texts = encoder.card.exclusion.get("anchor")
    return np.asarray(encoder.encode_text(texts).mean(axis=0)) if texts else None
