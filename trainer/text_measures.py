"""What a text tower that learns from sentences alone is measured by after each epoch."""

from collections.abc import Sequence
from functools import partial
from random import Random
from typing import Any

from numpy.typing import NDArray
from torch import Tensor

from nt2vr.errors import ConfigError
from nt2vr.evaluation.metric_names import (
    TEXT_IDIOMS,
    TEXT_KEPT,
    TEXT_ORDER,
    TEXT_ORDER_IF_KEPT,
    TEXT_TARGET,
    Metrics,
)
from nt2vr.models.encoder import Vectors
from nt2vr.negation.generate.denial import Denial
from nt2vr.negation.generate.denials import CaptionDenials
from trainer.data.clips import Clips
from trainer.inputs import Parts, given
from trainer.inputs.denied import draw_sentence
from trainer.inputs.frozen_texts import TextEncoder
from trainer.inputs.parts import PartVectors, Teacher
from trainer.learner import Learner
from trainer.losses.distill import DistillLoss

# text/kept above which retrieval by affirmative captions stays as it is.
KEPT = 0.985
# Captions that idioms are made of.
IDIOMS = 256


class TextMeasures:
    """Compares a text tower with its targets, on held-out captions and a denying sentence for each.

        text/target   mean cosine between denying sentences and their distillation targets
        text/kept     mean cosine between captions as the model and as the base embed them;
                      1 means unchanged
        text/order    percentage of sentences nearer to "WANTED and OTHER" than to
                      "WANTED and UNWANTED"
        text/idioms   mean cosine between sentences that deny nothing, in wordings never trained
                      on, and their affirmative paraphrases as the base embeds them
        text/order_if_kept   text/order while text/kept is at least KEPT, otherwise how many percent
                             it is below that, as a negative number: so patience, which watches
                             this, sees a run recover

    text/order stands in for hard pairs, with texts embedded by the base in place of clips; OTHER is
    the unwanted part of the next sentence. A tower that treats "not" like any other word scores
    near 0. One that merely drops the unwanted part is near 50: among the `controls` it is
    "drop/text/order", beside the frozen base's measures.
    """

    def __init__(self, learner: Learner, clips: Clips) -> None:
        teacher = learner.losses.inputs.of(Parts).storing_teacher
        _, loss = learner.losses.terms["distill"]
        assert isinstance(loss, DistillLoss), "distill and its teacher define the targets"
        draw = partial(draw_sentence, clips, learner.config)
        self.sentences = [draw(row, f"validation {row}") for row in range(len(clips))]
        self._captions = clips.captions("validation")

        parts = teacher.parts(self.sentences, self._captions)
        self._targets = _array(loss.target(parts))  # (N, D)
        self._base_captions = _array(given(parts.caption))  # (N, D)
        self._denies = ~_array(parts.idiom)  # (N,)
        self._directions = self._right_directions(teacher)

        self._idioms = unseen_idioms(self._captions)
        paraphrases = [idiom.wanted for idiom in self._idioms]
        self._paraphrases = _array(teacher.embed(paraphrases))
        self.controls = self._measure_controls(teacher, parts)

    def _right_directions(self, teacher: Teacher) -> Vectors:
        """Return (M, D), from "WANTED and UNWANTED" to "WANTED and OTHER", per denying sentence."""
        denying = [sentence for sentence in self.sentences if sentence.unwanted]
        if not denying:
            raise ConfigError(
                "No sentence made of these captions denies anything. Give other kinds a share, or "
                "more."
            )
        unwanted = [sentence.unwanted for sentence in denying]
        unwanted_of_next = [*unwanted[1:], *unwanted[:1]]
        with_unwanted = _embed_joined(teacher, denying, unwanted)
        with_other = _embed_joined(teacher, denying, unwanted_of_next)
        return _array(with_other - with_unwanted)

    def _measure_controls(self, teacher: Teacher, parts: PartVectors) -> Metrics:
        """Measure the frozen base, and a tower that drops the unwanted part."""
        of_base = self(teacher.encoder)
        controls = {f"base/{name}": value for name, value in of_base.items()}
        wanted = _array(parts.wanted)[self._denies]  # (M, D)
        has_wanted = ~_array(parts.pure)[self._denies]  # (M,)
        if has_wanted.any():
            order = _share_above(wanted[has_wanted], self._directions[has_wanted])
            controls[f"drop/{TEXT_ORDER}"] = order
        return controls

    def __call__(self, encoder: TextEncoder) -> Metrics:
        texts = encoder.encode_text([sentence.text for sentence in self.sentences])
        captions = encoder.encode_text(self._captions)
        similarity = _mean_cosine(captions, self._base_captions)
        order = _share_above(texts[self._denies], self._directions)
        order_if_kept = order
        if similarity < KEPT:
            order_if_kept = 100 * (similarity - KEPT)

        measures = {
            TEXT_TARGET: _mean_cosine(texts, self._targets),
            TEXT_KEPT: similarity,
            TEXT_ORDER: order,
            TEXT_ORDER_IF_KEPT: order_if_kept,
        }
        if self._idioms:
            idioms = encoder.encode_text([idiom.text for idiom in self._idioms])
            measures[TEXT_IDIOMS] = _mean_cosine(idioms, self._paraphrases)
        return measures


def unseen_idioms(captions: Sequence[str]) -> list[Denial]:
    """Draw sentences that deny nothing, in unseen wordings, for the first captions that allow one."""
    denials = CaptionDenials(captions[:IDIOMS])
    idioms = []
    for row in range(len(denials)):
        idiom = denials.draw(row, "idiom", Random(f"idiom {row}"), "unseen")
        if idiom:
            idioms.append(idiom)
    return idioms


def _embed_joined(teacher: Teacher, sentences: Sequence[Denial], phrases: Sequence[str]) -> Tensor:
    """Embed each sentence's wanted part, if any, joined with a phrase: (N, D)."""
    texts = []
    for sentence, phrase in zip(sentences, phrases, strict=True):
        if sentence.wanted:
            phrase = f"{sentence.wanted} and {phrase}"
        texts.append(phrase)
    return teacher.embed(texts)


def _array(tensor: Tensor) -> NDArray[Any]:
    return tensor.cpu().numpy()


def _mean_cosine(first: Vectors, second: Vectors) -> float:
    return float((first * second).sum(axis=1).mean())


def _share_above(texts: Vectors, directions: Vectors) -> float:
    """Return the percentage of texts with a positive dot product with their own direction.

    Ties count against them.
    """
    is_above = (texts * directions).sum(axis=1) > 0
    return 100 * float(is_above.mean())
