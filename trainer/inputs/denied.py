"""Sentences that deny something, and the clips that they fit."""

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nt2vr.evaluation.queries import Mask
from nt2vr.negation.generate.denial import Denial
from trainer import distributed
from trainer.config import TrainConfig
from trainer.data.clips import Clips
from trainer.data.sentences import DrawnCaption, KnownClips
from trainer.inputs.base import Draw, Drawing, EmbeddedBatch, Input, Numbers, Preparation, Towers


class Denied(Input[list[Denial], Tensor]):
    """A denying sentence per clip, made separately from its caption: (B, D), L2-normalised."""

    parses_captions = True

    def example_texts(self, row: int, caption: DrawnCaption, preparation: Preparation) -> list[str]:
        """Draw a sentence."""
        return [example_sentence(preparation, row).text]

    def draw(self, drawing: Drawing) -> list[Denial]:
        """Draw the sentences of this process's clips."""
        return draw_sentences(drawing, drawing.own_draws)

    def texts(self, drawn: list[Denial]) -> list[str]:
        """Return the sentences."""
        return [sentence.text for sentence in drawn]

    def embed(
        self, drawn: list[Denial], texts: Tensor, batch: EmbeddedBatch, towers: Towers
    ) -> Tensor:
        """Gather those of all processes."""
        return distributed.gather(texts)


def draw_sentences(drawing: Drawing, draws: Sequence[Draw]) -> list[Denial]:
    """Draw a sentence for each of the clips."""
    draw_one = partial(draw_sentence, drawing.clips, drawing.config)
    return [draw_one(draw.row, draw.key) for draw in draws]


def draw_sentence(clips: Clips, config: TrainConfig, row: int, key: str) -> Denial:
    """Draw a denying sentence by the config's shares; equal keys give equal sentences."""
    return clips.sentences.denial(row, config.negation.sentences, Random(f"{key} denied"))


def example_sentence(preparation: Preparation, row: int) -> Denial:
    """Draw the sentence of a clip that is used before the first step, the same one for all inputs."""
    sentences: dict[int, Denial] = preparation.shared.setdefault(Denied, {})
    if row not in sentences:
        sentences[row] = draw_sentence(
            preparation.clips, preparation.config, row, key=f"{preparation.key} {row}"
        )
    return sentences[row]


class TruthBatch(NamedTuple):
    """Clips to compare with, and the denying sentences that they fit.

    Attributes:
        pool: (P,), rows of the clips; the first B are those of the batch.
        fitting: (B, P), True where a clip shows the wanted part and not the unwanted one; False for
            all clips if that is not known.
        both: (B, P), True where a clip shows both parts.
    """

    pool: Numbers
    fitting: Mask
    both: Mask


class EmbeddedTruth(NamedTuple):
    """Correct and hard clips of denying sentences.

    Sentence i was made for clip i of the batch, or fits no clip.

    Attributes:
        pool: (P, D), L2-normalised clips to compare with; the first B are those of the batch.
        fitting: (B, P) bool, as in `TruthBatch`.
        both: (B, P) bool, likewise.
    """

    pool: Tensor
    fitting: Tensor
    both: Tensor


class Truth(Input[TruthBatch, EmbeddedTruth]):
    """Which clips the denying sentences fit: of the batch and, under a frozen visual tower, of a pool."""

    uses = (Denied,)
    needs_world = True

    def draw(self, drawing: Drawing) -> TruthBatch:
        """Look up which clips the sentences fit, and draw the pool of clips to compare with.

        The pool has random clips, and hard ones of all processes' sentences.
        """
        source = drawing.clips.sentences
        no_clips = np.zeros(len(source), bool)
        unknown = KnownClips(no_clips, no_clips)
        truths = [source.truth(sentence) or unknown for sentence in _sentences_of_all(drawing)]
        fitting = np.stack([truth.fitting for truth in truths])  # (B, N)
        both = np.stack([truth.both for truth in truths])  # (B, N)
        pool = drawing.rows
        # Under a frozen visual tower, other clips cost nothing but a look-up.
        if not drawing.config.encoder.trains_visual:
            pool = _with_more(pool, both, drawing)
        return TruthBatch(pool, fitting[:, pool], both[:, pool])

    def embed(
        self, drawn: TruthBatch, texts: Tensor, batch: EmbeddedBatch, towers: Towers
    ) -> EmbeddedTruth:
        """Look up the clips of the pool, or take those of the batch."""
        pool = batch.video
        if not towers.config.encoder.trains_visual:
            pool = towers.stored_videos(drawn.pool)
        assert pool is not None, "a known truth comes with clips"
        fitting = torch.from_numpy(drawn.fitting).to(towers.device)
        both = torch.from_numpy(drawn.both).to(towers.device)
        return EmbeddedTruth(pool, fitting, both)


def _sentences_of_all(drawing: Drawing) -> list[Denial]:
    """Return the sentences of all processes, which draw the same pool; this one's are drawn already."""
    share = drawing.share
    before = draw_sentences(drawing, drawing.draws[: share.start])
    after = draw_sentences(drawing, drawing.draws[share.stop :])
    return [*before, *drawing.of(Denied), *after]


def _with_more(rows: Numbers, both: Mask, drawing: Drawing) -> Numbers:
    """Add hard and random clips to those of the batch."""
    negation = drawing.config.negation
    rng = np.random.default_rng(drawing.seed(1))
    candidates = []
    for shows_both in both:
        hard = rng.permutation(np.flatnonzero(shows_both))
        candidates.append(hard[: negation.hard_clips])
    candidates.append(rng.integers(both.shape[1], size=negation.pool_clips))
    more = np.setdiff1d(np.concatenate(candidates), rows)
    return np.concatenate([rows, more])
