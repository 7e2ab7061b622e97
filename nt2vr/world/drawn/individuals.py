"""Everybody in a scene, each with a look of its own."""

from collections.abc import Iterator
from random import Random

from nt2vr.world.drawn.busts import HAIRS, SKINS, Look, look
from nt2vr.world.drawn.sizes import COLOURS, Individual
from nt2vr.world.scenes import Figure, Scene

SHIRTS = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
TROUSERS = ("#3D4C77", "#5A4A42", "#44505C", "#6B7A8F")
SKIRT_SHARE = 0.5
# Steps by which one of a figure may be ahead of another one.
PHASES = 4


def individuals_of(scene: Scene, rng: Random) -> Iterator[Individual]:
    for number, figure in enumerate(scene.figures):
        for _ in range(figure.count):
            person_look = _draw_look(figure, rng)
            yield Individual(figure, number, person_look, phase=rng.randrange(PHASES))


def _draw_look(figure: Figure, rng: Random) -> Look | None:
    """Draw the look of a person; None for anything else."""
    # They are drawn for things as well, so that the looks of later figures stay as they are.
    skin = rng.choice(list(SKINS))
    hair = rng.choice(HAIRS)
    trousers = rng.choice(TROUSERS)
    likes_skirts = rng.random() < SKIRT_SHARE
    shirt = COLOURS[figure.colour or rng.choice(SHIRTS)]
    thing = figure.kind
    if thing.role != "person":
        return None
    is_female = not thing.is_a.isdisjoint({"woman", "girl"})
    skirt = likes_skirts and is_female and bool(thing.tint)
    return look(thing.picture.removesuffix("-FE0F"), shirt, skin, hair, trousers, skirt)
