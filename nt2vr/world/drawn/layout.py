"""Layout: where everybody stands, so that faces and things that count stay in sight.

The tall stand in the back, the small before them; what drives through passes in front of all, lower
than faces.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from typing import NamedTuple

from nt2vr.world.drawn.canvas import stepped
from nt2vr.world.drawn.dolls import Placement
from nt2vr.world.drawn.individuals import individuals_of
from nt2vr.world.drawn.rows import FOLLOWING, RowName, heights_of, in_line, rows_of
from nt2vr.world.drawn.sizes import SIZES, Individual, Individuals, extent
from nt2vr.world.drawn.stands import MARGIN, ROOM, SIZE, Placed, flies, in_step, placed_among
from nt2vr.world.scenes import Action, Scene

# The tallest figure in the back has from LEAST to TALLEST of the height of the frame, if none is
# big or small; one that is big has at most so much.
LEAST = 0.4
TALLEST = 0.74
TALLEST_BELOW_SKY = 0.56
TALLEST_OF_BIG = 0.8
USUAL_HEIGHT = 40.0  # units, of the tallest figure at least
LARGEST = 2.4  # pixels per unit
# What is nearer is larger than in the back.
NEARER = 1.15
HIGHEST_IN_SKY = 54  # pixels
HIGHEST_ON_ROAD = 74  # pixels
# Where what flies alone stands, as a share of the frame from the top.
FLYING_ALONE = 0.66

# Arrangements are tried, two of each size and each size smaller by a factor, until of nobody more
# than this share is hidden.
TRIES = 36
SHRINK = 0.98
MAX_HIDDEN = 0.08

# How far somebody may stand from its place in the row: a share of the room left over to each side,
# and pixels up or down, on the ground and in the sky.
ASIDE = 0.3
DOWN = 2
DOWN_IN_SKY = 4
# Crowds stand in zigzag, so many pixels up and down.
ZIGZAG = (-7, 7)


def lay_out(scene: Scene) -> list[Placed]:
    """Return everybody in the order of painting."""
    everybody = list(individuals_of(scene, Random(scene.seed)))
    best = []
    least_hidden = 2.0
    for attempt in range(TRIES):
        shrink = SHRINK ** (attempt // 2)
        rng = Random(scene.seed + attempt)
        arrangement = _Arrangement(scene, everybody=everybody, shrink=shrink, rng=rng)
        everybody_placed = arrangement.arrange()
        hidden = most_hidden(everybody_placed)
        if hidden < least_hidden:
            best = everybody_placed
            least_hidden = hidden
        if hidden <= MAX_HIDDEN:
            break
    return best


def most_hidden(everybody: Sequence[Placed]) -> float:
    """Return the largest share that others hide of somebody, counting overlaps twice."""
    most = 0.0
    for index, placed in enumerate(everybody):
        hidden = 0.0
        for later in everybody[index + 1 :]:
            for cover in later.covers:
                hidden += placed.box.overlap(cover)
        most = max(most, hidden / placed.box.area)
    return most


class _Spacing(NamedTuple):
    """How individuals stand side by side.

    Attributes:
        scale: pixels per unit.
        squeeze: share of its breadth that each gets; below 1, they overlap.
        slack: pixels that each has left over.
        share: pixels that each may go to either side.
        edge: pixel where the first one begins.
    """

    scale: float
    squeeze: float
    slack: float
    share: float
    edge: float = MARGIN


def _spacing(individuals: Individuals, scale: float) -> _Spacing:
    count = len(individuals)
    breadth = _breadth(individuals) * scale
    squeeze = min(1.0, ROOM / breadth)
    slack = max(0.0, ROOM - breadth) / count
    actions: list[Action] = []
    for individual in individuals:
        actions += individual.figure.actions
    if count == 2 and any(map(_touches, actions)):
        return _Spacing(scale, squeeze, slack=0.0, share=0.0, edge=MARGIN + slack)

    share = slack / 2
    num_figures = len({individual.number for individual in individuals})
    # Two who run after each other may use the whole width.
    if num_figures == 2 and any(action.kind.motion in FOLLOWING for action in actions):
        share *= count
    return _Spacing(scale, squeeze=squeeze, slack=slack, share=share)


def _breadth(individuals: Individuals) -> float:
    """Return how many units individuals take side by side."""
    return sum(extent(individual.figure).width for individual in individuals)


def _touches(action: Action) -> bool:
    """Return whether an action brings two figures together."""
    if action.target is None:
        return False
    return action.kind.motion == "approach" or action.kind.hand == "ahead"


@dataclass
class _Arrangement:
    """One attempt to place everybody."""

    scene: Scene
    everybody: Individuals
    shrink: float
    rng: Random
    placed: list[Placed] = field(default_factory=list)
    # Until the back is placed, which settles how large the others are: pixels per unit, and pixels
    # below the lowest face in the back, which those in front must not hide.
    unit: float = 1.3
    height_in_front: float = 0.36 * SIZE

    def arrange(self) -> list[Placed]:
        """Return everybody in the order of painting."""
        figures = self.scene.figures
        numbers = list(range(len(figures)))
        self.rng.shuffle(numbers)
        rows = rows_of(self.scene, numbers, self.rng)
        self.faces = {number: self.rng.choice((1, -1)) for number in numbers}
        self.heights = heights_of(rows, figures)
        self.has_sky = bool(rows["sky"])
        for row, row_numbers in rows.items():
            line = in_line(row_numbers, self.scene)
            self.faces |= line.facing
            individuals = line.individuals(self.everybody)
            if individuals:
                self._place(row, individuals)
        self.placed.sort(key=lambda placed: placed.place.y)
        return self.placed

    def _place(self, row: RowName, individuals: Individuals) -> None:
        """Place the individuals of a row, as large as fits."""
        spacing = _spacing(individuals, self._scale(row, individuals))
        edge = spacing.edge
        row_placed = []
        for index, individual in enumerate(individuals):
            place = self._draw_place(
                row, index=index, individual=individual, edge=edge, spacing=spacing
            )
            row_placed.append(placed_among(individual, place, spacing.share))
            width = extent(individual.figure).width * spacing.scale
            edge += width * spacing.squeeze + spacing.slack
        self.placed += in_step(row_placed)

        if row == "back":
            self.unit = spacing.scale
            chins = [placed.box.bottom for placed in row_placed if placed.individual.look]
            if chins:
                self.height_in_front = self.heights["front"] * SIZE - max(chins)

    def _scale(self, row: RowName, individuals: Individuals) -> float:
        """Return the pixels per unit of a row."""
        height = max(extent(individual.figure).height for individual in individuals)
        fitting_scale = ROOM / _breadth(individuals)
        if row == "back":
            return self._scale_in_back(individuals, height, fitting_scale)
        if row == "sky":
            return min(self.unit, fitting_scale)
        highest = self.height_in_front if row == "front" else HIGHEST_ON_ROAD
        scale = min(NEARER * self.unit, fitting_scale, highest / height)
        return stepped(self.shrink * scale)

    def _scale_in_back(
        self, individuals: Individuals, height: float, fitting_scale: float
    ) -> float:
        """Return the pixels per unit at which the figures in the back fill the frame."""
        # As if none were big or small: one that is must look so beside the others.
        usual_height = USUAL_HEIGHT
        for individual in individuals:
            figure = individual.figure
            usual_height = max(usual_height, extent(figure).height / SIZES[figure.size])
        tallest = TALLEST_BELOW_SKY if self.has_sky else TALLEST
        most = min(tallest * SIZE / usual_height, TALLEST_OF_BIG * SIZE / height, LARGEST)
        least = min(most, LEAST * SIZE / usual_height)
        scale = min(most, max(fitting_scale, least))
        return stepped(self.shrink * scale)

    def _draw_place(
        self, row: RowName, index: int, individual: Individual, edge: float, spacing: _Spacing
    ) -> Placement:
        """Draw where somebody stands whose room begins at an edge."""
        x = self._draw_x(individual, edge, spacing)
        # Crowds stand in zigzag.
        down = self.rng.uniform(-DOWN, DOWN) if spacing.squeeze == 1 else ZIGZAG[index % 2]
        y = SIZE * self.heights[row] + down
        scale = spacing.scale
        if row == "sky":
            height = extent(individual.figure).height
            scale = min(scale, HIGHEST_IN_SKY / height)
            y += height * scale / 2 + self.rng.uniform(-DOWN_IN_SKY, DOWN_IN_SKY)
        elif flies(individual.figure):
            y = SIZE * FLYING_ALONE
        return Placement(x, y, scale, facing=self.faces[individual.number])

    def _draw_x(self, individual: Individual, edge: float, spacing: _Spacing) -> float:
        """Draw where somebody stands, wholly in the frame."""
        to_left, to_right, _ = extent(individual.figure)
        if self.faces[individual.number] < 0:
            to_left, to_right = to_right, to_left
        to_left *= spacing.scale
        to_right *= spacing.scale
        aside = self.rng.uniform(-ASIDE, ASIDE) * spacing.slack
        x = edge + spacing.slack / 2 + to_left * spacing.squeeze + aside
        x = max(x, MARGIN + to_left)
        return min(x, SIZE - MARGIN - to_right)
