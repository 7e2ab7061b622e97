"""Sources of training sentences: the built-in world, and captions with or without videos."""

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError
from nt2vr.evaluation.built_in import world_queries
from nt2vr.evaluation.queries import JudgedQuery, row_array
from nt2vr.negation.generate.denials import CaptionDenials, Denial, DenialKind
from nt2vr.negation.generate.negator import negations
from nt2vr.world.altered import other_motions
from nt2vr.world.captions import describe
from nt2vr.world.drawn.motions import order_of
from nt2vr.world.reader import labels
from nt2vr.world.scenes import Figure, Scene, main_deeds
from nt2vr.world.sentences import SceneDenial, SceneDenialKind, SceneDenials, negate
from nt2vr.world.things import ENTER, LEAVE, deeds, things
from nt2vr.world.wording import SEQUENCES, conjugate, in_turn

CAPTIONS_TRIED = 50  # per kind of denying sentence: one in three of MSR-VTT's captions gives "A and not B"
MOTION_SHARE = 1 / 3  # of the pairs of clips that differ in the order of their frames
Shown = list[tuple[int, int]]  # a clip and the number of its frame, per frame


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


class OrderedClips(NamedTuple):
    """P sentences and what they are right for; number 2 k + 1 has the frames of number 2 k in another order."""

    texts: list[str]
    rows: NDArray[np.int64]  # (P, F) the training clip of each frame
    frames: NDArray[np.int64]  # (P, F) its number in that clip


def captions_of(source: "SentenceSource", seed: str, rows: Iterable[int] | None = None) -> list[str]:
    """Draw one caption per clip, of some rows or of all; equal seeds give equal captions."""
    rows = range(len(source)) if rows is None else rows
    return [source.caption(row, random.Random(f"{seed} {row}")) for row in rows]


class WorldSentences:
    """Sentences about scenes of the built-in world, whose truth is known: equal generators give equal sentences.

    The share `free` of the denying sentences is made by `denials`, of parsed captions; their truth is not known.
    """

    def __init__(self, scenes: Sequence[Scene], free: float = 0.0, denials: CaptionDenials | None = None) -> None:
        self.scenes, self._free, self._denials = scenes, free, denials
        self.grammar, self.parses_captions = SceneDenials(scenes), denials is not None

    def __len__(self) -> int:
        return len(self.scenes)

    def num_captions(self, row: int) -> int:
        """Return the number of captions of clip `row`; 0 if they are generated as they are drawn."""
        return 0

    def caption(self, row: int, rng: random.Random, number: int | None = None) -> str:
        return describe(self.scenes[row], rng).text

    def pair(self, row: int, rng: random.Random, number: int | None = None) -> NegatedPair:
        caption = describe(self.scenes[row], rng)
        negated = negate(caption)
        return NegatedPair(caption.text, rng.choice(negated).text if negated else None)

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

    def labels(self, rows: NDArray[np.int64]) -> Labels:
        return Labels([label.texts for label in labels()], self._shown[rows])

    @cached_property
    def _shown(self) -> NDArray[np.bool_]:
        return np.stack([self.grammar.table.holding(label.claim) for label in labels()], axis=1)

    def ordered(self, num_pairs: int, num_frames: int, rng: random.Random) -> OrderedClips:
        return self._orders.draw(num_pairs, num_frames, rng)

    @cached_property
    def _orders(self) -> "FrameOrders":
        return FrameOrders(self.scenes)

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

    def denial(self, row: int, shares: Mapping[Any, float], rng: random.Random) -> Denial:
        assert self.denials is not None, "made if a loss needs denying sentences"
        return denial_of_captions(self.denials, shares, rng)

    def truth(self, denial: Denial) -> None: ...  # captions tell nothing of what clips show

    def labels(self, rows: NDArray[np.int64]) -> None: ...

    def ordered(self, num_pairs: int, num_frames: int, rng: random.Random) -> None: ...

    def queries(self) -> tuple[JudgedQuery, ...]:
        if not self.has_videos:
            return ()
        keys: list[tuple[int, int | None, str]] = [(row, None, f"validation {row}") for row in range(len(self))]
        if self.queries_all:
            keys = [(row, n, f"{key} {n}") for row, _, key in keys for n in range(self.num_captions(row))]
        originals, negated = list[JudgedQuery](), list[JudgedQuery]()
        for place, (row, number, key) in enumerate(keys):
            pair, relevant = self.pair(row, random.Random(key), number), row_array((row,))
            originals.append(JudgedQuery("original", pair.caption, relevant))
            if pair.negated is not None:
                negated.append(JudgedQuery("negated", pair.negated, relevant, original=place))
        return (*originals, *negated)


SentenceSource = WorldSentences | CaptionSentences


def denial_of_captions(denials: CaptionDenials, shares: Mapping[Any, float], rng: random.Random) -> Denial:
    """Draw a kind by the shares, then captions until one gives it; if none does, another kind."""
    left: dict[DenialKind, float] = {kind: shares[kind] for kind in get_args(DenialKind) if shares.get(kind)}
    while left:
        kind = rng.choices(list(left), list(left.values()))[0]
        for _ in range(CAPTIONS_TRIED):
            if denial := denials.draw(rng.randrange(len(denials)), kind, rng):
                return denial
        del left[kind]
    raise ConfigError(f"These captions give no sentences of the kinds {', '.join(shares)}. Name others, or more.")


