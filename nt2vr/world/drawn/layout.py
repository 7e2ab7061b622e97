"""Layout: where everybody stands, so that faces and things that count stay in sight.

The tall stand side by side in the back, the small before them, and what drives through passes in front of all, lower
than faces. In the sky everything has a slot of its own.
"""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from nt2vr.world.drawn.actors import ADULT, COLOURS, SIZES, Individual, Stand, ahead_of, extent
from nt2vr.world.drawn.canvas import stepped
from nt2vr.world.drawn.dolls import HAIRS, HEAD, SKINS, Placement, head_size, look
from nt2vr.world.scenes import Deed, Figure, Scene

SIZE = 224  # layouts are in pixels of a frame this large
MARGIN = 5.0
TALLEST, LEAST = 0.74, 0.4  # of the frame: height of the tallest figure
TRIES, SHRINK, HIDDEN = 36, 0.98, 0.08  # arrangements, smaller every other time, until no more than this is hidden
LARGEST = 2.4  # pixels per unit
SMALL = 0.5  # of an adult: lower figures may stand before others
SHIRTS = ("red", "orange", "yellow", "green", "blue", "purple", "pink")
TROUSERS = ("#3D4C77", "#5A4A42", "#44505C", "#6B7A8F")
SWEEPING = frozenset({"drive past", "start", "stop", "turn"})
Box = tuple[float, float, float, float]  # left, top, right, bottom


@dataclass(frozen=True)
class Placed:
    """An individual and where it stands, in the order of painting."""

    who: Individual
    stand: Stand
    box: Box  # what must be seen of it: a person's face, or else all
    covers: tuple[Box, ...]  # what it hides of others behind it


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
    return any(deed.kind.posture == "fly" or deed.verb == "fly past" for deed in figure.deeds)


def _sweeps(figure: Figure) -> bool:
    return any(deed.kind.motion in SWEEPING for deed in figure.deeds)


def _row_of(figure: Figure, alone: bool, involved: bool) -> str:
    role = figure.kind.role
    if role == "sky" or (_flies(figure) and not alone):
        return "sky"
    if role == "vehicle" and not alone and _sweeps(figure):
        return "road"
    return "back" if role == "building" or involved or not _is_small(figure) else "front"


def _is_small(figure: Figure) -> bool:
    return extent(figure)[2] <= SMALL * ADULT


def _breadth(who: Sequence[Individual]) -> float:
    return sum(sum(extent(each.figure)[:2]) for each in who)


