"""Query strategies, which make one vector of a query's parts; and systems, a model with a strategy.

With one vector, a search is one inner product with the gallery's embeddings: s(x, wanted) - alpha *
s(x, unwanted) is x . (wanted - alpha * unwanted). A strategy may also take something from the
scores of that vector.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

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
# By strategy: those that a search asks for, instead of the models' own.
ChosenStrengths = Mapping[str, float]
# Wu and Ngo (see `boolean`) use 1, which loses recall.
DEFAULT_ALPHA = 0.5
# Characters of a system's name.
MAX_NAME = 100
_NUMBER = re.compile(r"[0-9]+(?:\.[0-9]*)?|\.[0-9]+")
# Cosine above which parts are the same up to float32 rounding.
_EQUAL = 1 - 1e-6


@dataclass(frozen=True)
class EmbeddedParts:
    """Embeddings of a query's parts, unit vectors, and the settings of the strategy.

    Attributes:
        sentence: (D,), as typed, mixed with the picture of the wanted references; None if there is
            neither.
        wanted: (D,), the wanted part, mixed likewise; None for "not a dog".
        unwanted: (U, D), one row per unwanted part.
        strength: the strategy's number, see `Strength`.
        anchor: (D,), mean of the model's neutral texts, not normalised; None if it has none.
        combined: combines picture and text, see `references.combine`; None without a picture.
        away: (D,), the sum of unwanted references, see `merge_references`; None without them.
        tau: similarity from which an unwanted part counts; None takes it from the gallery.
        sentence_text: (D,), the sentence without any picture, if the model weighs frames by a text.
        wanted_text: (D,), the wanted part without any picture, likewise.
        query: the query after substitutions; None outside of searches.
        replacements: words that the model does not know, and their substitutes.
    """

    sentence: Vector | None
    wanted: Vector | None
    unwanted: Vector
    strength: float
    anchor: Vector | None = None
    combined: Callable[[str], Vector] | None = None
    away: Vector | None = None
    tau: float | None = None
    sentence_text: Vector | None = None
    wanted_text: Vector | None = None
    query: Query | None = None
    replacements: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Strength:
    """The number that sets how strongly a strategy excludes.

    Attributes:
        symbol: its symbol in names of systems: "α".
        word: its name in links and files, unique among strategies, and one way to type it: "alpha".
        default: for models whose card has none.
        most: largest value; the smallest is 0.
        slider: smallest and largest value on the page, and the step.
        typed: another way to type the symbol, in place of a word that another strategy has.
    """

    symbol: str
    word: str
    meaning: str
    default: float
    most: float
    slider: tuple[float, float, float]
    typed: str = ""

    def check(self, value: float) -> None:
        """Refuse a value out of range."""
        if not 0 <= value <= self.most:
            raise ConfigError(
                f"The {self.meaning} {self.symbol} is {value:g}: choose 0 to {self.most:g}."
            )


@dataclass(frozen=True)
class Strategy:
    """How the parts of a query become scores.

    Attributes:
        vector: makes the query vector; returns None if nothing is left to search for.
        meaning: what it searches for, in words for people.
        uses: the parts that its scores are made of.
        strength: its number; None if it has none.
        exclusion: what it takes from the vector's scores; None if nothing.
        by_sentence: whether models that weigh frames by a text weigh them by the sentence, not by
            the wanted part.
        is_cosine: whether scores are cosines with a text, as in validation, where a low one says
            that nothing fits.
        is_control: whether it ignores everything unwanted.
        needs_picture: whether it is `plain` without a picture.
        composer: the composer of `Extension.composers` by which it searches; models without that
            are not offered with it.
        offered: strengths with which the menu lists it; None is the model's own.
    """

    vector: Callable[[EmbeddedParts], Vector | None]
    meaning: str
    uses: tuple[Role, ...]
    strength: Strength | None = None
    exclusion: Callable[[EmbeddedParts], Exclusion | None] = lambda _: None
    by_sentence: bool = False
    is_cosine: bool = False
    is_control: bool = False
    needs_picture: bool = False
    composer: str = ""
    offered: tuple[float | None, ...] = (None,)


def plain(parts: EmbeddedParts) -> Vector | None:
    """Search for the sentence as typed, negation included."""
    return parts.sentence


def boolean(parts: EmbeddedParts) -> Vector | None:
    """Subtract: s(x, wanted) - alpha * sum of s(x, unwanted).

    Source: Wu and Ngo, "Interpretable Embedding for Ad-Hoc Video Search", ACM MM 2020, with alpha =
    1.
    """
    if parts.wanted is None and not len(parts.unwanted):
        return None
    away = parts.unwanted.sum(axis=0)
    if parts.wanted is None:
        return np.asarray(-away)
    return np.asarray(parts.wanted - parts.strength * away, np.float32)


def anchored(parts: EmbeddedParts) -> Vector | None:
    """Push the sentence out of the unwanted directions: e - lambda * (U^T c - anchor).

    U^T c is the point closest to e in the span of the unwanted parts; for one part n it is <e, n> /
    <n, n> * n. Parts with equal embeddings count as one direction.

    Source: "Seeing What's Not There", ICLR 2026, for one unwanted part.
    """
    sentence = parts.sentence
    unwanted = parts.unwanted
    if sentence is None or not len(unwanted):
        return sentence
    shares, *_ = np.linalg.lstsq(unwanted.T, sentence, rcond=None)
    away = shares @ unwanted
    if parts.anchor is not None:
        away = away - parts.anchor
    return np.asarray(sentence - parts.strength * away, np.float32)


def spherical(parts: EmbeddedParts) -> Vector | None:
    """Search the middle of the directions close to the wanted part p, not to the unwanted part n.

        d = p + sin(phi - theta / 2) / sin(phi + theta / 2) * n, normalised; cos(theta) = <p, n>,
        cos(phi) = t

    t is the similarity from which a clip counts as close. Each of several unwanted parts adds its
    own n, weighted as if alone. A part equal to the wanted one adds nothing: no direction is close
    to one and not to the other.

    Source: SpaceVLM, arXiv 2511.12331, Eq. 8 (here up to its length), for one unwanted part.
    """
    if parts.wanted is None or not len(parts.unwanted):
        return boolean(parts)
    cosines = parts.unwanted.astype(np.float64) @ parts.wanted
    cosines = np.clip(cosines, -1, 1)
    phi = np.arccos(parts.strength)
    half = np.arccos(cosines) / 2
    along = np.maximum(np.sin(phi + half), 1e-12)
    weights = np.where(cosines < _EQUAL, np.sin(phi - half) / along, 0)
    return unit(parts.wanted + weights @ parts.unwanted)


def rectified(parts: EmbeddedParts) -> Vector | None:
    """Search for the wanted part, and lower scores by the excess of the unwanted one.

        s(x, wanted) - alpha * max of max(0, s(x, unwanted) - tau)

    This is its vector; `_excess` is the rest. "not B" alone has nothing to rectify: it is
    `boolean`.
    """
    if parts.wanted is None:
        return boolean(parts)
    return parts.wanted


def _excess(parts: EmbeddedParts) -> Exclusion | None:
    if parts.wanted is None or not len(parts.unwanted):
        return None
    return Exclusion(parts.unwanted, parts.strength, parts.tau)


def dropped(parts: EmbeddedParts) -> Vector | None:
    """Search for the wanted part alone, as if nothing were unwanted."""
    return parts.wanted


def combining(name: str) -> Callable[[EmbeddedParts], Vector | None]:
    """Return a strategy that combines a picture with a text, see `references.combine`.

    Without a picture, it is `plain`.
    """

    def combined(parts: EmbeddedParts) -> Vector | None:
        if parts.combined is None:
            return plain(parts)
        return parts.combined(name)

    return combined


def _strategy_from_outside(name: str, function: Any) -> Strategy:
    """Return the strategy of a registered function; its failures become ConfigErrors of one sentence."""
    check_word("strategy", name)
    if not callable(function):
        raise ConfigError(
            f"The strategy {name} must be a function that takes Parts and returns a vector, "
            f"not {quoted(function)}."
        )

    def checked_vector(parts: EmbeddedParts) -> Vector | None:
        try:
            returned = function(parts)
            if returned is None:
                return None
            vector = np.asarray(returned, np.float32)
        except Nt2vrError:
            raise
        except Exception as error:
            raise ConfigError(
                f"The strategy {name} failed: {reason_of(error)}. Correct it."
            ) from error
        dim = parts.unwanted.shape[1]
        if vector.shape != (dim,) or not np.isfinite(vector).all():
            raise ConfigError(
                f"The strategy {name} returned {quoted(returned)}. "
                f"Return a vector of {dim} finite numbers, or None."
            )
        return vector

    return Strategy(
        checked_vector,
        meaning="what a strategy from outside nT2VR makes of the parts",
        uses=("sentence",),
    )


BUILT_IN = {
    "plain": Strategy(
        vector=plain,
        meaning="the sentence as typed, negation included",
        uses=("sentence",),
        by_sentence=True,
        is_cosine=True,
        offered=(),
    ),
    "boolean": Strategy(
        vector=boolean,
        meaning="the wanted part minus α times the unwanted part",
        uses=("wanted", "unwanted"),
        strength=Strength(
            symbol="α",
            word="alpha",
            meaning="unwanted part's weight",
            default=DEFAULT_ALPHA,
            most=10,
            slider=(0, 1.5, 0.05),
        ),
        offered=(None, 1),
    ),
    "rectified": Strategy(
        vector=rectified,
        meaning="the wanted part minus α times what the unwanted part exceeds a threshold by",
        uses=("wanted", "unwanted"),
        strength=Strength(
            symbol="α",
            word="beta",
            meaning="excess's weight",
            default=1.0,
            most=10,
            slider=(0, 3, 0.1),
            typed="alpha",
        ),
        exclusion=_excess,
    ),
    "anchored": Strategy(
        vector=anchored,
        meaning="the sentence minus λ times its share of the unwanted direction",
        uses=("sentence", "unwanted", "anchor"),
        # As published.
        strength=Strength(
            symbol="λ",
            word="lambda",
            meaning="unwanted direction's weight",
            default=1.9,
            most=10,
            slider=(0, 6, 0.1),
        ),
    ),
    "spherical": Strategy(
        vector=spherical,
        meaning="directions within t of the wanted part and outside t of the unwanted part",
        uses=("wanted", "unwanted"),
        # As published.
        strength=Strength(
            symbol="t",
            word="t",
            meaning="similarity of a match",
            default=0.95,
            most=1,
            slider=(0.8, 1, 0.005),
        ),
    ),
    "drop": Strategy(
        vector=dropped,
        meaning="the wanted part alone; the control",
        uses=("wanted",),
        is_cosine=True,
        is_control=True,
    ),
    "parts": Strategy(
        vector=combining("parts"),
        meaning="the picture plus the wanted part minus the unwanted part, with chosen weights",
        uses=("sentence",),
        needs_picture=True,
        offered=(),
    ),
}
STRATEGIES = Registry(
    kind="strategy",
    built_in=BUILT_IN,
    accept=_strategy_from_outside,
    references=lambda extension: extension.strategies,
)
STRENGTHS = {
    name: strategy.strength for name, strategy in BUILT_IN.items() if strategy.strength is not None
}


def exclusion_of(strategy: str, parts: EmbeddedParts) -> Exclusion | None:
    """Return what a strategy takes from the scores of its vector, and how it weighs frames.

    None if it takes nothing and weighs no frames.
    """
    chosen = STRATEGIES[strategy]
    exclusion = chosen.exclusion(parts)
    focus = parts.wanted_text
    if chosen.by_sentence:
        focus = parts.sentence_text
    if focus is None:
        return exclusion
    # Without an exclusion, one that excludes nothing says how frames are weighed.
    if exclusion is None:
        exclusion = Exclusion(parts.unwanted[:0], weight=0.0)
    return replace(exclusion, focus=focus)


def vector_and_exclusion(
    strategy: str, parts: EmbeddedParts, clips: Vector
) -> tuple[Vector | None, Exclusion | None]:
    """Return a strategy's query vector, if anything is left, and what it takes from the scores.

    The vector leads away from unwanted references, which a control ignores as it ignores unwanted
    words.

    Args:
        clips: (V, D), the gallery.
    """
    vector = STRATEGIES[strategy].vector(parts)
    exclusion = exclusion_of(strategy, parts)
    if parts.away is not None and not STRATEGIES[strategy].is_control:
        vector = take_away(vector, parts.away)
    if exclusion is not None:
        exclusion = exclusion.within(clips)
    return vector, exclusion


def tau_of(card: Card) -> float | None:
    """Return the similarity above which unwanted parts count; None if a card has none."""
    tau = card.exclusion.get("tau")
    if tau is None or isinstance(tau, list):
        return None
    return float(tau)


def anchor_of(encoder: Encoder) -> Vector | None:
    """Return the mean embedding of the neutral texts on a model's card; None if there are none."""
    texts = encoder.card.exclusion.get("anchor")
    if not texts or not isinstance(texts, list):
        return None
    return np.asarray(encoder.encode_text(texts).mean(axis=0))


