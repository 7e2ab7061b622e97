"""Questions that rank texts for a picture or video: multiple choice, captions and foils, classes.

Every class is asked for as it is and denied, as CoN-CLIP does. Of several prompts, the normalised mean of their
embeddings is used, as CLIP does.

Sources: Alhamoud et al., "Vision-Language Models Do Not Understand Negation", CVPR 2025; Singh et al., "Learn 'No' to
Say 'Yes' Better: Improving Vision-Language Models via Negations", WACV 2025.
"""

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nt2vr.datasets.files import VIDEO_SUFFIXES, files_below
from nt2vr.errors import ConfigError, quoted
from nt2vr.evaluation.benchmark import JudgedQuery, Rows, Vectors, cue_of, row_array
from nt2vr.evaluation.measures import FIRST_PAGE, Exclusions, Measured, Values, losses, members, score_table
from nt2vr.evaluation.ranks import inner_products
from nt2vr.files import expanded
from nt2vr.media.picture import PICTURE_SUFFIXES
from nt2vr.settings import ASSETS

PROMPT, NEGATED_PROMPT = "this is a photo of a {}", "this is not a photo of a {}"
PROMPTS = "prompts.txt"  # next to the classes
SLOT = "{}"
MAX_PROMPTS, MAX_BYTES = 1_000, 1 << 20
TOP = 5  # classes
# the classes of Kinetics that share a noun with another one, as VFC's authors chose them
KINETICS_VERB = "Kinetics-verb"
LENIENT = "negated class"  # a correct answer counts against the model here, so ties count as correct
Averaged = Mapping[str, tuple[str, ...]]  # a text, and the texts whose mean embedding stands for it
ClassTask = tuple[tuple[str, ...], tuple[JudgedQuery, ...], Averaged]


@dataclass(frozen=True)
class Prompts:
    """Sentences with a slot for the name of a class; `negated` ones deny it, and there may be none."""

    plain: tuple[str, ...] = (PROMPT,)
    negated: tuple[str, ...] = (NEGATED_PROMPT,)

    @classmethod
    def read(cls, given: str, folder: Path) -> "Prompts":
        """Read a prompt, or a file with one per line, by default PROMPTS in a folder; negations tell which deny.

        A ConfigError says why they cannot be used.
        """
        if SLOT in given:
            lines = [given]
        elif given or (folder / PROMPTS).is_file():
            lines = _lines(expanded(given) if given else folder / PROMPTS)
        else:
            return cls()
        if bad := next((line for line in lines if line.count(SLOT) != 1), None):
            raise ConfigError(f"A prompt needs one {SLOT} for the name of the class, unlike {quoted(bad)}.")
        denying = dict.fromkeys(line for line in lines if cue_of(line))
        plain = tuple(dict.fromkeys(line for line in lines if line not in denying))
        if not plain or len(lines) > MAX_PROMPTS:
            raise ConfigError(f"Give 1 to {MAX_PROMPTS:,} prompts, at least one without a negation.")
        return cls(plain, tuple(denying))


DEFAULT = Prompts()


def _lines(path: Path) -> list[str]:
    try:
        if path.stat().st_size > MAX_BYTES:
            raise ConfigError(f"{path} is too large for a list of prompts: {MAX_BYTES >> 20} MB at most.")
        return [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines() if line.strip()]
    except (OSError, ValueError) as error:
        raise ConfigError(f"The prompts of {path} cannot be read: name a text file with one per line.") from error


def class_files(folder: Path) -> list[tuple[Path, str, str]]:
    """List pictures and videos in folders named by their class, each with its class and its data set.

    The data set is the folder of a class's folder, relative to the given one: "" if that holds the classes itself.
    A ConfigError says if there are none.
    """
    media = VIDEO_SUFFIXES | PICTURE_SUFFIXES
    files = sorted(file for file in files_below(folder) if file.suffix.lower() in media and file.parent != folder)
    if not files:
        raise ConfigError(f"{folder} has no classes. Put the pictures or videos of each class in a folder of its own.")
    return [(file, file.parent.name, _data_set(file.parent.parent, folder)) for file in files]


def _data_set(place: Path, folder: Path) -> str:
    return "" if place == folder else place.relative_to(folder).as_posix()


