"""Layout: where everybody stands, so that faces and things that count stay in sight.

The tall stand in the back, the small before them; what drives through passes in front of all, lower
than faces.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from nt2vr.world.drawn.actors import ADULT, COLOURS, SIZES, Individual, Stand, ahead_of, extent
from nt2vr.world.drawn.canvas import stepped
from nt2vr.world.drawn.dolls import HAIRS, HEAD, SKINS, Placement, head_size, look
from nt2vr.world.scenes import Figure, Scene

SIZE = 224  # layouts are in pixels of a frame this large
MARGIN = 5.0
TALLEST, LEAST = 0.74, 0.4  # of the frame: height of the tallest figure
TRIES, SHRINK, HIDDEN = (
    36,
    0.98,
    0.08,
)  # arrangements, smaller every other time, until no more than this is hidden
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


def _individuals(scene: Scene, rng: Random) -> Iterator[Individual]:
    """Yield everybody, each with a look of its own."""
    for number, figure in (
        (n, each) for n, each in enumerate(scene.figures) for _ in range(each.count)
    ):
        skin, hair, trousers, skirt = (
            rng.choice([*SKINS]),
            rng.choice(HAIRS),
            rng.choice(TROUSERS),
            rng.random() < 0.5,
        )
        shirt, thing, seen = COLOURS[figure.colour or rng.choice(SHIRTS)], figure.kind, None
        if thing.role == "person":
            wears_skirt = skirt and bool({"woman", "girl"} & thing.is_a) and bool(thing.tint)
            seen = look(
                thing.picture.removesuffix("-FE0F"), shirt, skin, hair, trousers, wears_skirt
            )
        yield Individual(figure, number, seen, rng.randrange(4))


def _flies(figure: Figure) -> bool:
    return any(deed.kind.posture == "fly" or deed.verb == "fly past" for deed in figure.deeds)


def _sweeps(figure: Figure) -> bool:
    return any(deed.kind.motion in SWEEPING for deed in figure.deeds)


def _row_of(figure: Figure, alone: bool, involved: bool) -> str:
    if figure.kind.role == "sky" or (_flies(figure) and not alone):
        return "sky"
    if figure.kind.role == "vehicle" and not alone and _sweeps(figure):
        return "road"
    return (
        "back" if figure.kind.role == "building" or involved or not _is_small(figure) else "front"
    )


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
                to_the_left = (
                    facing.get(deed.object, 1) > 0
                    if deed.kind.motion in ("chase", "follow")
                    else at == 0
                )
                line.insert(at if to_the_left else at + 1, number)
                facing.setdefault(number, 1 if to_the_left else -1)
                if deed.kind.motion in ("chase", "follow", "to and fro"):
                    facing.setdefault(deed.object, facing[number])
                break
    return line, facing


def lay_out(scene: Scene) -> list[Placed]:
    """Return everybody in the order of painting."""
    everybody = [*_individuals(scene, Random(scene.seed))]
    best, least = [], 2.0
    for attempt in range(TRIES):
        found = _arranged(scene, everybody, SHRINK ** (attempt // 2), Random(scene.seed + attempt))
        if (hidden := most_hidden(found)) < least:
            best, least = found, hidden
        if hidden <= HIDDEN:
            break
    return best


def _arranged(
    scene: Scene, everybody: list[Individual], shrink: float, rng: Random
) -> list[Placed]:
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
        height, fit = (
            max(extent(each.figure)[2] for each in who),
            (SIZE - 2 * MARGIN) / _breadth(who),
        )
        if row == "back":
            usual = max(40.0, *(extent(each.figure)[2] / SIZES[each.figure.size] for each in who))
            most = min(
                (0.56 if rows["sky"] else TALLEST) * SIZE / usual, 0.8 * SIZE / height, LARGEST
            )
            unit = stepped(shrink * min(most, max(fit, min(most, LEAST * SIZE / usual))))
            found += _row(who, faces, unit, ground[row], rng)
            below = min(
                (ground["front"] * SIZE - each.box[3] for each in found if each.who.look),
                default=below,
            )
        elif row == "sky":
            found += _row(who, faces, min(unit, fit), 0.2, rng, high=54)
        else:
            scale = min(1.15 * unit, fit, (below if row == "front" else 74) / height)
            found += _row(who, faces, stepped(shrink * scale), ground[row], rng)
    return sorted(found, key=lambda each: each.stand.place.y)


def _rows(scene: Scene, numbers: Sequence[int], rng: Random) -> dict[str, list[int]]:
    """Divide figures into rows; those in the back and in the front form one if there is room."""
    figures = scene.figures
    pairs = [
        (n, deed.object)
        for n in numbers
        for deed in figures[n].deeds
        if isinstance(deed.object, int)
    ]
    involved = {number for pair in pairs for number in pair}
    rows: dict[str, list[int]] = {"back": [], "front": [], "road": [], "sky": []}
    for number in numbers:
        rows[_row_of(figures[number], len(figures) == 1, number in involved)].append(number)
    ground = rng.sample(rows["back"] + rows["front"], len(rows["back"] + rows["front"]))
    if not rows["back"] or _fit_in_one([figures[number] for number in ground]):
        rows["back"], rows["front"] = ground, []
    return rows


def _ground(rows: Mapping[str, Sequence[int]], scene: Scene) -> dict[str, float]:
    back = 0.83 if rows["front"] or rows["road"] else 0.94
    front, road = (0.99, 0.93) if rows["road"] and rows["front"] else (0.96, 0.985)
    if (
        rows["road"]
        and rows["back"]
        and all(_is_small(scene.figures[number]) for number in rows["back"])
    ):
        back, road = 0.93, 0.76  # what drives would hide the small
    return {"back": back, "front": front, "road": road}


def _fit_in_one(figures: Sequence[Figure]) -> bool:
    total = sum(sum(extent(figure)[:2]) * figure.count for figure in figures)
    return total * 0.42 * SIZE <= (SIZE - 2 * MARGIN) * max(extent(figure)[2] for figure in figures)


def _row(
    who: list[Individual],
    faces: dict[int, int],
    scale: float,
    ground: float,
    rng: Random,
    high: int = 0,
) -> list[Placed]:
    """Place some side by side; those in the sky are at most `high` pixels high."""
    room, total, highest = SIZE - 2 * MARGIN, _breadth(who) * scale, high or SIZE
    squeeze, slack = min(1.0, room / total), max(0.0, room - total) / len(who)
    deeds = [deed for each in who for deed in each.figure.deeds]
    runs = len({each.number for each in who}) == 2 and any(
        deed.kind.motion in ("chase", "follow") for deed in deeds
    )
    share = slack * (len(who) if runs else 1) / 2  # pixels to each side
    edge, placed = MARGIN, []
    touching = (
        deed for deed in deeds if deed.kind.motion == "approach" or deed.kind.hand == "ahead"
    )
    if len(who) == 2 and any(isinstance(deed.object, int) for deed in touching):
        edge, slack, share = MARGIN + slack, 0.0, 0.0
    for index, each in enumerate(who):
        behind, front, height = extent(each.figure)
        facing, own = faces[each.number], min(scale, highest / height)
        left, right = (behind, front) if facing > 0 else (front, behind)
        x = edge + slack / 2 + left * scale * squeeze + rng.uniform(-0.3, 0.3) * slack
        x = min(max(x, MARGIN + left * scale), SIZE - MARGIN - right * scale)
        edge += (left + right) * scale * squeeze + slack
        y = SIZE * ground + (rng.uniform(-2, 2) if squeeze == 1 else (-7, 7)[index % 2])
        if high:
            y += height * own / 2 + rng.uniform(-4, 4)
        elif _flies(each.figure):
            y = SIZE * 0.66
        placed.append(_placed(each, Placement(x, y, own, facing), share))
    return [replace(each, stand=_in_step(each, placed)) for each in placed]


def _in_step(each: Placed, row: list[Placed]) -> Stand:
    """Return where it stands, with as far to go as the others of its figure, so that none overtakes another."""
    others = [other.stand for other in row if other.who.number == each.who.number]
    return replace(
        each.stand, reach=min(o.reach for o in others), ahead=max(o.ahead for o in others)
    )


def _placed(who: Individual, place: Placement, share: float) -> Placed:
    """Return how far somebody may go, with a share of pixels to each side among others, and what hides what."""
    (behind, front, height), ahead = extent(who.figure), ahead_of(who.figure)
    nearer, far = min(place.x, SIZE - place.x) / place.scale, max(behind, front) + 20
    reach = max(min(share / place.scale, max(8.0, nearer - 12)), min(14.0, nearer - 12))
    reach = nearer + 0.3 * (behind + front) if _sweeps(who.figure) else reach
    away = (SIZE - place.x if place.facing > 0 else place.x) / place.scale + far
    stand = Stand(place, reach, 1 if place.x > SIZE / 2 else -1, nearer + far, away)
    x, width, top = place.x, behind + front - ahead, place.y - height * place.scale
    half, most = width / 2 * place.scale, 0.85 * width / 2 * place.scale
    box, covers = (x - half, top, x + half, place.y), [(x - most, top, x + most, place.y)]
    if ahead:
        low, high = place.y - 15 * place.scale, place.y - 50 * place.scale
        left, right = sorted((x, x + place.facing * (front + ahead) / 2 * place.scale))
        covers.append((left, high, right, low))
    if who.look:
        head, size = head_size("child" in who.figure.kind.kinds), place.scale * who.figure.kind.size
        bottom = top + HEAD * head * size
        box = x - 12 * head * size, bottom - 26 * head * size, x + 12 * head * size, bottom
    return Placed(who, stand, box, tuple(covers))


def most_hidden(found: Sequence[Placed]) -> float:
    """Return the largest share that others hide of what must be seen of somebody, counting overlaps twice."""
    most = 0.0
    for index, each in enumerate(found):
        left, top, right, bottom = each.box
        over = 0.0
        for a, b, c, d in (covered for later in found[index + 1 :] for covered in later.covers):
            over += max(0.0, min(right, c) - max(left, a)) * max(0.0, min(bottom, d) - max(top, b))
        most = max(most, over / ((right - left) * (bottom - top)))
    return most
