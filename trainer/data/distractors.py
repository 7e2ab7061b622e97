"""Distractors of CoN-CLIP: clips that show the subject of a negated caption, but not what it denies.

They are mined by similarity alone (Eq. 4), so nobody has checked that a negated caption fits its distractor.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from nt2vr.negation.generate.actions import actions
from nt2vr.negation.generate.content import things
from nt2vr.negation.parse.phrases import Phrases
from nt2vr.negation.parse.query import split_query
from nt2vr.negation.parse.tagger import load_tagger

CACHED = 100_000  # negated captions, whose parsing takes about 2 ms
BLOCK = 65_536  # clips of the pool that are scored at a time


@dataclass(frozen=True)
class Sought:
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


def distractors(videos: Tensor, subjects: Tensor, objects: Tensor, own: Tensor) -> Tensor:
    """Choose the clip that is most like a subject and least like an object, other than the caption's own.

        argmax over x of  cos(x, subject) - cos(x, object)        (Eq. 4)

    Of (P, D) videos, (b, D) subjects and objects, all L2-normalised, return (b,) places of videos; of equal ones, the
    first.

    Args:
        own: (b,) each caption's own place among the videos; -1 if it is not among them.

    Source: Singh et al., "Learn 'No' to Say 'Yes' Better", WACV 2025, Eq. 4.
    """
    wanted, best, found = subjects - objects, torch.full_like(subjects[:, 0], -torch.inf), torch.zeros_like(own)
    for start in range(0, len(videos), BLOCK):
        scores = wanted @ videos[start : start + BLOCK].T  # (b, up to BLOCK)
        mine = (own >= start) & (own < start + scores.shape[1])
        scores[mine, own[mine] - start] = -torch.inf
        score, place = scores.max(dim=1)
        better = score > best
        best, found = torch.where(better, score, best), torch.where(better, place + start, found)
    return found
