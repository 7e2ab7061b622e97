"""Benchmarks on the built-in world: sentences with exact truth and an oracle, foils, and classes.

Foils are captions of a changed scene, in eight folds after CC-Neg (negated), VFC (verb; motion: a
verb that only the order of frames tells from the other) and SugarCREPE (subject, place or prop
replaced, prop added, verbs swapped of two actors). The claim of a foil does not hold for the scene;
of two motions, neither caption fits the other's scene.
"""

import random
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, product
from os.path import commonprefix
from pathlib import Path
from types import MappingProxyType

import numpy as np

from nt2vr.evaluation.embed_media import EmbeddedVideos, content_of, embed_files
from nt2vr.evaluation.measures import LENIENT
from nt2vr.evaluation.metric_names import KS, ORIGINAL_MIR, ORIGINAL_RECALLS, Metrics
from nt2vr.evaluation.queries import JudgedQueries, JudgedQuery, Mask, cue_of, row_array
from nt2vr.evaluation.roles import MetricsBySystem
from nt2vr.evaluation.text_benchmark import TextBenchmark
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery
from nt2vr.media.store import Cache
from nt2vr.models.encoder import Encoder
from nt2vr.negation.generate.denial import Denial
from nt2vr.progress import Progress, silent, tracked
from nt2vr.world import NAME, WORLD
from nt2vr.world.altered import altered, shown_classes
from nt2vr.world.captions import SceneCaption, describe
from nt2vr.world.claims import SceneTable
from nt2vr.world.drawn.clips import LOOK, ClipFile
from nt2vr.world.negated_captions import negate
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scene_denials import SceneDenialKind
from nt2vr.world.scenes import Scene, SceneSplit
from nt2vr.world.sentences import SceneDenials

NEGATED = "negated"
MOTION = "motion"
ADDED = "prop added"
SWAPPED = "verbs swapped"
FOLDS = (NEGATED, "verb", MOTION, "subject", "place", "prop replaced", ADDED, SWAPPED)
# Pairs of each fold: an interval of at most 5 points to either side.
PAIRS = 400
# Wordings that are tried of a scene; swapped verbs must take the same synonyms.
TRIES = 8
SWAPPED_TRIES = 32
# Words in a row that a change may replace.
MOST_WORDS = 6

NUM_CLIPS = 2_000
SEED = 7
NEGATED_KINDS: tuple[SceneDenialKind, ...] = ("composed", "without", "not")


class _SteadyGenerator(random.Random):
    """Takes one number per draw, however many there are to choose from.

    So equal seeds word similar scenes alike.
    """

    # A class that defines this is asked for nothing else.
    def random(self) -> float:
        return super().random()


def fold_questions(
    scenes: Sequence[Scene], captions: Sequence[SceneCaption], count: int = PAIRS
) -> tuple[tuple[str, ...], JudgedQueries]:
    """Return the distinct foils, and a question per caption and foil, `count` of each fold at most."""
    foil_rows: dict[str, int] = {}
    questions = []
    for fold in FOLDS:
        for row, true_caption, foil in islice(_pairs_of_fold(scenes, captions, fold), count):
            foil_row = foil_rows.setdefault(foil, len(foil_rows))
            questions.append(
                JudgedQuery(
                    kind="pair",
                    text=true_caption,
                    relevant=row_array((row,)),
                    # The caption denies nothing.
                    wanted=true_caption,
                    others=row_array((foil_row,)),
                    group=fold,
                    cue=cue_of(foil),
                )
            )
    return tuple(foil_rows), tuple(questions)


def _pairs_of_fold(
    scenes: Sequence[Scene], captions: Sequence[SceneCaption], fold: str
) -> Iterator[tuple[int, str, str]]:
    """Yield the row of each scene that has a foil, with a caption and the foil."""
    for row, (scene, caption) in enumerate(zip(scenes, captions, strict=True)):
        pair = next(_pairs(scene, caption, fold, row), None)
        if pair is not None:
            yield row, *pair


def _pairs(scene: Scene, caption: SceneCaption, fold: str, row: int) -> Iterator[tuple[str, str]]:
    """Yield captions of a scene with foils."""
    if fold == NEGATED:
        denials = negate(caption)
        random.Random(f"{fold} {row}").shuffle(denials)
        for denial in denials:
            yield caption.text, denial.text
        return

    for attempt in range(SWAPPED_TRIES if fold == SWAPPED else TRIES):
        seed = f"{fold} {row} {attempt}"
        true_caption = describe(scene, _SteadyGenerator(seed))
        changed_scene = next(altered(scene, fold, random.Random(seed)), None)
        if changed_scene is None:
            return
        foil = describe(changed_scene, _SteadyGenerator(seed))
        if foil.claim.holds(scene):
            continue
        if fold == MOTION and true_caption.claim.holds(changed_scene):
            continue
        if one_change(true_caption.text, foil.text, fold):
            yield true_caption.text, foil.text