def check_model_name(name: str) -> None:
    """Refuse a model name that reads as a model and a strategy, such as "mine drop α 0.5"."""
    split = _split_name(name)
    looks_like_strength = re.fullmatch(r"([^\d\s]+[\s=]*)?[+-]?[\d.]+", split.strength)
    if split.strategy and (not split.strength or looks_like_strength):
        strategies = ", ".join(STRATEGIES)
        raise ConfigError(
            f"A model cannot be called {quoted(name)}: choose a name not ending in {strategies}."
        )


def check_strategy(system: "System", card: Card) -> None:
    """Refuse a strategy that needs parts of queries, for a model that knows whole queries only."""
    if card.capabilities.given_queries_only and system.strategy != "plain":
        raise ConfigError(
            f"{card.name} knows whole queries only, not their parts, so {system.name} cannot search. "
            "Choose it without a strategy."
        )


class _SplitName(NamedTuple):
    """A system's name, split at its last strategy; without a strategy, all is the model."""

    model: str
    strategy: str = ""
    strength: str = ""


def _split_name(name: str) -> _SplitName:
    if len(name) > MAX_NAME:
        raise ConfigError(
            f"A name has at most {MAX_NAME} characters: {quoted(name)} has {len(name):,}."
        )
    words = name.split()
    for number in range(len(words) - 1, 0, -1):
        strategy = words[number].lower()
        if strategy in STRATEGIES:
            return _SplitName(" ".join(words[:number]), strategy, " ".join(words[number + 1 :]))
    return _SplitName(" ".join(words))


