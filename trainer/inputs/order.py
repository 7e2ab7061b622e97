"""Clips that differ in the order of their frames alone, each with its sentence."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import chain, permutations
from random import Random
from typing import NamedTuple

import numpy as np
from torch import Tensor

from nt2vr.errors import ConfigError
from nt2vr.progress import Progress
from nt2vr.world.altered import other_motions
from nt2vr.world.drawn.motions import order_of
from nt2vr.world.scenes import Action, Figure, Scene, main_actions
from nt2vr.world.things import ENTER, LEAVE, Noun, actions, things
from nt2vr.world.wording import SEQUENCES, conjugate, in_turn
from trainer.config import TrainConfig
from trainer.data.clips import Clips
from trainer.data.sentences import WorldSentences
from trainer.inputs.base import Drawing, EmbeddedBatch, Input, Numbers, Towers

# Pairs of sentences per step: half again as many sentences as a batch of 128 has captions.
ORDERED_PAIRS = 96
# The share of pairs that are made of one motion, rather than of two actions.
MOTION_SHARE = 1 / 3
# The row of each frame's clip, and the number of the frame in that clip.
ClipFrames = list[tuple[int, int]]
# A sentence, and the frames that it describes.
SentenceFrames = tuple[str, ClipFrames]


class OrderedClips(NamedTuple):
    """P sentences and the frames that they describe.

    Number 2 k + 1 has the frames of number 2 k in another order.

    Attributes:
        rows: (P, F), the training clip of each frame.
        frames: (P, F), its number in that clip.
    """

    texts: list[str]
    rows: Numbers
    frames: Numbers


class EmbeddedOrder(NamedTuple):
    """Sentences and clips of two actions; row 2 k + 1 has those of row 2 k in the other order."""

    text: Tensor  # (P, D), L2-normalised
    video: Tensor  # (P, D), L2-normalised


class Order(Input[OrderedClips, EmbeddedOrder]):
    """Pairs of clips whose frames differ in their order alone, with sentences, for all processes alike."""

    reads_frames = True
    needs_world = True

    def check_base(self, config: TrainConfig, loss: str) -> None:
        """Refuse a pooling that does not know the order of frames, and a visual tower that learns."""
        if config.encoder.trains_visual or not config.knows_order:
            raise ConfigError(
                f"The loss {loss} needs a frozen visual tower and a pooling that learns the order of "
                "frames. Set train to text and pooling to unit_seqTransf."
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
        # Attention refuses an empty batch. There are no texts either, so any (0, D) will do.
        if not len(drawn.rows):
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
    other_verb: str
    object: str = ""


class FrameOrders:
    """Pairs of clips that differ in the order of their frames alone, each with its sentence.

    Of two clips in which the same kind of figure does one thing throughout, each gives half of the
    frames, in either order. Of a clip in which somebody throws a ball, the frames in another order
    show the ball caught.
    """

    def __init__(self, scenes: Sequence[Scene]) -> None:
        # By who is alone in a clip, and what they do.
        self._solos_by_thing: dict[str, dict[str, list[Solo]]] = defaultdict(
            partial(defaultdict, list)
        )
        # By both verbs, so that a rare pair of verbs is drawn as often as a frequent one.
        self._motions: dict[tuple[str, str], list[Motion]] = defaultdict(list)
        for row, scene in enumerate(scenes):
            for solo in solos_of(row, scene):
                self._solos_by_thing[solo.thing][solo.verb].append(solo)
            for motion in motions_of(row, scene):
                self._motions[motion.verb, motion.other_verb].append(motion)
        self._solos = self._solos_with_others()

    def _solos_with_others(self) -> list[Solo]:
        """List the solos of those who do something else in another clip."""
        solos: list[Solo] = []
        for solos_by_verb in self._solos_by_thing.values():
            if len(solos_by_verb) > 1:
                solos += chain.from_iterable(solos_by_verb.values())
        return solos

    def draw(self, num_pairs: int, num_frames: int, rng: Random) -> OrderedClips:
        if not self._solos and not self._motions:
            num_pairs = 0
        described: list[SentenceFrames] = []
        for _ in range(num_pairs):
            if self._draws_motion(rng):
                described += self._draw_motion(num_frames, rng)
            else:
                described += self._draw_solos(num_frames, rng)

        texts = [text for text, _ in described]
        frames_of_texts = [frames for _, frames in described]
        frame_array = np.array(frames_of_texts, np.int64).reshape(len(texts), num_frames, 2)
        return OrderedClips(texts, rows=frame_array[..., 0], frames=frame_array[..., 1])

    def _draws_motion(self, rng: Random) -> bool:
        if not self._motions:
            return False
        return not self._solos or rng.random() < MOTION_SHARE

    def _draw_solos(self, num_frames: int, rng: Random) -> Iterator[SentenceFrames]:
        """Draw two clips of one subject, and yield their halves in both orders."""
        solo = rng.choice(self._solos)
        other_solo = self._draw_other(solo, rng)
        subject = _draw_noun(solo.thing, rng)
        sequence = rng.choice(SEQUENCES)
        phrase_of = {
            solo: _draw_phrase(solo.verb, rng),
            other_solo: _draw_phrase(other_solo.verb, rng),
        }
        for first, second in permutations(phrase_of):
            sentence = in_turn(subject, phrase_of[first], phrase_of[second], joint=sequence)
            yield sentence, _draw_halves(first.row, second.row, num_frames, rng=rng)

    def _draw_other(self, solo: Solo, rng: Random) -> Solo:
        """Draw another clip in which the same kind of figure does something else."""
        solos_by_verb = self._solos_by_thing[solo.thing]
        other_verbs = [verb for verb in solos_by_verb if verb != solo.verb]
        verb = rng.choice(other_verbs)
        return rng.choice(solos_by_verb[verb])

    def _draw_motion(self, num_frames: int, rng: Random) -> Iterator[SentenceFrames]:
        """Draw a clip of one motion, and yield it and the order of its frames that shows another."""
        verbs = rng.choice(sorted(self._motions))
        motion = rng.choice(self._motions[verbs])
        subject = _draw_noun(motion.thing, rng)
        form = rng.choice(("is {ing}", "{s}", "{ing}"))
        object_text = ""
        if motion.object:
            object_text = _draw_noun(motion.object, rng)

        orders = {
            motion.verb: list(range(num_frames)),
            motion.other_verb: reordered(motion.verb, motion.other_verb, num_frames),
        }
        for verb, order in orders.items():
            phrase = _draw_phrase(verb, rng).format(o=object_text)
            frames = [(motion.row, number) for number in order]
            yield f"{subject} {conjugate(phrase, form)}", frames


def _draw_halves(row: int, other_row: int, num_frames: int, rng: Random) -> ClipFrames:
    """Draw half of the frames of one clip, then as many of another as are still needed."""
    num_first = num_frames // 2
    frames = _draw_frames(row, num_first, num_frames, rng=rng)
    return frames + _draw_frames(other_row, num_frames - num_first, num_frames, rng=rng)


def _draw_frames(row: int, count: int, num_frames: int, rng: Random) -> ClipFrames:
    """Draw some of a clip's frames, in their order."""
    numbers = rng.sample(range(num_frames), count)
    return [(row, number) for number in sorted(numbers)]


