"""Names of measures, written once. Reports and cards put the kind of queries before them: "composed/hard_pairs"."""

# Ranks k of recall, R@k.
KS = (1, 5, 10)

MIR = "MIR"  # mean inverted rank
MEDIAN_RANK, MEAN_RANK = "MedR", "MeanR"
HARD_PAIRS = "hard_pairs"
AUC = "auc"
ACCURACY = "accuracy"
TOP_5 = "top-5"
AVERAGE_PRECISION = "AP"
DENIED, DELTA = (
    "negated",
    "delta",
)  # of classes: accuracy for sentences that deny one, and the difference


def recall(k: int) -> str:
    return f"R@{k}"


def violations(k: int) -> str:
    return f"violations@{k}"


def delta(name: str) -> str:
    """Return the name of how much a measure falls when captions are negated."""
    return f"{DELTA}_{name}"


def mean_over_sets(name: str) -> str:
    """Return the name of the mean of a measure over several data sets."""
    return f"mean {name}"


# Of distillation, which compares texts with texts: see `trainer.text_measures.TextMeasures`.
TEXT_ORDER = "text/order"
TEXT_KEPT = "text/kept"
TEXT_ORDER_IF_KEPT = "text/order_if_kept"
TEXT_TARGET = "text/target"
TEXT_IDIOMS = "text/idioms"

COMPOSED_MIR = f"composed/{MIR}"
COMPOSED_HARD_PAIRS = f"composed/{HARD_PAIRS}"
ORIGINAL_MIR = f"original/{MIR}"
WITHOUT_MIR = f"without/{MIR}"
WITHOUT_HARD_PAIRS = f"without/{HARD_PAIRS}"
NOT_AUC = f"not/{AUC}"
NEGATED_DELTA_MIR = f"negated/{delta(MIR)}"
