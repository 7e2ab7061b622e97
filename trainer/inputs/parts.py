"""Parts of denying sentences as the frozen starting model embeds them."""

from collections.abc import Iterable, Sequence
from copy import copy
from typing import NamedTuple

import torch
from torch import Tensor

from nt2vr.errors import ConfigError
from nt2vr.models.encoder import Vectors
from nt2vr.negation.generate.denial import Denial
from trainer import distributed
from trainer.config import TrainConfig
from trainer.data.sentences import captions_of
from trainer.inputs.base import Drawing, EmbeddedBatch, Input, Preparation, Towers
from trainer.inputs.denied import Denied, example_sentence
from trainer.inputs.frozen_texts import FrozenTexts, StoredTexts, TextEncoder, embed_once

# Captions, and sentences made of captions, averaged for the teacher's mean embeddings.
SAMPLE = 2048


class PartVectors(NamedTuple):
    """Embedded parts of denying sentences by the frozen starting model.

    Attributes:
        wanted: (B, D), L2-normalised; meaningless where `pure` is True.
        unwanted: (B, D), L2-normalised; meaningless for idioms, which have no unwanted part.
        pure: (B,) bool, True for sentences that want nothing ("not B").
        unwanted_mean: (D,), mean of many unwanted parts, not normalised.
        video_mean: (D,), mean of many videos or, without videos, of many captions; not normalised.
        idiom: (B,) bool, True for sentences that deny nothing.
        caption: the captions that `EmbeddedBatch.caption` has, L2-normalised; None if no loss needs
            them.
    """

    wanted: Tensor
    unwanted: Tensor
    pure: Tensor
    unwanted_mean: Tensor
    video_mean: Tensor
    idiom: Tensor
    caption: Tensor | None = None


class TeacherTexts(NamedTuple):
    """The denying sentences of this process's clips, and the captions; None if no loss compares these."""

    sentences: list[Denial]
    captions: list[str] | None


class Parts(Input[TeacherTexts, PartVectors]):
    """The parts of the denying sentences, embedded by the frozen starting model.

    Attributes:
        with_captions: the captions are embedded, too.
        teacher: embeds them.
        storing_teacher: the same, but it stores what it embeds, for texts of before the first step:
            a killed training reads them when it starts again.
    """

    uses = (Denied,)
    needs_frozen_videos = True

    def __init__(self, with_captions: bool = False) -> None:
        self.with_captions = with_captions

    def check(self, config: TrainConfig, loss: str) -> None:
        """Refuse what has no text tower like the teacher's."""
        super().check(config, loss)
        if config.text_side:
            raise ConfigError(
                f"{loss} teaches a text tower. Leave it out, or leave {config.text_side} out."
            )

    def join(self, other: Input[TeacherTexts, PartVectors]) -> None:
        """Embed the captions if any loss compares them."""
        assert isinstance(other, Parts)
        self.with_captions = self.with_captions or other.with_captions

    def load(self, preparation: Preparation) -> None:
        """Load the teacher, and let it average unwanted parts, and videos or captions."""
        preparation.progress(0, 0, "embedding the teacher's texts")
        clips = preparation.clips
        base = FrozenTexts.of_base(preparation.config, preparation.device)
        storing: TextEncoder = base
        if preparation.cache is not None:
            storing = StoredTexts(base, preparation.cache)

        first = range(min(SAMPLE, len(clips)))
        videos = preparation.videos
        if videos is None:
            videos = storing.encode_text(captions_of(clips.sentences, preparation.key, first))
        rows = first if clips.sentences.parses_captions else range(len(clips))
        sentences = (example_sentence(preparation, row) for row in rows)

        self.storing_teacher = Teacher(
            encoder=storing,
            sentences=sentences,
            videos=videos,
            device=preparation.device,
        )
        self.teacher = copy(self.storing_teacher)
        self.teacher.encoder = base

    def draw(self, drawing: Drawing) -> TeacherTexts:
        """Take the sentences and captions of the batch."""
        captions = None
        if self.with_captions:
            captions = [caption.text for caption in drawing.captions]
        return TeacherTexts(drawing.of(Denied), captions)

    def embed(
        self, drawn: TeacherTexts, texts: Tensor, batch: EmbeddedBatch, towers: Towers
    ) -> PartVectors:
        """Embed the parts by the teacher."""
        return gathered(self.teacher.parts(drawn.sentences, drawn.captions))


class Teacher:
    """Embeds the parts of denying sentences by the frozen model.

    Attributes:
        unwanted_mean: (D,), mean of the sentences' unwanted parts, each counted once.
        video_mean: (D,), mean of the videos or, without videos, of captions.
    """

    def __init__(
        self,
        encoder: TextEncoder,
        sentences: Iterable[Denial],
        videos: Vectors,
        device: str,
    ) -> None:
        self.encoder = encoder
        self._device = device
        unwanted = dict.fromkeys(sentence.unwanted for sentence in sentences if sentence.unwanted)
        embeddings = self.embed(list(unwanted))
        # The mean of none is NaN: nothing is subtracted then.
        self.unwanted_mean = embeddings.mean(dim=0).nan_to_num()
        self.video_mean = torch.from_numpy(videos.mean(axis=0)).to(device)

    def parts(self, sentences: Sequence[Denial], captions: Sequence[str] | None) -> PartVectors:
        """Embed the wanted and the unwanted parts of a batch of sentences, and captions if given."""
        wanted_texts = [sentence.wanted for sentence in sentences]
        unwanted_texts = [sentence.unwanted for sentence in sentences]
        # One call for all: an embedding depends on the texts that it is encoded with.
        embeddings = self.embed([*wanted_texts, *unwanted_texts, *(captions or ())])
        boundaries = [len(sentences), 2 * len(sentences)]
        wanted, unwanted, caption = embeddings.tensor_split(boundaries)
        parts = PartVectors(
            wanted=wanted,
            unwanted=unwanted,
            pure=self._is_empty(wanted_texts),
            unwanted_mean=self.unwanted_mean,
            video_mean=self.video_mean,
            idiom=self._is_empty(unwanted_texts),
        )
        if captions is None:
            return parts
        return parts._replace(caption=caption)

    def _is_empty(self, texts: Sequence[str]) -> Tensor:
        return torch.tensor([not text for text in texts], device=self._device)

    def embed(self, texts: Sequence[str]) -> Tensor:
        """Embed texts, each once: (N, D), L2-normalised."""
        return embed_once(self.encoder, texts, self._device)


def gathered(parts: PartVectors) -> PartVectors:
    """Gather the parts of all processes' sentences; the means are the same in all."""
    tensors = {}
    for name in ("wanted", "unwanted", "pure", "caption", "idiom"):
        tensor = getattr(parts, name)
        if tensor is not None:
            tensors[name] = distributed.gather(tensor)
    return parts._replace(**tensors)
