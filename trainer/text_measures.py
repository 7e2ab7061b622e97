"""What captions alone tell of a text tower that learns to deny: no measure of retrieval, no video is searched."""

from collections.abc import Mapping

import numpy as np

from nt2vr.encoder import Encoder
from trainer.batches import draw_sentence
from trainer.clips import ClipSet
from trainer.learner import Learner
from trainer.losses.distill import DistillLoss


class TextMeasures:
    """Compares a text tower with what it shall become, on held-out captions and one denying sentence for each.

        text/target   mean cosine of denying sentences with the targets that distillation sets them
        text/kept     mean cosine of captions with what the base makes of them; 1 is as it was
        text/order    how often a sentence is nearer to its wanted part than to "WANTED and UNWANTED", in percent

    The last stands in for hard pairs, with captions for clips that show the wanted alone and clips that show both, as
    the base embeds them. A tower for which "not" is a word like others comes near 0, one that merely drops what is
    denied to 100: it shows that denying is noticed, and text/target how well it is done.

    Attributes:
        sentences: the denying ones.
        of_base: the same measures of the frozen base.
    """

    def __init__(self, learner: Learner, clips: ClipSet) -> None:
        """Embed all that does not change, by the learner's teacher, which keeps nothing of it."""
        teacher, (_, loss) = learner.teacher, learner.losses.terms["distill"]
        assert teacher is not None and isinstance(loss, DistillLoss), "the targets are theirs"
        self.sentences = [draw_sentence(clips, learner.config, row, f"validation {row}") for row in range(len(clips))]
        self._captions = clips.captions("validation")
        before = teacher.state_dict()
        teacher.forget()  # or a run that goes on would compare with embeddings made in other company
        parts = teacher.parts(self.sentences, self._captions)
        both = teacher.phrases([f"{sentence.wanted} and {sentence.unwanted}" for sentence in self.sentences])
        assert parts.caption is not None
        self._target = loss.target(parts).cpu().numpy()  # (N, D)
        self._kept = parts.caption.cpu().numpy()  # (N, D)
        self._nearer = (parts.wanted - both).cpu().numpy()  # (N, D)
        self._has_wanted = ~parts.pure.cpu().numpy()  # (N,)
        self.of_base: Mapping[str, float] = self(teacher.encoder)
        teacher.load_state_dict(before)

    def __call__(self, encoder: Encoder) -> dict[str, float]:
        """Measure an encoder; "text/order" only if a sentence wants something."""
        texts = encoder.encode_text([sentence.text for sentence in self.sentences])
        captions = encoder.encode_text(self._captions)
        measured = {
            "text/target": float((texts * self._target).sum(axis=1).mean()),
            "text/kept": float((captions * self._kept).sum(axis=1).mean()),
        }
        if self._has_wanted.any():
            order = (texts * self._nearer).sum(axis=1)[self._has_wanted] > 0  # ties count against it
            measured["text/order"] = 100 * float(np.mean(order))
        return measured
