"""Sources of training sentences: the built-in world, and captions with or without videos."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from random import Random
from typing import Any, NamedTuple, get_args

from nt2vr.errors import ConfigError
from nt2vr.evaluation.built_in import world_queries
from nt2vr.evaluation.queries import JudgedQueries, JudgedQuery, Mask, row_array
from nt2vr.negation.generate.denial import Denial, DenialKind
from nt2vr.negation.generate.denials import CaptionDenials
from nt2vr.negation.generate.negator import negations
from nt2vr.world.captions import describe
from nt2vr.world.negated_captions import negate
from nt2vr.world.scene_denials import SceneDenial, SceneDenialKind
from nt2vr.world.scenes import Scene
from nt2vr.world.sentences import SceneDenials

# Of each kind of denying sentences.
KindShares = Mapping[Any, float]
# Captions of a dataset with videos that are parsed to make denying sentences of: a minute's work.
MAX_PARSED = 40_000
# Captions that are tried for one kind of denying sentence: a third of MSR-VTT's give "A and not B".
CAPTIONS_TRIED = 50


class DrawnCaption(NamedTuple):
    """A caption that has been drawn.

    Attributes:
        negations: returns it with one thing denied, in all ways.
        rng: goes on to draw one of them.
    """

    text: str
    negations: Callable[[], Sequence[str]]
    rng: Random

    def negate(self) -> str | None:
        """Draw one of its negations; return None where nothing can be denied."""
        negated = self.negations()
        return self.rng.choice(negated) if negated else None


class KnownClips(NamedTuple):
    """Which of N clips show what a denying sentence wants, and not what it denies, and which both."""

    fitting: Mask
    both: Mask


def captions_of(
    source: "SentenceSource", seed: str, rows: Iterable[int] | None = None
) -> list[str]:
    """Draw one caption per clip, of some rows or of all; equal seeds give equal captions."""
    if rows is None:
        rows = range(len(source))
    return [source.caption(row, Random(f"{seed} {row}")) for row in rows]


def fixed_key(seed: int, row: int) -> str:
    """Return the key that draws the one caption of a clip whose captions are generated."""
    return f"{seed} verbs {row}"


class WorldSentences:
    """Sentences about scenes of the built-in world, whose truth is known.

    Equal generators give equal sentences. The share `free` of the denying sentences is made by
    `denials`, of parsed captions; their truth is not known.
    """

    def __init__(
        self, scenes: Sequence[Scene], free: float = 0.0, denials: CaptionDenials | None = None
    ) -> None:
        self.scenes = scenes
        self.grammar = SceneDenials(scenes)
        self.parses_captions = denials is not None
        self._free = free
        self._denials = denials

    def __len__(self) -> int:
        return len(self.scenes)

    def num_captions(self, row: int) -> int:
        """Return the number of captions of clip `row`; 0 if they are generated as they are drawn."""
        return 0

    def caption(self, row: int, rng: Random, number: int | None = None) -> str:
        return describe(self.scenes[row], rng).text

    def draw(self, row: int, rng: Random, number: int | None = None) -> DrawnCaption:
        """Draw a caption; its negation goes on with the same generator."""
        caption = describe(self.scenes[row], rng)
        return DrawnCaption(
            caption.text,
            negations=lambda: [negated.text for negated in negate(caption)],
            rng=rng,
        )

    def denial(self, row: int, shares: KindShares, rng: Random) -> Denial:
        if self._denials and rng.random() < self._free:
            return denial_of_captions(self._denials, shares, rng)
        # Drawing depends on the order of the shares.
        kinds = [kind for kind in shares if kind in get_args(SceneDenialKind)]
        (drawn_kind,) = rng.choices(kinds, [shares[kind] for kind in kinds])
        return self.grammar.draw(row, drawn_kind, rng)

    def truth(self, denial: Denial) -> KnownClips | None:
        if not isinstance(denial, SceneDenial):
            return None
        return KnownClips(self.grammar.fitting(denial), self.grammar.showing_both(denial))

    def queries(self) -> JudgedQueries:
        return world_queries(captions_of(self, "validation"), self.grammar)


@dataclass(frozen=True, eq=False)
class CaptionSentences:
    """Captions of a dataset, several per clip; or captions alone, each as a clip without frames.

    Attributes:
        denials: makes denying sentences; None where no input needs them.
        queries_all: True if `queries` has all captions of a clip instead of one.
    """

    parses_captions = True

    captions: Sequence[Sequence[str]]
    denials: CaptionDenials | None = None
    queries_all: bool = False
    has_videos: bool = True

    def __len__(self) -> int:
        return len(self.captions)

    def num_captions(self, row: int) -> int:
        return len(self.captions[row])

    def caption(self, row: int, rng: Random, number: int | None = None) -> str:
        if number is None:
            return rng.choice(self.captions[row])
        return self.captions[row][number]

    def draw(self, row: int, rng: Random, number: int | None = None) -> DrawnCaption:
        """Draw a caption; its negation goes on with the same generator."""
        caption = self.caption(row, rng, number)
        return DrawnCaption(caption, negations=partial(negations, caption), rng=rng)

    def denial(self, row: int, shares: KindShares, rng: Random) -> Denial:
        assert self.denials is not None, "made if an input needs denying sentences"
        return denial_of_captions(self.denials, shares, rng)

    def truth(self, denial: Denial) -> None:
        """Return None: captions say nothing of what clips do not show."""

    def queries(self) -> JudgedQueries:
        if not self.has_videos:
            return ()
        originals: list[JudgedQuery] = []
        negated = []
        for row, number, key in self._query_draws():
            caption = self.draw(row, Random(key), number)
            negation = caption.negate()
            relevant = row_array((row,))
            if negation is not None:
                negated.append(
                    JudgedQuery(
                        kind="negated",
                        text=negation,
                        relevant=relevant,
                        original=len(originals),
                    )
                )
            originals.append(JudgedQuery("original", caption.text, relevant))
        return (*originals, *negated)

    def _query_draws(self) -> Iterator[tuple[int, int | None, str]]:
        """Yield the row, the number and the key of each caption that is a query."""
        for row in range(len(self)):
            key = f"validation {row}"
            if not self.queries_all:
                yield row, None, key
                continue
            for number in range(self.num_captions(row)):
                yield row, number, f"{key} {number}"


SentenceSource = WorldSentences | CaptionSentences


def denial_of_captions(denials: CaptionDenials, shares: KindShares, rng: Random) -> Denial:
    """Draw a kind by the shares, then captions until one gives it; if none does, another kind."""
    untried = {kind: shares[kind] for kind in get_args(DenialKind) if shares.get(kind)}
    while untried:
        (kind,) = rng.choices(list(untried), list(untried.values()))
        for _ in range(CAPTIONS_TRIED):
            denial = denials.draw(rng.randrange(len(denials)), kind, rng)
            if denial:
                return denial
        del untried[kind]
    raise ConfigError(
        f"These captions give no sentences of the kinds {', '.join(shares)}. Name others, or more."
    )
