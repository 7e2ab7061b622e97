"""Captions with one thing denied."""

from functools import lru_cache
from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.negation.generate.actions import actions
from nt2vr.negation.generate.content import things
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.query import split_query
from nt2vr.negation.parse.tagger import load_tagger
from trainer import distributed
from trainer.data.sentences import DrawnCaption
from trainer.inputs.base import Drawing, EmbeddedBatch, Input, Preparation, Towers

CACHED = 100_000  # negated captions, whose parsing takes about 2 ms


class NegatedCaptions(NamedTuple):
    texts: list[str]  # b captions, one thing in each denied; those that cannot be negated, as they are
    negatable: NDArray[np.bool_]  # (b,) which could be


class EmbeddedNegated(NamedTuple):
    text: Tensor  # (B, D), L2-normalised captions with one thing denied in each
    negatable: Tensor | None = None  # (B,) bool, True for captions that could be negated; None if all could


class Negated(Input[NegatedCaptions, EmbeddedNegated]):
    """The batch's captions, with one thing in each denied.

    If `is_parsed`, those whose subject and denied object are not clear count as not negatable.
    """

    def __init__(self, is_parsed: bool = False) -> None:
        self.is_parsed = is_parsed

    def join(self, other: Input[NegatedCaptions, EmbeddedNegated]) -> None:
        """Count what any loss counts as not negatable."""
        assert isinstance(other, Negated)
        self.is_parsed = self.is_parsed or other.is_parsed

    def example_texts(self, row: int, caption: DrawnCaption, preparation: Preparation) -> list[str]:
        """Negate the caption."""
        negated = caption.negate()
        return [] if negated is None else [negated]

    def draw(self, drawing: Drawing) -> NegatedCaptions:
        """Draw a negation of each caption; the others stand for themselves."""
        texts: list[str] = []
        negatable: list[bool] = []
        for caption in drawing.captions:
            negated = caption.negate()
            texts.append(negated or caption.text)
            is_negatable = negated is not None
            if is_negatable and self.is_parsed:
                is_negatable = subject_and_object(caption.text, texts[-1]) is not None
            negatable.append(is_negatable)
        return NegatedCaptions(texts, np.array(negatable))

    def texts(self, drawn: NegatedCaptions) -> list[str]:
        """Return the negated captions."""
        return drawn.texts

    def embed(self, drawn: NegatedCaptions, texts: Tensor, batch: EmbeddedBatch, towers: Towers) -> EmbeddedNegated:
        """Gather those of all processes."""
        text = distributed.gather(texts)
        negatable = distributed.gather(torch.from_numpy(drawn.negatable).to(towers.device))
        return EmbeddedNegated(text, None if negatable.all() else negatable)


@lru_cache(maxsize=CACHED)
def subject_and_object(caption: str, negated: str) -> tuple[str, str] | None:
    """Return who acts in a caption, or what it names first, and what its negation denies; None if either is unclear.

    "a guy flies a kite on the beach", "a guy does not fly a kite on the beach": "a man", "fly a kite".
    """
    phrases = Phrases(load_tagger().tag(caption))
    named = [*(acting.subject.text for acting in actions(phrases)), *(thing.text for thing in things(phrases))]
    query = split_query(negated, Phrases(load_tagger().tag(negated)))
    return (named[0], query.unwanted[0]) if named and query.unwanted else None
