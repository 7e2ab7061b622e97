"""Parts of denying sentences as the frozen starting model embeds them."""

from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.negation.generate.denials import Denial
from trainer import distributed
from trainer.inputs.frozen_texts import TextEncoder, embed_once
from trainer.losses.embedded import PartVectors


class Teacher:
    """Embeds parts by the frozen model; it knows means: of sentences' unwanted parts, and of videos or captions."""

    def __init__(
        self, encoder: TextEncoder, sentences: Iterable[Denial], videos: NDArray[np.float32], device: str
    ) -> None:
        self.encoder, self._device = encoder, device
        unwanted = list(dict.fromkeys(sentence.unwanted for sentence in sentences if sentence.unwanted))
        self._unwanted_mean = self.embed(unwanted).mean(dim=0).nan_to_num()  # of none: nothing is subtracted
        self._video_mean = torch.from_numpy(videos.mean(axis=0)).to(device)

    def parts(self, sentences: Sequence[Denial], captions: Sequence[str] | None) -> PartVectors:
        """Embed the wanted and the unwanted parts of a batch of sentences, and captions if given.

        An idiom has no unwanted part: the mean stands for it, which subtracts nothing.
        """
        parts = [each.wanted for each in sentences], [each.unwanted for each in sentences]
        texts = [*chain(*parts), *(captions or ())]
        wanted, unwanted, caption = self.embed(texts).tensor_split([len(sentences), 2 * len(sentences)])
        pure, idiom = (torch.tensor([not text for text in some], device=self._device) for some in parts)
        unwanted = torch.where(idiom.bool()[:, None], self._unwanted_mean, unwanted)
        means = self._unwanted_mean, self._video_mean
        return PartVectors(wanted, unwanted, pure, *means, None if captions is None else caption)

    def embed(self, texts: Sequence[str]) -> Tensor:
        """Embed texts, each once: (N, D), L2-normalised."""
        return embed_once(self.encoder, texts, self._device)


def gathered(parts: PartVectors) -> PartVectors:
    own = {name: getattr(parts, name) for name in ("wanted", "unwanted", "pure", "caption")}
    return parts._replace(**{name: distributed.gather(some) for name, some in own.items() if some is not None})
