"""Text-only validation of a text tower that learns negation. Searches no videos, so it does not measure retrieval."""

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
    """Compares a text tower with its targets, on held-out captions and one denying sentence per caption.

        text/target   mean cosine between denying sentences and their distillation targets
        text/kept     mean cosine between captions as the model and as the base embed them; 1 means unchanged
        text/order    percentage of sentences nearer to "WANTED and OTHER" than to "WANTED and UNWANTED"

    text/order stands in for hard pairs, with texts embedded by the base in place of clips; OTHER is the unwanted part
    of the next sentence. A tower that treats "not" like any other word scores near 0, one that merely drops the
    unwanted part near 50.

    Attributes:
        sentences: one denying sentence per caption.
        controls: measures of the frozen base, "base/…", and of dropping the unwanted part, "drop/text/order", the
            latter over the sentences that have a wanted part.
    """

    def __init__(self, learner: Learner, clips: Clips) -> None:
        """Embed targets, captions and comparison texts once, with the learner's teacher."""
        teacher, (_, loss) = learner.teacher, learner.losses.terms["distill"]
        assert teacher is not None and isinstance(loss, DistillLoss), "distill and its teacher define the targets"
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
        """Embed each sentence's wanted part, if any, joined with a phrase: (N, D)."""
        pairs = zip(self.sentences, phrases, strict=True)
        return teacher.embed(
            [f"{sentence.wanted} and {also}" if sentence.wanted else also for sentence, also in pairs]
        )

    def __call__(self, encoder: TextEncoder) -> dict[str, float]:
        """Compute the three measures for an encoder."""
        texts = encoder.encode_text([sentence.text for sentence in self.sentences])
        captions = encoder.encode_text(self._captions)
        return {
            "text/target": float((texts * self._target).sum(axis=1).mean()),
            "text/kept": float((captions * self._captions_before).sum(axis=1).mean()),
            "text/order": _share_above(texts, self._nearer),
        }


def _share_above(texts: NDArray[np.float32], directions: NDArray[np.float32]) -> float:
    """Return the percentage of texts with a positive dot product with their own direction; ties count against them."""
    return 100 * float(np.mean((texts * directions).sum(axis=1) > 0))
