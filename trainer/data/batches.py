"""Training batches: a pure function of seed, epoch and step. Each process reads only its share."""

import math
import random
from collections.abc import Generator, Sequence, Set
from dataclasses import dataclass, replace
from itertools import chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.negation.generate.denials import Denial
from trainer.config import TrainConfig
from trainer.data.clips import Clips
from trainer.data.sentences import Labels, Truth, fixed_key
from trainer.distributed import share, world_size
from trainer.inputs.distractors import Sought, subject_and_object
from trainer.inputs.order import OrderedClips

MAX_LABELS = 256  # per step
Seed = tuple[int, ...]
ORDERED_PAIRS = 96  # per step: half again as many sentences as a batch of 128 has captions


class Draw(NamedTuple):
    """A clip with one of its captions: the one of this number, or one that `key` draws."""

    row: int
    number: int | None
    key: str


class TruthBatch(NamedTuple):
    """Clips to compare with, and the denying sentences that they fit."""

    pool: NDArray[np.int64]  # (P,) rows of clips, the first B those of the batch
    # (B, P) True where a clip shows the wanted and not the unwanted; nowhere if that is not known
    fitting: NDArray[np.bool_]
    both: NDArray[np.bool_]  # (B, P) True where it shows both


@dataclass(frozen=True)
class Batch:
    """One process's share of b clips; row i of each belongs together. What the losses do not need is None."""

    frames: NDArray[np.uint8] | None  # (b, F, S, S, 3) uint8 RGB; None where the visual tower is not trained
    captions: list[str]  # b sentences, or fewer, those that `keep_share` leaves
    rows: NDArray[np.int64] | None = None  # (B,) which clips, of all processes
    negated: list[str] | None = None  # b captions, one thing in each denied; those that cannot be negated, as they are
    negatable: NDArray[np.bool_] | None = None  # (b,) which could be; None for all
    denied: list[Denial] | None = None  # b other sentences that deny something
    truth: TruthBatch | None = None  # what is right for those of all processes
    sought: Sought | None = None  # distractors to mine for the negated captions
    changed: list[list[str]] | None = None  # (b, up to K) the same captions with another verb
    phrases: list[str] | None = None  # b verb phrases of the captions; empty texts for captions that have none
    labels: Labels | None = None  # words that clips of the batch show, the same ones for all processes
    ordered: OrderedClips | None = None  # clips that follow each other, with sentences, likewise

    @property
    def texts(self) -> dict[str, list[str]]:
        """All its texts, by what they are, in the order in which they are embedded."""
        return {
            "captions": self.captions,
            "negated": self.negated or [],
            "denied": [sentence.text for sentence in self.denied or ()],
            "changed": list(chain.from_iterable(self.changed or ())),
            "phrases": self.phrases or [],
            "labels": list(chain.from_iterable(self.labels.texts if self.labels else ())),
            "ordered": self.ordered.texts if self.ordered else [],
        }


def epoch_batches(
    clips: Clips, config: TrainConfig, epoch: int, start: int = 0, needs: Set[str] = frozenset()
) -> Generator[Batch]:
    """Yield an epoch's batches from number `start` on, with what the losses need, see `WeightedLosses.needs`."""
    if epoch <= config.negation.not_epochs:
        config = config.replace(sentences={"not": 1.0})
    drawing, size = _Epoch(clips, config, epoch, needs), config.batches.batch_size
    draws = drawing.draws()
    for step in range(start, config.steps_per_epoch * config.batches.accumulate):
        yield drawing.batch(draws[step * size : (step + 1) * size], step)


