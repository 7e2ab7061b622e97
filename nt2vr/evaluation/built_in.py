"""Benchmarks on the built-in world: sentences with exact truth and an oracle, foils, order and moments.

Foils are captions of a changed scene, in eight folds after CC-Neg (negated), VFC (verb; motion: a verb that only the
order of frames tells from the other) and SugarCREPE (subject, place or prop replaced, prop added, verbs swapped of two
actors). The claim of a foil does not hold for the scene; of two motions, neither caption fits the other's scene.

Ordered pairs are "a woman sings, then dances", and the reverse, in two separate clips. A system that does not know the
order of frames gets half of them right, as does any on the control, the same clips with their frames shuffled. A clip
and its own reversal would not do: rounding tells them apart under mean pooling. A moment is what somebody does in a
quarter of a clip, in one frame of four: the mean of the frames has little of it.
"""

import random
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import islice, product
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, Vectors, cue_of, row_array
from nt2vr.evaluation.media import content_of, embed_files
from nt2vr.evaluation.questions import shown_questions
from nt2vr.evaluation.ranks import KS
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery
from nt2vr.media.store import Cache
from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import as_scored
from nt2vr.negation.generate.denials import Denial
from nt2vr.progress import Progress, silent, tracked
from nt2vr.world import NAME, WORLD
from nt2vr.world.altered import altered, shown_classes
from nt2vr.world.captions import SceneCaption, describe
from nt2vr.world.claims import Act, Claim, Order, SceneTable, Who
from nt2vr.world.drawn.clips import LOOK, ClipFile
from nt2vr.world.sampling import sample_scenes, staged
from nt2vr.world.scenes import Scene, SceneSplit, problems
from nt2vr.world.sentences import SceneDenialKind, SceneDenials, negate
from nt2vr.world.things import DeedKind, Noun, deeds, deeds_at, places, things
from nt2vr.world.wording import conjugate, in_turn, meanings

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
) -> Benchmark:
    """Build a benchmark of held-out scenes.

    Args:
        split: "test" for reporting, "validation" for model selection.
        num_pairs: at most, of a caption and a foil per fold, see `folds`.
    """
    scenes = sample_scenes(split, num_clips, seed)
    captions = captions_of(scenes)
    queries = world_queries([caption.text for caption in captions], SceneDenials(scenes), progress)
    texts, pairs = fold_questions(scenes, captions, num_pairs)
    return _benchmark(
        WORLD if split == "test" else f"{WORLD}, {split}",
        scenes,
        (*queries, *pairs),
        {"data": NAME, "split": split, "clips": num_clips, "seed": seed, "look": LOOK},
        cache,
        texts,
        {"oracle": oracle_metrics(scenes, captions)},
    )


def shown_benchmark(cache: Path, num_clips: int = NUM_CLIPS, seed: int = SEED) -> Benchmark:
    """Build questions about what held-out scenes show: who, which deed and which place, among all of the world's."""
    scenes = sample_scenes("test", num_clips, seed)
    texts, questions = shown_questions(shown_classes(), SceneTable(scenes).holding)
    source = {"data": f"{NAME}, classes", "split": "test", "clips": num_clips, "seed": seed, "look": LOOK}
    return _benchmark(f"{WORLD}, classes", scenes, questions, source, cache, texts)


def _benchmark(
    name: str,
    scenes: Sequence[Scene],
    queries: tuple[JudgedQuery, ...],
    source: Mapping[str, Any],
    cache: Path,
    texts: tuple[str, ...],
    references: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
) -> Benchmark:
    split = scenes[0].split

    def embed(encoder: Encoder, progress: Progress) -> Vectors:
        clips = ClipFile.of(split, scenes, encoder.num_frames, encoder.card.framing, cache)
        return clips.embeddings(as_scored(encoder), progress, keeps_frames=True)

    ids = tuple(f"{split}-{source['seed']}-{row:05d}" for row in range(len(scenes)))
    return Benchmark(name, ids, queries, embed, source, references, texts)


def gallery_benchmark(gallery: Gallery, decoder: Decoder, cache: Cache, progress: Progress = silent) -> Benchmark:
    """Build the same kind of benchmark from a gallery, as the shipped one; a ConfigError says if no scene is known."""
    videos = [video for video in gallery.videos if video.scene is not None]
    scenes = [Scene.from_dict(video.scene or {}) for video in videos]
    captions = captions_of(scenes)
    return Benchmark(
        name=gallery.name,
        video_ids=tuple(video.video_id for video in videos),
        queries=world_queries([caption.text for caption in captions], SceneDenials(scenes), progress),
        embed=embed_files(videos, decoder, cache, gallery.key),
        source={"data": gallery.name, "clips": len(videos), "content": content_of(videos, cache, progress)},
        references={"oracle": oracle_metrics(scenes, captions)} if scenes else {},
    )


