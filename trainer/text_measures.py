"""What a text tower that learns from sentences alone is measured by after each epoch."""

import random
from collections.abc import Sequence
from itertools import compress

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.errors import ConfigError
from nt2vr.evaluation.metric_names import (
    TEXT_IDIOMS,
    TEXT_KEPT,
    TEXT_ORDER,
    TEXT_ORDER_IF_KEPT,
    TEXT_TARGET,
)
from nt2vr.negation.generate.denials import CaptionDenials, Denial
from trainer.data.clips import Clips
from trainer.inputs import Parts, given
from trainer.inputs.denied import draw_sentence
from trainer.inputs.frozen_texts import TextEncoder
from trainer.inputs.parts import Teacher
from trainer.learner import Learner
from trainer.losses.distill import DistillLoss

KEPT = 0.985  # text/kept above which retrieval by affirmative captions stays as it is
IDIOMS = 256  # captions that idioms are made of


class TextMeasures:
    """Compares a text tower with its targets, on held-out captions and one denying sentence per caption.

        text/target   mean cosine between denying sentences and their distillation targets
        text/kept     mean cosine between captions as the model and as the base embed them; 1 means unchanged
        text/order    percentage of sentences nearer to "WANTED and OTHER" than to "WANTED and UNWANTED"
        text/idioms   mean cosine between sentences that deny nothing, in wordings never trained on, and their
                      affirmative paraphrases as the base embeds them
        text/order_if_kept   text/order while text/kept is at least KEPT, otherwise how many percent it is below that,
                             as a negative number: so patience, which watches this, sees a run
                             recover

    text/order stands in for hard pairs, with texts embedded by the base in place of clips; OTHER is
    the unwanted part of the next sentence. A tower that treats "not" like any other word scores
    near 0. One that merely drops the unwanted part is near 50: among the `controls` it is
    "drop/text/order", beside the frozen base's measures.
    """

    def __init__(self, learner: Learner, clips: Clips) -> None:
        teacher = learner.losses.inputs.of(Parts).storing_teacher
        _, loss = learner.losses.terms["distill"]
        assert isinstance(loss, DistillLoss), "distill and its teacher define the targets"
        self.sentences = [
            draw_sentence(clips, learner.config, row, f"validation {row}")
            for row in range(len(clips))
        ]
        self._captions = clips.captions("validation")
        parts = teacher.parts(self.sentences, self._captions)
        self._denies = np.array([bool(sentence.unwanted) for sentence in self.sentences])
        denying = list(compress(self.sentences, self._denies))
        if not denying:
            raise ConfigError(
                "No sentence made of these captions denies anything. Give other kinds a share, or more."
            )
        unwanted = [sentence.unwanted for sentence in denying]
        both = _joined(teacher, denying, unwanted)
        other = _joined(teacher, denying, [*unwanted[1:], *unwanted[:1]])
        self._target = loss.target(parts).cpu().numpy()  # (N, D)
        self._captions_before = given(parts.caption).cpu().numpy()  # (N, D)
        self._nearer = (other - both).cpu().numpy()  # (N, D) without idioms
        self._idioms = unseen_idioms(self._captions)
        self._paraphrases = teacher.embed([idiom.wanted for idiom in self._idioms]).cpu().numpy()
        self.controls = {f"base/{name}": value for name, value in self(teacher.encoder).items()}
        wanted, wants = (some.cpu().numpy()[self._denies] for some in (parts.wanted, ~parts.pure))
        if wants.any():
            self.controls[f"drop/{TEXT_ORDER}"] = _share_above(wanted[wants], self._nearer[wants])

    def __call__(self, encoder: TextEncoder) -> dict[str, float]:
        texts = encoder.encode_text([sentence.text for sentence in self.sentences])
        captions = encoder.encode_text(self._captions)
        kept = float((captions * self._captions_before).sum(axis=1).mean())
        order = _share_above(texts[self._denies], self._nearer)
        if_kept = order if kept >= KEPT else 100 * (kept - KEPT)
        measured = {
            TEXT_TARGET: float((texts * self._target).sum(axis=1).mean()),
            TEXT_KEPT: kept,
        }
        measured |= {TEXT_ORDER: order, TEXT_ORDER_IF_KEPT: if_kept}
        if self._idioms:
            idioms = encoder.encode_text([idiom.text for idiom in self._idioms])
            measured[TEXT_IDIOMS] = float((idioms * self._paraphrases).sum(axis=1).mean())
        return measured


def unseen_idioms(captions: Sequence[str]) -> list[Denial]:
    """Draw a sentence that denies nothing for each of the first captions that allow one, in unseen wordings."""
    denials = CaptionDenials(captions[:IDIOMS])
    drawn = (
        denials.draw(row, "idiom", random.Random(f"idiom {row}"), "unseen")
        for row in range(len(denials))
    )
    return [idiom for idiom in drawn if idiom]


def _joined(teacher: Teacher, sentences: Sequence[Denial], phrases: Sequence[str]) -> Tensor:
    """Embed each sentence's wanted part, if any, joined with a phrase: (N, D)."""
    pairs = zip(sentences, phrases, strict=True)
    return teacher.embed(
        [f"{sentence.wanted} and {also}" if sentence.wanted else also for sentence, also in pairs]
    )


def _share_above(texts: NDArray[np.float32], directions: NDArray[np.float32]) -> float:
    """Return the percentage of texts with a positive dot product with their own direction; ties count against them."""
    return 100 * float(np.mean((texts * directions).sum(axis=1) > 0))
