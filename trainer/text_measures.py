"""Text-only validation of a text tower that learns negation. Searches no videos, so measures no retrieval."""

import random
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.denials import CaptionDenials, Denial
from trainer.data.batches import draw_sentence
from trainer.data.clips import Clips
from trainer.learner import Learner
from trainer.losses.distill import DistillLoss
from trainer.teacher import Teacher, TextEncoder

KEPT = 0.985  # text/kept above which retrieval by affirmative captions stays as it is
IDIOMS = 256  # captions that idioms are made of
EARLY_STEPS = 100  # after which `early_warning` looks
LEAST_GAIN = 5.0  # percentage points of text/order
LEAST_KEPT = 0.95  # of text/kept


class TextMeasures:
    """Compares a text tower with its targets, on held-out captions and one denying sentence per caption.

        text/target   mean cosine between denying sentences and their distillation targets
        text/kept     mean cosine between captions as the model and as the base embed them; 1 means unchanged
        text/order    percentage of sentences nearer to "WANTED and OTHER" than to "WANTED and UNWANTED"
        text/idioms   mean cosine between sentences that deny nothing, in wordings never trained on, and their
                      affirmative paraphrases as the base embeds them
        text/order_if_kept   text/order while text/kept is at least KEPT, otherwise how many percent it is below that,
                             as a negative number: so patience, which watches this, sees a run recover

    text/order stands in for hard pairs, with texts embedded by the base in place of clips; OTHER is the unwanted part
    of the next sentence. A tower that treats "not" like any other word scores near 0, one that merely drops the
    unwanted part near 50. `controls` are the measures of the frozen base, "base/…", and of the latter,
    "drop/text/order", over the sentences that have a wanted part.
    """

    def __init__(self, learner: Learner, clips: Clips) -> None:
        """Embed targets, captions and comparison texts once, with the learner's teacher."""
        teacher, (_, loss) = learner.teacher, learner.losses.terms["distill"]
        assert teacher is not None and isinstance(loss, DistillLoss), "distill and its teacher define the targets"
        self.sentences = [draw_sentence(clips, learner.config, row, f"validation {row}") for row in range(len(clips))]
        self._captions = clips.captions("validation")
        parts = teacher.parts(self.sentences, self._captions)
        self._denies = np.array([bool(sentence.unwanted) for sentence in self.sentences])
        denying = [sentence for sentence in self.sentences if sentence.unwanted]
        if not denying:
            raise ConfigError("No sentence made of these captions denies anything. Give other kinds a share, or more.")
        unwanted = [sentence.unwanted for sentence in denying]
        others = [*unwanted[1:], *unwanted[:1]]
        both, other = (_joined(teacher, denying, phrases) for phrases in (unwanted, others))
        assert parts.caption is not None
        self._target = loss.target(parts).cpu().numpy()  # (N, D)
        self._captions_before = parts.caption.cpu().numpy()  # (N, D)
        self._nearer = (other - both).cpu().numpy()  # (N, D) without idioms
        self._idioms = unseen_idioms(self._captions)
        self._paraphrases = teacher.embed([idiom.wanted for idiom in self._idioms]).cpu().numpy()
        self.controls = {f"base/{name}": value for name, value in self(teacher.encoder).items()}
        wants = ~parts.pure.cpu().numpy()[self._denies]
        if wants.any():
            wanted = parts.wanted.cpu().numpy()[self._denies]
            self.controls["drop/text/order"] = _share_above(wanted[wants], self._nearer[wants])

    def __call__(self, encoder: TextEncoder) -> dict[str, float]:
        """Compute the measures for an encoder."""
        texts = encoder.encode_text([sentence.text for sentence in self.sentences])
        captions = encoder.encode_text(self._captions)
        kept = float((captions * self._captions_before).sum(axis=1).mean())
        order = _share_above(texts[self._denies], self._nearer)
        measured = {
            "text/target": float((texts * self._target).sum(axis=1).mean()),
            "text/kept": kept,
            "text/order": order,
            "text/order_if_kept": order if kept >= KEPT else 100 * (kept - KEPT),
        }
        if self._idioms:
            idioms = encoder.encode_text([idiom.text for idiom in self._idioms])
            measured["text/idioms"] = float((idioms * self._paraphrases).sum(axis=1).mean())
        return measured


def early_warning(measured: Mapping[str, float], controls: Mapping[str, float], learning_rate: float) -> str:
    """Return a sentence on what goes wrong in the first steps of teaching negation from captions, "" if nothing does.

    With too low a learning rate a tower stays where its base is, and every measure but text/order looks fine: at 1e-5,
    MiniLM still treated "not" like any other word after 250 steps.
    """
    order, before, kept = measured["text/order"], controls["base/text/order"], measured["text/kept"]
    if kept < LEAST_KEPT:
        return (
            f"text/kept has fallen to {kept:.3f} in {EARLY_STEPS} steps, so captions find less than before: "
            f"lower the learning rate ({learning_rate:g})."
        )
    if order - before < LEAST_GAIN:
        return (
            f"text/order has not moved in {EARLY_STEPS} steps ({before:.1f} to {order:.1f} %): "
            f"raise the learning rate ({learning_rate:g})."
        )
    return ""


def unseen_idioms(captions: Sequence[str]) -> list[Denial]:
    """Draw a sentence that denies nothing for each of the first captions that allow one, in unseen wordings."""
    denials = CaptionDenials(captions[:IDIOMS])
    drawn = (denials.unseen_idiom(row, random.Random(f"idiom {row}")) for row in range(len(denials)))
    return [idiom for idiom in drawn if idiom]


def _joined(teacher: Teacher, sentences: Sequence[Denial], phrases: Sequence[str]) -> Tensor:
    """Embed each sentence's wanted part, if any, joined with a phrase: (N, D)."""
    pairs = zip(sentences, phrases, strict=True)
    return teacher.embed([f"{sentence.wanted} and {also}" if sentence.wanted else also for sentence, also in pairs])


def _share_above(texts: NDArray[np.float32], directions: NDArray[np.float32]) -> float:
    """Return the percentage of texts with a positive dot product with their own direction; ties count against them."""
    return 100 * float(np.mean((texts * directions).sum(axis=1) > 0))
