"""The choice of weights for the compositions that need no training."""

from dataclasses import replace
from functools import partial

from nt2vr.papers.covr.compositions import PARTS, CompositionWeights
from nt2vr.papers.covr.embedded_queries import EmbeddedQueries, vectors_of
from nt2vr.papers.covr.measures import measure, summarise
from nt2vr.papers.covr.presentation import ALL, R_1

# How often the search for the weights of `parts` refines them.
ROUNDS = 2
# Candidates for the weight of the text in `sum`, .05 to .95.
SUM_WEIGHTS = tuple(step / 20 for step in range(1, 20))
# Candidates for the weights of `parts`, .2 to 3.2.
PART_WEIGHTS = tuple(step / 5 for step in range(1, 17))


def choose_weights(embedded: EmbeddedQueries) -> CompositionWeights:
    """Choose the weights of the training-free compositions by mean R@1 over the kinds; use validation queries."""

    def mean_recall(system: str, weights: CompositionWeights) -> float:
        outcome = measure(vectors_of(embedded, system, weights), embedded)
        return summarise(embedded.queries, outcome)[ALL][R_1]

    of_sum = [CompositionWeights(sum=weight) for weight in SUM_WEIGHTS]
    best = max(of_sum, key=partial(mean_recall, "sum"))
    # One weight at a time ends where both together would, in an eighth of the time.
    for _ in range(ROUNDS):
        for name in ("wanted", "unwanted"):
            of_part = [replace(best, **{name: weight}) for weight in PART_WEIGHTS]
            best = max(of_part, key=partial(mean_recall, PARTS))
    return best
