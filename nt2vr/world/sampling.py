"""Draws random scenes. Seeded: equal seeds give equal scenes."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import accumulate, chain, islice
from random import Random

from nt2vr.errors import ConfigError
from nt2vr.world.claims import Act, Claim, SubjectClaim
from nt2vr.world.scenes import (
    BY_DAY,
    BY_NIGHT,
    MOST_FIGURES,
    MOST_IN_ALL,
    Deed,
    Figure,
    Scene,
    SceneSplit,
    is_valid,
)
from nt2vr.world.things import (
    ACTING,
    AT_SEA,
    COLOURS,
    ENTER,
    FUR,
    LEAVE,
    WEAR,
    DeedKind,
    Layer,
    Names,
    Place,
    deeds,
    deeds_at,
    places,
    things,
    those,
)

NUM_ACTORS_WEIGHTS = (0.58, 0.36, 0.06)  # for 1, 2, 3 actors
NUM_PROPS_WEIGHTS = (0.62, 0.33, 0.05)
PERSON_SHARE, ANIMAL_SHARE = 0.55, 0.3  # of actors
PLAIN_SHARE = 0.5  # of persons: a man, a woman, a boy or a girl
IN_SPACE = ("man astronaut", "woman astronaut", "alien", "robot")
PLAIN = ("man", "woman", "boy", "girl")
MOOD_SHARE, WEAR_SHARE, GROUP_SHARE, SIZED_SHARE, NIGHT_SHARE = 0.2, 0.25, 0.1, 0.15, 0.2
ANYWHERE_SHARE = (
    0.3  # of scenes with further things: one of them is something small that is found anywhere
)
COURSES = ("whole", "then", "quarter", "enter", "leave")  # how the deeds of a figure lie in time
COURSE_WEIGHTS = (0.6, 0.2, 0.06, 0.07, 0.07)
TOGETHER_SHARE = 0.15  # of scenes with several actors: the second does what the first does
TRIES = 8


@cache
def cast_at(name: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return who may act at a place: persons, animals and others."""
    place = places()[name]
    persons = (
        PLAIN if AT_SEA & place.tags else those(IN_SPACE if "space" in place.tags else ("person",))
    )
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


def _choose(names: Sequence[str], rng: Random) -> str:
    return rng.choices(names, [_rarity(name) for name in names])[0]


def anywhere() -> tuple[str, ...]:
    return those(("hand", "worn"))


@cache
def _choices(
    place: str, thing: str, layer: Layer
) -> tuple[tuple[DeedKind, ...], tuple[float, ...]]:
    """Return the deeds of a layer that a thing may do at a place, with cumulated shares."""
    some = tuple(deed for deed in deeds_at(place, thing) if deed.layer == layer)
    return some, tuple(accumulate(deed.share for deed in some))


def draw_colour(name: str, rng: Random) -> str:
    thing = things()[name]
    return rng.choice(FUR if "mammal" in thing.kinds else COLOURS) if thing.tint else ""


def sample_deed(
    layer: Layer, number: int, cast: Sequence[str], place: str, rng: Random, but: str = ""
) -> Deed | None:
    """Draw what a figure does; None if it can do nothing."""
    some, shares = _choices(place, cast[number], layer)
    for _ in range(TRIES if some else 0):
        kind = rng.choices(some, cum_weights=shares)[0]
        if kind.verb != but:
            others = [i for i, name in enumerate(cast) if i != number and name in kind.objects]
            if deed := _with_object(kind, others, kind.objects, rng):
                return deed
    return None


def _with_object(
    kind: DeedKind, others: Sequence[int], objects: Names, rng: Random, colour: str = ""
) -> Deed | None:
    """Draw whom or what a deed is done to; None if it needs something that is not there."""
    if not kind.objects:
        return Deed(kind.verb)
    if not (others if kind.targets else objects):
        return None
    if kind.targets:
        return Deed(kind.verb, rng.choice(others))
    thing = rng.choice(sorted(objects))
    return Deed(kind.verb, thing, colour=colour or draw_colour(thing, rng))


