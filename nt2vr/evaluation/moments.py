"""Moments of the built-in world: somebody does something in a quarter of a clip, that is in one frame of four.

The mean of the frames has little of it.
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
from nt2vr.world.claims import Act, Claim, Who
from nt2vr.world.deeds import DeedKind, deeds, deeds_at
from nt2vr.world.drawn.clips import LOOK, ClipFile
from nt2vr.world.nouns import meanings
from nt2vr.world.scenes import Scene, SceneSplit, problems
from nt2vr.world.splits import staged
from nt2vr.world.table import SceneTable
from nt2vr.world.things import places, things
from nt2vr.world.wording import conjugate


class Moment(NamedTuple):
    """A scene, and a sentence about what somebody does in a quarter of it."""

    text: str
    claim: Claim
    scene: Scene


def moments(split: SceneSplit, seed: int) -> Iterator[Moment]:
    """Yield scenes endlessly in which somebody does one thing with nothing, to nobody, in a quarter of the clip."""
    rng = random.Random(f"moments {split} {seed}")
    actors = sorted(name for name, thing in things().items() if thing.role in ("person", "animal"))
    while True:
        name, place = rng.choice(actors), rng.choice(sorted(places()))
        able = [kind.verb for kind in deeds_at(place, name) if _is_seen(kind)]
        nouns = [noun for noun in things()[name].nouns if noun.number == "one"]
        if not able or not nouns:
            continue
        act, start = Act(frozenset((rng.choice(able),))), rng.randrange(4) / 4
        scene = staged([Claim((Who(frozenset((name,)), (act,)),))], rng)
        scene = scene and _brief(scene, name, start)
        if scene and scene.split == split and not problems(scene):
            (verb,), claim = act.verbs, Claim((Who(meanings()[nouns[0].word], (act,)),))
            doing = conjugate(deeds()[verb].phrases[0], "is {ing}")
            yield Moment(f"{nouns[0].with_article()} {doing}", claim, scene)


def _is_seen(kind: DeedKind) -> bool:
    """Return whether a deed needs nothing and nobody, and looks other than who stands there and does nothing."""
    is_idle = kind.posture == "stand" and kind.hand == kind.motion == "none" and not (kind.sign or kind.shows)
    return kind.layer == "main" and not kind.objects and not is_idle


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
    drawn = islice(moments("test", seed), num_clips)
    found = list(tracked(drawn, num_clips, "staging scenes", progress))
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
