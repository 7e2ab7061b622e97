"""The scenes of each split. Seeded: equal seeds give equal scenes.

Drawn as they come, a car is in one scene of two thousand, since it is found in few places and competes there. So most
scenes are about a thing or a deed, each as often as any other.
"""

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from itertools import islice

from nt2vr.errors import ConfigError
from nt2vr.world.claims import Act, Claim, Who
from nt2vr.world.deeds import deeds
from nt2vr.world.sampling import sample_scene
from nt2vr.world.scenes import Scene, SceneSplit
from nt2vr.world.staging import showing, staged
from nt2vr.world.things import things

ABOUT_SHARE = 0.85  # of scenes: about something that was drawn first
THING_SHARE, USED_SHARE = 0.65, 0.5  # of those: about a thing; of things with a use: somebody uses it
TRIES = 15  # until a scene about something succeeds


def stream_scenes(split: SceneSplit, seed: int) -> Iterator[Scene]:
    """Yield distinct scenes of a split, endlessly."""
    if split not in ("train", "validation", "test"):
        raise ConfigError(f"Unknown split {split!r}. Choose one of: train, validation, test.")
    rng, seen = random.Random(f"{split}-{seed}"), set[str]()
    while True:
        claim = draw_claim(rng) if rng.random() < ABOUT_SHARE else None
        for _ in range(TRIES):
            scene = staged([claim], rng) if claim else sample_scene(rng)
            if scene and scene.split == split and scene.content not in seen:
                seen.add(scene.content)
                yield scene
                break


def sample_scenes(split: SceneSplit, count: int, seed: int) -> list[Scene]:
    """Return `count` distinct scenes of a split; equal seeds give equal scenes."""
    return list(islice(stream_scenes(split, seed), count))


def draw_claim(rng: random.Random) -> Claim:
    """Draw what a scene is about: a thing, perhaps in use, or a deed."""
    if rng.random() >= THING_SHARE:
        deed = rng.choice(tuple(deeds().values()))
        target = showing(rng.choice(sorted(deed.objects))).whos if deed.targets else ()
        return replace(_doing(deed.verb), whos=(*target, *_doing(deed.verb).whos))
    name = rng.choice(tuple(things()))
    uses = _uses(name)
    return _doing(rng.choice(uses), name) if uses and rng.random() < USED_SHARE else showing(name)


def _doing(verb: str, thing: str = "") -> Claim:
    act = Act(frozenset((verb,)), frozenset((thing,)) if thing else frozenset())
    return Claim((Who(acts=(act,)),))


@cache
def _uses(name: str) -> tuple[str, ...]:
    return tuple(verb for verb, deed in deeds().items() if name in deed.objects and not deed.targets)
