"""Distractors of CoN-CLIP: videos that show what a negated caption describes, mined by the starting model."""

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
from trainer.inputs.frozen_texts import TextEncoder, embed_once

CACHED = 100_000  # negated captions, whose parsing takes about 2 ms


class Sought(NamedTuple):
    """What to mine for this process's share of a batch."""

    parts: list[tuple[str, str]]  # b subjects and denied objects; empty texts for captions that have none
    rows: NDArray[np.int64]  # (b,) the captions' own clips, which are never their distractors
    pool: NDArray[np.int64]  # (P,) rows of the clips to choose among


@lru_cache(maxsize=CACHED)
def subject_and_object(caption: str, negated: str) -> tuple[str, str] | None:
    """Return who acts in a caption, or what it names first, and what its negation denies; None if either is unclear.

    "a guy flies a kite on the beach", "a guy does not fly a kite on the beach": "a man", "fly a kite".
    """
    phrases = Phrases(load_tagger().tag(caption))
    named = [*(acting.subject.text for acting in actions(phrases)), *(thing.text for thing in things(phrases))]
    query = split_query(negated, Phrases(load_tagger().tag(negated)))
    return (named[0], query.unwanted[0]) if named and query.unwanted else None


class Miner:
    """Finds distractors among all training clips, (N, D), L2-normalised."""

    def __init__(self, encoder: TextEncoder, videos: NDArray[np.float32], device: str) -> None:
        self._encoder, self._device, self._videos = encoder, device, torch.from_numpy(videos).to(device)

    def rows(self, sought: Sought) -> Tensor:
        texts = [text for parts in zip(*sought.parts, strict=True) for text in parts]
        subjects, objects = embed_once(self._encoder, texts, self._device).chunk(2)
        pool, rows = (torch.from_numpy(some).to(self._device) for some in (sought.pool, sought.rows))
        same = pool == rows[:, None]  # (b, P)
        own = torch.where(same.any(dim=1), same.int().argmax(dim=1), -1)
        return pool[distractors(self._videos[pool], subjects, objects, own)]


def distractors(videos: Tensor, subjects: Tensor, objects: Tensor, own: Tensor) -> Tensor:
    """Choose the clip that is most like a subject and least like an object, other than the caption's own.

        argmax over x of  cos(x, subject) - cos(x, object)        (Eq. 4)

    Of (P, D) videos, (b, D) subjects and objects, all L2-normalised, and (b,) captions' own places, -1 for none,
    return (b,) places of videos; of equal ones, the first.

    Source: Singh et al., "Learn 'No' to Say 'Yes' Better", WACV 2025, Eq. 4.
    """
    scores = (subjects - objects) @ videos.T  # (b, P)
    scores[own >= 0, own[own >= 0]] = -torch.inf
    return scores.argmax(dim=1)
