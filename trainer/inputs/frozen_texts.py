"""The frozen text tower of the model that a training starts from."""

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from nt2vr.errors import reason_of
from nt2vr.evaluation.queries import row_numbers
from nt2vr.files import atomic_write, hash_text
from nt2vr.media.limits import Limit, evict, mark_used
from nt2vr.models.checkpoint import read_model
from nt2vr.models.encoder import Vectors
from nt2vr.models.short_text import encode_short
from trainer.config import TrainConfig

logger = logging.getLogger(__name__)
# A file has 4 MB for 2,048 texts of 512 dimensions.
STORED_FILES = Limit(count=24)


class TextEncoder(Protocol):
    def encode_text(self, texts: Sequence[str]) -> Vectors:
        """Embed texts: (N, D), L2-normalised."""


# An embedding depends, in its last bits, on the texts that it is encoded with: `encode_short` pads
# a chunk to its longest text, and matrix products of other shapes add up in another order (with a
# fixed shape, all of 7,544 embeddings were bit-equal). So the teacher encodes the texts of a batch
# in one call and caches nothing: its embeddings are a function of the batch, and a resumed run
# needs no cache. The cost is in docs/lab/log.md.
class FrozenTexts:
    """The text tower of a model, frozen, such as the teacher of negation distillation."""

    def __init__(self, model: Any, tokenizer: Any, device: str, text_key: str = "") -> None:
        self._model = model.eval()
        self._tokenizer = tokenizer
        self._device = device
        self.text_key = f"{text_key} {device}"

    @classmethod
    def of_base(cls, config: TrainConfig, device: str) -> "FrozenTexts":
        assert config.encoder.base_folder, "a frozen visual tower has a base"
        model, tokenizer, card = read_model(config.encoder.base_folder, device)
        return cls(model, tokenizer, device, card.text_key)

    def encode_text(self, texts: Sequence[str]) -> Vectors:
        """Embed texts in one call: (N, D), L2-normalised."""
        with torch.inference_mode():
            tokens = self._tokenizer(list(texts) or [""]).to(self._device)
            embeddings: Vectors = encode_short(self._model, tokens).float().cpu().numpy()
        return embeddings[: len(texts)]


@dataclass(frozen=True)
class StoredTexts:
    """A frozen text tower that stores what it embeds, for lists of texts that the next start repeats.

    A list is stored as a whole, since an embedding depends on the texts that it is encoded with.
    """

    encoder: FrozenTexts
    folder: Path

    def encode_text(self, texts: Sequence[str]) -> Vectors:
        """Embed texts, or read embeddings that an earlier call stored: (N, D), L2-normalised."""
        digest = hash_text(repr((self.encoder.text_key, list(texts))))
        path = self.folder / f"texts-{digest}.npy"
        try:
            stored: Vectors = np.load(path)
        # They are not stored yet, or damaged.
        except (OSError, ValueError, EOFError):
            embeddings = self.encoder.encode_text(texts)
            self._store(path, embeddings)
            return embeddings
        mark_used(path)
        return stored

    def _store(self, path: Path, embeddings: Vectors) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as partial:
                np.save(partial, embeddings)
        except OSError as error:
            logger.warning("Embeddings of texts cannot be stored (%s).", reason_of(error))
            return
        evict(self.folder.glob("texts-*.npy"), STORED_FILES)


def embed_once(encoder: TextEncoder, texts: Sequence[str], device: str) -> Tensor:
    """Embed texts, equal ones once: (N, D), L2-normalised."""
    row_of = row_numbers(texts)
    embeddings = torch.from_numpy(encoder.encode_text(list(row_of))).to(device)
    return embeddings[[row_of[text] for text in texts]]
