"""Ordered pairs of training clips, none of them drawn: two clips one after the other, and a sentence for either order.

Of two clips in which the same kind of figure does one thing throughout, each gives half of the frames.
"""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.world.deeds import deeds
from nt2vr.world.scenes import Scene, main_deeds
from nt2vr.world.things import things
from nt2vr.world.wording import SEQUENCES, in_turn


class OrderedClips(NamedTuple):
    """P sentences and what they are right for; number 2 k + 1 has the two deeds of number 2 k in the other order.

    Attributes:
        rows: (P, F) the training clip of each frame.
        frames: (P, F) its number in that clip.
    """

    texts: list[str]
    rows: NDArray[np.int64]
    frames: NDArray[np.int64]


class Solo(NamedTuple):
    """A person or animal that does one thing throughout a clip, with nothing and to nobody."""

    row: int
    thing: str
    verb: str


class Solos:
    """Clips by who does one thing throughout them."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        """Index the scenes."""
        self._of: dict[str, dict[str, list[int]]] = {}
        for solo in (solo for row, scene in enumerate(scenes) for solo in solos_of(row, scene)):
            self._of.setdefault(solo.thing, {}).setdefault(solo.verb, []).append(solo.row)
        self._all = [
            Solo(row, thing, verb)
            for thing, verbs in self._of.items()
            for verb, rows in verbs.items()
            for row in rows
            if len(verbs) > 1
        ]

    def draw(self, num_pairs: int, num_frames: int, rng: random.Random) -> OrderedClips:
        """Draw two sentences per pair of clips; none where no two clips can follow each other."""
        texts, shown = list[str](), list[list[tuple[int, int]]]()
        for _ in range(num_pairs if self._all else 0):
            one = rng.choice(self._all)
            verb = rng.choice([verb for verb in self._of[one.thing] if verb != one.verb])
            pair = one, Solo(rng.choice(self._of[one.thing][verb]), one.thing, verb)
            who = rng.choice([noun for noun in things()[one.thing].nouns if noun.number == "one"]).with_article()
            joint, phrases = rng.choice(SEQUENCES), [rng.choice(deeds()[solo.verb].phrases) for solo in pair]
            for turn in (1, -1):
                first, second = phrases[::turn]
                texts.append(in_turn(who, first, second, joint))
                shown.append(_one_after_the_other([solo.row for solo in pair[::turn]], num_frames, rng))
        both = np.array(shown, np.int64).reshape(len(texts), num_frames, 2)
        return OrderedClips(texts, both[..., 0], both[..., 1])


def _one_after_the_other(rows: Sequence[int], num_frames: int, rng: random.Random) -> list[tuple[int, int]]:
    """Draw half of the frames of each of two clips, in their order: F pairs of a clip and a frame."""
    counts = num_frames // 2, num_frames - num_frames // 2
    drawn = [sorted(rng.sample(range(num_frames), count)) for count in counts]
    return [(row, frame) for row, frames in zip(rows, drawn, strict=True) for frame in frames]


def solos_of(row: int, scene: Scene) -> Iterator[Solo]:
    """Yield who does one thing throughout a scene."""
    for figure in scene.figures:
        done, kind = main_deeds(figure), figure.kind
        is_named = kind.role in ("person", "animal") and any(noun.number == "one" for noun in kind.nouns)
        is_alone = is_named and figure.count == len(done) == 1
        if is_alone and done[0].object is None and (done[0].start, done[0].end) == (0, 1):
            yield Solo(row, figure.thing, done[0].verb)
