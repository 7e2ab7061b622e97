"""VFC's calibration: which changed captions to keep, so that verb phrases stay in balance.

A changed caption is never right for any video, so its verb phrases are negatives only. Of each verb
phrase, S is the number of times that the captions have it, and G the number of times that the changed
captions have it. R is how often it is a negative for each time that it is a positive (Table 1):

    without changed captions              R = B - 1
    a video's changed captions count      R = ((B - 1) · S + B · G) / S
    against all B videos
    against their own video only          R = ((B - 1) · S + G) / S = B - 1 + G / S

Here they always count against their own video only. `calibrated` is the second part of the paper's
calibration: it keeps changed captions while G ≤ S, so that R ≤ B for every verb phrase.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain, zip_longest
from operator import itemgetter
from random import Random

# The verb phrases of one caption, by `VerbUse.key`.
Keys = Sequence[str]


def calibrated(
    originals: Iterable[Keys], generated: Sequence[Keys], order: Iterable[int]
) -> list[int]:
    """Return the numbers of the changed captions to keep, in ascending order.

    They are considered in `order`. A changed caption is kept if G ≤ S for each of
    its verb phrases afterwards: never if no original caption has one of them, and always if it has
    none.
    """
    # S - G of each verb phrase.
    remaining = Counter(chain.from_iterable(originals))
    accepted = []
    for number in order:
        counts = Counter(generated[number])
        if all(remaining[key] >= count for key, count in counts.items()):
            remaining.subtract(counts)
            accepted.append(number)
    return sorted(accepted)


def round_robin(videos: Sequence[int], seed: int) -> list[int]:
    """Return the order in which to consider changed captions, given the video of each.

    One of each video comes first, then another one of each, and so on, both videos and captions in
    random order. So the captions of one video do not use up a verb phrase before the others had a turn.
    """
    rng = Random(seed)
    numbers_of_video: dict[int, list[int]] = defaultdict(list)
    for number, video in enumerate(videos):
        numbers_of_video[video].append(number)

    queues = list(numbers_of_video.values())
    for queue in queues:
        rng.shuffle(queue)
    rng.shuffle(queues)

    rounds = zip_longest(*queues)
    return [number for number in chain.from_iterable(rounds) if number is not None]


def imbalances(
    originals: Iterable[Keys], generated: Iterable[Keys], batch_size: int
) -> dict[str, float]:
    """Return R of each verb phrase that original captions have, the largest first.

    G counts all changed captions, as in the paper. A step draws `verb_negatives` of a caption's, so
    for captions that have more, R is an upper bound.
    """
    original_counts = Counter(chain.from_iterable(originals))
    generated_counts = Counter(chain.from_iterable(generated))
    ratios = {}
    for key, count in sorted(original_counts.items()):
        ratios[key] = batch_size - 1 + generated_counts[key] / count
    # Verb phrases of the same ratio stay in alphabetical order.
    largest_first = sorted(ratios.items(), key=itemgetter(1), reverse=True)
    return dict(largest_first)