@dataclass(frozen=True)
class _Epoch:
    clips: Clips
    config: TrainConfig
    epoch: int
    needs: Set[str]

    def draws(self) -> list[Draw]:
        """Draw the epoch's clips or captions in order, each at most once per pass; a smaller last batch is dropped."""
        full = self.config.batches_per_epoch // self.config.batches.passes * self.config.batches.batch_size
        return [draw for number in range(self.config.batches.passes) for draw in self._pass(number)[:full]]

    def _pass(self, number: int) -> list[Draw]:
        clips, config, prefix = self.clips, self.config, f"{self.config.run.seed} {self.epoch}"
        again, mark = ((number, 2), f" {number}") if number else ((), "")  # nothing in the first pass
        rng = np.random.default_rng((config.run.seed, self.epoch, *again))
        if config.dataset.num_captions:
            counts = np.array([clips.sentences.num_captions(row) for row in range(len(clips))])
            numbered = zip(*(some.tolist() for some in every_caption(counts, rng)), strict=True)
            return [Draw(row, n, f"{prefix} {row} caption {n}{mark}") for row, n in numbered]
        rows = rng.permutation(len(clips)).tolist()
        if clips.verbs and not clips.num_captions:  # only the captions that have been parsed
            return [Draw(row, None, fixed_key(config.run.seed, row)) for row in rows]
        return [Draw(row, None, f"{prefix} {row}{mark}") for row in rows]

    def batch(self, drawn: Sequence[Draw], step: int) -> Batch:
        """Draw this process's share of a batch: the same rows as one process alone would draw for it."""
        clips, config, seed = self.clips, self.config, (self.config.run.seed, self.epoch, step)
        rows, mine = np.array([draw.row for draw in drawn], np.int64), share(len(drawn))
        kept = math.ceil(config.objective.keep_share * len(drawn) / world_size()) * world_size()
        captions, negated, negatable = self._captions(drawn[share(kept)])
        changed, phrases = self._verbs(drawn[mine], captions, step)
        denied, truth = self._denied(drawn, rows, (*seed, 1)) if "denied" in self.needs else (None, None)
        sought = None
        if "distractors" in self.needs and negated is not None and negatable is not None:
            sought, negatable = self._sought(captions, negated, negatable, rows[mine], (*seed, 2))
        frames = self._frames(rows, mine, seed) if config.encoder.trains_visual else None
        labels = self._labels(rows, (*seed, 3)) if "labels" in self.needs else None
        ordered = None
        if "ordered" in self.needs:
            rng = random.Random(f"{config.run.seed} {self.epoch} {step} ordered")
            ordered = clips.sentences.ordered(ORDERED_PAIRS, config.frames.num_frames, rng)
        batch = Batch(frames, captions, rows, negated, negatable, denied, truth, sought, changed, phrases)
        return replace(batch, labels=labels, ordered=ordered)

    def _frames(self, rows: NDArray[np.int64], mine: slice, seed: Seed) -> NDArray[np.uint8]:
        stored, config, rng = self.clips.frames, self.config, np.random.default_rng(seed)
        order = rng.random((len(rows), stored.shape[1])).argsort(axis=1)
        frames = stored[rows[mine, None], np.sort(order[mine, : config.frames.frames_per_step])]  # (b, f, S, S, 3)
        if config.frames.flip:
            flipped = (rng.random(len(rows)) < 0.5)[mine]
            frames[flipped] = frames[flipped][:, :, :, ::-1]
        return frames

    def _captions(self, drawn: Sequence[Draw]) -> tuple[list[str], list[str] | None, NDArray[np.bool_] | None]:
        """Draw captions, their negations, and which could be negated: the others stand for themselves."""
        source = self.clips.sentences
        if "negated" not in self.needs:
            return [source.caption(row, random.Random(key), number) for row, number, key in drawn], None, None
        pairs = [source.pair(row, random.Random(key), number) for row, number, key in drawn]
        negatable = np.array([pair.negated is not None for pair in pairs])
        return [pair.caption for pair in pairs], [pair.negated or pair.caption for pair in pairs], negatable

    def _labels(self, rows: NDArray[np.int64], seed: Seed) -> Labels:
        labels = self.clips.sentences.labels(rows)
        assert labels is not None, "such losses are refused without"
        order = np.random.default_rng(seed).permutation(np.flatnonzero(labels.shown.any(axis=0)))[:MAX_LABELS]
        rng = random.Random(str(seed))
        return Labels([(rng.choice(labels.texts[each]),) for each in order.tolist()], labels.shown[:, order])

    def _verbs(
        self, drawn: Sequence[Draw], captions: Sequence[str], step: int
    ) -> tuple[list[list[str]] | None, list[str] | None]:
        if (verbs := self.clips.verbs) is None or "verbs" not in self.needs:
            return None, None
        changed, phrases = list[list[str]](), list[str]()
        for draw, caption in zip(drawn, captions, strict=True):
            rng = random.Random(f"{self.config.run.seed} {self.epoch} {step} {draw.row} verbs")
            others, phrase = verbs.draw(draw.row, caption, self.config.verbs.verb_negatives, rng)
            changed.append(others)
            phrases.append(phrase)
        return changed, phrases

    def _sought(
        self, captions: list[str], negated: list[str], negatable: NDArray[np.bool_], own: NDArray[np.int64], seed: Seed
    ) -> tuple[Sought, NDArray[np.bool_]]:
        """Tell what to mine, among random clips, and which captions are negatable and can be parsed."""
        pairs = zip(captions, negated, negatable, strict=True)
        parts = [subject_and_object(caption, denied) if is_negated else None for caption, denied, is_negated in pairs]
        pool = np.random.default_rng(seed).permutation(len(self.clips))[: self.config.negation.pool_clips or None]
        known = np.array([each is not None for each in parts])
        return Sought([each or ("", "") for each in parts], own, np.sort(pool)), known

    def _denied(
        self, drawn: Sequence[Draw], rows: NDArray[np.int64], seed: Seed
    ) -> tuple[list[Denial], TruthBatch | None]:
        """Draw denying sentences, and look up the clips that they fit: of the batch and, for frozen videos, of a pool.

        The truth also takes the sentences of the other processes, to pool their hard clips.
        """
        mine, source, config = share(len(drawn)), self.clips.sentences, self.config
        asked = drawn if "truth" in self.needs else drawn[mine]
        sentences = [draw_sentence(self.clips, config, draw.row, draw.key) for draw in asked]
        if "truth" not in self.needs:
            return sentences, None
        unknown = Truth(np.zeros(len(source), bool), np.zeros(len(source), bool))
        truths = [source.truth(sentence) or unknown for sentence in sentences]
        fitting, both = (np.stack(masks) for masks in zip(*truths, strict=True))  # (B, N) each
        pool = rows
        if not config.encoder.trains_visual:  # other clips cost nothing but a look-up
            rng = np.random.default_rng(seed)
            hard = [rng.permutation(np.flatnonzero(mask))[: config.negation.hard_clips] for mask in both]
            more = np.concatenate([*hard, rng.integers(len(source), size=config.negation.pool_clips)])
            pool = np.concatenate([rows, np.setdiff1d(more, rows)])
        return sentences[mine], TruthBatch(pool, fitting[:, pool], both[:, pool])


def draw_sentence(clips: Clips, config: TrainConfig, row: int, key: str) -> Denial:
    """Draw a denying sentence by the config's shares; equal keys give equal sentences."""
    return clips.sentences.denial(row, config.negation.sentences, random.Random(f"{key} denied"))


def every_caption(counts: NDArray[np.int64], rng: np.random.Generator) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Order all captions at random, those of one clip evenly spread over the epoch, so that batches rarely repeat one.

    Of (N,) `counts` of the clips' captions, return the clip of each caption and its number among those of the clip.
    """
    rows = np.repeat(np.arange(len(counts)), counts)
    starts = np.repeat(counts.cumsum() - counts, counts)
    numbers = np.lexsort((rng.random(len(rows)), rows)) - starts  # shuffled within each clip
    turns = np.arange(len(rows)) - starts  # of the clip
    order = np.argsort((turns + rng.random(len(rows))) / counts[rows])
    return rows[order], numbers[order]
