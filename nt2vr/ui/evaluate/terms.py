"""Terms of a report's tables, explained where they stand."""

import re

from nt2vr.evaluation.columns import Column
from nt2vr.evaluation.measures import TOP
from nt2vr.evaluation.metric_names import (
    ACCURACY,
    AUC,
    AVERAGE_PRECISION,
    DENIED,
    MEAN_RANK,
    MEDIAN_RANK,
    MIR,
    TOP_5,
)

# By what follows the kind of queries in a metric's key.
MEASURES = {
    MIR: "Mean inverted rank, 0 to 1: 1 if the right clip is always first, .5 if it is always second.",
    MEDIAN_RANK: "Median rank of the right answer; 1 is best.",
    MEAN_RANK: "Mean rank of the right answer; 1 is best.",
    AUC: "Chance, 0 to 1, that a clip without the unwanted part scores above one with it; a guess has .5.",
    ACCURACY: "Percentage of questions answered right.",
    AVERAGE_PRECISION: "Average precision, in percent: how far right pairs score above wrong ones.",
    TOP_5: f"Percentage of clips whose class is among the first {TOP}.",
    DENIED: "Percentage of clips for which the sentence that denies their class comes first; lower is better.",
}
RECALL = re.compile(r"R@(\d+)$")
# By the heads of groups of columns.
GROUP_MEANINGS = {
    "Original": "Captions as they are. Each fits one clip.",
    "Negated": "The same captions with one part denied, so their clips no longer fit. Δ: how much less they find.",
    "Composed": "“A and not B”: one action is wanted, another one unwanted.",
    "A and not B": "One action is wanted, another one unwanted: the Composed queries.",
    "A without N": "A subject is wanted, a thing unwanted, such as “a girl without a hat”.",
    "not B": "Nothing is wanted, and one part unwanted.",
    "Text to video": "Each caption searches for its clip.",
    "Video to text": "Each clip searches for its captions.",
    "NegBench retrieval": "Captions that deny something, and fit their clip.",
    "Multiple choice": "Which of several captions fits the clip?",
    "Caption and foil": "Does the true caption score above a false one?",
    "Picture and foil": "Does the right picture score above a wrong one?",
    "Classes": "Which class does the clip show?",
}
# By the labels of systems.
ROLE_MEANINGS = {
    "zero-shot": "A model as it was pre-trained, without any training on negation.",
    "fine-tuned": "Trained further from another model.",
    "imported": "From elsewhere; how it was trained is not known.",
    "control": "The unwanted part is left out of the query: what a system gets by ignoring it.",
    "reads the scenes": "It knows what the clips show, so nothing can be better.",
}


def explain_column(column: Column) -> str:
    """Say what a column's measure is; "" if its head says it."""
    if column.meaning:
        return column.meaning
    name = column.key.rpartition("/")[2]
    match = RECALL.match(name)
    if match:
        return f"Percentage of queries with a right answer among the first {match[1]}."
    return MEASURES.get(name, "")
