"""Layout: where everybody stands, so that faces and things that count stay in sight.

The tall stand in the back, the small before them; what drives through passes in front of all, lower
than faces.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Literal, NamedTuple

from nt2vr.world.drawn.busts import HAIRS, SKINS, Look, look
from nt2vr.world.drawn.canvas import Box, stepped
from nt2vr.world.drawn.dolls import HEAD, Placement, head_size
from nt2vr.world.drawn.sizes import (
    ADULT,
    COLOURS,
    SIZES,
    Extent,
    Individual,
    Stand,
    ahead_of,
    extent,
)
from nt2vr.world.scenes import Action, Figure, Scene
from nt2vr.world.things import Thing

# Layouts are in pixels of a frame this large.
SIZE = 224
MARGIN = 5.0
# The width that figures share.
ROOM = SIZE - 2 * MARGIN
# The tallest figure in the back has from LEAST to TALLEST of the height of the frame.
TALLEST = 0.74
LEAST = 0.4
# Arrangements are tried, two of each size and each size smaller by a factor, until of nobody more
# than this share is hidden.
TRIES = 36
SHRINK = 0.98
MAX_HIDDEN = 0.08
LARGEST = 2.4  # pixels per unit
# Figures of at most this share of an adult's height may stand before others.
SMALL = 0.5
HIGHEST_IN_SKY = 54  # pixels
HIGHEST_ON_ROAD = 74  # pixels
SHIRTS = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
TROUSERS = ("#3D4C77", "#5A4A42", "#44505C", "#6B7A8F")
SWEEPING = frozenset({"drive past", "start", "stop", "turn"})

RowName = Literal["back", "front", "road", "sky"]
# Numbers of figures.
Rows = dict[RowName, list[int]]


@dataclass(frozen=True)
class Placed:
    """An individual and where it stands, in the order of painting.

    Attributes:
        individual: what stands there.
        stand: where it stands.
        box: what must be seen of it: a person's face, or else all.
        covers: what it hides of others behind it.
    """

    individual: Individual
    stand: Stand
    box: Box
    covers: tuple[Box, ...]


def lay_out(scene: Scene) -> list[Placed]:
    """Return everybody in the order of painting."""
    everybody = list(_individuals(scene, Random(scene.seed)))
    best: list[Placed] = []
    least_hidden = 2.0
    for attempt in range(TRIES):
        shrink = SHRINK ** (attempt // 2)
        arrangement = _Arrangement(
            scene=scene,
            everybody=everybody,
            shrink=shrink,
            rng=Random(scene.seed + attempt),
        )
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
        most = max(most, hidden / (placed.box.width * placed.box.height))
    return most


def _individuals(scene: Scene, rng: Random) -> Iterator[Individual]:
    """Yield everybody, each with a look of its own."""
    for number, figure in enumerate(scene.figures):
        for _ in range(figure.count):
            person_look = _draw_look(figure, rng)
            yield Individual(
                figure=figure,
                number=number,
                look=person_look,
                phase=rng.randrange(4),
            )


def _draw_look(figure: Figure, rng: Random) -> Look | None:
    """Draw the look of a person; None for anything else."""
    # They are drawn for things as well, so that the looks of later figures stay as they are.
    skin = rng.choice(list(SKINS))
    hair = rng.choice(HAIRS)
    trousers = rng.choice(TROUSERS)
    likes_skirts = rng.random() < 0.5
    shirt = COLOURS[figure.colour or rng.choice(SHIRTS)]
    thing = figure.kind
    if thing.role != "person":
        return None
    skirt = likes_skirts and _may_wear_skirt(thing)
    return look(thing.picture.removesuffix("-FE0F"), shirt, skin, hair, trousers, skirt)


def _may_wear_skirt(thing: Thing) -> bool:
    return bool(thing.tint) and not thing.is_a.isdisjoint({"woman", "girl"})


def _flies(figure: Figure) -> bool:
    return any(
        action.kind.posture == "fly" or action.verb == "fly past" for action in figure.actions
    )


def _sweeps(figure: Figure) -> bool:
    """Return whether a figure drives across the frame."""
    return any(action.kind.motion in SWEEPING for action in figure.actions)


def _is_small(figure: Figure) -> bool:
    return extent(figure).height <= SMALL * ADULT


def _row_of(figure: Figure, is_alone: bool, is_involved: bool) -> RowName:
    """Return the row of a figure; it is involved if it does something with another one."""
    role = figure.kind.role
    if role == "sky" or (_flies(figure) and not is_alone):
        return "sky"
    if role == "vehicle" and not is_alone and _sweeps(figure):
        return "road"
    if role == "building" or is_involved or not _is_small(figure):
        return "back"
    return "front"


def _breadth(individuals: Sequence[Individual]) -> float:
    """Return how many units individuals take side by side."""
    return sum(extent(individual.figure).width for individual in individuals)


class _FigureLine(NamedTuple):
    """Figures from left to right.

    Attributes:
        numbers: of the figures.
        facing: 1 right or -1 left, of those who do something together.
    """

    numbers: list[int]
    facing: dict[int, int]


def _in_line(numbers: Sequence[int], scene: Scene) -> _FigureLine:
    """Put figures who do something together side by side."""
    line = _FigureLine(list(numbers), {})
    for number in numbers:
        for action in scene.figures[number].actions:
            if isinstance(action.object, int) and action.object in line.numbers:
                _move_next_to_target(line, number, target=action.object, motion=action.kind.motion)
                break
    return line


def _move_next_to_target(line: _FigureLine, number: int, target: int, motion: str) -> None:
    line.numbers.remove(number)
    position = line.numbers.index(target)
    follows = motion in ("chase", "follow")
    is_left = position == 0
    if follows:
        is_left = line.facing.get(target, 1) > 0
    facing_target = 1
    if not is_left:
        position += 1
        facing_target = -1
    line.numbers.insert(position, number)
    line.facing.setdefault(number, facing_target)
    if follows or motion == "to and fro":
        line.facing.setdefault(target, line.facing[number])


class _Arrangement:
    """One attempt to place everybody."""

    def __init__(
        self, scene: Scene, everybody: Sequence[Individual], shrink: float, rng: Random
    ) -> None:
        self.scene = scene
        self.everybody = everybody
        self.shrink = shrink
        self.rng = rng
        self.placed: list[Placed] = []
        # Pixels per unit in the back, which is placed first and settles how large the others are.
        self.unit = 1.3
        # Pixels below the lowest face in the back, which those in front must not hide.
        self.height_in_front = 0.36 * SIZE

    def arrange(self) -> list[Placed]:
        """Return everybody in the order of painting."""
        numbers = list(range(len(self.scene.figures)))
        self.rng.shuffle(numbers)
        rows = _rows(self.scene, numbers, self.rng)
        self.faces = {number: self.rng.choice((1, -1)) for number in numbers}
        self.ground = _ground(rows, self.scene)
        for row, row_numbers in rows.items():
            line = _in_line(row_numbers, self.scene)
            self.faces |= line.facing
            individuals: list[Individual] = []
            for number in line.numbers:
                individuals += [who for who in self.everybody if who.number == number]
            if individuals:
                self._place(row, individuals, has_sky=bool(rows["sky"]))
        return sorted(self.placed, key=lambda placed: placed.stand.place.y)

    def _place(self, row: RowName, individuals: list[Individual], has_sky: bool) -> None:
        """Place the individuals of a row, as large as fits; `has_sky` if somebody is in the sky."""
        height = max(extent(individual.figure).height for individual in individuals)
        fitting_scale = ROOM / _breadth(individuals)
        if row == "back":
            self.unit = self._scale_in_back(individuals, height, fitting_scale, has_sky)
            self._place_side_by_side(individuals, self.unit, self.ground[row])
            self._note_lowest_face()
            return
        if row == "sky":
            scale = min(self.unit, fitting_scale)
            self._place_side_by_side(individuals, scale, ground=0.2, highest=HIGHEST_IN_SKY)
            return

        highest = float(HIGHEST_ON_ROAD)
        if row == "front":
            highest = self.height_in_front
        # What is nearer is larger.
        scale = min(1.15 * self.unit, fitting_scale, highest / height)
        self._place_side_by_side(individuals, stepped(self.shrink * scale), self.ground[row])

    def _scale_in_back(
        self, individuals: list[Individual], height: float, fitting_scale: float, has_sky: bool
    ) -> float:
        """Return the pixels per unit at which the figures in the back fill the frame."""
        # As if none were big or small: one that is must look so beside the others.
        usual_height = 40.0
        for individual in individuals:
            figure = individual.figure
            usual_height = max(usual_height, extent(figure).height / SIZES[figure.size])
        tallest = 0.56 if has_sky else TALLEST
        most = min(tallest * SIZE / usual_height, 0.8 * SIZE / height, LARGEST)
        least = min(most, LEAST * SIZE / usual_height)
        return stepped(self.shrink * min(most, max(fitting_scale, least)))

    def _note_lowest_face(self) -> None:
        front = self.ground["front"] * SIZE
        heights = []
        for placed in self.placed:
            if placed.individual.look:
                heights.append(front - placed.box.bottom)
        if heights:
            self.height_in_front = min(heights)

    def _place_side_by_side(
        self, individuals: list[Individual], scale: float, ground: float, highest: int = 0
    ) -> None:
        """Place individuals in a row; those in the sky are at most `highest` pixels high."""
        spacing = _spacing(individuals, scale)
        edge = spacing.edge
        row: list[Placed] = []
        for index, individual in enumerate(individuals):
            room = extent(individual.figure)
            facing = self.faces[individual.number]
            x = self._draw_x(edge, room, facing, scale, spacing)
            edge += room.width * scale * spacing.squeeze + spacing.slack

            max_height = highest or SIZE
            individual_scale = min(scale, max_height / room.height)
            y = SIZE * ground + self._wobble_down(index, spacing)
            if highest:
                y += room.height * individual_scale / 2 + self.rng.uniform(-4, 4)
            elif _flies(individual.figure):
                y = SIZE * 0.66
            place = Placement(
                x=x,
                y=y,
                scale=individual_scale,
                facing=facing,
            )
            row.append(_placed(individual, place, spacing.share))
        self.placed += [replace(placed, stand=_in_step(placed, row)) for placed in row]

    def _draw_x(
        self, edge: float, room: Extent, facing: int, scale: float, spacing: "_Spacing"
    ) -> float:
        """Draw where somebody stands whose room begins at an edge, wholly in the frame."""
        to_left = room.behind
        to_right = room.front
        if facing < 0:
            to_left = room.front
            to_right = room.behind
        wobble = self.rng.uniform(-0.3, 0.3) * spacing.slack
        x = edge + spacing.slack / 2 + to_left * scale * spacing.squeeze + wobble
        return min(max(x, MARGIN + to_left * scale), SIZE - MARGIN - to_right * scale)

    def _wobble_down(self, index: int, spacing: "_Spacing") -> float:
        """Return how many pixels somebody stands lower than its row; crowds stand in zigzag."""
        if spacing.squeeze == 1:
            return self.rng.uniform(-2, 2)
        return (-7, 7)[index % 2]


class _Spacing(NamedTuple):
    """How individuals stand side by side.

    Attributes:
        squeeze: share of its breadth that each gets; below 1, they overlap.
        slack: pixels that each has left over.
        share: pixels that each may go to either side.
        edge: pixel where the first one begins.
    """

    squeeze: float
    slack: float
    share: float
    edge: float


def _spacing(individuals: Sequence[Individual], scale: float) -> _Spacing:
    count = len(individuals)
    total = _breadth(individuals) * scale
    squeeze = min(1.0, ROOM / total)
    slack = max(0.0, ROOM - total) / count
    actions: list[Action] = []
    for individual in individuals:
        actions += individual.figure.actions

    if count == 2 and any(_touches(action) for action in actions):
        return _Spacing(squeeze, slack=0.0, share=0.0, edge=MARGIN + slack)
    # Two who run after each other may use the whole width.
    num_figures = len({individual.number for individual in individuals})
    runs = num_figures == 2 and any(action.kind.motion in ("chase", "follow") for action in actions)
    share = slack * count / 2 if runs else slack / 2
    return _Spacing(squeeze, slack, share, edge=MARGIN)


def _touches(action: Action) -> bool:
    """Return whether an action brings two figures together."""
    if not isinstance(action.object, int):
        return False
    return action.kind.motion == "approach" or action.kind.hand == "ahead"


def _rows(scene: Scene, numbers: Sequence[int], rng: Random) -> Rows:
    """Divide figures into rows; those in the back and in the front form one if there is room."""
    figures = scene.figures
    involved: set[int] = set()
    for number in numbers:
        for action in figures[number].actions:
            if isinstance(action.object, int):
                involved |= {number, action.object}

    rows: Rows = {"back": [], "front": [], "road": [], "sky": []}
    for number in numbers:
        row = _row_of(figures[number], len(figures) == 1, number in involved)
        rows[row].append(number)
    on_ground = rows["back"] + rows["front"]
    on_ground = rng.sample(on_ground, len(on_ground))
    if not rows["back"] or _fit_in_one([figures[number] for number in on_ground]):
        rows["back"] = on_ground
        rows["front"] = []
    return rows


def _ground(rows: Rows, scene: Scene) -> dict[RowName, float]:
    """Return on which height of the frame each row stands, in shares from the top."""
    back = 0.83 if rows["front"] or rows["road"] else 0.94
    front = 0.96
    road = 0.985
    if rows["road"] and rows["front"]:
        front = 0.99
        road = 0.93
    # Vehicles that drive in front would hide small figures, so they drive behind these.
    figures_in_back = [scene.figures[number] for number in rows["back"]]
    are_small = bool(figures_in_back) and all(_is_small(figure) for figure in figures_in_back)
    if rows["road"] and are_small:
        back = 0.93
        road = 0.76
    return {"back": back, "front": front, "road": road}


def _fit_in_one(figures: Sequence[Figure]) -> bool:
    total = 0.0
    height = 0.0
    for figure in figures:
        room = extent(figure)
        total += room.width * figure.count
        height = max(height, room.height)
    return total * 0.42 * SIZE <= ROOM * height


def _in_step(placed: Placed, row: list[Placed]) -> Stand:
    """Return where somebody stands, with as far to go as the others of its figure.

    So none overtakes another.
    """
    stands = []
    for companion in row:
        if companion.individual.number == placed.individual.number:
            stands.append(companion.stand)
    return replace(
        placed.stand,
        reach=min(stand.reach for stand in stands),
        ahead=max(stand.ahead for stand in stands),
    )


def _placed(individual: Individual, place: Placement, share: float) -> Placed:
    """Place somebody who may go a share of pixels to each side among others."""
    box, covers = _boxes(individual, place)
    return Placed(individual, _stand(individual, place, share), box, covers)


def _stand(individual: Individual, place: Placement, share: float) -> Stand:
    """Return how far somebody may go."""
    room = extent(individual.figure)
    nearer_side = 1 if place.x > SIZE / 2 else -1
    to_edge = min(place.x, SIZE - place.x) / place.scale
    out_of_sight = max(room.behind, room.front) + 20
    if _sweeps(individual.figure):
        reach = to_edge + 0.3 * room.width
    else:
        reach = min(share / place.scale, max(8.0, to_edge - 12))
        reach = max(reach, min(14.0, to_edge - 12))
    pixels_ahead = SIZE - place.x if place.facing > 0 else place.x
    return Stand(
        place,
        reach,
        side=nearer_side,
        out=to_edge + out_of_sight,
        ahead=pixels_ahead / place.scale + out_of_sight,
    )


def _boxes(individual: Individual, place: Placement) -> tuple[Box, tuple[Box, ...]]:
    """Return what must be seen of somebody, and what it hides of others."""
    room = extent(individual.figure)
    ahead = ahead_of(individual.figure)
    top = place.y - room.height * place.scale
    width = room.behind + room.front - ahead
    box = _box_around(place, top, width / 2 * place.scale)
    # Figures do not fill their boxes.
    covers = [_box_around(place, top, 0.85 * width / 2 * place.scale)]
    if ahead:
        covers.append(_box_ahead(place, (room.front + ahead) / 2))
    if individual.look:
        box = _face_box(individual, place, top)
    return box, tuple(covers)


def _box_around(place: Placement, top: float, half_width: float) -> Box:
    return Box(
        left=place.x - half_width,
        top=top,
        right=place.x + half_width,
        bottom=place.y,
    )


def _box_ahead(place: Placement, middle: float) -> Box:
    """Return the box of what somebody holds, rides or moves."""
    tip = place.x + place.facing * middle * place.scale
    return Box(
        left=min(place.x, tip),
        top=place.y - 50 * place.scale,
        right=max(place.x, tip),
        bottom=place.y - 15 * place.scale,
    )


def _face_box(individual: Individual, place: Placement, top: float) -> Box:
    thing = individual.figure.kind
    head = head_size("child" in thing.kinds)
    size = place.scale * thing.size
    chin = top + HEAD * head * size
    half_width = 12 * head * size
    return Box(
        left=place.x - half_width,
        top=chin - 26 * head * size,
        right=place.x + half_width,
        bottom=chin,
    )
