"""Layout: where everybody stands, so that faces and things that count stay in sight.

The tall stand side by side in the back, the small before them, and what drives through passes in front of all, lower
than faces. In the sky everything has a slot of its own.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass

from nt2vr.world_large.drawn.actors import ADULT, SIZES, Individual, Stand, extent
from nt2vr.world_large.drawn.dolls import Placement
from nt2vr.world_large.drawn.looks import HAIRS, SKINS, look
from nt2vr.world_large.drawn.actors import COLOURS
from nt2vr.world_large.scenes import Figure, Scene

SIZE = 224.0  # layouts are in pixels of a frame this large
MARGIN = 5.0
TALLEST, LEAST = 0.62, 0.36  # of the frame: height of the tallest figure
LARGEST = 2.4  # pixels per unit
SMALL = 0.5  # of an adult: lower figures may stand before others
SHIRTS = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
TROUSERS = ("#3D4C77", "#5A4A42", "#44505C", "#6B7A8F")
SWEEPING = frozenset({"drive past", "start", "stop", "turn"})
Spread = tuple[float, float]


@dataclass(frozen=True)
class Placed:
    """An individual and where it stands, in the order of painting."""

    who: Individual
    stand: Stand
    box: tuple[float, float, float, float]  # left, top, right, bottom of what must be seen when it stands still


def _individuals(scene: Scene, rng: random.Random) -> list[Individual]:
    """Return everybody, each with a look of its own."""
    found = []
    for number, figure in enumerate(scene.figures):
        thing = figure.kind
        for _ in range(figure.count):
            seen = None
            draws = rng.choice(list(SKINS)), rng.choice(HAIRS), rng.choice(TROUSERS), rng.random() < 0.5
            shirt = COLOURS[figure.colour or rng.choice(SHIRTS)]
            if thing.role == "person":
                skin, hair, trousers, skirt = draws
                wears_skirt = skirt and bool({"woman", "girl"} & thing.is_a) and bool(thing.tint)
                seen = look(thing.picture.removesuffix("-FE0F"), shirt, skin, hair, trousers, wears_skirt)
            found.append(Individual(figure, number, seen, rng.randrange(4)))
    return found


def _flies(figure: Figure) -> bool:
    return any(deed.kind.posture == "fly" or deed.verb in ("fly past", "hover") for deed in figure.deeds)


def _row_of(figure: Figure, alone: bool, involved: bool) -> str:
    kind = figure.kind
    deeds = [deed.kind for deed in figure.deeds if deed.kind.layer == "main"]
    if kind.role == "sky" or (_flies(figure) and not alone):
        return "sky"
    if kind.role == "vehicle" and not alone and any(deed.motion in SWEEPING for deed in deeds):
        return "road"
    if kind.role == "building":
        return "back"
    return "back" if involved or extent(figure)[2] > SMALL * ADULT else "front"


def _in_line(numbers: Sequence[int], scene: Scene) -> tuple[list[int], dict[int, int]]:
    """Return figures from left to right, with those next to each other that do something together, and where they face."""
    line, facing = list(numbers), {}
    for number in numbers:
        for deed in scene.figures[number].deeds:
            if isinstance(deed.object, int) and deed.object in line and number in line:
                line.remove(number)
                at = line.index(deed.object)
                to_the_left = facing.get(deed.object, 1) > 0 if deed.kind.motion in ("chase", "follow") else at == 0
                line.insert(at if to_the_left else at + 1, number)
                facing.setdefault(number, 1 if to_the_left else -1)
                if deed.kind.motion in ("chase", "follow", "to and fro"):
                    facing.setdefault(deed.object, facing[number])
                break
    return line, facing


def lay_out(scene: Scene) -> list[Placed]:
    """Return everybody in the order of painting."""
    rng = random.Random(scene.seed)
    everybody = _individuals(scene, rng)
    targets = {deed.object for figure in scene.figures for deed in figure.deeds if isinstance(deed.object, int)}
    doers = {n for n, f in enumerate(scene.figures) if any(isinstance(deed.object, int) for deed in f.deeds)}
    alone = len(scene.figures) == 1
    rows: dict[str, list[int]] = {"sky": [], "back": [], "front": [], "road": []}
    numbers = list(range(len(scene.figures)))
    rng.shuffle(numbers)
    for number in numbers:
        rows[_row_of(scene.figures[number], alone, number in targets | doers)].append(number)
    if not rows["back"] or _fit_in_one(scene, rows["back"] + rows["front"]):
        rows["back"], rows["front"] = rng.sample(rows["back"] + rows["front"], len(rows["back"] + rows["front"])), []
    faces = {number: rng.choice((1, -1)) for number in numbers}
    found: list[Placed] = []
    unit, below = 1.3, SIZE
    for row in ("back", "front", "road", "sky"):
        line, turned = _in_line(rows[row], scene)
        faces |= turned
        who = [each for number in line for each in everybody if each.number == number]
        if who:
            placed, unit = _fill(row, who, faces, unit, below, rows, rng)
            found += placed
        if row == "back":  # what stands before faces is lower than they are
            below = 0.96 * SIZE - max((each.box[3] for each in found if each.who.look), default=0.6 * SIZE)
    return sorted(found, key=lambda each: each.stand.place.y)


def _fit_in_one(scene: Scene, numbers: Sequence[int]) -> bool:
    """Return whether figures stand side by side and are large all the same."""
    figures = [scene.figures[number] for number in numbers]
    spreads = [extent(figure) for figure in figures]
    total = sum((behind + front) * each.count for (behind, front, _), each in zip(spreads, figures, strict=True))
    return total * 0.42 * SIZE <= (SIZE - 2 * MARGIN) * max(height for _, _, height in spreads)


def _fill(
    row: str,
    who: list[Individual],
    faces: dict[int, int],
    unit: float,
    below: float,
    rows: dict[str, list[int]],
    rng: random.Random,
) -> tuple[list[Placed], float]:
    """Place a row side by side."""
    spreads, heights = [], []
    for each in who:
        behind, front, height = extent(each.figure)
        spreads.append((behind, front) if faces[each.number] > 0 else (front, behind))
        heights.append(height)
    total = sum(left + right for left, right in spreads)
    usual = max(height / SIZES[each.figure.size] for height, each in zip(heights, who, strict=True))
    room = SIZE - 2 * MARGIN
    if row == "sky":
        scale = min(unit, 52 / max(heights), room / total)
    elif row == "road":
        scale = min(1.15 * unit, 84 / max(heights), room / total)
    elif row == "front":
        scale = min(1.15 * unit, room / total, below / max(heights))
    else:
        most = (0.5 if rows["sky"] else TALLEST) * SIZE / max(usual, 40.0)
        most = min(most, 0.66 * SIZE / max(heights), LARGEST)
        unit = scale = min(most, max(room / total, min(most, LEAST * SIZE / max(usual, 40.0))))
    ground = {"sky": 0.2, "back": 0.9 if not rows["front"] and not rows["road"] else 0.8, "front": 0.96, "road": 0.985}[row]
    together = len({each.number for each in who}) == 2 and any(d.kind.motion in ("chase", "follow") for e in who for d in e.figure.deeds)
    squeeze = min(1.0, room / (total * scale))
    slack = max(0.0, room - total * scale) / len(who)
    left_edge, placed = MARGIN, []
    for index, (each, (left, right), height) in enumerate(zip(who, spreads, heights, strict=True)):
        width = (left + right) * scale * squeeze
        x = left_edge + slack / 2 + left * scale * squeeze + rng.uniform(-0.3, 0.3) * slack
        x = min(max(x, MARGIN + left * scale), SIZE - MARGIN - right * scale)
        left_edge += width + slack
        y = SIZE * ground + (rng.uniform(-2, 2) if squeeze == 1 else (-7, 7)[index % 2])
        if row == "back" and _flies(each.figure):
            y = SIZE * 0.66
        if row == "sky":
            y += height * scale / 2 + rng.uniform(-4, 4)
        facing = faces[each.number]
        reach = max(14.0, slack / 2 / scale)
        if together:
            reach = max(reach, slack * len(who) / 2 / scale)
        elif any(deed.kind.motion in SWEEPING for deed in each.figure.deeds):
            reach = min(x, SIZE - x) / scale + 0.3 * (left + right)
        side = 1 if x > SIZE / 2 else -1
        far = max(left, right) + 20
        stand = Stand(
            Placement(x, y, scale, facing),
            reach,
            side,
            (SIZE - x if side > 0 else x) / scale + far,
            (SIZE - x if facing > 0 else x) / scale + far,
        )
        placed.append(Placed(each, stand, _box(each, stand)))
    return placed, unit


def _box(who: Individual, stand: Stand) -> tuple[float, float, float, float]:
    """Return what must be seen of somebody: a person's face, or else all of it."""
    place, (behind, front, height) = stand.place, extent(who.figure)
    if who.look:
        size = place.scale * who.figure.kind.size
        rise = height / who.figure.kind.size - ADULT
        bottom, half, tall = place.y - (46 + rise) * size, 12 * size, 26 * size
        return place.x - half, bottom - tall, place.x + half, bottom
    half = min(behind, front) * place.scale
    return place.x - half, place.y - height * place.scale, place.x + half, place.y
