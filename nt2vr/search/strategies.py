"""Query strategies: the embeddings of a query's parts become one vector; and systems, a model with a strategy.

With one vector, a search is one inner product with the gallery's embeddings: s(x, wanted) - alpha *
s(x, unwanted) is x . (wanted - alpha * unwanted). A strategy may also take something from the
scores of that vector.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError, Nt2vrError, did_you_mean, quoted, reason_of
from nt2vr.models.card import Card
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import Query
from nt2vr.registry import Registry, check_word, pick
from nt2vr.search.exclusion import Exclusion, unit
from nt2vr.search.references import take_away

Vector = NDArray[np.float32]
Role = Literal["sentence", "wanted", "unwanted", "anchor"]
DEFAULT_ALPHA = 0.5  # 1, as published, loses recall
MAX_NAME = 100  # characters of a system's name
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
_EQUAL = 1 - 1e-6  # cosine above which parts are the same up to float32 rounding


@dataclass(frozen=True)
class Parts:
    """Embeddings of a query's parts, unit vectors, and the settings of the strategy."""

    sentence: (
        Vector | None
    )  # as typed, mixed with the picture of the wanted references; None if there is neither
    wanted: Vector | None  # the wanted part, mixed likewise; None for "not a dog"
    unwanted: Vector  # (U, D), one row per unwanted part
    strength: float  # the strategy's number, see `Strength`
    anchor: Vector | None = (
        None  # mean of the model's neutral texts, not normalised; None if it has none
    )
    combined: Callable[[str], Vector] | None = (
        None  # picture and text by `parts` or a named composer; None without a picture
    )
    away: Vector | None = (
        None  # the sum of unwanted references, see `merge_references`; None without them
    )
    tau: float | None = (
        None  # similarity from which an unwanted part counts; None takes it from the gallery
    )
    # sentence and wanted part without any picture, by which a query-scored model weighs frames;
    # None for others
    texts: tuple[Vector | None, Vector | None] | None = None
    query: Query | None = None  # as the model is asked it; None outside of searches
    read_as: Mapping[str, str] = field(
        default_factory=dict
    )  # words that the model lacks, and what stands for them

    def by_text(self, card: Card) -> "Parts":
        """Return the parts with the texts that weigh frames, if the model weighs frames by them."""
        if not card.capabilities.weighs_frames:
            return self
        return replace(self, texts=(self.sentence, self.wanted))


@dataclass(frozen=True)
class Strength:
    """The number that sets how strongly a strategy excludes."""

    symbol: str  # in names of systems: "α"
    word: str  # the same on a keyboard, and in links and files, where it is the strategy's own: "alpha"
    meaning: str
    default: float  # for models whose card has none
    most: float  # largest value; the smallest is 0
    slider: tuple[float, float, float]  # smallest and largest value on the page, and the step
    typed: str = ""  # the symbol on a keyboard, where another strategy has the word

    def check(self, value: float) -> None:
        """Refuse a value out of range."""
        if not 0 <= value <= self.most:
            raise ConfigError(
                f"The {self.meaning} {self.symbol} is {value:g}: choose 0 to {self.most:g}."
            )


@dataclass(frozen=True)
class Strategy:
    """All there is to say of a strategy."""

    vector: Callable[
        [Parts], Vector | None
    ]  # makes the query vector; None if nothing is left to search for
    meaning: str  # what a system searches for by it, for people
    uses: tuple[Role, ...]  # the parts that its scores are made of
    strength: Strength | None = None  # its number; None if it has none
    exclusion: Callable[[Parts], Exclusion | None] = lambda _: (
        None
    )  # what it takes from the vector's scores
    by_sentence: bool = (
        False  # whether query-scored models weigh frames by the sentence, not by the wanted part
    )
    is_cosine: bool = (
        False  # whether scores are cosines with a text, as in validation: a low one says something
    )
    is_control: bool = False  # whether it ignores all that is unwanted
    needs_picture: bool = False  # without a picture it is `plain`
    # the composer of `Extension.composers` by which it searches; models without are not offered
    # with it
    composer: str = ""
    offered: tuple[float | None, ...] = (
        None,
    )  # strengths with which the menu lists it; None is the model's own


