"""Multiple-choice questions: NegBench, CC-Neg's pairs, classes.

Sources: Alhamoud et al., "Vision-Language Models Do Not Understand Negation", CVPR 2025; Singh et al., "Learn 'No' to
Say 'Yes' Better: Improving Vision-Language Models via Negations", WACV 2025.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.benchmark import JudgedQuery, Rows, Vectors, row_array
from nt2vr.evaluation.classes import LENIENT, class_values
from nt2vr.evaluation.measures import FIRST_PAGE, Exclusions, Measured, Values, losses, members, score_table
from nt2vr.evaluation.ranks import inner_products


def choices_of(questions: Sequence[JudgedQuery], texts: Sequence[str]) -> tuple[list[JudgedQuery], Rows]:
    """Return the wrong answers of some questions as queries, and their positions among all texts.

    They deny nothing where the parts of the question are known and it has no cue.
    """
    plain = {place for each in questions if each.wanted is not None and not each.cue for place in each.others.tolist()}
    places = np.unique(np.concatenate([row_array(()), *(question.others for question in questions)]))
    known = [texts[place] if place in plain else None for place in places.tolist()]
    wrong = [
        JudgedQuery("choice", texts[place], row_array(()), wanted=wanted)
        for place, wanted in zip(places, known, strict=True)
    ]
    return wrong, places.astype(np.int32)


def measure_choices(
    vectors: Vectors, videos: Vectors, questions: Sequence[JudgedQuery], places: Rows, exclusions: Exclusions = ()
) -> Measured:
    """Rank each question's correct answer among its answers; ties count against the model.

    Args:
        questions: Q, each about its one `relevant` video.
        vectors: (Q + T, D), the Q correct answers, then the T wrong ones of `places`.
        places: (T,), ascending positions of the wrong answers among the benchmark's texts.
        exclusions: one per vector, or none at all.
    """
    shown = videos[[question.relevant[0] for question in questions]]  # (Q, D), or (Q, F, D)
    if shown.ndim > 2:  # frames, which each answer weighs
        scores = score_table(vectors, shown, exclusions, videos).T
    else:
        scores = inner_products(shown, vectors) - np.transpose(losses(exclusions, shown, videos))  # (Q, Q + T)
    right, scores = scores.diagonal(), scores[:, len(questions) :]
    ranks = np.ones(len(questions), np.int32)
    for row, question in enumerate(questions):
        wrong = scores[row, np.searchsorted(places, question.others)]
        ahead = wrong > right[row] if question.kind == LENIENT else ~(wrong < right[row])
        ranks[row] += ahead.sum()
    nothing = np.full(len(questions), np.nan, np.float32)
    pages = np.full((len(questions), FIRST_PAGE), -1, np.int32)
    return Measured(ranks, nothing, nothing, nothing, pages)


def choice_values(questions: Sequence[JudgedQuery], measured: Measured) -> dict[str, Values]:
    """Return the per-question values of accuracies in percent.

    Returns:
        "choice/accuracy", and "choice/accuracy NAME" per template of NegBench or type of NExT-QA; "pair/accuracy" for
        a caption and its foils, likewise; and those of `class_values`.
    """
    kinds = np.array([question.kind for question in questions])
    found: dict[str, Values] = {}

    def right(places: NDArray[np.int64]) -> Values:
        return Values(places, 100.0 * (measured.ranks[places] == 1))

    for kind in ("choice", "pair"):
        if len(chosen := np.flatnonzero(kinds == kind)):
            found[f"{kind}/accuracy"] = right(chosen)
            parts = members(questions, chosen)
            found |= {f"{kind}/accuracy {group}": right(places) for group, places in parts.items()}
    return found | dict(class_values(questions, measured))