def one_change(caption: str, foil: str, fold: str) -> bool:
    """Return whether a foil differs as its fold says.

    That is in the order of words, by more words, or by other words in a row.
    """
    before = re.findall(r"[^\s,]+|,", caption)
    after = re.findall(r"[^\s,]+|,", foil)
    if fold == SWAPPED:
        return before != after and sorted(before) == sorted(after)

    # Leave out the words that both start with, then those that both end with.
    num_equal = _num_equal_at_start(before, after)
    before = before[num_equal:]
    after = after[num_equal:]
    num_equal = _num_equal_at_start(before[::-1], after[::-1])
    num_removed = len(before) - num_equal
    num_added = len(after) - num_equal

    if not 0 < num_added <= MOST_WORDS:
        return False
    if fold == ADDED:
        return num_removed == 0
    return 0 < num_removed <= MOST_WORDS


def _num_equal_at_start(first: list[str], second: list[str]) -> int:
    return len(commonprefix([first, second]))  # noqa: RUF071  of words, not of characters


def world_benchmark(
    cache: Path,
    num_clips: int,
    seed: int = SEED,
    split: SceneSplit = "test",
    progress: Progress = silent,
    num_pairs: int = PAIRS,
) -> TextBenchmark:
    """Build a benchmark of held-out scenes, "test" or "validation".

    It has at most `num_pairs` foils per fold.
    """
    scenes = sample_scenes(split, num_clips, seed)
    captions = captions_of(scenes)
    texts = [caption.text for caption in captions]
    queries = world_queries(texts, SceneDenials(scenes), progress)
    foils, questions = fold_questions(scenes, captions, num_pairs)
    return _benchmark(
        name=WORLD if split == "test" else f"{WORLD}, {split}",
        scenes=scenes,
        queries=(*queries, *questions),
        texts=foils,
        data=NAME,
        seed=seed,
        cache=cache,
        references={"oracle": oracle_metrics(scenes, captions)},
    )


def shown_benchmark(
    cache: Path, num_clips: int, seed: int, progress: Progress = silent
) -> TextBenchmark:
    """Build questions about which subject, action and place held-out scenes show.

    Each of the three counts as a data set. One of its classes that a scene shows is asked for
    against all that the scene does not show.
    """
    scenes = sample_scenes("test", num_clips, seed)
    table = SceneTable(scenes)
    text_rows: dict[str, int] = {}
    plain = []
    negated = []
    for sort, classes in shown_classes().items():
        plain_texts, negated_texts, claims = zip(*classes, strict=True)
        is_shown = np.stack(list(map(table.holding, claims)))
        plain += _class_questions("class", sort, plain_texts, is_shown, text_rows=text_rows)
        negated += _class_questions(LENIENT, sort, negated_texts, is_shown, text_rows=text_rows)
    return _benchmark(
        name=f"{WORLD}, classes",
        scenes=scenes,
        queries=(*plain, *negated),
        texts=tuple(text_rows),
        data=f"{NAME}, classes",
        seed=seed,
        cache=cache,
    )


def _class_questions(
    kind: str,
    sort: str,
    texts: Sequence[str],
    is_shown: Mask,
    text_rows: dict[str, int],
) -> list[JudgedQuery]:
    """Ask about each scene for one class that it shows, the same for every `kind`.

    Args:
        kind: of the questions.
        sort: of the classes.
        texts: the classes in words.
        is_shown: (C, N), whether a scene shows a class.
        text_rows: rows of the benchmark's texts, which get those of the classes.
    """
    class_rows = row_array(text_rows.setdefault(text, len(text_rows)) for text in texts)
    has_question = is_shown.any(axis=0) & ~is_shown.all(axis=0)
    questions = []
    for scene in np.flatnonzero(has_question).tolist():
        in_scene = is_shown[:, scene]
        candidates = np.flatnonzero(in_scene).tolist()
        right = random.Random(f"class {sort} {scene}").choice(candidates)
        questions.append(
            JudgedQuery(
                kind=kind,
                text=texts[right],
                relevant=row_array((scene,)),
                others=class_rows[~in_scene],
                group=sort,
            )
        )
    return questions


