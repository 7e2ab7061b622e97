"""Names of measures, written once. Reports and cards put the kind of queries before them: "composed/hard_pairs"."""

# Measured values, by name.
Metrics = dict[str, float]

# Ranks k of recall, R@k.
KS = (1, 5, 10)

# Mean inverted rank.
MIR = "MIR"
MEDIAN_RANK = "MedR"
MEAN_RANK = "MeanR"
HARD_PAIRS = "hard_pairs"
AUC = "auc"
ACCURACY = "accuracy"
TOP_5 = "top-5"
AVERAGE_PRECISION = "AP"
# Of classes: accuracy for sentences that deny one, and the difference.
DENIED = "negated"
DELTA = "delta"


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

# Of captions as they are; the other kinds of queries are made of captions.
ORIGINAL = "original/"
ORIGINAL_MIR = f"{ORIGINAL}{MIR}"
ORIGINAL_RECALLS = tuple(f"{ORIGINAL}{recall(k)}" for k in KS)
COMPOSED_MIR = f"composed/{MIR}"
COMPOSED_HARD_PAIRS = f"composed/{HARD_PAIRS}"
WITHOUT_MIR = f"without/{MIR}"
WITHOUT_HARD_PAIRS = f"without/{HARD_PAIRS}"
NOT_AUC = f"not/{AUC}"
NEGATED_DELTA_MIR = f"negated/{delta(MIR)}"
RETRIEVAL_MIR = f"retrieval/{MIR}"
CHOICE_ACCURACY = f"choice/{ACCURACY}"
PAIR_ACCURACY = f"pair/{ACCURACY}"
PICTURE_ACCURACY = f"picture/{ACCURACY}"
PICTURE_AVERAGE_PRECISION = f"picture/{AVERAGE_PRECISION}"
CLASS_ACCURACY = f"class/{ACCURACY}"
CLASS_DENIED = f"class/{DENIED}"
