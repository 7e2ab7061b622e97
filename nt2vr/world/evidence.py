"""Evidence: where a clip of the built-in world shows what a query excludes."""

import logging
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.settings import ASSETS
from nt2vr.world.scenes import Deed, Figure, Scene
from nt2vr.world.things import things
from nt2vr.world.verdicts import read_query, scene_of

logger = logging.getLogger(__name__)
SHIPPED = ASSETS / "gallery" / "boxes.npz"  # by nt2vr.world.drawn.boxes
Boxes = list[
    list[int]
]  # for each step of the clip left, top, width and height in percent; empty while out of sight


def evidence(query: Query, video: Video) -> list[Boxes]:
    """Return the boxes of each individual that is unwanted; none in other galleries."""
    scene, shipped, found = scene_of(video), _shipped(SHIPPED), list[Boxes]()
    for number, thing, start, end in dict.fromkeys(_unwanted_in(query, scene)) if scene else ():
        keys = (
            f"{video.video_id} {number} {name}" for name in (thing, "")
        )  # a crown may be in a picture
        for table in next(filter(None, map(shipped.get, keys)), []):
            first, last = round(start * len(table)), round(end * len(table))
            found.append(
                [
                    row.tolist() if first <= i < last and row[0] >= 0 else []
                    for i, row in enumerate(table)
                ]
            )
    return [each for each in found if any(each)]


def _unwanted_in(query: Query, scene: Scene) -> Iterator[tuple[int, str, float, float]]:
    """Yield what a scene shows of the unwanted parts: a figure, by its number, or a thing that it has; and when."""
    claims = [
        part.claim for part in read_query(query).unwanted if part.claim and part.shown_in(scene)
    ]
    for (number, figure), who in product(
        enumerate(scene.figures), (who for claim in claims for who in claim.subjects)
    ):
        if who.fits(figure, scene.figures):
            acts = [
                deed
                for deed in figure.doings
                if any(act.fits(deed, scene.figures) for act in who.acts)
            ]
            yield from ((number, "", deed.start, deed.end) for deed in acts or [Deed("")])
        for deed in figure.deeds:
            had = (Figure(str(deed.object or ""), deed.colour), Figure(deed.kind.shows))
            fitting = (
                each.thing
                for each in had
                if each.thing in things() and who.fits(each, scene.figures)
            )
            yield from ((number, thing, deed.start, deed.end) for thing in fitting)


@cache
def _shipped(path: Path) -> dict[str, list[NDArray[np.int8]]]:
    """Read the boxes of each clip's figures and things, one table for each individual; none if there is no file."""
    found: dict[str, list[NDArray[np.int8]]] = {}
    try:
        with np.load(path, allow_pickle=False) as data:
            for key, table in zip(data["keys"].tolist(), data["boxes"], strict=True):
                found.setdefault(key, []).append(table)
    except (OSError, ValueError, KeyError):
        logger.warning("%s cannot be read. Make it again: python -m nt2vr.world.drawn.boxes.", path)
    return found