def plain(parts: Parts) -> Vector | None:
    """Search for the sentence as typed, negation included."""
    return parts.sentence


def boolean(parts: Parts) -> Vector | None:
    """Subtract: s(x, wanted) - alpha * sum of s(x, unwanted).

    Source: Wu and Ngo, "Interpretable Embedding for Ad-Hoc Video Search", ACM MM 2020, with alpha =
    1.
    """
    away = parts.unwanted.sum(axis=0)
    if parts.wanted is None:
        return -away if len(parts.unwanted) else None
    return np.asarray(parts.wanted - parts.strength * away, np.float32)


def anchored(parts: Parts) -> Vector | None:
    """Push the sentence out of the unwanted directions, towards the anchor: e - lambda * (U^T c - anchor).

    U^T c is the point closest to e in the span of the unwanted parts; for one part n it is <e, n> /
    <n, n> * n. Parts with equal embeddings count as one direction.

    Source: "Seeing What's Not There", ICLR 2026, for one unwanted part.
    """
    if parts.sentence is None or not len(parts.unwanted):
        return parts.sentence
    shares, *_ = np.linalg.lstsq(parts.unwanted.T, parts.sentence, rcond=None)
    away = shares @ parts.unwanted - (0 if parts.anchor is None else parts.anchor)
    return np.asarray(parts.sentence - parts.strength * away, np.float32)


def spherical(parts: Parts) -> Vector | None:
    """Search the middle of the directions close to the wanted part p but not to the unwanted part n.

        d = p + sin(phi - theta / 2) / sin(phi + theta / 2) * n, normalised; cos(theta) = <p, n>,
        cos(phi) = t

    t is the similarity from which a clip counts as close. Each of several unwanted parts adds its
    own n, weighted as if alone. A part equal to the wanted one adds nothing: no direction is close
    to one and not to the other.

    Source: SpaceVLM, arXiv 2511.12331, Eq. 8 (here up to its length), for one unwanted part.
    """
    if parts.wanted is None or not len(parts.unwanted):
        return boolean(parts)
    cosines = np.clip(parts.unwanted.astype(np.float64) @ parts.wanted, -1, 1)
    phi, half = np.arccos(parts.strength), np.arccos(cosines) / 2
    along = np.maximum(np.sin(phi + half), 1e-12)
    weights = np.where(cosines < _EQUAL, np.sin(phi - half) / along, 0)
    return unit(parts.wanted + weights @ parts.unwanted)


def rectified(parts: Parts) -> Vector | None:
    """Search for the wanted part, less the excess: s(x, wanted) - alpha * max of max(0, s(x, unwanted) - tau).

    This is its vector; `_excess` is the rest. "not B" alone has nothing to rectify: it is
    `boolean`.
    """
    return boolean(parts) if parts.wanted is None else parts.wanted


def _excess(parts: Parts) -> Exclusion | None:
    if parts.wanted is None or not len(parts.unwanted):
        return None
    return Exclusion(parts.unwanted, parts.strength, parts.tau)


def combining(name: str) -> Callable[[Parts], Vector | None]:
    """Return what combines a picture with a text, see `references.combine`; without a picture it is `plain`."""
    return lambda parts: plain(parts) if parts.combined is None else parts.combined(name)


def _checked(name: str, function: Any) -> Strategy:
    """Return a function from outside as a strategy whose mistakes are one sentence."""
    check_word("strategy", name)
    if not callable(function):
        raise ConfigError(
            f"The strategy {name} is no function from Parts to a vector: {quoted(function)}."
        )

    def vector_of(parts: Parts) -> Vector | None:
        try:
            found = function(parts)
            vector = None if found is None else np.asarray(found, np.float32)
        except Nt2vrError:
            raise
        except Exception as error:
            raise ConfigError(
                f"The strategy {name} failed: {reason_of(error)}. Correct it."
            ) from error
        if vector is not None and not (
            vector.shape == parts.unwanted.shape[1:] and np.isfinite(vector).all()
        ):
            wanted = f"a vector of {parts.unwanted.shape[1]} finite numbers, or None"
            raise ConfigError(f"The strategy {name} returned {quoted(found)}. Return {wanted}.")
        return vector

    return Strategy(
        vector_of, "what a strategy from outside nT2VR makes of the parts", ("sentence",)
    )


