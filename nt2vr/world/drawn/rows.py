"""Rows: who stands in the back, in front, on the road and in the sky, and in which order."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Literal, NamedTuple

from nt2vr.world.drawn.sizes import ADULT, Individual, Individuals, extent
from nt2vr.world.drawn.stands import ROOM, SIZE, flies, sweeps
from nt2vr.world.scenes import Figure, Scene

RowName = Literal["back", "front", "road", "sky"]
# Numbers of figures.
Rows = dict[RowName, list[int]]
Heights = Mapping[RowName, float]

# Figures of at most this share of an adult's height may stand before others.
SMALL = 0.5
# Figures may form one row if they fill it at this height, a share of the frame's.
LEAST_HEIGHT_IN_ONE_ROW = 0.42
# Where rows stand, and where the middle of the sky's is, in shares of the frame from the top.
ONE_ROW: Heights = {"back": 0.94, "front": 0.96, "road": 0.985, "sky": 0.2}
WITH_FRONT_OR_ROAD: Heights = {**ONE_ROW, "back": 0.83}
WITH_FRONT_AND_ROAD: Heights = {**ONE_ROW, "back": 0.83, "front": 0.99, "road": 0.93}
# Vehicles that drive in front would hide small figures, so they drive behind these.
ROAD_BEHIND_SMALL: Heights = {"back": 0.93, "road": 0.76}
FOLLOWING = ("chase", "follow")


def rows_of(scene: Scene, numbers: Sequence[int], rng: Random) -> Rows:
    """Divide figures into rows; those in the back and in the front form one if there is room."""
    figures = scene.figures
    involved = _involved(figures)
    is_alone = len(figures) == 1
    rows: Rows = {"back": [], "front": [], "road": [], "sky": []}
    for number in numbers:
        row = _row_of(figures[number], is_alone, is_involved=number in involved)
        rows[row].append(number)

    on_ground = rows["back"] + rows["front"]
    on_ground = rng.sample(on_ground, len(on_ground))
    if not rows["back"] or _fit_in_one([figures[number] for number in on_ground]):
        rows["back"] = on_ground
        rows["front"] = []
    return rows


def _involved(figures: Sequence[Figure]) -> set[int]:
    """Return the figures that do something with another one, and these."""
    involved = set()
    for number, figure in enumerate(figures):
        for action in figure.actions:
            if action.target is not None:
                involved |= {number, action.target}
    return involved


def _row_of(figure: Figure, is_alone: bool, is_involved: bool) -> RowName:
    role = figure.kind.role
    if role == "sky":
        return "sky"
    if not is_alone and flies(figure):
        return "sky"
    if not is_alone and role == "vehicle" and sweeps(figure):
        return "road"
    if role == "building" or is_involved or not _is_small(figure):
        return "back"
    return "front"


def _is_small(figure: Figure) -> bool:
    return extent(figure).height <= SMALL * ADULT


def _fit_in_one(figures: Sequence[Figure]) -> bool:
    width = 0.0
    height = 0.0
    for figure in figures:
        room = extent(figure)
        width += room.width * figure.count
        height = max(height, room.height)
    return width * LEAST_HEIGHT_IN_ONE_ROW * SIZE <= ROOM * height


def heights_of(rows: Rows, figures: Sequence[Figure]) -> Heights:
    """Return on which height of the frame each row stands, in shares from the top."""
    heights = ONE_ROW
    if rows["front"] and rows["road"]:
        heights = WITH_FRONT_AND_ROAD
    elif rows["front"] or rows["road"]:
        heights = WITH_FRONT_OR_ROAD

    in_back = [figures[number] for number in rows["back"]]
    if rows["road"] and in_back and all(map(_is_small, in_back)):
        return {**heights, **ROAD_BEHIND_SMALL}
    return heights


class FigureLine(NamedTuple):
    """Figures from left to right.

    Attributes:
        numbers: of the figures.
        facing: 1 right or -1 left, of those who do something together.
    """

    numbers: list[int]
    facing: dict[int, int]

    def individuals(self, everybody: Individuals) -> list[Individual]:
        """Return the individuals of the figures, from left to right."""
        individuals = []
        for number in self.numbers:
            individuals += [individual for individual in everybody if individual.number == number]
        return individuals


def in_line(numbers: Sequence[int], scene: Scene) -> FigureLine:
    """Put figures who do something together side by side."""
    line = FigureLine(list(numbers), {})
    for number in numbers:
        for action in scene.figures[number].actions:
            if action.target in line.numbers:
                _move_next_to_target(line, number, action.target, motion=action.kind.motion)
                break
    return line


def _move_next_to_target(line: FigureLine, number: int, target: int, motion: str) -> None:
    line.numbers.remove(number)
    position = line.numbers.index(target)
    follows = motion in FOLLOWING
    is_left = position == 0
    if follows:
        is_left = line.facing.get(target, 1) > 0
    if is_left:
        facing_target = 1
    else:
        facing_target = -1
        position += 1
    line.numbers.insert(position, number)
    line.facing.setdefault(number, facing_target)
    if follows or motion == "to and fro":
        line.facing.setdefault(target, line.facing[number])