def _benchmark(
    name: str,
    scenes: Sequence[Scene],
    queries: JudgedQueries,
    texts: tuple[str, ...],
    data: str,
    seed: int,
    cache: Path,
    references: MetricsBySystem = MappingProxyType({}),
) -> TextBenchmark:
    split = scenes[0].split

    def embed(encoder: Encoder, progress: Progress) -> EmbeddedVideos:
        clips = ClipFile.of(split, scenes, encoder.num_frames, encoder.framing, cache)
        return EmbeddedVideos(clips.embeddings(encoder.as_scored(), progress, keeps_frames=True))

    video_ids = [f"{split}-{seed}-{row:05d}" for row in range(len(scenes))]
    return TextBenchmark(
        name=name,
        video_ids=tuple(video_ids),
        queries=queries,
        embed=embed,
        source={"data": data, "split": split, "clips": len(scenes), "seed": seed, "look": LOOK},
        references=references,
        texts=texts,
    )


def gallery_benchmark(
    gallery: Gallery, decoder: Decoder, cache: Cache, progress: Progress = silent
) -> TextBenchmark:
    """Build the same kind of benchmark from a gallery, such as the shipped one.

    A ConfigError says if no scene is known.
    """
    videos = [video for video in gallery.videos if video.scene is not None]
    scenes = [Scene.from_dict(video.scene or {}) for video in videos]
    captions = captions_of(scenes)
    texts = [caption.text for caption in captions]
    return TextBenchmark(
        name=gallery.name,
        video_ids=tuple(video.video_id for video in videos),
        source={
            "data": gallery.name,
            "clips": len(videos),
            "content": content_of(videos, cache, progress),
        },
        queries=world_queries(texts, SceneDenials(scenes), progress),
        embed=embed_files(videos, decoder, cache, gallery.key),
        references={"oracle": oracle_metrics(scenes, captions)} if scenes else {},
    )


def captions_of(scenes: Sequence[Scene]) -> list[SceneCaption]:
    """Return one caption per scene, the query of its "original" search."""
    return [describe(scene, _generator(row)) for row, scene in enumerate(scenes)]


def _generator(row: int) -> random.Random:
    """Return the generator of a scene's sentences, as for the metrics in the cards of all models."""
    return random.Random(f"validation {row}")


def world_queries(
    captions: Sequence[str], sentences: SceneDenials, progress: Progress = silent
) -> JudgedQueries:
    """Generate each scene's caption, the caption with one thing denied, and one of each negated kind.

    The latter say nothing, and are left out, if no scene satisfies them, or none shows both of
    their parts.
    """
    queries = [
        JudgedQuery("original", caption, row_array((row,))) for row, caption in enumerate(captions)
    ]
    for row in range(len(captions)):
        denial = sentences.negated(row, _generator(row))
        if denial is not None:
            queries.append(_judged(denial, relevant=(row,), original=row))

    draws = list(product(NEGATED_KINDS, range(len(captions))))
    for kind, row in tracked(draws, total=len(draws), doing="writing queries", progress=progress):
        denial = sentences.draw(row, kind, _generator(row))
        # Scenes of vehicles allow no composed query.
        if denial.kind != kind:
            continue
        query = _judged(
            denial,
            relevant=np.flatnonzero(sentences.fitting(denial)),
            hard=np.flatnonzero(sentences.showing_both(denial)),
            violating=np.flatnonzero(sentences.showing_unwanted(denial)),
        )
        if len(query.relevant) and len(query.hard):
            queries.append(query)
    return tuple(queries)


def _judged(
    denial: Denial,
    relevant: Iterable[int],
    hard: Iterable[int] = (),
    violating: Iterable[int] = (),
    original: int | None = None,
) -> JudgedQuery:
    return JudgedQuery(
        kind=denial.kind,
        text=denial.text,
        relevant=row_array(relevant),
        hard=row_array(hard),
        violating=row_array(violating),
        wanted=denial.wanted,
        unwanted=(denial.unwanted,),
        original=original,
        cue=cue_of(denial.text),
    )


def oracle_metrics(scenes: Sequence[Scene], captions: Sequence[SceneCaption]) -> Metrics:
    """Expected R@k and MIR of an oracle that knows the scenes and guesses among those that fit.

    Of n clips that match a caption:

        E[R@k] = min(k, n) / n        E[1 / rank] = (1 + 1/2 + … + 1/n) / n

    An upper bound for models on these captions.
    """
    table = SceneTable(scenes)
    num_fitting = np.array([table.holding(caption.claim).sum() for caption in captions])
    metrics = {}
    for k, name in zip(KS, ORIGINAL_RECALLS, strict=True):
        shares = np.minimum(k, num_fitting) / num_fitting
        metrics[name] = 100 * float(shares.mean())
    harmonic = np.cumsum(1 / np.arange(1, num_fitting.max() + 1))
    metrics[ORIGINAL_MIR] = float((harmonic[num_fitting - 1] / num_fitting).mean())
    return metrics
