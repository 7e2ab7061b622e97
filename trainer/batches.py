"""Batches of clips: which clips, which of their frames, which sentences. A pure function of seed, epoch and step."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError
from nt2vr.world.negation import Kind, Sentence
from nt2vr.world.sentences import Sentences
from trainer.clips import ClipSet
from trainer.config import TrainConfig


@dataclass(frozen=True)
class DeniedBatch:
    """Sentences that deny something, and clips to tell apart.

    Attributes:
        sentences: one for each clip of the batch.
        pool: (P,) rows of clips, the first B those of the batch.
        fitting: (B, P) whether a clip shows the wanted and not the unwanted.
        both: (B, P) whether it shows the wanted and the unwanted too.
    """

    sentences: list[Sentence]
    pool: NDArray[np.int64]
    fitting: NDArray[np.bool_]
    both: NDArray[np.bool_]


@dataclass(frozen=True)
class Batch:
    """Row i of each belongs together; what the losses do not need is None.

    Attributes:
        frames: (B, F, S, S, 3) uint8 RGB; None where the visual tower is not trained.
        captions: B sentences.
        rows: (B,) which clips.
        negated: B captions, one thing in each denied; those that cannot be negated, as they are.
        negatable: (B,) which could be; None for all.
        denied: other sentences that deny something.
    """

    frames: NDArray[np.uint8] | None
    captions: list[str]
    rows: NDArray[np.int64] | None = None
    negated: list[str] | None = None
    negatable: NDArray[np.bool_] | None = None
    denied: DeniedBatch | None = None


def epoch_batches(
    clips: ClipSet, config: TrainConfig, epoch: int, start: int = 0, needs: frozenset[str] = frozenset()
) -> Iterator[Batch]:
    """Yield the batches of an epoch from the one numbered `start` on; each clip comes at most once a pass.

    Args:
        clips: what to draw from.
        config: how many, and of what.
        epoch: seeds the draw, with the config's seed.
        start: the first batch, 0 is the epoch's own first.
        needs: what the losses need, see `WeightedLosses.needs`.

    Raises:
        ConfigError: if they need sentences that the clips cannot give.
    """
    for step in range(start, config.steps_per_epoch * config.accumulate):
        done, place = divmod(step, config.num_clips // config.batch_size)
        again, mark = ((done, 2), f" {done}") if done else ((), "")  # nothing in the first pass
        order = np.random.default_rng((config.seed, epoch, *again)).permutation(len(clips))
        rows = order[place * config.batch_size : (place + 1) * config.batch_size]
        keys = [f"{config.seed} {epoch} {row}{mark}" for row in rows.tolist()]
        captions = [clips.describe(row, random.Random(key)) for row, key in zip(rows.tolist(), keys, strict=True)]
        negated, negatable = _negated(clips, rows, keys, captions) if "negated" in needs else (None, None)
        yield Batch(
            frames=None if config.train == "text" else _frames(clips, config, rows, (config.seed, epoch, step)),
            captions=captions,
            rows=rows,
            negated=negated,
            negatable=negatable,
            denied=_denied(clips, config, rows, keys, (config.seed, epoch, step, 1)) if "denied" in needs else None,
        )


def _frames(clips: ClipSet, config: TrainConfig, rows: NDArray[np.int64], seed: tuple[int, ...]) -> NDArray[np.uint8]:
    rng = np.random.default_rng(seed)
    order = rng.random((len(rows), clips.frames.shape[1])).argsort(axis=1)
    frames = clips.frames[rows[:, None], order[:, : config.frames_per_step]]  # (B, f, S, S, 3)
    if config.flip:
        flipped = rng.random(len(rows)) < 0.5
        frames[flipped] = frames[flipped][:, :, :, ::-1]
    return frames


def _source(clips: ClipSet) -> Sentences:
    if clips.sentences is None:
        raise ConfigError("These clips have captions only, but a loss needs sentences that deny something. Remove it.")
    return clips.sentences


def _negated(
    clips: ClipSet, rows: NDArray[np.int64], keys: list[str], captions: list[str]
) -> tuple[list[str], NDArray[np.bool_] | None]:
    """Deny one thing of each caption (equal keys tell equal captions), and mark those where nothing can be."""
    negated = [clips.negated_caption(row, random.Random(key)) for row, key in zip(rows.tolist(), keys, strict=True)]
    negatable = np.array([text is not None for text in negated])
    texts = [text or caption for text, caption in zip(negated, captions, strict=True)]
    return texts, None if negatable.all() else negatable


def draw_sentence(source: Sentences, config: TrainConfig, row: int, key: str) -> Sentence:
    """Draw a sentence for a clip, of a kind drawn by the config's shares."""
    rng = random.Random(f"{key} denied")
    kinds: list[Kind] = list(config.sentences)  # type: ignore[arg-type]  # checked by the config
    return source.draw(row, rng.choices(kinds, list(config.sentences.values()))[0], rng)


def _denied(
    clips: ClipSet, config: TrainConfig, rows: NDArray[np.int64], keys: list[str], seed: tuple[int, ...]
) -> DeniedBatch:
    source, rng = _source(clips), np.random.default_rng(seed)
    sentences = [draw_sentence(source, config, row, key) for row, key in zip(rows.tolist(), keys, strict=True)]
    fitting = np.stack([source.fitting(sentence) for sentence in sentences])  # (B, N)
    both = np.stack([source.showing_both(sentence) for sentence in sentences])  # (B, N)
    pool = rows
    if config.train == "text":  # other clips cost nothing but a look-up
        hard = [rng.permutation(np.flatnonzero(shown))[: config.hard_clips] for shown in both]
        more = np.concatenate([*hard, rng.integers(len(clips), size=config.pool_clips)])
        pool = np.concatenate([rows, np.setdiff1d(more, rows)])
    return DeniedBatch(sentences, pool, fitting[:, pool], both[:, pool])
