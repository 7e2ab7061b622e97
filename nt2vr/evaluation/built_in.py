"""Benchmarks on the built-in world: sentences with exact truth and an oracle, foils, and classes.

Foils are captions of a changed scene, in eight folds after CC-Neg (negated), VFC (verb; motion: a
verb that only the order of frames tells from the other) and SugarCREPE (subject, place or prop
replaced, prop added, verbs swapped of two actors). The claim of a foil does not hold for the scene;
of two motions, neither caption fits the other's scene.
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, product, takewhile
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from nt2vr.evaluation.embed_media import EmbeddedVideos, content_of, embed_files
from nt2vr.evaluation.measures import LENIENT
from nt2vr.evaluation.metric_names import KS, ORIGINAL_MIR, recall
from nt2vr.evaluation.queries import JudgedQuery, cue_of, row_array
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery
from nt2vr.media.store import Cache
from nt2vr.models.encoder import Encoder
from nt2vr.negation.generate.denials import Denial
from nt2vr.progress import Progress, silent, tracked
from nt2vr.world import NAME, WORLD
from nt2vr.world.altered import altered, shown_classes
from nt2vr.world.captions import SceneCaption, describe
from nt2vr.world.claims import SceneTable
from nt2vr.world.drawn.clips import LOOK, ClipFile
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import Scene, SceneSplit
from nt2vr.world.sentences import SceneDenialKind, SceneDenials, negate

NEGATED, MOTION, ADDED, SWAPPED = "negated", "motion", "prop added", "verbs swapped"
FOLDS = (NEGATED, "verb", MOTION, "subject", "place", "prop replaced", ADDED, SWAPPED)
PAIRS = 400  # of each fold: an interval of at most 5 points to either side
TRIES, SWAPPED_TRIES = 8, 32  # wordings of a scene; swapped verbs must take the same synonyms
MOST_WORDS = 6  # in a row that a change may replace


class _Steady(random.Random):
    """Takes one number per draw, however many there are to choose from: equal seeds word alike scenes alike."""

    def random(self) -> float:  # a class with its own is asked for nothing else
        return super().random()


def fold_questions(
    scenes: Sequence[Scene], captions: Sequence[SceneCaption], count: int = PAIRS
) -> tuple[tuple[str, ...], tuple[JudgedQuery, ...]]:
    """Return the distinct foils, and a question per caption and foil, the first `count` of each fold."""
    texts: dict[str, int] = {}
    questions = []
    for fold in FOLDS:
        pairs = (
            (row, next(_pairs(scene, captions[row], fold, row), None))
            for row, scene in enumerate(scenes)
        )
        for row, (true, foil) in islice(((row, pair) for row, pair in pairs if pair), count):
            other, cue = (
                row_array((texts.setdefault(foil, len(texts)),)),
                cue_of(foil),
            )  # the caption denies nothing
            shown = row_array((row,))
            questions.append(
                JudgedQuery("pair", true, shown, wanted=true, others=other, group=fold, cue=cue)
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
        is_apart = not foil.claim.holds(scene) and not (
            fold == MOTION and true.claim.holds(changed)
        )
        if is_apart and one_change(true.text, foil.text, fold):
            yield true.text, foil.text


def one_change(caption: str, foil: str, fold: str) -> bool:
    """Return whether a foil differs as its fold says: in its order, by more words, or by other words in a row."""
    before, after = (re.findall(r"[^\s,]+|,", text) for text in (caption, foil))
    if fold == SWAPPED:
        return before != after and sorted(before) == sorted(after)
    for _ in range(2):  # leave out the words that both start with, then those that both end with
        start = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(before, after, strict=False))
        )
        before, after = before[start:][::-1], after[start:][::-1]
    return 0 < len(after) <= MOST_WORDS and (
        not before if fold == ADDED else 0 < len(before) <= MOST_WORDS
    )


NUM_CLIPS = 2_000
SEED = 7
NEGATED_KINDS: tuple[SceneDenialKind, ...] = ("composed", "without", "not")


def world_benchmark(
    cache: Path,
    num_clips: int = NUM_CLIPS,
    seed: int = SEED,
    split: SceneSplit = "test",
    progress: Progress = silent,
    num_pairs: int = PAIRS,
) -> TextBenchmark:
    """Build a benchmark of held-out scenes, "test" or "validation", with at most `num_pairs` foils per fold."""
    scenes = sample_scenes(split, num_clips, seed)
    captions, name = captions_of(scenes), WORLD if split == "test" else f"{WORLD}, {split}"
    queries = world_queries([caption.text for caption in captions], SceneDenials(scenes), progress)
    texts, pairs = fold_questions(scenes, captions, num_pairs)
    source = {"data": NAME, "split": split, "clips": num_clips, "seed": seed, "look": LOOK}
    references = {"oracle": oracle_metrics(scenes, captions)}
    return _benchmark(name, scenes, (*queries, *pairs), source, cache, texts, references)


def shown_benchmark(
    cache: Path, num_clips: int = NUM_CLIPS, seed: int = SEED, progress: Progress = silent
) -> TextBenchmark:
    """Build questions about who, which deed and which place held-out scenes show; each sort counts as a data set.

    One of the classes of a sort that a scene shows is asked for against all that it does not show.
    """
    scenes, texts = sample_scenes("test", num_clips, seed), dict[str, int]()
    table = SceneTable(scenes)
    questions: dict[str, list[JudgedQuery]] = {"class": [], LENIENT: []}
    for sort, some in shown_classes().items():
        *forms, claims = zip(*some, strict=True)
        shown = np.stack([table.holding(claim) for claim in claims])  # (C, N)
        places = [row_array(texts.setdefault(text, len(texts)) for text in said) for said in forms]
        for row in np.flatnonzero(shown.any(axis=0) & ~shown.all(axis=0)).tolist():
            right = random.Random(f"class {sort} {row}").choice(
                np.flatnonzero(shown[:, row]).tolist()
            )
            for (kind, found), said, at in zip(questions.items(), forms, places, strict=True):
                others = at[~shown[:, row]]
                found.append(
                    JudgedQuery(kind, said[right], row_array((row,)), others=others, group=sort)
                )
    source = {
        "data": f"{NAME}, classes",
        "split": "test",
        "clips": num_clips,
        "seed": seed,
        "look": LOOK,
    }
    asked = (*questions["class"], *questions[LENIENT])
    return _benchmark(f"{WORLD}, classes", scenes, asked, source, cache, tuple(texts))


def _benchmark(
    name: str,
    scenes: Sequence[Scene],
    queries: tuple[JudgedQuery, ...],
    source: Mapping[str, Any],
    cache: Path,
    texts: tuple[str, ...],
    references: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
) -> TextBenchmark:
    split = scenes[0].split

    def embed(encoder: Encoder, progress: Progress) -> EmbeddedVideos:
        clips = ClipFile.of(split, scenes, encoder.num_frames, encoder.framing, cache)
        return EmbeddedVideos(clips.embeddings(encoder.as_scored(), progress, keeps_frames=True))

    ids = tuple(f"{split}-{source['seed']}-{row:05d}" for row in range(len(scenes)))
    return TextBenchmark(name, ids, queries, embed, source, references, texts)


def gallery_benchmark(
    gallery: Gallery, decoder: Decoder, cache: Cache, progress: Progress = silent
) -> TextBenchmark:
    """Build the same kind of benchmark from a gallery, as the shipped one; a ConfigError says if no scene is known."""
    videos = [video for video in gallery.videos if video.scene is not None]
    ids, scenes = (
        tuple(video.video_id for video in videos),
        [Scene.from_dict(video.scene or {}) for video in videos],
    )
    captions, embed = captions_of(scenes), embed_files(videos, decoder, cache, gallery.key)
    queries = world_queries([caption.text for caption in captions], SceneDenials(scenes), progress)
    source = {
        "data": gallery.name,
        "clips": len(videos),
        "content": content_of(videos, cache, progress),
    }
    references = {"oracle": oracle_metrics(scenes, captions)} if scenes else {}
    return TextBenchmark(gallery.name, ids, queries, embed, source, references)


def captions_of(scenes: Sequence[Scene]) -> list[SceneCaption]:
    """Return one caption per scene, the query of its "original" search."""
    return [describe(scene, _generator(row)) for row, scene in enumerate(scenes)]


def _generator(row: int) -> random.Random:
    return random.Random(f"validation {row}")  # as for the metrics in the cards of all models


def world_queries(
    captions: Sequence[str], sentences: SceneDenials, progress: Progress = silent
) -> tuple[JudgedQuery, ...]:
    """Generate queries per scene: its caption, its caption with one thing denied, and one of each negated kind.

    The latter say nothing, and are left out, if no scene satisfies them, or none shows both of
    their parts.
    """
    queries = [
        JudgedQuery("original", caption, row_array((row,))) for row, caption in enumerate(captions)
    ]
    for row in range(len(captions)):
        if negated := sentences.negated(row, _generator(row)):
            queries.append(_judged(negated, (row,), (), (), original=row))
    draws = list(product(NEGATED_KINDS, range(len(captions))))
    for kind, row in tracked(draws, len(draws), "writing queries", progress):
        sentence = sentences.draw(row, kind, _generator(row))
        fitting, both = sentences.fitting(sentence), sentences.showing_both(sentence)
        if (
            sentence.kind == kind and fitting.any() and both.any()
        ):  # scenes of vehicles allow no composed query
            shown = sentences.showing_unwanted(sentence)
            queries.append(
                _judged(sentence, *(np.flatnonzero(some) for some in (fitting, both, shown)))
            )
    return tuple(queries)


def _judged(sentence: Denial, *rows: Iterable[int], original: int | None = None) -> JudgedQuery:
    relevant, hard, violating = map(row_array, rows)
    parts = sentence.wanted, (sentence.unwanted,), original, cue_of(sentence.text)
    return JudgedQuery(sentence.kind, sentence.text, relevant, hard, violating, *parts)


def oracle_metrics(scenes: Sequence[Scene], captions: Sequence[SceneCaption]) -> dict[str, float]:
    """Expected R@k and MIR of an oracle that knows the scenes but must guess among the n clips matching a caption.

        E[R@k] = min(k, n) / n        E[1 / rank] = (1 + 1/2 + … + 1/n) / n

    An upper bound for models on these captions.
    """
    table = SceneTable(scenes)
    fitting = np.array([table.holding(caption.claim).sum() for caption in captions])
    recalls = {
        f"original/{recall(k)}": 100 * float((np.minimum(k, fitting) / fitting).mean()) for k in KS
    }
    harmonic = np.cumsum(1 / np.arange(1, fitting.max() + 1))
    return {**recalls, ORIGINAL_MIR: float((harmonic[fitting - 1] / fitting).mean())}