def class_questions(labels: Sequence[tuple[str, str]], prompts: Prompts = DEFAULT) -> ClassTask:
    """Build a question per video with plain prompts, then one with negated prompts if there are any.

    Args:
        labels: the class and the data set of each video; a data set's videos are asked for its own classes.
            A ConfigError refuses one with a single class.
    """
    named = [(label.lower().replace("_", " "), data.replace("; ", ", ")) for label, data in labels]
    classes: dict[str, dict[str, None]] = {}
    for name, data in named:
        classes.setdefault(data, {})[name] = None
    if alone := [data for data, names in classes.items() if len(names) < 2]:
        raise ConfigError(f"{alone[0] or 'The data'} has a single class. Give at least two to choose between.")
    several, verbs = len(classes) > 1, _kinetics_verb()
    subsets = {data: verbs for data, names in classes.items() if verbs <= names.keys()}
    texts: dict[str, int] = {}
    averaged: dict[str, tuple[str, ...]] = {}
    questions = []
    forms = (("class", prompts.plain), (LENIENT, prompts.negated))
    for kind, lines in forms if prompts.negated else forms[:1]:
        asked: dict[tuple[str, str], tuple[str, Rows]] = {}
        for data, names in classes.items():
            of_name = {name: tuple(line.replace(SLOT, name) for line in lines) for name in names}
            places = [texts.setdefault(each[0], len(texts)) for each in of_name.values()]
            for place, (name, each) in enumerate(of_name.items()):
                asked[name, data] = each[0], row_array(places[:place] + places[place + 1 :])
                averaged |= {each[0]: each} if len(each) > 1 else {}
        for video, (name, data) in enumerate(named):
            text, others = asked[name, data]
            part = KINETICS_VERB if name in subsets.get(data, ()) else ""
            group = "; ".join(filter(None, (data if several else "", part)))
            questions.append(JudgedQuery(kind, text, row_array((video,)), others=others, group=group))
    return tuple(texts), tuple(questions), averaged


@cache
def _kinetics_verb() -> frozenset[str]:
    return frozenset((ASSETS / "kinetics-verb.txt").read_text(encoding="utf-8").splitlines())


def shown_questions(
    classes: Mapping[str, Sequence[tuple[str, str, Any]]], holding: Callable[[Any], NDArray[np.bool_]]
) -> tuple[tuple[str, ...], tuple[JudgedQuery, ...]]:
    """Ask which of the classes of each sort a scene shows; one of those that it shows against all that it does not.

    Args:
        classes: by sort, of which each counts as a data set; see `altered.shown_classes`.
        holding: mask (N,) of the scenes for which a claim holds.
    """
    texts: dict[str, int] = {}
    questions: dict[str, list[JudgedQuery]] = {"class": [], LENIENT: []}
    for sort, some in classes.items():
        plain, denied, claims = zip(*some, strict=True)
        shown = np.stack([holding(claim) for claim in claims])  # (C, N)
        forms: dict[str, Sequence[str]] = {"class": plain, LENIENT: denied}
        places = {kind: row_array(texts.setdefault(text, len(texts)) for text in said) for kind, said in forms.items()}
        for row in np.flatnonzero(shown.any(axis=0) & ~shown.all(axis=0)).tolist():
            right = random.Random(f"class {sort} {row}").choice(np.flatnonzero(shown[:, row]).tolist())
            for kind, said in forms.items():
                others = places[kind][~shown[:, row]]
                questions[kind].append(JudgedQuery(kind, said[right], row_array((row,)), others=others, group=sort))
    return tuple(texts), (*questions["class"], *questions[LENIENT])


def class_values(questions: Sequence[JudgedQuery], measured: Measured) -> Iterator[tuple[str, Values]]:
    """Yield the values of each measure: of all, then per data set NAME, then their mean over the data sets.

    Returns:
        "class/accuracy" (top-1) and "class/top-5" in percent; "class/negated", top-1 with negated prompts, and
        "class/delta", the difference of both top-1; each also as "class/… NAME", with Kinetics-verb as a NAME, and
        "class/mean …".
    """
    kinds = np.array([question.kind for question in questions])
    asked, denied = np.flatnonzero(kinds == "class"), np.flatnonzero(kinds == LENIENT)
    if not len(asked):
        return
    found = {"accuracy": Values(asked, _within(measured.ranks[asked], 1))}
    found["top-5"] = Values(asked, _within(measured.ranks[asked], TOP))
    if len(denied):  # of the same videos in the same order
        found["negated"] = Values(denied, _within(measured.ranks[denied], 1))
        found["delta"] = Values(asked, found["accuracy"].values - found["negated"].values)
    for name, each in found.items():
        yield f"class/{name}", each
        groups = members(questions, each.places)
        for group, places in groups.items():
            yield f"class/{name} {group}", Values(places, each.values[np.isin(each.places, places)])
        names = [group for group in groups if group != KINETICS_VERB]  # a part of its data set
        if len(names) > 1:
            numbers = {"": 0, KINETICS_VERB: 0, **{group: number for number, group in enumerate(names, 1)}}
            of_each = [numbers[questions[place].group.partition("; ")[0]] for place in each.places.tolist()]
            pairs = np.stack([each.values, np.array(of_each, np.float64)], axis=1)
            yield f"class/mean {name}", Values(each.places, pairs, mean_of_groups)


def mean_of_groups(pairs: NDArray[np.float64]) -> float:
    """Return the mean over groups of the mean of each; pairs are (N, 2), a value and the number of its group."""
    return float(np.mean([pairs[pairs[:, 1] == group, 0].mean() for group in np.unique(pairs[:, 1])]))


def _within(ranks: NDArray[np.int32], first: int) -> NDArray[np.float64]:
    return np.where(ranks <= first, 100.0, 0.0)


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
