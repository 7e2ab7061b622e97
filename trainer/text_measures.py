"""What captions alone tell of a text tower that learns to deny: no measure of retrieval, no video is searched."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from trainer.batches import draw_sentence
from trainer.clips import Clips
from trainer.learner import Learner
from trainer.losses.distill import DistillLoss
from trainer.teacher import Teacher, TextEncoder


class TextMeasures:
    """Compares a text tower with what it shall become, on held-out captions and one denying sentence for each.

        text/target   mean cosine of denying sentences with the targets that distillation sets them
        text/kept     mean cosine of captions with what the base makes of them; 1 is as it was
        text/order    how often a sentence is nearer to "WANTED and OTHER" than to "WANTED and UNWANTED", in percent

    The last stands in for hard pairs, with texts for clips, as the base embeds them; OTHER is what the next sentence
    denies. A tower for which "not" is a word like others comes near 0, one that merely drops what is denied near 50.

    Attributes:
        sentences: the denying ones.
        controls: the measures of the frozen base, "base/…", and what dropping brings: "drop/text/order", of the
            sentences that want something.
    """

    def __init__(self, learner: Learner, clips: Clips) -> None:
        """Embed what does not change, by the learner's teacher."""
        teacher, (_, loss) = learner.teacher, learner.losses.terms["distill"]
        assert teacher is not None and isinstance(loss, DistillLoss), "the targets are theirs"
        self.sentences = [draw_sentence(clips, learner.config, row, f"validation {row}") for row in range(len(clips))]
        self._captions = clips.captions("validation")
        parts = teacher.parts(self.sentences, self._captions)
        unwanted = [sentence.unwanted for sentence in self.sentences]
        both, other = (self._joined(teacher, phrases) for phrases in (unwanted, [*unwanted[1:], *unwanted[:1]]))
        assert parts.caption is not None
        self._target = loss.target(parts).cpu().numpy()  # (N, D)
        self._captions_before = parts.caption.cpu().numpy()  # (N, D)
        self._nearer = (other - both).cpu().numpy()  # (N, D)
        self.controls = {f"base/{name}": value for name, value in self(teacher.encoder).items()}
        if (wants := ~parts.pure.cpu().numpy()).any():
            self.controls["drop/text/order"] = _share_above(parts.wanted.cpu().numpy()[wants], self._nearer[wants])

    def _joined(self, teacher: Teacher, phrases: Sequence[str]) -> Tensor:
        """Embed what the sentences want, if anything, each with a phrase: (N, D)."""
        pairs = zip(self.sentences, phrases, strict=True)
        return teacher.embed(
            [f"{sentence.wanted} and {also}" if sentence.wanted else also for sentence, also in pairs]
        )

    def __call__(self, encoder: TextEncoder) -> dict[str, float]:
        """Measure an encoder."""
        texts = encoder.encode_text([sentence.text for sentence in self.sentences])
        captions = encoder.encode_text(self._captions)
        return {
            "text/target": float((texts * self._target).sum(axis=1).mean()),
            "text/kept": float((captions * self._captions_before).sum(axis=1).mean()),
            "text/order": _share_above(texts, self._nearer),
        }


def _share_above(texts: NDArray[np.float32], directions: NDArray[np.float32]) -> float:
    """Return how many texts, in percent, lie on the right side, each of its own direction; ties count against them."""
    return 100 * float(np.mean((texts * directions).sum(axis=1) > 0))
