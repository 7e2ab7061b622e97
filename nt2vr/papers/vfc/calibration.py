"""Calibration of captions with another verb: which to keep, and how far verb phrases are out of balance."""

import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import zip_longest

Keys = Sequence[str]  # verb phrases of one caption


def calibrated(
    originals: Iterable[Keys], generated: Sequence[Keys], order: Iterable[int] | None = None
) -> list[int]:
    """Return the generated captions to keep, by number, in ascending order; looked at in `order`, or as they come.

    One is kept if each of its verb phrases has been kept less often (G) than it occurs in original
    captions (S), so that no phrase is a negative more often than it is a positive.
    """
    left, kept = Counter(key for keys in originals for key in keys), []
    for number in range(len(generated)) if order is None else order:
        asked = Counter(generated[number])
        if all(left[key] >= count for key, count in asked.items()):
            left.subtract(asked)
            kept.append(number)
    return sorted(kept)


def in_turns(owners: Sequence[int], seed: int) -> list[int]:
    """Order generated captions at random, given the video of each: one of each video, then another one, and so on."""
    rng = random.Random(seed)
    by_owner: dict[int, list[int]] = defaultdict(list)
    for number, owner in enumerate(owners):
        by_owner[owner].append(number)
    queues = list(by_owner.values())
    for queue in queues:
        rng.shuffle(queue)
    rng.shuffle(queues)
    return [number for turn in zip_longest(*queues) for number in turn if number is not None]


def imbalances(
    originals: Iterable[Keys], generated: Iterable[Keys], batch_size: int
) -> dict[str, float]:
    """Return how often each verb phrase is a negative for each time that it is a positive, the most shifted first.

    R = ((B - 1) · S + G) / S, if a video's generated captions are negatives of it alone; without
    any it is B - 1. A phrase counts as often as it occurs.
    """
    made = Counter(key for keys in generated for key in keys)
    seen = Counter(key for keys in originals for key in keys)
    found = {key: batch_size - 1 + made[key] / count for key, count in seen.items()}
    return dict(sorted(found.items(), key=lambda item: (-item[1], item[0])))