class Solo(NamedTuple):
    """A person or animal that does one thing throughout a clip, with nothing and to nobody."""

    row: int
    thing: str
    verb: str


class Motion(NamedTuple):
    """Somebody or something that moves, and how it would with the clip's frames in another order."""

    row: int
    thing: str
    verb: str
    other: str
    object: str


class FrameOrders:
    """Pairs of clips that differ in the order of their frames alone, each with its sentence.

    Of two clips in which the same kind of figure does one thing throughout, each gives half of the frames, in either
    order. Of a clip in which somebody throws a ball, the frames in another order show the ball caught.
    """

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._of: dict[str, dict[str, list[int]]] = {}
        self._motions: dict[tuple[str, str], list[Motion]] = {}  # by both verbs: a rare pair is drawn as often
        for row, scene in enumerate(scenes):
            for solo in solos_of(row, scene):
                self._of.setdefault(solo.thing, {}).setdefault(solo.verb, []).append(row)
            for motion in motions_of(row, scene):
                self._motions.setdefault((motion.verb, motion.other), []).append(motion)
        several = {thing: verbs for thing, verbs in self._of.items() if len(verbs) > 1}
        self._solos = [
            Solo(row, thing, verb) for thing, verbs in several.items() for verb, rows in verbs.items() for row in rows
        ]

    def draw(self, num_pairs: int, num_frames: int, rng: random.Random) -> OrderedClips:
        texts, shown = list[str](), list[Shown]()
        for _ in range(num_pairs if self._solos or self._motions else 0):
            is_motion = bool(self._motions) and (not self._solos or rng.random() < MOTION_SHARE)
            for text, frames in (self._moving if is_motion else self._in_turn)(num_frames, rng):
                texts.append(text)
                shown.append(frames)
        both = np.array(shown, np.int64).reshape(len(texts), num_frames, 2)
        return OrderedClips(texts, both[..., 0], both[..., 1])

    def _in_turn(self, num_frames: int, rng: random.Random) -> Iterator[tuple[str, Shown]]:
        one = rng.choice(self._solos)
        verb = rng.choice([verb for verb in self._of[one.thing] if verb != one.verb])
        pair = one, Solo(rng.choice(self._of[one.thing][verb]), one.thing, verb)
        who, joint = _draw_noun(one.thing, rng), rng.choice(SEQUENCES)
        phrases = [rng.choice(deeds()[solo.verb].phrases) for solo in pair]
        counts = num_frames // 2, num_frames - num_frames // 2
        for turn in (1, -1):
            first, second = phrases[::turn]
            drawn = [sorted(rng.sample(range(num_frames), count)) for count in counts]
            shown = [(solo.row, frame) for solo, some in zip(pair[::turn], drawn, strict=True) for frame in some]
            yield in_turn(who, first, second, joint), shown

    def _moving(self, num_frames: int, rng: random.Random) -> Iterator[tuple[str, Shown]]:
        motion = rng.choice(self._motions[rng.choice(sorted(self._motions))])
        who, form = _draw_noun(motion.thing, rng), rng.choice(("is {ing}", "{s}", "{ing}"))
        what = _draw_noun(motion.object, rng) if motion.object else ""
        again = reordered(motion.verb, motion.other, num_frames)
        for verb, order in ((motion.verb, range(num_frames)), (motion.other, again)):
            phrase = rng.choice(deeds()[verb].phrases).format(o=what)
            yield f"{who} {conjugate(phrase, form)}", [(motion.row, frame) for frame in order]


def _draw_noun(thing: str, rng: random.Random) -> str:
    return rng.choice([noun for noun in things()[thing].nouns if noun.number == "one"]).with_article()


def reordered(verb: str, other: str, num_frames: int) -> list[int]:
    """Return which frames of a clip with one motion show the other, in its order."""
    if {verb, other} == {ENTER, LEAVE}:
        return list(range(num_frames))[::-1]
    order, wanted = (order_of(deeds()[name].motion, num_frames) for name in (verb, other))
    return [order.index(spot) for spot in wanted]


def solos_of(row: int, scene: Scene) -> Iterator[Solo]:
    for figure in scene.figures:
        done = main_deeds(figure)
        is_alone = figure.kind.role in ("person", "animal") and _is_named(figure) and len(done) == 1
        if is_alone and done[0].object is None and (done[0].start, done[0].end) == (0, 1):
            yield Solo(row, figure.thing, done[0].verb)


def motions_of(row: int, scene: Scene) -> Iterator[Motion]:
    """Yield who comes or goes, and what moves throughout a scene as something else does in another order."""
    for figure in filter(_is_named, scene.figures):
        if (figure.enters > 0) != (figure.leaves < 1):
            yield Motion(row, figure.thing, *((ENTER, LEAVE) if figure.enters > 0 else (LEAVE, ENTER)), "")
        for deed in main_deeds(figure):
            # from start to end, to nobody and to one thing at most
            if (deed.start, deed.end) == (0, 1) and (deed.object is None or _is_one(deed.object)):
                for verb in other_motions(deed, figure.thing, scene.place):
                    yield Motion(row, figure.thing, deed.verb, verb, str(deed.object or ""))


def _is_named(figure: Figure) -> bool:
    return figure.count == 1 and _is_one(figure.thing)


def _is_one(thing: object) -> bool:
    return isinstance(thing, str) and any(noun.number == "one" for noun in things()[thing].nouns)
