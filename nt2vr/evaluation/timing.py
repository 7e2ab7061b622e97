"""Benchmarks of what happens when in the built-in world: ordered pairs, and moments.

Ordered pairs are "a woman sings, then dances", and the reverse, in two separate clips. A system that does not know the
order of frames gets half of them right. So does any on the control, the same clips with their frames shuffled. A clip
and its own reversal would not do: rounding tells them apart under mean pooling.

A moment is what somebody does in a quarter of a clip, in one frame of four: the mean of the frames has little of it.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, Vectors, row_array
from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import as_scored
from nt2vr.progress import Progress, silent, tracked
from nt2vr.world import NAME, WORLD
from nt2vr.world.claims import Act, Claim, Order, SceneTable, Who
from nt2vr.world.drawn.clips import LOOK, ClipFile
from nt2vr.world.sampling import staged
from nt2vr.world.scenes import Scene, SceneSplit, problems
from nt2vr.world.things import DeedKind, Noun, deeds, deeds_at, places, things
from nt2vr.world.wording import conjugate, in_turn, meanings

TRIES = 20  # of staging a scene
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
    drawn = (staged([claim], rng) for _ in range(TRIES))
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