@dataclass(frozen=True)
class System:
    """A model and a query strategy.

    Attributes:
        strength: how strongly the strategy excludes; None takes the search's, or the model's.
    """

    model: str
    strategy: str = "plain"
    strength: float | None = None

    def __post_init__(self) -> None:
        if self.strength is not None:
            pick("strategy with a number", self.strategy, STRENGTHS).check(self.strength)

    @property
    def name(self) -> str:
        """Name for drop-downs, links and the API: "CLIP", "CLIP drop", "CLIP boolean α 1"."""
        name = self.model
        if self.strategy != "plain":
            name += f" {self.strategy}"
        if self.strength is not None:
            name += f" {STRENGTHS[self.strategy].symbol} {self.strength:g}"
        return name

    @classmethod
    def named(cls, name: str, models: Sequence[str]) -> "System":
        """Parse a system's name, ignoring case and the width of spaces."""
        split = _split_name(name)
        model_of_name = {" ".join(model.casefold().split()): model for model in models}
        # The whole text may be a model's name, even one that ends in the name of a strategy.
        model = model_of_name.get(" ".join(name.casefold().split()))
        if model:
            return cls(model)

        model = model_of_name.get(split.model.casefold())
        if model is None or not split.strategy:
            raise _name_error(name, split.model, model_of_name)
        if not split.strength:
            return cls(model, split.strategy)
        return cls(model, split.strategy, _parse_strength(split.strategy, split.strength))

    def strength_for(self, card: Card, chosen: ChosenStrengths | None = None) -> float:
        """Return the strength to search with; 0 if the strategy has none.

        It is the system's, otherwise the chosen one (by strategy), the model's or the default.
        """
        kind = STRENGTHS.get(self.strategy)
        if kind is None:
            return 0.0
        if self.strength is not None:
            return self.strength
        model_strength = card.exclusion.get(kind.word, kind.default)
        if isinstance(model_strength, list):
            model_strength = kind.default
        strength = float((chosen or {}).get(self.strategy, model_strength))
        kind.check(strength)
        return strength


