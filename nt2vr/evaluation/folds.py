"""Captions against captions with one thing changed, for scenes of the built-in world, with exact truth.

Eight folds, after CC-Neg (negated), VFC (verb; motion: a verb that only the order of frames tells from the other) and
SugarCREPE (subject, place or prop replaced, prop added, verbs swapped between two actors). A foil is the caption of a
changed scene, worded by the same draws, and its claim does not hold for the scene; of two motions, neither caption
fits the other's scene. A model that has all of them right may still be unable to search: see hard pairs.
"""

import random
import re
from collections.abc import Iterator, Sequence
from itertools import islice

from nt2vr.evaluation.benchmark import JudgedQuery, cue_of, row_array
from nt2vr.world.altered import altered
from nt2vr.world.captions import SceneCaption, describe
from nt2vr.world.scenes import Scene
from nt2vr.world.sentences import negate

NEGATED, MOTION, ADDED, SWAPPED = "negated", "motion", "prop added", "verbs swapped"
FOLDS = (NEGATED, "verb", MOTION, "subject", "place", "prop replaced", ADDED, SWAPPED)
PAIRS = 400  # of each fold: an interval of at most 5 points to either side
TRIES, SWAPPED_TRIES = 8, 32  # wordings of a scene; swapped verbs must take the same synonyms
MOST_WORDS = 6  # in a row that a change may replace


class _Steady(random.Random):
    """Takes one number per draw, however many there are to choose from: equal seeds word alike scenes alike."""

    def random(self) -> float:
        """Return the next number; a class with its own is asked for nothing else."""
        return super().random()


def fold_questions(
    scenes: Sequence[Scene], captions: Sequence[SceneCaption], count: int = PAIRS
) -> tuple[tuple[str, ...], tuple[JudgedQuery, ...]]:
    """Return the distinct foils, and a question per caption and foil, the first `count` of each fold."""
    texts: dict[str, int] = {}
    questions = []
    for fold in FOLDS:
        pairs = ((row, next(_pairs(scene, captions[row], fold, row), None)) for row, scene in enumerate(scenes))
        for row, (true, foil) in islice(((row, pair) for row, pair in pairs if pair), count):
            others = row_array((texts.setdefault(foil, len(texts)),))
            cue = cue_of(foil)  # the caption denies nothing
            questions.append(
                JudgedQuery("pair", true, row_array((row,)), wanted=true, others=others, group=fold, cue=cue)
            )
    return tuple(texts), tuple(questions)


def _pairs(scene: Scene, caption: SceneCaption, fold: str, row: int) -> Iterator[tuple[str, str]]:
    """Yield captions of a scene with foils."""
    if fold == NEGATED:
        denials = negate(caption)
        random.Random(f"{fold} {row}").shuffle(denials)
        yield from ((caption.text, denial.text) for denial in denials)
        return
    for attempt in range(SWAPPED_TRIES if fold == SWAPPED else TRIES):
        seed = f"{fold} {row} {attempt}"
        true = describe(scene, _Steady(seed))
        changed = next(altered(scene, fold, random.Random(seed)), None)
        if changed is None:
            return
        foil = describe(changed, _Steady(seed))
        is_apart = not foil.claim.holds(scene) and not (fold == MOTION and true.claim.holds(changed))
        if is_apart and one_change(true.text, foil.text, fold):
            yield true.text, foil.text


def one_change(caption: str, foil: str, fold: str) -> bool:
    """Return whether a foil differs as its fold says: in its order, by more words, or by other words in a row."""
    before, after = (re.findall(r"[^\s,]+|,", text) for text in (caption, foil))
    if fold == SWAPPED:
        return before != after and sorted(before) == sorted(after)
    while before and after and before[0] == after[0]:
        before, after = before[1:], after[1:]
    while before and after and before[-1] == after[-1]:
        before, after = before[:-1], after[:-1]
    return 0 < len(after) <= MOST_WORDS and (not before if fold == ADDED else 0 < len(before) <= MOST_WORDS)
