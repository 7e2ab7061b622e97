"""Draws single random scenes: who is at a place, and what they do. Seeded by a generator."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache, partial
from random import Random
from typing import NamedTuple

from nt2vr.world.scenes import (
    BY_DAY,
    BY_NIGHT,
    MOST_FIGURES,
    MOST_IN_ALL,
    Action,
    Figure,
    Scene,
)
from nt2vr.world.things import (
    ACTING,
    AT_SEA,
    COLOURS,
    ENTER,
    FUR,
    WEAR,
    ActionKind,
    Layer,
    Names,
    OrderedNames,
    Place,
    actions,
    actions_at,
    places,
    things,
    those,
)

# For 1, 2, 3 actors.
NUM_ACTORS_WEIGHTS = (0.58, 0.36, 0.06)
# For 0, 1, 2 further things.
NUM_PROPS_WEIGHTS = (0.62, 0.33, 0.05)
# Of actors.
PERSON_SHARE = 0.55
ANIMAL_SHARE = 0.3
# Of persons: a man, a woman, a boy or a girl.
PLAIN_SHARE = 0.5
IN_SPACE = ("man astronaut", "woman astronaut", "alien", "robot")
PLAIN = ("man", "woman", "boy", "girl")
MOOD_SHARE = 0.2
WEAR_SHARE = 0.25
GROUP_SHARE = 0.1
SIZED_SHARE = 0.15
NIGHT_SHARE = 0.2
# Of scenes with further things: one of them is something small that is found anywhere.
ANYWHERE_SHARE = 0.3
# How the actions of a figure lie in time.
COURSES = ("whole", "then", "quarter", "enter", "leave")
COURSE_WEIGHTS = (0.6, 0.2, 0.06, 0.07, 0.07)
# Of scenes with several actors: the second does what the first does.
TOGETHER_SHARE = 0.15
TRIES = 8


class Cast(NamedTuple):
    """Names of those who may act at a place: persons, animals, and things that move."""

    persons: OrderedNames
    animals: OrderedNames
    movers: OrderedNames


@cache
def cast_at(name: str) -> Cast:
    """Return who may act at a place."""
    place = places()[name]
    persons: OrderedNames
    if AT_SEA & place.tags:
        persons = PLAIN
    elif "space" in place.tags:
        persons = those(*IN_SPACE)
    else:
        persons = those("person")

    acting = [thing for thing in place.may_have if actions_at(name, thing)]
    animals = tuple(thing for thing in acting if thing in those("animal"))
    movers = tuple(thing for thing in acting if thing not in those("person", "animal"))
    return Cast(persons, animals, movers)


@cache
def props_at(name: str, night: bool) -> OrderedNames:
    """Return the things that may be at a place without acting there."""
    place = places()[name]
    in_backdrop = {thing for thing, _ in place.shows}
    unseen = BY_DAY if night else BY_NIGHT
    props = [thing for thing in place.may_have if things()[thing].role not in ACTING]
    return tuple(thing for thing in props if thing not in in_backdrop | unseen)


@cache
def _rarity(name: str) -> float:
    """Return the weight of a thing among those of a place: rare things are drawn more often."""
    return 1 / sum(name in place.may_have for place in places().values())


def _choose(names: Sequence[str], rng: Random) -> str:
    weights = [_rarity(name) for name in names]
    (name,) = rng.choices(names, weights)
    return name


def anywhere() -> OrderedNames:
    """Return the things that may be at any place."""
    return those("hand", "worn")


@cache
def _actions_of_layer(layer: Layer, thing: str, place: str) -> tuple[ActionKind, ...]:
    """Return the actions of a layer that a thing may do at a place."""
    return tuple(kind for kind in actions_at(place, thing) if kind.layer == layer)


def draw_colour(name: str, rng: Random) -> str:
    """Draw the colour of a thing; "" if it cannot be tinted."""
    thing = things()[name]
    if not thing.tint:
        return ""
    return rng.choice(FUR if "mammal" in thing.kinds else COLOURS)


def sample_action(
    layer: Layer, number: int, cast: Sequence[str], place: str, rng: Random, but: str = ""
) -> Action | None:
    """Draw what a figure of a cast does, other than `but`; None if it can do nothing."""
    kinds = _actions_of_layer(layer, cast[number], place)
    if not kinds:
        return None
    shares = [kind.share for kind in kinds]
    for _ in range(TRIES):
        (kind,) = rng.choices(kinds, shares)
        if kind.verb == but:
            continue
        targets = others_among(cast, kind.objects, number)
        action = with_object(kind, targets=targets, objects=kind.objects, rng=rng)
        if action:
            return action
    return None


def others_among(cast: Sequence[str], names: Names, number: int) -> list[int]:
    """Return the positions in a cast of those who have one of some names, but for one position."""
    return [i for i, name in enumerate(cast) if name in names and i != number]


def with_object(
    kind: ActionKind, targets: Sequence[int], objects: Names, rng: Random, colour: str = ""
) -> Action | None:
    """Draw what an action is done to; None if it needs something that is not there."""
    if not kind.objects:
        return Action(kind.verb)
    if kind.targets:
        if targets:
            return Action(kind.verb, rng.choice(targets))
        return None
    if not objects:
        return None
    thing = rng.choice(sorted(objects))
    return Action(kind.verb, thing, colour=colour or draw_colour(thing, rng))


def draw_actor(number: int, cast: Sequence[str], place: str, rng: Random) -> Figure:
    """Draw what a figure of a cast does, feels and wears."""
    name = cast[number]
    figure = Figure(name, draw_colour(name, rng))
    draw_action = partial(sample_action, number=number, cast=cast, place=place, rng=rng)
    figure = _with_main_actions(figure, draw_action, place=place, rng=rng)
    if not figure.actions:
        return figure

    if _actions_of_layer("mood", name, place) and rng.random() < MOOD_SHARE:
        mood = draw_action("mood")
        if mood:
            figure = figure.also(mood)
    wear = actions()[WEAR]
    if name in wear.subjects and rng.random() < WEAR_SHARE:
        worn = rng.choice(sorted(wear.objects))
        figure = figure.also(Action(WEAR, worn, colour=draw_colour(worn, rng)))
    return figure


def _with_main_actions(
    figure: Figure, draw_action: partial[Action | None], place: str, rng: Random
) -> Figure:
    """Draw what a figure does and when; it may do nothing."""
    first = draw_action("main")
    if first is None:
        return figure

    may_move = actions()[ENTER].may(figure.kind, places()[place])
    match rng.choices(COURSES, COURSE_WEIGHTS)[0]:
        case "enter" if may_move:
            first = replace(first, start=0.25)
            return replace(figure, enters=0.25, actions=(first,))
        case "leave" if may_move:
            first = replace(first, end=0.75)
            return replace(figure, leaves=0.75, actions=(first,))
        case "quarter":
            start = rng.randrange(4) / 4
            first = replace(first, start=start, end=start + 0.25)
        case "then":
            second = draw_action("main", but=first.verb)
            if second:
                first = replace(first, end=0.5)
                return replace(figure, actions=(first, replace(second, start=0.5)))
    return replace(figure, actions=(first,))


def sample_scene(rng: Random, place: Place | None = None) -> Scene:
    """Draw one valid scene of any split, at a place if one is given."""
    if place is None:
        place = rng.choice(tuple(places().values()))
    is_night = not place.indoors and rng.random() < NIGHT_SHARE

    cast = _draw_cast(place.name, rng)
    figures = [draw_actor(number, cast, place=place.name, rng=rng) for number in range(len(cast))]
    if len(cast) > 1 and rng.random() < TOGETHER_SHARE:
        figures[1] = _like(figures[0], figures[1], place)

    for name in _draw_props(place.name, is_night=is_night, cast=cast, rng=rng):
        figures.append(Figure(name, draw_colour(name, rng)))
    return Scene(
        place=place.name,
        night=is_night,
        figures=tuple(_varied(figures, rng)),
        seed=rng.getrandbits(32),
    )


def _draw_cast(place: str, rng: Random) -> list[str]:
    """Draw the names of the actors."""
    (num_actors,) = rng.choices((1, 2, 3), NUM_ACTORS_WEIGHTS)
    cast: list[str] = []
    while len(cast) < num_actors:
        name = _draw_actor_name(cast_at(place), rng)
        if name not in cast:
            cast.append(name)
    return cast


def _draw_actor_name(cast: Cast, rng: Random) -> str:
    draw = rng.random()
    if draw < PERSON_SHARE or not (cast.animals or cast.movers):
        is_plain = "man" in cast.persons and rng.random() < PLAIN_SHARE
        return rng.choice(PLAIN if is_plain else cast.persons)
    if draw < PERSON_SHARE + ANIMAL_SHARE:
        return _choose(cast.animals or cast.movers, rng)
    return _choose(cast.movers or cast.animals, rng)


def _draw_props(place: str, is_night: bool, cast: Sequence[str], rng: Random) -> list[str]:
    """Draw the names of further things."""
    possible = props_at(place, is_night)
    (num_props,) = rng.choices((0, 1, 2), NUM_PROPS_WEIGHTS)
    num_drawn = min(num_props, MOST_FIGURES - len(cast), len(possible))
    drawn = [_choose(possible, rng) for _ in range(num_drawn)]
    if drawn and rng.random() < ANYWHERE_SHARE:
        drawn[0] = rng.choice(anywhere())

    props = [name for name in dict.fromkeys(drawn) if name not in cast]
    roles = [things()[name].role for name in props]
    if roles.count("sky") > 1:
        props.pop()
    return props


def _like(model: Figure, figure: Figure, place: Place) -> Figure:
    """Let a figure do what another one does, if it can."""
    done = [action for action in model.actions if action.kind.layer == "main"]
    if not done or not actions()[ENTER].may(figure.kind, place):
        return figure
    for action in done:
        kind = action.kind
        if kind.targets or not kind.may(figure.kind, place):
            return figure

    alike = replace(figure, actions=tuple(done), enters=model.enters, leaves=model.leaves)
    for action in figure.actions:
        if action.kind.layer != "main":
            alike = alike.also(action)
    return alike


def _varied(figures: Sequence[Figure], rng: Random) -> Iterator[Figure]:
    """Make some figures groups, and some big or small."""
    num_free = MOST_IN_ALL - len(figures)
    for figure in figures:
        role = figure.kind.role
        draw = rng.random()
        is_countable = role != "sky" and figure.kind.noun.is_countable
        count = 1
        if draw < GROUP_SHARE and is_countable and num_free > 1:
            count = rng.choice((2, 3))
        num_free -= count - 1

        size = ""
        has_sizes = role not in ("person", "sky", "building")
        if has_sizes and rng.random() < SIZED_SHARE:
            size = rng.choice(("big", "small"))
        yield replace(figure, count=count, size=size)