BUILT_IN = {
    "plain": Strategy(
        plain,
        "the sentence as typed, negation included",
        ("sentence",),
        by_sentence=True,
        is_cosine=True,
        offered=(),
    ),
    "boolean": Strategy(
        boolean,
        "the wanted part minus α times the unwanted part",
        ("wanted", "unwanted"),
        Strength("α", "alpha", "unwanted part's weight", DEFAULT_ALPHA, 10, (0, 1.5, 0.05)),
        offered=(None, 1),
    ),
    "rectified": Strategy(
        rectified,
        "the wanted part minus α times what the unwanted part exceeds a threshold by",
        ("wanted", "unwanted"),
        Strength("α", "beta", "excess's weight", 1.0, 10, (0, 3, 0.1), typed="alpha"),
        exclusion=_excess,
    ),
    "anchored": Strategy(
        anchored,
        "the sentence minus λ times its share of the unwanted direction",
        ("sentence", "unwanted", "anchor"),
        Strength(
            "λ", "lambda", "unwanted direction's weight", 1.9, 10, (0, 6, 0.1)
        ),  # as published
    ),
    "spherical": Strategy(
        spherical,
        "directions within t of the wanted part and outside t of the unwanted part",
        ("wanted", "unwanted"),
        Strength("t", "t", "similarity of a match", 0.95, 1, (0.8, 1, 0.005)),  # as published
    ),
    "drop": Strategy(  # ignores the negated clause
        lambda parts: parts.wanted,
        "the wanted part alone; the control",
        ("wanted",),
        is_cosine=True,
        is_control=True,
    ),
    "parts": Strategy(
        combining("parts"),
        "the picture plus the wanted part minus the unwanted part, with chosen weights",
        ("sentence",),
        needs_picture=True,
        offered=(),
    ),
}
STRATEGIES = Registry("strategy", BUILT_IN, _checked, lambda extension: extension.strategies)
STRENGTHS = {name: each.strength for name, each in BUILT_IN.items() if each.strength is not None}


def exclusion_of(strategy: str, parts: Parts) -> Exclusion | None:
    """Return what a strategy takes from the scores of its vector, and how it weighs frames; None if neither."""
    chosen = STRATEGIES[strategy]
    taken = chosen.exclusion(parts)
    focus = parts.texts[0 if chosen.by_sentence else 1] if parts.texts else None
    return (
        taken
        if focus is None
        else replace(taken or Exclusion(parts.unwanted[:0], 0.0), focus=focus)
    )


def searched(strategy: str, parts: Parts, clips: Vector) -> tuple[Vector | None, Exclusion | None]:
    """Return a strategy's query vector, if anything is left, and what it takes from the scores in a gallery (V, D).

    The vector leads away from unwanted references, which a control ignores as it ignores unwanted
    words.
    """
    vector, exclusion = STRATEGIES[strategy].vector(parts), exclusion_of(strategy, parts)
    if parts.away is not None and not STRATEGIES[strategy].is_control:
        vector = take_away(vector, parts.away)
    return vector, exclusion.within(clips) if exclusion else None


def tau_of(card: Card) -> float | None:
    """Return the similarity above which unwanted parts count for a model; None if its card has none."""
    tau = card.exclusion.get("tau")
    return None if tau is None or isinstance(tau, list) else float(tau)


def anchor_of(encoder: Encoder) -> Vector | None:
    """Return the mean embedding of the neutral texts on a model's card; None if there are none."""
    texts = encoder.card.exclusion.get("anchor")
    return (
        np.asarray(encoder.encode_text(texts).mean(axis=0))
        if texts and isinstance(texts, list)
        else None
    )


