"""Clips that differ in the order of their frames alone, each with its sentence."""

import random
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.errors import ConfigError
from nt2vr.progress import Progress
from nt2vr.world.altered import other_motions
from nt2vr.world.drawn.motions import order_of
from nt2vr.world.scenes import Figure, Scene, main_deeds
from nt2vr.world.things import ENTER, LEAVE, deeds, things
from nt2vr.world.wording import SEQUENCES, conjugate, in_turn
from trainer.config import TrainConfig
from trainer.data.clips import Clips
from trainer.data.sentences import WorldSentences
from trainer.inputs.base import Drawing, EmbeddedBatch, Input, Towers

ORDERED_PAIRS = 96  # per step: half again as many sentences as a batch of 128 has captions
MOTION_SHARE = 1 / 3  # of the pairs of clips that differ in the order of their frames
Shown = list[tuple[int, int]]  # a clip and the number of its frame, per frame


class OrderedClips(NamedTuple):
    """P sentences and what they are right for; number 2 k + 1 has the frames of number 2 k in another order."""

    texts: list[str]
    rows: NDArray[np.int64]  # (P, F) the training clip of each frame
    frames: NDArray[np.int64]  # (P, F) its number in that clip


class EmbeddedOrder(NamedTuple):
    """Sentences and clips of two deeds; row 2 k + 1 has those of row 2 k in the other order."""

    text: Tensor  # (P, D), L2-normalised
    video: Tensor  # (P, D), L2-normalised


class Order(Input[OrderedClips, EmbeddedOrder]):
    """Clips that follow each other in either order, with sentences, the same ones for all processes."""

    reads_frames = True
    needs_world = True

    def check_base(self, config: TrainConfig, loss: str) -> None:
        """Refuse a pooling that does not know the order of frames, and a visual tower that learns."""
        if config.encoder.trains_visual or not config.knows_order:
            raise ConfigError(
                f"The loss {loss} needs a frozen visual tower and a pooling that learns the order of frames. "
                "Set train to text and pooling to unit_seqTransf."
            )

    def prepare(self, clips: Clips, config: TrainConfig, progress: Progress) -> None:
        """Find the clips that show what could come in another order."""
        assert isinstance(clips.sentences, WorldSentences), "such losses are refused without"
        self._orders = FrameOrders(clips.sentences.scenes)

    def draw(self, drawing: Drawing) -> OrderedClips:
        """Draw pairs of clips."""
        return self._orders.draw(
            ORDERED_PAIRS, drawing.config.frames.num_frames, drawing.rng("ordered")
        )

    def texts(self, drawn: OrderedClips) -> list[str]:
        """Return the sentences."""
        return drawn.texts

    def embed(
        self, drawn: OrderedClips, texts: Tensor, batch: EmbeddedBatch, towers: Towers
    ) -> EmbeddedOrder:
        """Pool the frames of each clip in its order."""
        if not len(drawn.rows):  # attention refuses no clips at all
            return EmbeddedOrder(texts, texts)
        return EmbeddedOrder(texts, towers.pool_frames(drawn.rows, drawn.frames))


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

    Of two clips in which the same kind of figure does one thing throughout, each gives half of the
    frames, in either order. Of a clip in which somebody throws a ball, the frames in another order
    show the ball caught.
    """

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._of: dict[str, dict[str, list[int]]] = {}
        self._motions: dict[
            tuple[str, str], list[Motion]
        ] = {}  # by both verbs: a rare pair is drawn as often
        for row, scene in enumerate(scenes):
            for solo in solos_of(row, scene):
                self._of.setdefault(solo.thing, {}).setdefault(solo.verb, []).append(row)
            for motion in motions_of(row, scene):
                self._motions.setdefault((motion.verb, motion.other), []).append(motion)
        several = {thing: verbs for thing, verbs in self._of.items() if len(verbs) > 1}
        self._solos = [
            Solo(row, thing, verb)
            for thing, verbs in several.items()
            for verb, rows in verbs.items()
            for row in rows
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
            shown = [
                (solo.row, frame)
                for solo, some in zip(pair[::turn], drawn, strict=True)
                for frame in some
            ]
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
    return rng.choice(
        [noun for noun in things()[thing].nouns if noun.number == "one"]
    ).with_article()


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
            yield Motion(
                row, figure.thing, *((ENTER, LEAVE) if figure.enters > 0 else (LEAVE, ENTER)), ""
            )
        for deed in main_deeds(figure):
            # from start to end, to nobody and to one thing at most
            if (deed.start, deed.end) == (0, 1) and (deed.object is None or _is_one(deed.object)):
                for verb in other_motions(deed, figure.thing, scene.place):
                    yield Motion(row, figure.thing, deed.verb, verb, str(deed.object or ""))


def _is_named(figure: Figure) -> bool:
    return figure.count == 1 and _is_one(figure.thing)


def _is_one(thing: object) -> bool:
    return isinstance(thing, str) and any(noun.number == "one" for noun in things()[thing].nouns)
