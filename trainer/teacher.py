"""The frozen starting model, as the teacher of negation distillation and the miner of CoN-CLIP's distractors.

An embedding depends, in its last bits, on the texts that it is encoded with: `encode_short` pads a chunk to its
longest text, and matrix products of other shapes add up in another order (with a fixed shape, all of 7,544 embeddings
were bit-equal). So the teacher encodes the texts of a batch in one call and caches nothing: its embeddings are a
function of the batch, and a resumed run needs no cache to reach the same numbers. The cost is in trainer/LOG.md.
"""

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.models.checkpoint import read_model
from nt2vr.models.short_text import encode_short
from nt2vr.negation.generate.denials import Denial
from trainer.config import TrainConfig
from trainer.data.batches import Sought
from trainer.losses.embedded import PartVectors


class TextEncoder(Protocol):
    """Anything that embeds texts."""

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts: (N, D), L2-normalised."""


class FrozenTexts:
    """The text tower of a model, frozen and without a cache."""

    def __init__(self, model: Any, tokenizer: Any, device: str) -> None:
        self._model, self._tokenizer, self._device = model.eval(), tokenizer, device

    @classmethod
    def of_base(cls, config: TrainConfig, device: str) -> "FrozenTexts":
        assert config.base_folder, "a frozen visual tower has a base"
        model, tokenizer, _ = read_model(config.base_folder, device)
        return cls(model, tokenizer, device)

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Embed texts in one call: (N, D), L2-normalised."""
        with torch.inference_mode():
            tokens = self._tokenizer(list(texts) or [""]).to(self._device)
            embeddings: NDArray[np.float32] = encode_short(self._model, tokens).float().cpu().numpy()
        return embeddings[: len(texts)]


class Teacher:
    def __init__(
        self, encoder: TextEncoder, sentences: Iterable[Denial], videos: NDArray[np.float32], device: str
    ) -> None:
        """Compute the means: of unwanted parts, over a sample of the sentences to learn from, and of videos.

        `videos` are (N, D), L2-normalised; without videos, embeddings of captions.
        """
        self.encoder, self._device = encoder, device
        unwanted = list(dict.fromkeys(sentence.unwanted for sentence in sentences if sentence.unwanted))
        self._unwanted_mean = self.embed(unwanted).mean(dim=0).nan_to_num()  # of none: nothing is subtracted
        self._video_mean = torch.from_numpy(videos.mean(axis=0)).to(device)

    def parts(self, sentences: Sequence[Denial], captions: Sequence[str] | None) -> PartVectors:
        """Embed the wanted and the unwanted parts of a batch of sentences, and captions if given.

        An idiom has no unwanted part: the mean stands for it, which subtracts nothing.
        """
        texts = [
            *(sentence.wanted for sentence in sentences),
            *(sentence.unwanted for sentence in sentences),
            *(captions or ()),
        ]
        wanted, unwanted, caption = self.embed(texts).tensor_split([len(sentences), 2 * len(sentences)])
        denies = torch.tensor(
            [bool(sentence.unwanted) for sentence in sentences], dtype=torch.bool, device=self._device
        )
        return PartVectors(
            wanted=wanted,
            unwanted=torch.where(denies[:, None], unwanted, self._unwanted_mean),
            pure=torch.tensor([not sentence.wanted for sentence in sentences], device=self._device),
            unwanted_mean=self._unwanted_mean,
            video_mean=self._video_mean,
            caption=None if captions is None else caption,
        )

    def embed(self, texts: Sequence[str]) -> Tensor:
        """Embed texts, each once: (N, D), L2-normalised."""
        return embed_once(self.encoder, texts, self._device)


class Miner:
    def __init__(self, encoder: TextEncoder, videos: NDArray[np.float32], device: str) -> None:
        """Take (N, D), L2-normalised embeddings of all training clips."""
        self._encoder, self._device, self._videos = encoder, device, torch.from_numpy(videos).to(device)

    def rows(self, sought: Sought) -> Tensor:
        texts = [text for parts in zip(*sought.parts, strict=True) for text in parts]
        subjects, objects = embed_once(self._encoder, texts, self._device).chunk(2)
        pool, rows = (torch.from_numpy(some).to(self._device) for some in (sought.pool, sought.rows))
        same = pool == rows[:, None]  # (b, P)
        own = torch.where(same.any(dim=1), same.int().argmax(dim=1), -1)
        return pool[distractors(self._videos[pool], subjects, objects, own)]


def distractors(videos: Tensor, subjects: Tensor, objects: Tensor, own: Tensor) -> Tensor:
    """Choose the clip that is most like a subject and least like an object, other than the caption's own.

        argmax over x of  cos(x, subject) - cos(x, object)        (Eq. 4)

    Of (P, D) videos, (b, D) subjects and objects, all L2-normalised, return (b,) places of videos; of equal ones, the
    first.

    Args:
        own: (b,) each caption's own place among the videos; -1 if it is not among them.

    Source: Singh et al., "Learn 'No' to Say 'Yes' Better", WACV 2025, Eq. 4.
    """
    scores = (subjects - objects) @ videos.T  # (b, P)
    scores[own >= 0, own[own >= 0]] = -torch.inf
    return scores.argmax(dim=1)


def embed_once(encoder: TextEncoder, texts: Sequence[str], device: str) -> Tensor:
    """Embed texts, equal ones once: (N, D), L2-normalised."""
    unique = {text: row for row, text in enumerate(dict.fromkeys(texts))}
    embeddings = torch.from_numpy(encoder.encode_text(list(unique))).to(device)
    return embeddings[[unique[text] for text in texts]]