def draw_actor(number: int, cast: Sequence[str], place: str, rng: Random) -> Figure:
    name = cast[number]
    figure = _busy(Figure(name, draw_colour(name, rng)), number, cast, place, rng)
    if not figure.deeds:
        return figure
    done = [*figure.deeds]
    if _choices(place, name, "mood")[0] and rng.random() < MOOD_SHARE:
        mood = sample_deed("mood", number, cast, place, rng)
        done += [replace(mood, start=figure.enters, end=figure.leaves)] if mood else []
    if name in deeds()[WEAR].who and rng.random() < WEAR_SHARE:
        worn = rng.choice(sorted(deeds()[WEAR].objects))
        done.append(Deed(WEAR, worn, figure.enters, figure.leaves, draw_colour(worn, rng)))
    return replace(figure, deeds=tuple(done))


def _busy(figure: Figure, number: int, cast: Sequence[str], place: str, rng: Random) -> Figure:
    """Draw what a figure does and when; it may do nothing."""
    first = sample_deed("main", number, cast, place, rng)
    if first is None:
        return figure
    course, start, end = rng.choices(COURSES, COURSE_WEIGHTS)[0], 0.0, 1.0
    if course in ("enter", "leave") and deeds()[ENTER].may(figure.kind, places()[place]):
        start, end = (0.25, 1.0) if course == "enter" else (0.0, 0.75)
        figure = replace(figure, enters=start, leaves=end)
    elif course == "quarter":
        end = (start := rng.randrange(4) / 4) + 0.25
    elif course == "then" and (second := sample_deed("main", number, cast, place, rng, first.verb)):
        return replace(figure, deeds=(replace(first, end=0.5), replace(second, start=0.5)))
    return replace(figure, deeds=(replace(first, start=start, end=end),))


def sample_scene(rng: Random, place: Place | None = None) -> Scene:
    """Draw one valid scene of any split, at a place if one is given."""
    place = place or rng.choice(tuple(places().values()))
    night = not place.indoors and rng.random() < NIGHT_SHARE
    cast = _draw_cast(place.name, rng)
    figures = [draw_actor(number, cast, place.name, rng) for number in range(len(cast))]
    if len(cast) > 1 and rng.random() < TOGETHER_SHARE:
        figures[1] = _like(figures[0], figures[1], place)
    figures += [
        Figure(name, draw_colour(name, rng)) for name in _draw_props(place.name, night, cast, rng)
    ]
    return Scene(place.name, night, tuple(_varied(figures, rng)), rng.getrandbits(32))


def _draw_cast(place: str, rng: Random) -> list[str]:
    persons, animals, others = cast_at(place)
    num_actors, cast = rng.choices((1, 2, 3), NUM_ACTORS_WEIGHTS)[0], dict[str, None]()
    while len(cast) < num_actors:
        draw = rng.random()
        if draw < PERSON_SHARE or not (animals or others):
            name = rng.choice(PLAIN if "man" in persons and rng.random() < PLAIN_SHARE else persons)
        else:
            name = _choose(
                animals
                if animals and (draw < PERSON_SHARE + ANIMAL_SHARE or not others)
                else others,
                rng,
            )
        cast.setdefault(name)
    return [*cast]


def _draw_props(place: str, night: bool, cast: Sequence[str], rng: Random) -> list[str]:
    found = props_at(place, night)
    num_props = min(
        MOST_FIGURES - len(cast), rng.choices((0, 1, 2), NUM_PROPS_WEIGHTS)[0], len(found)
    )
    props = [_choose(found, rng) for _ in range(num_props)]
    if props and rng.random() < ANYWHERE_SHARE:
        props[0] = rng.choice(anywhere())
    props = [name for name in dict.fromkeys(props) if name not in cast]
    return props[:-1] if sum(things()[name].role == "sky" for name in props) > 1 else props


def _like(model: Figure, figure: Figure, place: Place) -> Figure:
    """Let a figure do what another one does, if it can."""
    done = tuple(deed for deed in model.deeds if deed.kind.layer == "main")
    able = all(deed.kind.may(figure.kind, place) and not deed.kind.targets for deed in done)
    if not done or not able or not deeds()[ENTER].may(figure.kind, place):
        return figure
    worn = (
        replace(deed, start=model.enters, end=model.leaves)
        for deed in figure.deeds
        if deed.kind.layer != "main"
    )
    return replace(figure, deeds=(*done, *worn), enters=model.enters, leaves=model.leaves)


