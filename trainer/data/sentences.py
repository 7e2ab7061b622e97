"""Sources of training sentences: the built-in world, and captions with or without videos."""

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple, Protocol, get_args

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark import JudgedQuery, row_array
from nt2vr.evaluation.built_in import world_queries
from nt2vr.negation.generate.denials import CaptionDenials, Denial, DenialKind
from nt2vr.negation.generate.negator import negations
from nt2vr.world.captions import describe
from nt2vr.world.reader import labels
from nt2vr.world.scenes import Scene
from nt2vr.world.sentences import SceneDenial, SceneDenialKind, SceneDenials, negate
from trainer.data.ordered import FrameOrders, OrderedClips

CAPTIONS_TRIED = 50  # per kind of denying sentence: one in three of MSR-VTT's captions gives "A and not B"
NO_TRUTH = (
    "{losses} must know which clips a sentence is right for, as only the built-in world tells. "
    "Leave it out, or set data to world."
)
NO_VIDEOS = (
    "{data} has captions but no videos, which {losses} cannot do without. Leave distill alone, or name a dataset with "
    "videos."
)


class NegatedPair(NamedTuple):
    """A caption and the same caption with one thing denied; None where nothing can be denied."""

    caption: str
    negated: str | None


class Truth(NamedTuple):
    """Which of N clips fit a denying sentence, showing the wanted and not the unwanted, and which show both."""

    fitting: NDArray[np.bool_]
    both: NDArray[np.bool_]


class Labels(NamedTuple):
    """L labels, words in one or several wordings, and (N, L) whether a clip shows what a label names."""

    texts: Sequence[tuple[str, ...]]
    shown: NDArray[np.bool_]


class SentenceSource(Protocol):
    """Draws sentences about numbered clips: equal generators give equal sentences."""

    @property
    def lacks(self) -> Mapping[str, str]:
        """The `needs` of losses that it cannot serve, each with a refusal that may use {losses} and {data}."""

    @property
    def parses_captions(self) -> bool:
        """True if denying sentences are made of parsed captions, whose phrases rarely repeat."""

    def __len__(self) -> int:
        """Return the number of clips."""

    def num_captions(self, row: int) -> int:
        """Return the number of captions of clip `row`; 0 if they are generated as they are drawn."""

    def caption(self, row: int, rng: random.Random, number: int | None = None) -> str:
        """Draw a caption of clip `row`, or return the one of this number."""

    def pair(self, row: int, rng: random.Random, number: int | None = None) -> NegatedPair:
        """Draw the caption that `caption` draws with an equal generator, and its negation."""

    def denial(self, row: int, shares: Mapping[str, float], rng: random.Random) -> Denial:
        """Draw a denying sentence of a kind chosen by `shares`, for clip `row` where clips' contents are known."""

    def truth(self, denial: Denial) -> Truth | None:
        """Return the clips that a drawn sentence is right for; None where that is not known."""

    def labels(self, rows: NDArray[np.int64]) -> Labels | None:
        """Return all labels with the clips among `rows` that show them; None where that is not known."""

    def ordered(self, num_pairs: int, num_frames: int, rng: random.Random) -> OrderedClips | None:
        """Draw clips that follow each other, with sentences; None where it is not known who does what."""

    def queries(self) -> tuple[JudgedQuery, ...]:
        """Return validation queries: captions, then denying sentences."""


def captions_of(source: SentenceSource, seed: str, rows: Iterable[int] | None = None) -> list[str]:
    """Draw one caption per clip, of some rows or of all; equal seeds give equal captions."""
    rows = range(len(source)) if rows is None else rows
    return [source.caption(row, random.Random(f"{seed} {row}")) for row in rows]


def pairs_of(source: SentenceSource, seed: str, rows: Iterable[int] | None = None) -> list[NegatedPair]:
    """Draw the captions of `captions_of` with their negations."""
    rows = range(len(source)) if rows is None else rows
    return [source.pair(row, random.Random(f"{seed} {row}")) for row in rows]


