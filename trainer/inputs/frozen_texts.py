"""The frozen text tower of the model that a training starts from."""

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.models.checkpoint import read_model
from nt2vr.models.short_text import encode_short
from trainer.config import TrainConfig


class TextEncoder(Protocol):
    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: (N, D), L2-normalised."""


# An embedding depends, in its last bits, on the texts that it is encoded with: `encode_short` pads a chunk to its
# longest text, and matrix products of other shapes add up in another order (with a fixed shape, all of 7,544
# embeddings were bit-equal). So the teacher encodes the texts of a batch in one call and caches nothing: its
# embeddings are a function of the batch, and a resumed run needs no cache. The cost is in trainer/LOG.md.
class FrozenTexts:
    """The text tower of a model, frozen: the teacher of negation distillation, and miner of CoN-CLIP's distractors."""

    def __init__(self, model: Any, tokenizer: Any, device: str) -> None:
        self._model, self._tokenizer, self._device = model.eval(), tokenizer, device

    @classmethod
    def of_base(cls, config: TrainConfig, device: str) -> "FrozenTexts":
        assert config.encoder.base_folder, "a frozen visual tower has a base"
        model, tokenizer, _ = read_model(config.encoder.base_folder, device)
        return cls(model, tokenizer, device)

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts in one call: (N, D), L2-normalised."""
        with torch.inference_mode():
            tokens = self._tokenizer(list(texts) or [""]).to(self._device)
            embeddings: NDArray[np.float32] = encode_short(self._model, tokens).float().cpu().numpy()
        return embeddings[: len(texts)]


def embed_once(encoder: TextEncoder, texts: Sequence[str], device: str) -> Tensor:
    """Embed texts, equal ones once: (N, D), L2-normalised."""
    unique = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    embeddings = torch.from_numpy(encoder.encode_text(list(unique))).to(device)
    return embeddings[[unique[text] for text in texts]]
