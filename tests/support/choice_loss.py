"""The loss of a choice as one would write it down, for tests of losses and trainings."""

import math
from typing import Any


def choice_loss(scale: float, anchors: Any, right: Any, wrong: Any) -> float:
    """Average the cross-entropy of anchors that choose their own row of `right`, by logits of a scale.

    Args:
        anchors: (N, D), tensors or arrays, as the others.
        right: (N, D).
        wrong: (M, D), further answers to each anchor.
    """
    losses: list[float] = []
    for row, anchor in enumerate(anchors):
        scores = [scale * (anchor @ answer).item() for answer in [*right, *wrong]]
        total = sum(math.exp(score) for score in scores)
        losses.append(math.log(total) - scores[row])
    return sum(losses) / len(losses)
