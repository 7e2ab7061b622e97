"""Draws random scenes. Seeded: equal seeds give equal scenes."""

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate

from nt2vr.world.deeds import AT_SEA, ENTER, WEAR, DeedKind, Layer, deeds, deeds_at
from nt2vr.world.scenes import BY_DAY, BY_NIGHT, MOST_FIGURES, MOST_INDIVIDUALS, Deed, Figure, Scene
from nt2vr.world.things import ACTING, COLOURS, FUR, Place, places, things, those

NUM_ACTORS_WEIGHTS = (0.58, 0.36, 0.06)  # for 1, 2, 3 actors
NUM_PROPS_WEIGHTS = (0.62, 0.33, 0.05)
PERSON_SHARE, ANIMAL_SHARE = 0.55, 0.3  # of actors
PLAIN_SHARE = 0.5  # of persons: a man, a woman, a boy or a girl
IN_SPACE = ("man astronaut", "woman astronaut", "alien", "robot")
PLAIN = ("man", "woman", "boy", "girl")
MOOD_SHARE, WEAR_SHARE, GROUP_SHARE, SIZED_SHARE, NIGHT_SHARE = 0.2, 0.25, 0.1, 0.15, 0.2
ANYWHERE_SHARE = 0.3  # of scenes with further things: one of them is something small that is found anywhere
COURSES = ("whole", "then", "quarter", "enter", "leave")  # how the deeds of a figure lie in time
COURSE_WEIGHTS = (0.6, 0.2, 0.06, 0.07, 0.07)
TOGETHER_SHARE = 0.15  # of scenes with several actors: the second does what the first does
TRIES = 8