def captions_of(scenes: Sequence[Scene]) -> list[SceneCaption]:
    """Return one caption per scene, the query of its "original" search."""
    return [describe(scene, _generator(row)) for row, scene in enumerate(scenes)]


def _generator(row: int) -> random.Random:
    return random.Random(f"validation {row}")  # as for the metrics in the cards of all models


def world_queries(
    captions: Sequence[str], sentences: SceneDenials, progress: Progress = silent
) -> tuple[JudgedQuery, ...]:
    """Generate queries per scene: its caption, its caption with one thing denied, and one of each negated kind.

    The latter are left out if no scene satisfies them, or none shows both of their parts: they would be uninformative.
    """
    queries = [JudgedQuery("original", caption, row_array((row,))) for row, caption in enumerate(captions)]
    for row in range(len(captions)):
        if negated := sentences.negated(row, _generator(row)):
            queries.append(_judged(negated, (row,), original=row))
    draws = list(product(NEGATED_KINDS, range(len(captions))))
    for kind, row in tracked(draws, len(draws), "writing queries", progress):
        sentence = sentences.draw(row, kind, _generator(row))
        fitting, both = sentences.fitting(sentence), sentences.showing_both(sentence)
        if sentence.kind == kind and fitting.any() and both.any():  # scenes of vehicles allow no composed query
            shown = sentences.showing_unwanted(sentence)
            queries.append(_judged(sentence, *(np.flatnonzero(some) for some in (fitting, both, shown))))
    return tuple(queries)


def _judged(
    sentence: Denial,
    relevant: Iterable[int],
    hard: Iterable[int] = (),
    violating: Iterable[int] = (),
    *,
    original: int | None = None,
) -> JudgedQuery:
    return JudgedQuery(
        sentence.kind,
        sentence.text,
        row_array(relevant),
        row_array(hard),
        row_array(violating),
        wanted=sentence.wanted,
        unwanted=(sentence.unwanted,),
        original=original,
        cue=cue_of(sentence.text),
    )


def oracle_metrics(scenes: Sequence[Scene], captions: Sequence[SceneCaption]) -> dict[str, float]:
    """Expected R@k and MIR of an oracle that knows the scenes but must guess among the n clips matching a caption.

        E[R@k] = min(k, n) / n        E[1 / rank] = (1 + 1/2 + … + 1/n) / n

    An upper bound for models on these captions.
    """
    table = SceneTable(scenes)
    fitting = np.array([table.holding(caption.claim).sum() for caption in captions])
    recalls = {f"original/R@{k}": 100 * float((np.minimum(k, fitting) / fitting).mean()) for k in KS}
    harmonic = np.cumsum(1 / np.arange(1, fitting.max() + 1))
    return {**recalls, "original/MIR": float((harmonic[fitting - 1] / fitting).mean())}


STAGINGS = 20  # of staging a scene
AS_FILMED, SHUFFLED = "as filmed", "shuffled"


class OrderedPair(NamedTuple):
    """Two scenes in which somebody does the same two things, in either order, and a sentence for each."""

    texts: tuple[str, str]
    scenes: tuple[Scene, Scene]


class Moment(NamedTuple):
    """A scene, and a sentence about what somebody does in a quarter of it."""

    text: str
    claim: Claim
    scene: Scene


def _able(rng: random.Random) -> Iterator[tuple[str, Noun, list[DeedKind]]]:
    """Yield actors endlessly, each with its noun and the deeds with nothing, to nobody, that it may do somewhere."""
    actors = sorted(name for name, thing in things().items() if thing.role in ("person", "animal"))
    while True:
        name, place = rng.choice(actors), rng.choice(sorted(places()))
        able = [kind for kind in deeds_at(place, name) if kind.layer == "main" and not kind.objects]
        if noun := next((noun for noun in things()[name].nouns if noun.number == "one"), None):
            yield name, noun, able


def ordered_pairs(split: SceneSplit, seed: int) -> Iterator[OrderedPair]:
    """Yield pairs endlessly; scenes are drawn separately, so that only the two deeds and who does them are alike."""
    rng = random.Random(f"order {split} {seed}")
    for name, noun, able in _able(rng):
        if len(able) < 2:
            continue
        first, second = rng.sample([kind.verb for kind in able], 2)
        claims = [_in_turn(name, *verbs) for verbs in ((first, second), (second, first))]
        scenes = [_stage(claim, other, split, rng) for claim, other in (claims, claims[::-1])]
        if scenes[0] is not None and scenes[1] is not None:
            who, joint = noun.with_article(), rng.choice((", then", "before"))
            one, two = (deeds()[verb].phrases[0] for verb in (first, second))
            texts = in_turn(who, one, two, joint), in_turn(who, two, one, joint)
            yield OrderedPair(texts, (scenes[0], scenes[1]))