def _in_line(numbers: Sequence[int], scene: Scene) -> tuple[list[int], dict[int, int]]:
    """Return figures from left to right, those who do something together side by side, and where they face."""
    line, facing = list(numbers), dict[int, int]()
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
    everybody = _individuals(scene, random.Random(scene.seed))
    best, least = [], 2.0
    for attempt in range(TRIES):
        found = _arranged(scene, everybody, SHRINK ** (attempt // 2), random.Random(scene.seed + attempt))
        hidden = most_hidden(found)
        if hidden < least:
            best, least = found, hidden
        if hidden <= HIDDEN:
            break
    return best


def _arranged(scene: Scene, everybody: list[Individual], shrink: float, rng: random.Random) -> list[Placed]:
    numbers = list(range(len(scene.figures)))
    rng.shuffle(numbers)
    rows = _rows(scene, numbers, rng)
    faces = {number: rng.choice((1, -1)) for number in numbers}
    found: list[Placed] = []
    unit, below, ground = 1.3, 0.36 * SIZE, _ground(rows, scene)
    for row, line in rows.items():
        line, turned = _in_line(line, scene)
        faces |= turned
        who = [each for number in line for each in everybody if each.number == number]
        if not who:
            continue
        height, fit = max(extent(each.figure)[2] for each in who), (SIZE - 2 * MARGIN) / _breadth(who)
        if row == "back":
            usual = max(40.0, *(extent(each.figure)[2] / SIZES[each.figure.size] for each in who))
            most = min((0.56 if rows["sky"] else TALLEST) * SIZE / usual, 0.8 * SIZE / height, LARGEST)
            unit = stepped(shrink * min(most, max(fit, min(most, LEAST * SIZE / usual))))
            found += _row(who, faces, unit, ground[row], rng)
            below = min((ground["front"] * SIZE - each.box[3] for each in found if each.who.look), default=below)
        elif row == "sky":
            found += _row(who, faces, min(unit, fit), 0.2, rng, highest=54)
        else:
            scale = min(1.15 * unit, fit, (below if row == "front" else 74) / height)
            found += _row(who, faces, stepped(shrink * scale), ground[row], rng)
    return sorted(found, key=lambda each: each.stand.place.y)


def _rows(scene: Scene, numbers: Sequence[int], rng: random.Random) -> dict[str, list[int]]:
    """Divide figures into rows; those in the back and in the front form one if there is room."""
    figures = scene.figures
    pairs = [(n, deed.object) for n in numbers for deed in figures[n].deeds if isinstance(deed.object, int)]
    involved = {number for pair in pairs for number in pair}
    rows: dict[str, list[int]] = {"back": [], "front": [], "road": [], "sky": []}
    for number in numbers:
        rows[_row_of(figures[number], len(figures) == 1, number in involved)].append(number)
    ground = rng.sample(rows["back"] + rows["front"], len(rows["back"] + rows["front"]))
    if not rows["back"] or _fit_in_one(scene, ground):
        rows["back"], rows["front"] = ground, []
    return rows


def _ground(rows: Mapping[str, Sequence[int]], scene: Scene) -> dict[str, float]:
    """Return where the rows stand, in shares of the frame's height."""
    back = 0.83 if rows["front"] or rows["road"] else 0.94
    front, road = (0.99, 0.93) if rows["road"] and rows["front"] else (0.96, 0.985)
    if rows["road"] and rows["back"] and all(_is_small(scene.figures[number]) for number in rows["back"]):
        back, road = 0.93, 0.76  # what drives would hide the small
    return {"back": back, "front": front, "road": road}


def _fit_in_one(scene: Scene, numbers: Sequence[int]) -> bool:
    """Return whether figures stand side by side and are large all the same."""
    figures = [scene.figures[number] for number in numbers]
    spreads = [extent(figure) for figure in figures]
    total = sum((behind + front) * each.count for (behind, front, _), each in zip(spreads, figures, strict=True))
    return total * 0.42 * SIZE <= (SIZE - 2 * MARGIN) * max(height for _, _, height in spreads)


def _row(
    who: list[Individual],
    faces: dict[int, int],
    scale: float,
    ground: float,
    rng: random.Random,
    highest: float = SIZE,
) -> list[Placed]:
    """Place some side by side; `highest` limits the height of each in pixels."""
    room, total = SIZE - 2 * MARGIN, _breadth(who) * scale
    squeeze, slack = min(1.0, room / total), max(0.0, room - total) / len(who)
    deeds = [deed for each in who for deed in each.figure.deeds]
    runs = len({each.number for each in who}) == 2 and any(deed.kind.motion in ("chase", "follow") for deed in deeds)
    share = slack * (len(who) if runs else 1) / 2  # pixels to each side
    edge, placed = MARGIN, []
    if len(who) == 2 and any(map(_touches, deeds)):
        edge, slack, share = MARGIN + slack, 0.0, 0.0
    for index, each in enumerate(who):
        behind, front, height = extent(each.figure)
        facing, own = faces[each.number], min(scale, highest / height)
        left, right = (behind, front) if facing > 0 else (front, behind)
        x = edge + slack / 2 + left * scale * squeeze + rng.uniform(-0.3, 0.3) * slack
        x = min(max(x, MARGIN + left * scale), SIZE - MARGIN - right * scale)
        edge += (left + right) * scale * squeeze + slack
        y = SIZE * ground + (rng.uniform(-2, 2) if squeeze == 1 else (-7, 7)[index % 2])
        if highest < SIZE:
            y += height * own / 2 + rng.uniform(-4, 4)
        elif _flies(each.figure):
            y = SIZE * 0.66
        stand = _stand(each.figure, Placement(x, y, own, facing), share)
        placed.append(Placed(each, stand, _box(each, stand), tuple(_covers(each, stand))))
    return [replace(each, stand=_in_step(each, placed)) for each in placed]


def _touches(deed: Deed) -> bool:
    return isinstance(deed.object, int) and (deed.kind.motion == "approach" or deed.kind.hand == "ahead")


def _stand(figure: Figure, place: Placement, share: float) -> Stand:
    """Return how far somebody may go, with some pixels to each side among others."""
    behind, front, _ = extent(figure)
    nearer = min(place.x, SIZE - place.x) / place.scale
    if _sweeps(figure):
        reach = nearer + 0.3 * (behind + front)
    else:
        reach = max(min(share / place.scale, max(8.0, nearer - 12)), min(14.0, nearer - 12))
    far = max(behind, front) + 20
    ahead = (SIZE - place.x if place.facing > 0 else place.x) / place.scale + far
    return Stand(place, reach, 1 if place.x > SIZE / 2 else -1, nearer + far, ahead)


def _in_step(each: Placed, row: list[Placed]) -> Stand:
    """Return where it stands, with as far to go as the others of its figure, so that none overtakes another."""
    others = [other.stand for other in row if other.who.number == each.who.number]
    return replace(each.stand, reach=min(o.reach for o in others), ahead=max(o.ahead for o in others))


def _box(who: Individual, stand: Stand) -> Box:
    place, (behind, front, height) = stand.place, extent(who.figure)
    if who.look:
        size = place.scale * who.figure.kind.size
        head = head_size("child" in who.figure.kind.kinds)
        bottom = place.y - height * place.scale + HEAD * head * size
        return place.x - 12 * head * size, bottom - 26 * head * size, place.x + 12 * head * size, bottom
    half = (behind + front - ahead_of(who.figure)) / 2 * place.scale
    return place.x - half, place.y - height * place.scale, place.x + half, place.y


def _covers(who: Individual, stand: Stand) -> Iterator[Box]:
    place, (behind, front, height) = stand.place, extent(who.figure)
    half = 0.85 * (behind + front - ahead_of(who.figure)) / 2 * place.scale
    yield place.x - half, place.y - height * place.scale, place.x + half, place.y
    if ahead := ahead_of(who.figure):
        low, high = place.y - 15 * place.scale, place.y - 50 * place.scale
        ends = place.x, place.x + place.facing * (front + ahead) / 2 * place.scale
        yield min(ends), high, max(ends), low


def most_hidden(found: Sequence[Placed]) -> float:
    """Return the largest share that others hide of what must be seen of somebody, counting overlaps twice."""
    most = 0.0
    for index, each in enumerate(found):
        left, top, right, bottom = each.box
        area = (right - left) * (bottom - top)
        over = 0.0
        for later in found[index + 1 :]:
            for a, b, c, d in later.covers:
                over += max(0.0, min(right, c) - max(left, a)) * max(0.0, min(bottom, d) - max(top, b))
        most = max(most, over / area)
    return most