@cache
def cast_at(name: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return who may act at a place: persons, animals and others."""
    place = places()[name]
    persons = PLAIN if AT_SEA & place.tags else those(IN_SPACE if "space" in place.tags else ("person",))
    found = [things()[thing] for thing in place.found]
    able = [thing for thing in found if deeds_at(name, thing.name)]
    animals = tuple(thing.name for thing in able if thing.role == "animal")
    others = tuple(thing.name for thing in able if thing.role not in ("animal", "person"))
    return persons, animals, others


@cache
def props_at(name: str, night: bool) -> tuple[str, ...]:
    place = places()[name]
    shown = {name for name, _ in place.shows} | (BY_DAY if night else BY_NIGHT)
    return tuple(n for n in place.found if things()[n].role not in ACTING and n not in shown)


@cache
def _rarity(name: str) -> float:
    """Weight of a thing among those of a place: what is found in few places is drawn more often there."""
    return 1 / sum(name in place.found for place in places().values())


def _choose(names: Sequence[str], rng: random.Random) -> str:
    return rng.choices(names, [_rarity(name) for name in names])[0]


def anywhere() -> tuple[str, ...]:
    return those(("hand", "worn"))


@cache
def _choices(place: str, thing: str, layer: Layer) -> tuple[tuple[DeedKind, ...], tuple[float, ...]]:
    """Return the deeds of a layer that a thing may do at a place, with cumulated shares."""
    some = tuple(deed for deed in deeds_at(place, thing) if deed.layer == layer)
    return some, tuple(accumulate(deed.share for deed in some))


@cache
def _ordered(names: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def draw_colour(name: str, rng: random.Random) -> str:
    thing = things()[name]
    return rng.choice(FUR if "mammal" in thing.kinds else COLOURS) if thing.tint else ""


def sample_deed(
    layer: Layer, number: int, cast: Sequence[str], place: str, rng: random.Random, other_than: str = ""
) -> Deed | None:
    """Draw what a figure does; None if it can do nothing."""
    some, shares = _choices(place, cast[number], layer)
    for _ in range(TRIES if some else 0):
        kind = rng.choices(some, cum_weights=shares)[0]
        if kind.verb == other_than:
            continue
        if kind.targets:
            others = [i for i, name in enumerate(cast) if i != number and name in kind.objects]
            if others:
                return Deed(kind.verb, rng.choice(others))
        elif kind.objects:
            thing = rng.choice(_ordered(kind.objects))
            return Deed(kind.verb, thing, colour=draw_colour(thing, rng))
        else:
            return Deed(kind.verb)
    return None


def draw_actor(number: int, cast: Sequence[str], place: str, rng: random.Random) -> Figure:
    """Draw an actor with its deeds."""
    name = cast[number]
    figure = Figure(name, draw_colour(name, rng))
    first = sample_deed("main", number, cast, place, rng)
    if first is None:
        return figure
    course, start, end = rng.choices(COURSES, COURSE_WEIGHTS)[0], 0.0, 1.0
    if course in ("enter", "leave") and deeds()[ENTER].may(figure.kind, places()[place]):
        start, end = (0.25, 1.0) if course == "enter" else (0.0, 0.75)
        figure = replace(figure, enters=start, leaves=end)
    elif course == "quarter":
        start = rng.randrange(4) / 4
        end = start + 0.25
    done = [replace(first, start=start, end=end)]
    if course == "then" and (second := sample_deed("main", number, cast, place, rng, first.verb)):
        done = [replace(first, end=0.5), replace(second, start=0.5)]
    if _choices(place, name, "mood")[0] and rng.random() < MOOD_SHARE:
        mood = sample_deed("mood", number, cast, place, rng)
        done += [replace(mood, start=figure.enters, end=figure.leaves)] if mood else []
    if name in deeds()[WEAR].who and rng.random() < WEAR_SHARE:
        worn = rng.choice(_ordered(deeds()[WEAR].objects))
        done.append(Deed(WEAR, worn, figure.enters, figure.leaves, draw_colour(worn, rng)))
    return replace(figure, deeds=tuple(done))


def sample_scene(rng: random.Random, place: Place | None = None) -> Scene:
    """Draw one valid scene of any split, at a place if one is given."""
    place = place or rng.choice(tuple(places().values()))
    night = not place.indoors and rng.random() < NIGHT_SHARE
    persons, animals, others = cast_at(place.name)
    num_actors = rng.choices((1, 2, 3), NUM_ACTORS_WEIGHTS)[0]
    cast: list[str] = []
    while len(cast) < num_actors:
        draw = rng.random()
        if draw < PERSON_SHARE or not (animals or others):
            name = rng.choice(PLAIN if "man" in persons and rng.random() < PLAIN_SHARE else persons)
        else:
            name = _choose(animals if animals and (draw < PERSON_SHARE + ANIMAL_SHARE or not others) else others, rng)
        if name not in cast:
            cast.append(name)
    figures = [draw_actor(number, cast, place.name, rng) for number in range(num_actors)]
    if num_actors > 1 and rng.random() < TOGETHER_SHARE:
        figures[1] = _like(figures[0], figures[1], place)
    found = props_at(place.name, night)
    num_props = min(MOST_FIGURES - num_actors, rng.choices((0, 1, 2), NUM_PROPS_WEIGHTS)[0], len(found))
    props = [_choose(found, rng) for _ in range(num_props)]
    if props and rng.random() < ANYWHERE_SHARE:
        props[0] = rng.choice(anywhere())
    props = [name for name in dict.fromkeys(props) if name not in cast]
    if sum(things()[name].role == "sky" for name in props) > 1:
        props.pop()
    figures += [Figure(name, draw_colour(name, rng)) for name in props]
    return Scene(place.name, night, tuple(_varied(figures, rng)), rng.getrandbits(32))


def _like(model: Figure, figure: Figure, place: Place) -> Figure:
    """Let a figure do what another one does, if it can."""
    done = tuple(deed for deed in model.deeds if deed.kind.layer == "main")
    able = all(deed.kind.may(figure.kind, place) and not deed.kind.targets for deed in done)
    if not done or not able or not deeds()[ENTER].may(figure.kind, place):
        return figure
    worn = (replace(deed, start=model.enters, end=model.leaves) for deed in figure.deeds if deed.kind.layer != "main")
    return replace(figure, deeds=(*done, *worn), enters=model.enters, leaves=model.leaves)


def _varied(figures: Sequence[Figure], rng: random.Random) -> Iterator[Figure]:
    """Multiply some figures and resize others."""
    room = MOST_INDIVIDUALS - len(figures)
    for figure in figures:
        role = figure.kind.role
        is_group = rng.random() < GROUP_SHARE and role != "sky" and room > 1 and figure.kind.nouns[0].number == "one"
        count = rng.choice((2, 3)) if is_group else 1
        room -= count - 1
        is_sized = role not in ("person", "sky", "building") and rng.random() < SIZED_SHARE
        yield replace(figure, count=count, size=rng.choice(("big", "small")) if is_sized else "")