def _in_turn(name: str, first: str, second: str) -> Claim:
    acts = Act(frozenset((first,))), Act(frozenset((second,)))
    return Claim((Who(frozenset((name,)), acts),), orders=(Order((0, 0), (0, 1)),))


def _stage(claim: Claim, other: Claim, split: SceneSplit, rng: random.Random) -> Scene | None:
    """Draw a scene for which one claim holds and the other does not; None if that fails too often."""
    drawn = (staged([claim], rng) for _ in range(STAGINGS))
    return next((scene for scene in drawn if scene and scene.split == split and not other.holds(scene)), None)


def order_benchmark(cache: Path, num_pairs: int, seed: int, progress: Progress = silent) -> Benchmark:
    """Build two questions per sentence: which of two clips is right, as filmed, and with their frames shuffled?"""
    pairs = list(tracked(islice(ordered_pairs("test", seed), num_pairs), num_pairs, "staging scenes", progress))
    scenes = [scene for pair in pairs for scene in pair.scenes]
    queries = [
        JudgedQuery("picture", text, row_array((start + row,)), row_array((start + (row ^ 1),)), group=group)
        for group, start in ((AS_FILMED, 0), (SHUFFLED, len(scenes)))
        for row, text in enumerate(text for pair in pairs for text in pair.texts)
    ]

    def embed(encoder: Encoder, progress: Progress) -> Vectors:
        file = ClipFile.of("test", scenes, encoder.num_frames, encoder.card.framing, cache)
        frames, scored = file.frame_embeddings(encoder, progress), as_scored(encoder)
        order = np.random.default_rng(seed).random(frames.shape[:2]).argsort(axis=1)[..., None]
        shuffled = np.take_along_axis(frames, order, axis=1)
        return np.concatenate([scored.pool(frames), scored.pool(shuffled)])

    source = {"data": f"{NAME}, order", "split": "test", "pairs": num_pairs, "seed": seed, "look": LOOK}
    ids = tuple(f"{group}-{row:05d}" for group in (AS_FILMED, SHUFFLED) for row in range(len(scenes)))
    return Benchmark(f"{WORLD}, order", ids, tuple(queries), embed, source)


def moments(split: SceneSplit, seed: int) -> Iterator[Moment]:
    """Yield scenes endlessly in which somebody does one thing with nothing, to nobody, in a quarter of the clip."""
    rng = random.Random(f"moments {split} {seed}")
    for name, noun, able in _able(rng):
        verbs = [kind.verb for kind in able if not _is_idle(kind)]
        if not verbs:
            continue
        act, start = Act(frozenset((rng.choice(verbs),))), rng.randrange(4) / 4
        scene = staged([Claim((Who(frozenset((name,)), (act,)),))], rng)
        scene = scene and _brief(scene, name, start)
        if scene and scene.split == split and not problems(scene):
            (verb,), claim = act.verbs, Claim((Who(meanings()[noun.word], (act,)),))
            yield Moment(f"{noun.with_article()} {conjugate(deeds()[verb].phrases[0], 'is {ing}')}", claim, scene)


def _is_idle(kind: DeedKind) -> bool:
    """Return whether a deed looks like standing there and doing nothing."""
    return kind.posture == "stand" and kind.hand == kind.motion == "none" and not (kind.sign or kind.shows)


def _brief(scene: Scene, name: str, start: float) -> Scene:
    """Let somebody do what it does with its body in a quarter of the clip only."""
    figures = []
    for figure in scene.figures:
        if figure.thing == name:
            done = (
                replace(deed, start=start, end=start + 0.25) if deed.kind.layer == "main" else deed
                for deed in figure.deeds
            )
            figure = replace(figure, deeds=tuple(done))
        figures.append(figure)
    return replace(scene, figures=tuple(figures))


def moment_benchmark(cache: Path, num_clips: int, seed: int, progress: Progress = silent) -> Benchmark:
    """Build a search for each of the sentences among all clips; every clip for which it holds is right."""
    found = list(tracked(islice(moments("test", seed), num_clips), num_clips, "staging scenes", progress))
    scenes = [moment.scene for moment in found]
    table, claims = SceneTable(scenes), {moment.text: moment.claim for moment in found}
    queries = [
        JudgedQuery("original", text, row_array(np.flatnonzero(table.holding(claim)).tolist()))
        for text, claim in claims.items()
    ]

    def embed(encoder: Encoder, progress: Progress) -> Vectors:
        file = ClipFile.of("test", scenes, encoder.num_frames, encoder.card.framing, cache)
        return as_scored(encoder).pool(file.frame_embeddings(encoder, progress))

    source = {"data": f"{NAME}, moments", "split": "test", "clips": num_clips, "seed": seed, "look": LOOK}
    ids = tuple(f"moment-{row:05d}" for row in range(num_clips))
    return Benchmark(f"{WORLD}, moments", ids, tuple(queries), embed, source)
