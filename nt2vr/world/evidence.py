"""Evidence: where a clip of the built-in world shows what a query excludes."""

import logging
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.settings import ASSETS
from nt2vr.world.verdicts import scene_of, unwanted_in

logger = logging.getLogger(__name__)
SHIPPED = ASSETS / "gallery" / "boxes.npz"  # by nt2vr.world.drawn.boxes
Boxes = list[list[int]]  # for each step of the clip left, top, width and height in percent; empty while out of sight


def evidence(query: Query, video: Video) -> list[Boxes]:
    """Return the boxes of each individual that is unwanted; none in other galleries."""
    scene, shipped, found = scene_of(video), _shipped(SHIPPED), list[Boxes]()
    for sight in unwanted_in(query, scene) if scene else ():
        keys = (f"{video.video_id} {sight.figure} {name}" for name in (sight.thing, ""))  # a crown may be in a picture
        for table in next(filter(None, map(shipped.get, keys)), []):
            first, last = (round(moment * len(table)) for moment in (sight.start, sight.end))
            found.append([row.tolist() if first <= i < last and row[0] >= 0 else [] for i, row in enumerate(table)])
    return [each for each in found if any(each)]


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