def _varied(figures: Sequence[Figure], rng: Random) -> Iterator[Figure]:
    room = MOST_IN_ALL - len(figures)
    for figure in figures:
        role = figure.kind.role
        is_group = (
            rng.random() < GROUP_SHARE
            and role != "sky"
            and room > 1
            and figure.kind.nouns[0].number == "one"
        )
        count = rng.choice((2, 3)) if is_group else 1
        room -= count - 1
        is_sized = role not in ("person", "sky", "building") and rng.random() < SIZED_SHARE
        yield replace(figure, count=count, size=rng.choice(("big", "small")) if is_sized else "")


ABOUT_SHARE = 0.85  # of scenes: about something that was drawn first
THING_SHARE, USED_SHARE = (
    0.65,
    0.5,
)  # of those: about a thing; of things with a use: somebody uses it
STAGED_TRIES = 15  # until a scene about something succeeds


def stream_scenes(split: SceneSplit, seed: int) -> Iterator[Scene]:
    """Yield distinct scenes of a split, endlessly."""
    if split not in ("train", "validation", "test"):
        raise ConfigError(f"Unknown split {split!r}. Choose one of: train, validation, test.")
    rng, seen = Random(f"{split}-{seed}"), set[str]()
    while True:
        claim = draw_claim(rng) if rng.random() < ABOUT_SHARE else None
        for _ in range(STAGED_TRIES):
            scene = staged([claim], rng) if claim else sample_scene(rng)
            if scene and scene.split == split and scene.content not in seen:
                seen.add(scene.content)
                yield scene
                break


def sample_scenes(split: SceneSplit, count: int, seed: int) -> list[Scene]:
    """Return `count` distinct scenes of a split; equal seeds give equal scenes."""
    return list(islice(stream_scenes(split, seed), count))


def draw_claim(rng: Random) -> Claim:
    """Draw what a scene is about: a thing, perhaps in use, or a deed."""
    if rng.random() >= THING_SHARE:
        deed = rng.choice(tuple(deeds().values()))
        target = showing(rng.choice(sorted(deed.objects))).subjects if deed.targets else ()
        return Claim((*target, *_doing(deed.verb).subjects))
    name = rng.choice(tuple(things()))
    uses = [verb for verb, deed in deeds().items() if name in deed.objects and not deed.targets]
    return _doing(rng.choice(uses), name) if uses and rng.random() < USED_SHARE else showing(name)


def _doing(verb: str, thing: str = "") -> Claim:
    act = Act(frozenset((verb,)), frozenset((thing,)) if thing else frozenset())
    return Claim((SubjectClaim(acts=(act,)),))


def showing(name: str) -> Claim:
    return Claim((SubjectClaim(frozenset((name,))),))


def stream_staged(claims: Sequence[Claim], split: SceneSplit, seed: object) -> Iterator[Scene]:
    """Yield scenes of a split for which all claims hold, endlessly."""
    rng = Random(f"{seed}-{split}")
    while True:
        scene = staged(claims, rng)
        if scene and scene.split == split:
            yield scene


def staged(claims: Sequence[Claim], rng: Random) -> Scene | None:
    """Draw a valid scene for which all claims hold; None if this draw failed."""
    place = _place(claims, rng)
    scene = sample_scene(rng, place)
    figures = list(scene.figures)
    subjects = [
        (who, _in_turn(claim, number))
        for claim in claims
        for number, who in enumerate(claim.subjects)
    ]
    for at, (who, acts) in enumerate(subjects):
        figures[at:] = figures[at:] or [Figure("")]
        figure = _figure(who, acts, at, figures, place, rng)
        if figure is None:
            return None
        figures[at] = figure
    scene = replace(scene, night=_night(claims, scene.night), figures=tuple(figures))
    is_fit = scene.actors and is_valid(scene) and all(claim.holds(scene) for claim in claims)
    return scene if is_fit else None


