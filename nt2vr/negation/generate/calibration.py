"""Calibration of generated captions: none of their verb phrases is a negative more often than it is a positive.

Source: Momeni et al., "Verbs in Action: Improving Verb Understanding in Video-Language Models", ICCV 2023, section
3.2.1 and Table 1. The paper asks for G ≈ S and gives no procedure; the one here is this project's.
"""

import random
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from typing import NamedTuple

Keys = Sequence[str]  # verb phrases of one caption


def calibrated(originals: Iterable[Keys], generated: Sequence[Keys], order: Iterable[int] | None = None) -> list[int]:
    """Return the generated captions to keep, by number, in ascending order.

    One is kept if each of its verb phrases has been kept less often (G) than it occurs in original captions (S). So
    none is kept with a phrase that no original caption has, and G is at most S for all.

    Args:
        order: in which they are looked at; as they come if None.
    """
    left, kept = Counter(key for keys in originals for key in keys), []
    for number in range(len(generated)) if order is None else order:
        asked = Counter(generated[number])
        if all(left[key] >= count for key, count in asked.items()):
            left.subtract(asked)
            kept.append(number)
    return sorted(kept)


def in_turns(owners: Sequence[int], seed: int) -> list[int]:
    """Order generated captions at random, one of each video, then another one of each, and so on.

    Args:
        owners: the video of each.
    """
    rng = random.Random(seed)
    by_owner: dict[int, list[int]] = {}
    for number, owner in enumerate(owners):
        by_owner.setdefault(owner, []).append(number)
    queues = list(by_owner.values())
    for queue in queues:
        rng.shuffle(queue)
    rng.shuffle(queues)
    return [number for turn in zip_longest(*queues) for number in turn if number is not None]


class Imbalance(NamedTuple):
    """How often a verb phrase is a negative for each time that it is a positive, R; none are generated for B - 1."""

    key: str
    shared: float  # if the generated captions of all videos of a batch are negatives of each
    own: float  # if a video has its own only
    calibrated: float  # of these, with the kept ones


def imbalances(
    originals: Iterable[Keys], generated: Sequence[Keys], kept: Iterable[int], batch_size: int
) -> list[Imbalance]:
    """Compute R of the verb phrases of original captions, the most shifted first.

    R = ((B - 1) · S + B · G) / S if shared, and ((B - 1) · S + G) / S otherwise. A phrase counts as often
    as it occurs.
    """
    seen = Counter(key for keys in originals for key in keys)
    made = Counter(key for keys in generated for key in keys)
    left = Counter(key for number in kept for key in generated[number])
    others = batch_size - 1
    rows = [
        Imbalance(key, others + batch_size * made[key] / count, others + made[key] / count, others + left[key] / count)
        for key, count in seen.items()
    ]
    return sorted(rows, key=lambda row: (-row.own, row.key))
