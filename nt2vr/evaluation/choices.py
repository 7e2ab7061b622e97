"""Multiple-choice questions: NegBench, CC-Neg's pairs, CoN-CLIP's negated prompts.

Sources: Alhamoud et al., "Vision-Language Models Do Not Understand Negation", CVPR 2025; Singh et al., "Learn 'No' to
Say 'Yes' Better: Improving Vision-Language Models via Negations", WACV 2025.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.benchmark import JudgedQuery, QueryKind, Rows, Vectors, row_array
from nt2vr.evaluation.measures import FIRST_PAGE, Exclusions, Measured, Values, losses, members
from nt2vr.evaluation.ranks import inner_products

PROMPT, NEGATED_PROMPT = "this is a photo of a {}", "this is not a photo of a {}"
TOP = 5  # classes
LENIENT: QueryKind = "negated class"  # a correct answer counts against the model here, so ties count as correct


def choices_of(questions: Sequence[JudgedQuery], texts: Sequence[str]) -> tuple[list[JudgedQuery], Rows]:
    """Return the wrong answers of some questions as queries, and their positions among all texts."""
    places = np.unique(np.concatenate([row_array(()), *(question.others for question in questions)]))
    return [JudgedQuery("choice", texts[place], row_array(())) for place in places], places.astype(np.int32)


def measure_choices(
    vectors: Vectors,
    videos: Vectors,
    questions: Sequence[JudgedQuery],
    places: Rows,
    exclusions: Exclusions = (),
) -> Measured:
    """Rank each question's correct answer among its answers; ties count against the model.

    Args:
        questions: Q, each about its one `relevant` video.
        vectors: (Q + T, D), the Q correct answers, then the T wrong ones of `places`.
        places: (T,), ascending positions of the wrong answers among the benchmark's texts.
        exclusions: one per vector, or none at all.
    """
    shown = videos[[question.relevant[0] for question in questions]]  # (Q, D)
    scores = inner_products(shown, vectors) - np.transpose(losses(exclusions, shown, videos))  # (Q, Q + T)
    right, scores = scores.diagonal(), scores[:, len(questions) :]
    ranks = np.ones(len(questions), np.int32)
    for row, question in enumerate(questions):
        wrong = scores[row, np.searchsorted(places, question.others)]
        ahead = wrong > right[row] if question.kind == LENIENT else ~(wrong < right[row])
        ranks[row] += ahead.sum()
    nothing = np.full(len(questions), np.nan, np.float32)
    return Measured(ranks, nothing, nothing, nothing, np.full((len(questions), FIRST_PAGE), -1, np.int32))


def choice_values(questions: Sequence[JudgedQuery], measured: Measured) -> dict[str, Values]:
    """Return the per-question values of accuracies in percent.

    Returns:
        "choice/accuracy", and "choice/accuracy NAME" per template of NegBench; "pair/accuracy" for a
        caption and its foils, likewise;
        "class/accuracy" and "class/top-5" with "this is a photo of a dog", "class/negated", top-1 with "this is not a
        photo of a dog", and "class/delta", the difference of both top-1, per video.
    """
    kinds = np.array([question.kind for question in questions])
    found: dict[str, Values] = {}

    def right(places: NDArray[np.int64]) -> Values:
        return Values(places, 100.0 * (measured.ranks[places] == 1))

    for kind in ("choice", "pair", "class"):
        chosen = np.flatnonzero(kinds == kind)
        if not len(chosen):
            continue
        found[f"{kind}/accuracy"] = right(chosen)
        found |= {f"{kind}/accuracy {group}": right(places) for group, places in members(questions, chosen).items()}
    if len(denied := np.flatnonzero(kinds == LENIENT)):
        asked = found["class/accuracy"]  # of the same videos in the same order, see `class_questions`
        found["class/top-5"] = Values(asked.places, np.where(measured.ranks[asked.places] <= TOP, 100.0, 0.0))
        found["class/negated"] = negated = right(denied)
        found["class/delta"] = Values(asked.places, asked.values - negated.values)
    return found


def class_questions(labels: Sequence[str]) -> tuple[tuple[str, ...], tuple[JudgedQuery, ...]]:
    """Build two questions per video from its class, with plain and with negated prompts; return all prompts, too."""
    names = [label.lower().replace("_", " ") for label in labels]
    classes = {name: place for place, name in enumerate(dict.fromkeys(names))}
    texts = tuple(form.format(name) for form in (PROMPT, NEGATED_PROMPT) for name in classes)
    questions = []
    kinds: tuple[tuple[QueryKind, int], ...] = (("class", 0), (LENIENT, len(classes)))
    for kind, first in kinds:
        others = [_without(range(first, first + len(classes)), first + place) for place in range(len(classes))]
        questions += [
            JudgedQuery(kind, texts[first + place], row_array((video,)), others=others[place])
            for video, place in enumerate(classes[name] for name in names)
        ]
    return texts, tuple(questions)


def _without(numbers: Iterable[int], left_out: int) -> Rows:
    return row_array(number for number in numbers if number != left_out)