def _draw_phrase(verb: str, rng: Random) -> str:
    return rng.choice(actions()[verb].phrases)


def _draw_noun(thing: str, rng: Random) -> str:
    return rng.choice(_singular_nouns(thing)).with_article()


def reordered(verb: str, other_verb: str, num_frames: int) -> list[int]:
    """Return which frames of a clip with one motion show the other, in its order."""
    if {verb, other_verb} == {ENTER, LEAVE}:
        return list(range(num_frames))[::-1]
    positions = order_of(actions()[verb].motion, num_frames)
    other_positions = order_of(actions()[other_verb].motion, num_frames)
    return [positions.index(position) for position in other_positions]


def solos_of(row: int, scene: Scene) -> Iterator[Solo]:
    for figure in scene.figures:
        main = main_actions(figure)
        is_subject = figure.kind.role in ("person", "animal") and _is_named(figure)
        if not is_subject or len(main) != 1:
            continue
        (action,) = main
        if action.object is None and _lasts(action):
            yield Solo(row, figure.thing, action.verb)


def motions_of(row: int, scene: Scene) -> Iterator[Motion]:
    """Yield who comes or goes, and what moves throughout a scene like another motion reordered."""
    for figure in filter(_is_named, scene.figures):
        enters = figure.enters > 0
        leaves = figure.leaves < 1
        if enters and not leaves:
            yield Motion(row, figure.thing, verb=ENTER, other_verb=LEAVE)
        elif leaves and not enters:
            yield Motion(row, figure.thing, verb=LEAVE, other_verb=ENTER)

        for action in main_actions(figure):
            # It is done to nobody, and to one thing at most.
            if _lasts(action) and (action.object is None or _is_one(action.object)):
                for other_verb in other_motions(action, figure.thing, scene.place):
                    yield Motion(
                        row=row,
                        thing=figure.thing,
                        verb=action.verb,
                        other_verb=other_verb,
                        object=str(action.object or ""),
                    )


def _lasts(action: Action) -> bool:
    """Return whether an action takes the whole clip."""
    return (action.start, action.end) == (0, 1)


def _is_named(figure: Figure) -> bool:
    return figure.count == 1 and _is_one(figure.thing)


def _is_one(thing: object) -> bool:
    return isinstance(thing, str) and bool(_singular_nouns(thing))


def _singular_nouns(thing: str) -> list[Noun]:
    return [noun for noun in things()[thing].nouns if noun.is_countable]