def check_model_name(name: str) -> None:
    """Refuse a model name that would parse as a model and a strategy, such as "mine drop α 0.5"."""
    _, strategy, written = _split(name)
    if strategy and (not written or re.fullmatch(r"([^\d\s]+[\s=]*)?[+-]?[\d.]+", written)):
        names = ", ".join(STRATEGIES)
        raise ConfigError(
            f"A model cannot be called {quoted(name)}: choose a name not ending in {names}."
        )


def check_strategy(system: "System", card: Card) -> None:
    """Refuse a strategy that needs parts of queries, for a model that knows whole queries only."""
    if card.capabilities.given_queries_only and system.strategy != "plain":
        raise ConfigError(
            f"{card.name} knows whole queries only, without their parts: {system.name} cannot be asked."
        )


def _split(name: str) -> tuple[str, str, str]:
    """Split a name at its last strategy: what is before, the strategy, and what is written after it."""
    if len(name) > MAX_NAME:
        raise ConfigError(
            f"A name has at most {MAX_NAME} characters: {quoted(name)} has {len(name):,}."
        )
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
    strength: float | None = (
        None  # how strongly the strategy excludes; None takes the search's, or the model's
    )

    def __post_init__(self) -> None:
        if self.strength is not None:
            pick("strategy with a number", self.strategy, STRENGTHS).check(self.strength)

    @property
    def name(self) -> str:
        """Name for drop-downs, links and the API: "CLIP", "CLIP drop", "CLIP boolean α 1"."""
        strength = (
            f" {STRENGTHS[self.strategy].symbol} {self.strength:g}"
            if self.strength is not None
            else ""
        )
        return self.model + (f" {self.strategy}" if self.strategy != "plain" else "") + strength

    @classmethod
    def named(cls, name: str, models: Sequence[str]) -> "System":
        """Parse a system's name, ignoring case and the width of spaces."""
        before, strategy, written = _split(name)
        known = {" ".join(model.casefold().split()): model for model in models}
        if model := known.get(" ".join(name.casefold().split())):
            return cls(model)
        if before.casefold() in known and strategy:
            return cls(
                known[before.casefold()], strategy, _number(strategy, written) if written else None
            )
        if not before or before.lower() in STRATEGIES:
            advice = "Write a model and a strategy, as in 'CLIP boolean'."
            raise ConfigError(f"{quoted(name)} is not the name of a system. {advice}")
        words = name.split()
        for place in range(len(words) - 1, 0, -1):
            if " ".join(words[:place]).casefold() in known and words[place].isalpha():
                near = did_you_mean(words[place].lower(), STRATEGIES)
                choices = ", ".join(STRATEGIES)
                raise ConfigError(
                    f"Unknown strategy {quoted(words[place].lower())}.{near} Choose one of: {choices}."
                )
        near = did_you_mean(before, known.values())
        raise ConfigError(
            f"Unknown model {quoted(before)}.{near} Choose one of: {', '.join(sorted(known.values()))}."
        )

    def strength_for(self, card: Card, chosen: Mapping[str, float] | None = None) -> float:
        """Return the system's strength, otherwise the chosen one (by strategy), the model's or the default; or 0."""
        if (known := STRENGTHS.get(self.strategy)) is None:
            return 0.0
        if self.strength is not None:
            return self.strength
        own = card.exclusion.get(known.word, known.default)
        strength = float(
            (chosen or {}).get(self.strategy, known.default if isinstance(own, list) else own)
        )
        known.check(strength)
        return strength


def _number(strategy: str, written: str) -> float:
    known = pick("strategy with a number", strategy, STRENGTHS)
    symbols = "|".join(filter(None, (known.symbol, known.word, known.typed)))
    found = re.fullmatch(rf"(?:(?:{symbols})\s*=?\s*)?(\S*)", written, re.I)
    if found is None or not _NUMBER.fullmatch(found[1]):
        example = System("CLIP", strategy, known.default).name
        raise ConfigError(
            f"{quoted(written)} is not a number for {strategy}. Write it as in '{example}'."
        )
    return float(found[1])