class WorldSentences:
    """Sentences about scenes of the built-in world, whose truth is known."""

    lacks: ClassVar[Mapping[str, str]] = {}

    def __init__(
        self,
        scenes: Sequence[Scene],
        free: float = 0.0,
        denials: CaptionDenials | None = None,
        grammar: SceneDenials | None = None,
    ) -> None:
        """Index the scenes.

        The share `free` of the denying sentences is made by `denials`, of captions; their truth is not known.
        """
        self.scenes, self._free, self._denials = scenes, free, denials
        self.grammar = grammar or SceneDenials(scenes)

    @property
    def parses_captions(self) -> bool:
        return self._denials is not None

    def __len__(self) -> int:
        return len(self.scenes)

    def num_captions(self, row: int) -> int:
        return 0

    def caption(self, row: int, rng: random.Random, number: int | None = None) -> str:
        return describe(self.scenes[row], rng).text

    def pair(self, row: int, rng: random.Random, number: int | None = None) -> NegatedPair:
        caption = describe(self.scenes[row], rng)
        negated = negate(caption)
        return NegatedPair(caption.text, rng.choice(negated).text if negated else None)

    def denial(self, row: int, shares: Mapping[str, float], rng: random.Random) -> Denial:
        """Draw a sentence by the world's grammar, of the kinds that it makes, or of any caption."""
        if self._denials and rng.random() < self._free:
            return denial_of_captions(self._denials, shares, rng)
        # in the order of the shares, as drawing depends on it
        kinds: list[SceneDenialKind] = sorted(
            (kind for kind in get_args(SceneDenialKind) if kind in shares), key=[*shares].index
        )
        return self.grammar.draw(row, rng.choices(kinds, [shares[kind] for kind in kinds])[0], rng)

    def truth(self, denial: Denial) -> Truth | None:
        if not isinstance(denial, SceneDenial):
            return None
        return Truth(self.grammar.fitting(denial), self.grammar.showing_both(denial))

    def labels(self, rows: NDArray[np.int64]) -> Labels:
        return Labels([label.texts for label in labels()], self._shown[rows])

    def ordered(self, num_pairs: int, num_frames: int, rng: random.Random) -> OrderedClips:
        return self._orders.draw(num_pairs, num_frames, rng)

    @cached_property
    def _orders(self) -> FrameOrders:
        return FrameOrders(self.scenes)

    @cached_property
    def _shown(self) -> NDArray[np.bool_]:
        """Which scenes show which labels: (N, L)."""
        return np.stack([self.grammar.table.holding(label.claim) for label in labels()], axis=1)

    def queries(self) -> tuple[JudgedQuery, ...]:
        return world_queries(captions_of(self, "validation"), self.grammar)


@dataclass(frozen=True, eq=False)
class CaptionSentences:
    """Captions of a dataset, several per clip, or captions alone, each standing for a clip that nothing looks at."""

    parses_captions: ClassVar[bool] = True

    captions: Sequence[Sequence[str]]
    denials: CaptionDenials | None = None  # makes denying sentences; None where no loss needs them
    queries_all: bool = False  # whether `queries` has all captions of a clip instead of one
    has_videos: bool = True

    @property
    def lacks(self) -> Mapping[str, str]:
        return lacks_of(self.has_videos)

    def __len__(self) -> int:
        return len(self.captions)

    def num_captions(self, row: int) -> int:
        return len(self.captions[row])

    def caption(self, row: int, rng: random.Random, number: int | None = None) -> str:
        return rng.choice(self.captions[row]) if number is None else self.captions[row][number]

    def pair(self, row: int, rng: random.Random, number: int | None = None) -> NegatedPair:
        caption = self.caption(row, rng, number)
        negated = negations(caption)
        return NegatedPair(caption, rng.choice(negated) if negated else None)

    def denial(self, row: int, shares: Mapping[str, float], rng: random.Random) -> Denial:
        """Draw a sentence of any caption."""
        assert self.denials is not None, "made if a loss needs denying sentences"
        return denial_of_captions(self.denials, shares, rng)

    def truth(self, denial: Denial) -> None:
        """Know nothing of what clips show."""

    def labels(self, rows: NDArray[np.int64]) -> None:
        """Know nothing of what clips show."""

    def ordered(self, num_pairs: int, num_frames: int, rng: random.Random) -> None:
        """Know nothing of who does what."""

    def queries(self) -> tuple[JudgedQuery, ...]:
        if not self.has_videos:
            return ()
        keys: list[tuple[int, int | None, str]] = [(row, None, f"validation {row}") for row in range(len(self))]
        if self.queries_all:
            keys = [(row, n, f"{key} {n}") for row, _, key in keys for n in range(self.num_captions(row))]
        pairs = [self.pair(row, random.Random(key), number) for row, number, key in keys]
        originals = [
            JudgedQuery("original", pair.caption, row_array((row,)))
            for (row, *_), pair in zip(keys, pairs, strict=True)
        ]
        negated = [
            JudgedQuery("negated", pair.negated, originals[place].relevant, original=place)
            for place, pair in enumerate(pairs)
            if pair.negated is not None
        ]
        return (*originals, *negated)


def lacks_of(has_videos: bool) -> Mapping[str, str]:
    """Return what captions lack, see `SentenceSource.lacks`."""
    lacks = dict.fromkeys(("truth", "labels", "ordered"), NO_TRUTH)
    return lacks if has_videos else {**lacks, "video": NO_VIDEOS, "negated": NO_VIDEOS}


def denial_of_captions(denials: CaptionDenials, shares: Mapping[str, float], rng: random.Random) -> Denial:
    """Draw a kind by the shares, then captions until one gives it; if none does, another kind."""
    left: dict[DenialKind, float] = {kind: shares[kind] for kind in get_args(DenialKind) if shares.get(kind)}
    while left:
        kind = rng.choices(list(left), list(left.values()))[0]
        for _ in range(CAPTIONS_TRIED):
            if denial := denials.draw(rng.randrange(len(denials)), kind, rng):
                return denial
        del left[kind]
    raise ConfigError(f"These captions give no sentences of the kinds {', '.join(shares)}. Name others, or more.")
