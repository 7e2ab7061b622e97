"""Batches of clips: which clips, which of their frames, which sentences. A pure function of seed, epoch and step."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
from numpy.typing import NDArray

from nt2vr.errors import ConfigError
from nt2vr.querygen.denials import CaptionDenials, Denial, DenialKind
from nt2vr.world import negation as world
from trainer.clips import ClipSet
from trainer.config import FRAGMENT, TrainConfig

CAPTIONS_TRIED = 50  # for a kind of denying sentence: of MSR-VTT's, one in three gives "A and not B"


@dataclass(frozen=True)
class TruthBatch:
    """Clips to tell apart, and which of them denying sentences are right for.

    Attributes:
        pool: (P,) rows of clips, the first B those of the batch.
        fitting: (B, P) whether a clip shows the wanted and not the unwanted; none does where that is not known.
        both: (B, P) whether it shows the wanted and the unwanted too.
    """

    pool: NDArray[np.int64]
    fitting: NDArray[np.bool_]
    both: NDArray[np.bool_]


@dataclass(frozen=True)
class DeniedBatch:
    """As many sentences that deny something as there are clips in the batch, and the truth about them, if needed."""

    sentences: list[Denial]
    truth: TruthBatch | None = None


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
    if epoch <= config.not_epochs:
        config = replace(config, sentences={"not": 1.0})
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
            denied=_denied(clips, config, rows, keys, (config.seed, epoch, step, 1), needs),
        )


def _frames(clips: ClipSet, config: TrainConfig, rows: NDArray[np.int64], seed: tuple[int, ...]) -> NDArray[np.uint8]:
    rng = np.random.default_rng(seed)
    order = rng.random((len(rows), clips.frames.shape[1])).argsort(axis=1)
    frames = clips.frames[rows[:, None], order[:, : config.frames_per_step]]  # (B, f, S, S, 3)
    if config.flip:
        flipped = rng.random(len(rows)) < 0.5
        frames[flipped] = frames[flipped][:, :, :, ::-1]
    return frames


def _negated(
    clips: ClipSet, rows: NDArray[np.int64], keys: list[str], captions: list[str]
) -> tuple[list[str], NDArray[np.bool_] | None]:
    """Deny one thing of each caption (equal keys tell equal captions), and mark those where nothing can be."""
    negated = [clips.negated_caption(row, random.Random(key)) for row, key in zip(rows.tolist(), keys, strict=True)]
    negatable = np.array([text is not None for text in negated])
    texts = [text or caption for text, caption in zip(negated, captions, strict=True)]
    return texts, None if negatable.all() else negatable


def draw_sentence(clips: ClipSet, config: TrainConfig, row: int, key: str) -> Denial:
    """Draw a sentence, of a kind drawn by the config's shares: for a clip whose scene is known, or of any caption.

    Raises:
        ConfigError: if the clips cannot give such sentences.
    """
    rng = random.Random(f"{key} denied")
    if clips.denials and (clips.sentences is None or rng.random() < config.free):
        return _of_a_caption(clips.denials, config.sentences, rng)
    if clips.sentences is None:
        raise ConfigError("These clips have captions only, but a loss needs sentences that deny something. Remove it.")
    shares = {kind: share for kind, share in config.sentences.items() if kind != FRAGMENT}  # which is no grammar's
    kinds: list[world.SceneDenialKind] = list(shares)  # type: ignore[arg-type]  # checked by the config
    return clips.sentences.draw(row, rng.choices(kinds, list(shares.values()))[0], rng)


def _of_a_caption(denials: CaptionDenials, shares: Mapping[str, float], rng: random.Random) -> Denial:
    """Draw a kind, and captions until one gives it; if none does, another kind."""
    left: dict[DenialKind, float] = {kind: shares[kind] for kind in get_args(DenialKind) if shares.get(kind)}
    while left:
        kind = rng.choices(list(left), list(left.values()))[0]
        for _ in range(CAPTIONS_TRIED):
            if denial := denials.draw(rng.randrange(len(denials)), kind, rng):
                return denial
        del left[kind]
    raise ConfigError(f"These captions give no sentences of the kinds {', '.join(shares)}. Name others, or more.")


def _denied(
    clips: ClipSet,
    config: TrainConfig,
    rows: NDArray[np.int64],
    keys: list[str],
    seed: tuple[int, ...],
    needs: frozenset[str],
) -> DeniedBatch | None:
    if "denied" not in needs:
        return None
    sentences = [draw_sentence(clips, config, row, key) for row, key in zip(rows.tolist(), keys, strict=True)]
    source = clips.sentences
    if "truth" not in needs:
        return DeniedBatch(sentences)
    if source is None:
        raise ConfigError("These clips have captions only, but a loss needs to know what they show. Remove it.")
    unknown = np.zeros(len(clips), bool)
    known = [sentence if isinstance(sentence, world.SceneDenial) else None for sentence in sentences]
    fitting = np.stack([source.fitting(sentence) if sentence else unknown for sentence in known])  # (B, N)
    both = np.stack([source.showing_both(sentence) if sentence else unknown for sentence in known])  # (B, N)
    pool = rows
    if config.train == "text":  # other clips cost nothing but a look-up
        rng = np.random.default_rng(seed)
        hard = [rng.permutation(np.flatnonzero(shown))[: config.hard_clips] for shown in both]
        more = np.concatenate([*hard, rng.integers(len(clips), size=config.pool_clips)])
        pool = np.concatenate([rows, np.setdiff1d(more, rows)])
    return DeniedBatch(sentences, TruthBatch(pool, fitting[:, pool], both[:, pool]))
