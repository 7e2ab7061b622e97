"""Words, with the clips that show what they name."""

from collections.abc import Sequence
from random import Random
from typing import NamedTuple

import numpy as np
import torch
from torch import Tensor

from nt2vr.evaluation.queries import Mask
from nt2vr.progress import Progress
from nt2vr.world.labels import labels
from trainer.config import TrainConfig
from trainer.data.clips import Clips
from trainer.data.sentences import WorldSentences
from trainer.inputs.base import Drawing, EmbeddedBatch, Input, Towers

# Most words per step.
MAX_LABELS = 256


class LabelBatch(NamedTuple):
    """L words.

    Attributes:
        is_shown: (B, L), True where a clip shows what a word names.
    """

    texts: list[str]
    is_shown: Mask


class EmbeddedLabels(NamedTuple):
    text: Tensor  # (L, D), L2-normalised
    is_shown: Tensor  # (B, L) bool, True where a clip shows what a word names


class Labels(Input[LabelBatch, EmbeddedLabels]):
    """Words that some clips of the batch show, the same ones for all processes."""

    needs_world = True

    def prepare(self, clips: Clips, config: TrainConfig, progress: Progress) -> None:
        """Look up which clips show what each word names."""
        assert isinstance(clips.sentences, WorldSentences), "such losses are refused without"
        table = clips.sentences.grammar.table
        self._wordings: list[Sequence[str]] = [label.texts for label in labels()]
        is_shown = [table.holding(label.claim) for label in labels()]
        self._is_shown = np.stack(is_shown, axis=1)  # (N, labels)

    def draw(self, drawing: Drawing) -> LabelBatch:
        """Draw words that a clip of the batch shows, each in one of its wordings."""
        seed = drawing.seed(3)
        is_shown = self._is_shown[drawing.rows]  # (B, labels)
        shown_labels = np.flatnonzero(is_shown.any(axis=0))
        shuffled = np.random.default_rng(seed).permutation(shown_labels)
        chosen = shuffled[:MAX_LABELS]
        rng = Random(str(seed))
        texts = [rng.choice(self._wordings[label]) for label in chosen.tolist()]
        return LabelBatch(texts, is_shown[:, chosen])

    def texts(self, drawn: LabelBatch) -> list[str]:
        """Return the words."""
        return drawn.texts

    def embed(
        self, drawn: LabelBatch, texts: Tensor, batch: EmbeddedBatch, towers: Towers
    ) -> EmbeddedLabels:
        """Pair the words with the clips that show them."""
        return EmbeddedLabels(texts, torch.from_numpy(drawn.is_shown).to(towers.device))
