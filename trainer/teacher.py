"""The frozen model that a training starts from, as the teacher of negation distillation."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.models.open_clip_encoder import OpenClipEncoder
from nt2vr.querygen.denials import Denial
from trainer.losses.embedded import Parts

KEPT_PHRASES = 10_000  # 20 MB at 512 dimensions


class Teacher:
    """Embeds the parts of sentences. Phrases come again and again, so the latest are kept.

    Attributes:
        encoder: the starting model.
    """

    def __init__(
        self, encoder: OpenClipEncoder, sentences: Iterable[Denial], videos: NDArray[np.float32], device: str
    ) -> None:
        """Take the means.

        Args:
            encoder: the starting model.
            sentences: many of those that will be learnt from.
            videos: (N, D), L2-normalised; where there are none, captions.
            device: where embeddings go.
        """
        self.encoder, self._device = encoder, device
        self._kept: dict[str, NDArray[np.float32]] = {}
        unwanted = list(dict.fromkeys(sentence.unwanted for sentence in sentences))
        self._unwanted_mean = self.phrases(unwanted).mean(dim=0)
        self._video_mean = torch.from_numpy(videos.mean(axis=0)).to(device)

    def parts(self, sentences: Sequence[Denial], captions: Sequence[str] | None) -> Parts:
        """Embed what sentences want and what they do not, and captions where they are asked for."""
        return Parts(
            wanted=self.phrases([sentence.wanted for sentence in sentences]),
            unwanted=self.phrases([sentence.unwanted for sentence in sentences]),
            pure=torch.tensor([not sentence.wanted for sentence in sentences], device=self._device),
            unwanted_mean=self._unwanted_mean,
            video_mean=self._video_mean,
            caption=None if captions is None else self._tensor(self.encoder.encode_text(captions)),
        )

    def phrases(self, phrases: Sequence[str]) -> Tensor:
        """Embed phrases: (N, D), L2-normalised."""
        new = [phrase for phrase in dict.fromkeys(phrases) if phrase not in self._kept]
        known = dict(zip(new, self.encoder.encode_text(new), strict=True))
        known |= {phrase: self._kept.pop(phrase) for phrase in dict.fromkeys(phrases) if phrase in self._kept}
        self._kept |= known  # the latest last
        for phrase in list(self._kept)[: max(0, len(self._kept) - KEPT_PHRASES)]:
            del self._kept[phrase]
        return self._tensor(np.array([known[phrase] for phrase in phrases]))

    def forget(self) -> None:
        """Keep nothing of what was embedded so far."""
        self._kept, self.encoder.cached_texts = {}, {}

    def state_dict(self) -> dict[str, Any]:
        """What is kept here and by the encoder: in other company, a text would be embedded a last bit differently.

        So a run that goes on must find kept what would have been, and only that, in the same order.
        """
        return {"phrases": _packed(self._kept), "texts": _packed(self.encoder.cached_texts)}

    def load_state_dict(self, state: Mapping[str, Any]) -> None:
        """Take up what was kept."""
        self._kept, self.encoder.cached_texts = _unpacked(state["phrases"]), _unpacked(state["texts"])

    def _tensor(self, embeddings: NDArray[np.float32]) -> Tensor:
        return torch.from_numpy(embeddings).to(self._device)


def _packed(kept: Mapping[str, NDArray[np.float32]]) -> tuple[list[str], Tensor]:
    return list(kept), torch.from_numpy(np.array(list(kept.values()), np.float32))


def _unpacked(packed: tuple[list[str], Tensor]) -> dict[str, NDArray[np.float32]]:
    texts, embeddings = packed
    return dict(zip(texts, embeddings.numpy(), strict=True))
