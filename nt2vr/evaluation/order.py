"""Ordered pairs of the built-in world: "a woman sings, then dances", and the reverse, in two separate clips.

A system that does not know the order of frames gets half of them right. So does any on the control, the same clips
with their frames shuffled. A clip and its own reversal would not do: rounding tells them apart under mean pooling.
"""

import random
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery, Vectors, row_array
from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import as_scored
from nt2vr.progress import Progress, silent, tracked
from nt2vr.world import NAME, WORLD
from nt2vr.world.claims import Act, Claim, Order, Who
from nt2vr.world.deeds import deeds, deeds_at
from nt2vr.world.drawn.clips import LOOK, ClipFile
from nt2vr.world.scenes import Scene, SceneSplit
from nt2vr.world.splits import staged
from nt2vr.world.things import places, things
from nt2vr.world.wording import in_turn

TRIES = 20  # of staging a scene
AS_FILMED, SHUFFLED = "as filmed", "shuffled"


class OrderedPair(NamedTuple):
    """Two scenes in which somebody does the same two things, in either order, and a sentence for each."""

    texts: tuple[str, str]
    scenes: tuple[Scene, Scene]


def ordered_pairs(split: SceneSplit, seed: int) -> Iterator[OrderedPair]:
    """Yield pairs endlessly; scenes are drawn separately, so that only the two deeds and who does them are alike."""
    rng = random.Random(f"order {split} {seed}")
    actors = sorted(name for name, thing in things().items() if thing.role in ("person", "animal"))
    while True:
        name, place = rng.choice(actors), rng.choice(sorted(places()))
        able = [kind.verb for kind in deeds_at(place, name) if kind.layer == "main" and not kind.objects]
        nouns = [noun for noun in things()[name].nouns if noun.number == "one"]
        if len(able) < 2 or not nouns:
            continue
        first, second = rng.sample(able, 2)
        claims = [_in_turn(name, *verbs) for verbs in ((first, second), (second, first))]
        scenes = [_stage(claim, other, split, rng) for claim, other in (claims, claims[::-1])]
        if scenes[0] is not None and scenes[1] is not None:
            who, joint = nouns[0].with_article(), rng.choice((", then", "before"))
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
    drawn = islice(ordered_pairs("test", seed), num_pairs)
    pairs = list(tracked(drawn, num_pairs, "staging scenes", progress))
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