def _place(claims: Sequence[Claim], rng: Random) -> Place:
    """Draw one of the places of the claims, otherwise one where as many of their things as possible are found."""
    left = [*chain.from_iterable(sorted(claim.places) for claim in claims)] or [*places()]
    subjects = [who for claim in claims for who in claim.subjects]
    able = [_found_at(who.names) for who in subjects]
    able += [_done_at(act.verbs) for who in subjects for act in who.acts]
    for some in able:
        left = [*filter(some.__contains__, left)] or left
    return places()[rng.choice(left)]


@cache
def _found_at(names: Names) -> Names:
    """Return the places where one of some things is found; none if some may be anywhere, as persons may."""
    somewhere = frozenset[str]().union(*(place.found for place in places().values()))
    return frozenset(
        p.name for p in places().values() if names <= somewhere and not names.isdisjoint(p.found)
    )


@cache
def _done_at(verbs: Names) -> Names:
    tags = [deeds()[verb].where for verb in verbs]
    return frozenset(
        place.name
        for place in places().values()
        if any(not some or some & place.tags for some in tags)
    )


def _night(claims: Sequence[Claim], drawn: bool) -> bool:
    """Return whether it is night: as claims say, as what they name is seen by day or night alone, or as drawn."""
    for claim in claims:
        if claim.night is not None:
            return claim.night
    names = [who.names for claim in claims for who in claim.subjects if who.names]
    by_night, by_day = (any(each <= seen for each in names) for seen in (BY_NIGHT, BY_DAY))
    return by_night or (drawn and not by_day)


def _in_turn(claim: Claim, number: int) -> list[Act]:
    """Return the acts of a claim's figure, those that are done first before the others."""
    later = {order.second[1] for order in claim.orders if order.second[0] == number}
    acts = claim.subjects[number].acts
    return [act for at, act in enumerate(acts) if at not in later] + [
        acts[at] for at in sorted(later)
    ]


def _figure(
    who: SubjectClaim,
    acts: list[Act],
    number: int,
    figures: list[Figure],
    place: Place,
    rng: Random,
) -> Figure | None:
    """Draw a figure as a claim describes it; None if it cannot do that here."""
    able = (deeds()[verb].who for act in acts for verb in act.verbs)
    name = rng.choice(sorted(who.names or frozenset[str]().union(*able)))
    figure = (
        draw_actor(0, (name,), place.name, rng) if things()[name].role in ACTING else Figure(name)
    )
    figure = replace(
        figure, colour=who.colour or draw_colour(name, rng), size=who.size, count=who.least
    )
    done = [_deed(act, name, number, figures, place, rng) for act in acts]
    if not done:
        return figure
    return _in_turns(figure, [*filter(None, done)]) if all(done) else None


def _in_turns(figure: Figure, done: Sequence[Deed]) -> Figure:
    """Let a figure do some deeds one after the other, in place of its own of these layers."""
    moves = {deed.verb for deed in done} & {ENTER, LEAVE}
    figure = replace(figure, enters=0.25 * (ENTER in moves), leaves=1 - 0.25 * (LEAVE in moves))
    new = sorted(
        (deed for deed in done if deed.verb not in moves),
        key=lambda deed: deed.kind.layer != "main",
    )
    layers = [deed.kind.layer for deed in new]
    kept = [deed for deed in figure.deeds if new and deed.kind.layer not in layers]
    deeds = [replace(deed, start=figure.enters, end=figure.leaves) for deed in (*new, *kept)]
    if (turns := layers.count("main")) > 1:
        deeds[:turns] = [
            replace(new[at], start=at / turns, end=(at + 1) / turns) for at in range(turns)
        ]
    return replace(figure, deeds=tuple(deeds))


def _deed(
    act: Act, name: str, number: int, figures: Sequence[Figure], place: Place, rng: Random
) -> Deed | None:
    able = [kind for kind in _meant(act) if kind.may(things()[name], place)]
    if not able:
        return None
    kind = rng.choice(able)
    targets, objects = act.targets or kind.objects, kind.objects & (act.objects or kind.objects)
    others = [i for i, each in enumerate(figures) if each.thing in targets and i != number]
    return _with_object(kind, others, objects, rng, act.colour)


def _meant(act: Act) -> list[DeedKind]:
    is_worn = {things()[each].role for each in act.objects} <= {"worn"}
    return [deeds()[verb] for verb in sorted(act.verbs or {WEAR if is_worn else "hold"})]
