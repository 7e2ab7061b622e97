"""Sources of training sentences: the built-in world, and captions with or without videos."""

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError
from nt2vr.evaluation.built_in import world_queries
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.negation.generate.denials import CaptionDenials, Denial, DenialKind
from nt2vr.negation.generate.negator import negations
from nt2vr.world.captions import describe
from nt2vr.world.scenes import Scene
from nt2vr.world.sentences import SceneDenial, SceneDenialKind, SceneDenials, negate

MAX_PARSED = (
    40_000  # captions of a dataset with videos that denying sentences are made of: a minute's work
)
CAPTIONS_TRIED = (
    50  # per kind of denying sentence: one in three of MSR-VTT's captions gives "A and not B"
)


class DrawnCaption(NamedTuple):
    """A caption that has been drawn, and what draws one of its negations: None where nothing can be denied."""

    text: str
    negate: Callable[[], str | None]


class Truth(NamedTuple):
    """Which of N clips fit a denying sentence, showing the wanted and not the unwanted, and which show both."""

    fitting: NDArray[np.bool_]
    both: NDArray[np.bool_]


def captions_of(
    source: "SentenceSource", seed: str, rows: Iterable[int] | None = None
) -> list[str]:
    """Draw one caption per clip, of some rows or of all; equal seeds give equal captions."""
    rows = range(len(source)) if rows is None else rows
    return [source.caption(row, random.Random(f"{seed} {row}")) for row in rows]


def fixed_key(seed: int, row: int) -> str:
    """Return the key that draws the one caption of a clip whose captions are generated."""
    return f"{seed} verbs {row}"


class WorldSentences:
    """Sentences about scenes of the built-in world, whose truth is known: equal generators give equal sentences.

    The share `free` of the denying sentences is made by `denials`, of parsed captions; their truth
    is not known.
    """

    def __init__(
        self, scenes: Sequence[Scene], free: float = 0.0, denials: CaptionDenials | None = None
    ) -> None:
        self.scenes, self._free, self._denials = scenes, free, denials
        self.grammar, self.parses_captions = SceneDenials(scenes), denials is not None

    def __len__(self) -> int:
        return len(self.scenes)

    def num_captions(self, row: int) -> int:
        """Return the number of captions of clip `row`; 0 if they are generated as they are drawn."""
        return 0

    def caption(self, row: int, rng: random.Random, number: int | None = None) -> str:
        return describe(self.scenes[row], rng).text

    def draw(self, row: int, rng: random.Random, number: int | None = None) -> DrawnCaption:
        """Draw a caption; its negation goes on with the same generator."""
        caption = describe(self.scenes[row], rng)

        def negation() -> str | None:
            negated = negate(caption)
            return rng.choice(negated).text if negated else None

        return DrawnCaption(caption.text, negation)

    def denial(self, row: int, shares: Mapping[Any, float], rng: random.Random) -> Denial:
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

    def queries(self) -> tuple[JudgedQuery, ...]:
        return world_queries(captions_of(self, "validation"), self.grammar)


@dataclass(frozen=True, eq=False)
class CaptionSentences:
    """Captions of a dataset, several per clip, or captions alone, each standing for a clip that nothing looks at."""

    parses_captions: ClassVar[bool] = True

    captions: Sequence[Sequence[str]]
    denials: CaptionDenials | None = None  # makes denying sentences; None where no input needs them
    queries_all: bool = False  # whether `queries` has all captions of a clip instead of one
    has_videos: bool = True

    def __len__(self) -> int:
        return len(self.captions)

    def num_captions(self, row: int) -> int:
        return len(self.captions[row])

    def caption(self, row: int, rng: random.Random, number: int | None = None) -> str:
        return rng.choice(self.captions[row]) if number is None else self.captions[row][number]

    def draw(self, row: int, rng: random.Random, number: int | None = None) -> DrawnCaption:
        """Draw a caption; its negation goes on with the same generator."""
        caption = self.caption(row, rng, number)

        def negation() -> str | None:
            negated = negations(caption)
            return rng.choice(negated) if negated else None

        return DrawnCaption(caption, negation)

    def denial(self, row: int, shares: Mapping[Any, float], rng: random.Random) -> Denial:
        assert self.denials is not None, "made if an input needs denying sentences"
        return denial_of_captions(self.denials, shares, rng)

    def truth(self, denial: Denial) -> None: ...  # captions tell nothing of what clips show

    def queries(self) -> tuple[JudgedQuery, ...]:
        if not self.has_videos:
            return ()
        keys: list[tuple[int, int | None, str]] = [
            (row, None, f"validation {row}") for row in range(len(self))
        ]
        if self.queries_all:
            keys = [
                (row, n, f"{key} {n}")
                for row, _, key in keys
                for n in range(self.num_captions(row))
            ]
        originals, negated = list[JudgedQuery](), list[JudgedQuery]()
        for place, (row, number, key) in enumerate(keys):
            caption, relevant = self.draw(row, random.Random(key), number), row_array((row,))
            originals.append(JudgedQuery("original", caption.text, relevant))
            if (negation := caption.negate()) is not None:
                negated.append(JudgedQuery("negated", negation, relevant, original=place))
        return (*originals, *negated)


SentenceSource = WorldSentences | CaptionSentences


def denial_of_captions(
    denials: CaptionDenials, shares: Mapping[Any, float], rng: random.Random
) -> Denial:
    """Draw a kind by the shares, then captions until one gives it; if none does, another kind."""
    left: dict[DenialKind, float] = {
        kind: shares[kind] for kind in get_args(DenialKind) if shares.get(kind)
    }
    while left:
        kind = rng.choices(list(left), list(left.values()))[0]
        for _ in range(CAPTIONS_TRIED):
            if denial := denials.draw(rng.randrange(len(denials)), kind, rng):
                return denial
        del left[kind]
    raise ConfigError(
        f"These captions give no sentences of the kinds {', '.join(shares)}. Name others, or more."
    )
