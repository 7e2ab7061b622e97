"""Evidence: where a clip of the built-in world shows what a query excludes."""

import logging
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nt2vr.media.gallery import Video
from nt2vr.negation.parse.query import Query
from nt2vr.settings import ASSETS
from nt2vr.world.claims import SubjectClaim
from nt2vr.world.query_claims import read_query
from nt2vr.world.scenes import Action, Figure, Scene
from nt2vr.world.things import things
from nt2vr.world.verdicts import scene_of

logger = logging.getLogger(__name__)
# By benchmarks.gallery_boxes.
SHIPPED = ASSETS / "gallery" / "boxes.npz"
# For each step of the clip left, top, width and height in percent; empty while out of sight.
Boxes = list[list[int]]
# The same of one individual, with -1 while out of sight: (steps, 4).
BoxTable = NDArray[np.int8]


class _Sighting(NamedTuple):
    """A figure, by its number, or a thing that it has ("" for itself), and when it is seen."""

    figure: int
    thing: str
    start: float
    end: float


def evidence(query: Query, video: Video) -> list[Boxes]:
    """Return the boxes of each individual that is unwanted; none in other galleries."""
    scene = scene_of(video)
    if scene is None:
        return []
    boxes = []
    for sighting in dict.fromkeys(_unwanted_in(query, scene)):
        for table in _tables_of(video.video_id, sighting):
            visible = _boxes_between(table, sighting.start, sighting.end)
            if any(visible):
                boxes.append(visible)
    return boxes


def _tables_of(video_id: str, sighting: _Sighting) -> list[BoxTable]:
    """Return the boxes of the individuals of a sighting, a table for each."""
    tables = _read_tables(SHIPPED)
    # A crown may be in a picture.
    for thing in (sighting.thing, ""):
        individuals = tables.get(f"{video_id} {sighting.figure} {thing}")
        if individuals:
            return individuals
    return []


def _boxes_between(table: BoxTable, start: float, end: float) -> Boxes:
    """Return the boxes of a table from a fraction of the clip to another one."""
    first = round(start * len(table))
    last = round(end * len(table))
    boxes: Boxes = []
    for step, row in enumerate(table):
        if first <= step < last and row[0] >= 0:
            boxes.append(row.tolist())
        else:
            boxes.append([])
    return boxes


def _unwanted_in(query: Query, scene: Scene) -> Iterator[_Sighting]:
    """Yield what a scene shows of the unwanted parts."""
    subjects: list[SubjectClaim] = []
    for part in read_query(query).unwanted:
        if part.claim and part.shown_in(scene):
            subjects += part.claim.subjects
    for number in range(len(scene.figures)):
        for subject in subjects:
            yield from _sightings_of(subject, scene, number)


def _sightings_of(subject: SubjectClaim, scene: Scene, number: int) -> Iterator[_Sighting]:
    """Yield when a figure, or a thing that it has, is seen as a subject claims."""
    figure = scene.figures[number]
    if subject.fits(figure, scene):
        fitting = []
        for action in figure.doings:
            if any(act.fits(action, scene) for act in subject.acts):
                fitting.append(action)
        # Without acts, it is unwanted all the time.
        for action in fitting or [Action("")]:
            yield _Sighting(
                figure=number,
                thing="",
                start=action.start,
                end=action.end,
            )

    for action in figure.actions:
        had = (Figure(action.thing, action.colour), Figure(action.kind.shows))
        for thing in had:
            if thing.thing in things() and subject.fits(thing, scene):
                yield _Sighting(
                    figure=number,
                    thing=thing.thing,
                    start=action.start,
                    end=action.end,
                )


@cache
def _read_tables(path: Path) -> dict[str, list[BoxTable]]:
    """Read the boxes of each clip's figures and things; none if there is no file.

    Each individual has a table.
    """
    tables: dict[str, list[BoxTable]] = {}
    try:
        with np.load(path, allow_pickle=False) as arrays:
            for key, table in zip(arrays["keys"].tolist(), arrays["boxes"], strict=True):
                tables.setdefault(key, []).append(table)
    except (OSError, ValueError, KeyError):
        logger.warning(
            "%s cannot be read. Make it again: python -m benchmarks.gallery_boxes.", path
        )
    return tables