def _name_error(name: str, model: str, model_of_name: Mapping[str, str]) -> ConfigError:
    """Return the error for a name that is not one of a system, with what is closest to it.

    Args:
        model: what precedes the strategy.
        model_of_name: the models by their names in lower case.
    """
    if not model or model.lower() in STRATEGIES:
        advice = "Write a model and a strategy, as in 'CLIP boolean'."
        return ConfigError(f"{quoted(name)} is not the name of a system. {advice}")

    words = name.split()
    for number in range(len(words) - 1, 0, -1):
        has_model_before = " ".join(words[:number]).casefold() in model_of_name
        if has_model_before and words[number].isalpha():
            return _unknown("strategy", words[number].lower(), list(STRATEGIES))
    return _unknown("model", model, sorted(model_of_name.values()))


def _unknown(kind: str, name: str, choices: Sequence[str]) -> ConfigError:
    suggestion = did_you_mean(name, choices)
    names = ", ".join(choices)
    return ConfigError(f"Unknown {kind} {quoted(name)}.{suggestion} Choose one of: {names}.")


def _parse_strength(strategy: str, text: str) -> float:
    """Parse the strength in a system's name: "0.5", "α 0.5", "alpha=0.5"."""
    kind = pick("strategy with a number", strategy, STRENGTHS)
    symbols = "|".join(filter(None, (kind.symbol, kind.word, kind.typed)))
    match = re.fullmatch(rf"(?:(?:{symbols})\s*=?\s*)?(\S*)", text, re.I)
    if match is None or not _NUMBER.fullmatch(match[1]):
        example = System("CLIP", strategy, kind.default).name
        raise ConfigError(
            f"{quoted(text)} is not a number for {strategy}. Write it as in '{example}'."
        )
    return float(match[1])
