"""Pairs of training clips that differ in the order of their frames alone, none of them drawn, each with its sentence.

Of two clips in which the same kind of figure does one thing throughout, each gives half of the frames, in either
order. Of a clip in which somebody throws a ball, the frames in another order show the ball caught.
"""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.world.altered import other_motions
from nt2vr.world.drawn.motions import order_of
from nt2vr.world.scenes import Figure, Scene, main_deeds
from nt2vr.world.things import ENTER, LEAVE, Noun, deeds, things
from nt2vr.world.wording import SEQUENCES, conjugate, in_turn

MOTION_SHARE = 1 / 3  # of the pairs
Shown = list[tuple[int, int]]  # a clip and the number of its frame, per frame


class OrderedClips(NamedTuple):
    """P sentences and what they are right for; number 2 k + 1 has the frames of number 2 k in another order."""

    texts: list[str]
    rows: NDArray[np.int64]  # (P, F) the training clip of each frame
    frames: NDArray[np.int64]  # (P, F) its number in that clip


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
    """Clips whose frames show something else in another order."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        """Index the scenes."""
        self._of: dict[str, dict[str, list[int]]] = {}
        for solo in (solo for row, scene in enumerate(scenes) for solo in solos_of(row, scene)):
            self._of.setdefault(solo.thing, {}).setdefault(solo.verb, []).append(solo.row)
        self._solos = [
            Solo(row, thing, verb)
            for thing, verbs in self._of.items()
            for verb, rows in verbs.items()
            for row in rows
            if len(verbs) > 1
        ]
        self._motions: dict[tuple[str, str], list[Motion]] = {}  # by both verbs: a rare pair is drawn as often
        for motion in (motion for row, scene in enumerate(scenes) for motion in motions_of(row, scene)):
            self._motions.setdefault((motion.verb, motion.other), []).append(motion)

    def draw(self, num_pairs: int, num_frames: int, rng: random.Random) -> OrderedClips:
        """Draw two sentences per pair of clips; none where no clip shows anything else in another order."""
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
        who, joint = _draw_noun(one.thing, rng).with_article(), rng.choice(SEQUENCES)
        phrases = [rng.choice(deeds()[solo.verb].phrases) for solo in pair]
        for turn in (1, -1):
            first, second = phrases[::turn]
            text = in_turn(who, first, second, joint)
            yield text, _one_after_the_other([solo.row for solo in pair[::turn]], num_frames, rng)

    def _moving(self, num_frames: int, rng: random.Random) -> Iterator[tuple[str, Shown]]:
        motion = rng.choice(self._motions[rng.choice(sorted(self._motions))])
        who, form = _draw_noun(motion.thing, rng).with_article(), rng.choice(("is {ing}", "{s}", "{ing}"))
        what = _draw_noun(motion.object, rng).with_article() if motion.object else ""
        for verb, order in (
            (motion.verb, range(num_frames)),
            (motion.other, reordered(motion.verb, motion.other, num_frames)),
        ):
            phrase = rng.choice(deeds()[verb].phrases).format(o=what)
            yield f"{who} {conjugate(phrase, form)}", [(motion.row, frame) for frame in order]


def _draw_noun(thing: str, rng: random.Random) -> Noun:
    return rng.choice([noun for noun in things()[thing].nouns if noun.number == "one"])


def _one_after_the_other(rows: Sequence[int], num_frames: int, rng: random.Random) -> Shown:
    """Draw half of the frames of each of two clips, in their order."""
    counts = num_frames // 2, num_frames - num_frames // 2
    drawn = [sorted(rng.sample(range(num_frames), count)) for count in counts]
    return [(row, frame) for row, frames in zip(rows, drawn, strict=True) for frame in frames]


def reordered(verb: str, other: str, num_frames: int) -> list[int]:
    """Return which frames of a clip with one motion show the other, in its order."""
    if {verb, other} == {ENTER, LEAVE}:
        return list(range(num_frames))[::-1]
    order, wanted = (order_of(deeds()[name].motion, num_frames) for name in (verb, other))
    return [order.index(spot) for spot in wanted]


def solos_of(row: int, scene: Scene) -> Iterator[Solo]:
    """Yield who does one thing throughout a scene."""
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
            if (
                (deed.start, deed.end) == (0, 1)
                and not isinstance(deed.object, int)
                and (not deed.object or _is_one(deed.object))
            ):
                for verb in other_motions(deed, figure.thing, scene.place):
                    yield Motion(row, figure.thing, deed.verb, verb, deed.object or "")


def _is_named(figure: Figure) -> bool:
    return figure.count == 1 and _is_one(figure.thing)


def _is_one(thing: str) -> bool:
    return any(noun.number == "one" for noun in things()[thing].nouns)
