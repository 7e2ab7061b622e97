"""Scenes as data: a place and up to four figures with their deeds in time. Seeded; splits are disjoint."""

import hashlib
import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache, cached_property
from itertools import accumulate, islice, pairwise
from typing import Any, Literal

from nt2vr.errors import ConfigError
from nt2vr.world_large.deeds import AT_SEA, ENTER, LEAVE, WEAR, DeedKind, Layer, deeds, deeds_at
from nt2vr.world_large.places import Place, places
from nt2vr.world_large.things import ACTING, COLOURS, FUR, Thing, things, those

SceneSplit = Literal["train", "validation", "test"]
MOST_FIGURES, MOST_ACTORS, MOST_INDIVIDUALS = 4, 3, 6
NUM_ACTORS_WEIGHTS = (0.3, 0.45, 0.25)  # for 1, 2, 3 actors
NUM_PROPS_WEIGHTS = (0.4, 0.45, 0.15)
PERSON_SHARE, PLAIN_SHARE = 0.6, 0.55  # of actors; of persons: a man, a woman, a boy or a girl
IN_SPACE = ("man astronaut", "woman astronaut", "alien", "robot")
PLAIN = ("man", "woman", "boy", "girl")
MOOD_SHARE, WEAR_SHARE, GROUP_SHARE, SIZED_SHARE, NIGHT_SHARE = 0.15, 0.25, 0.15, 0.15, 0.2
ANYWHERE_SHARE = 0.3  # of scenes with further things: one of them is something small that is found anywhere
COURSES = ("whole", "then", "quarter", "enter", "leave")  # how the deeds of a figure lie in time
COURSE_WEIGHTS = (0.6, 0.2, 0.06, 0.07, 0.07)
TOGETHER_SHARE = 0.15  # of scenes with several actors: the second does what the first does
BY_NIGHT, BY_DAY = frozenset({"moon", "star", "fireworks"}), frozenset({"sun", "rainbow"})
TRIES = 8


@dataclass(frozen=True)
class Deed:
    """What a figure does.

    Attributes:
        object: name of a thing held, worn or ridden; number of another figure; or None.
        start, end: when, as fractions of the clip, in quarters.
        colour: of the thing, if it can be tinted.
    """

    verb: str
    object: int | str | None = None
    start: float = 0.0
    end: float = 1.0
    colour: str = ""

    @property
    def kind(self) -> DeedKind:
        """Its line of `deeds.tsv`."""
        return deeds()[self.verb]


@dataclass(frozen=True)
class Figure:
    """A thing of the scene, or two or three alike that do the same.

    Attributes:
        colour: of the shirt or the thing, if it can be tinted.
        size: "big", "small" or "" for usual.
        enters, leaves: when it has come in and when it starts to go, as fractions; 0 and 1: it is there all the time.
    """

    thing: str
    colour: str = ""
    size: str = ""
    count: int = 1
    deeds: tuple[Deed, ...] = ()
    enters: float = 0.0
    leaves: float = 1.0

    @property
    def kind(self) -> Thing:
        """Its line of `things.tsv`."""
        return things()[self.thing]

    @property
    def acts(self) -> bool:
        """Whether it is an actor: a person, an animal, a vehicle, or a thing that moves."""
        return self.kind.role in ACTING or bool(self.deeds)

    @cached_property
    def doings(self) -> tuple[Deed, ...]:
        """Its deeds, with entering and leaving."""
        coming = (Deed(ENTER, None, 0.0, self.enters),) if self.enters > 0 else ()
        going = (Deed(LEAVE, None, self.leaves, 1.0),) if self.leaves < 1 else ()
        return coming + self.deeds + going


@dataclass(frozen=True)
class Scene:
    """Content of a clip, in names of the data files.

    Attributes:
        seed: of everything that captions never mention: positions, skin and hair, phase of the motion.
    """

    place: str
    night: bool
    figures: tuple[Figure, ...]
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Scene":
        """Read the data of `to_dict`."""
        figures = tuple(
            Figure(**{**figure, "deeds": tuple(Deed(**deed) for deed in figure["deeds"])})
            for figure in data["figures"]
        )
        return cls(data["place"], data["night"], figures, data["seed"])

    @property
    def content(self) -> str:
        """The scene without its seed, independent of the order of the figures."""
        figures = []
        for figure in self.figures:
            data = asdict(figure)
            for deed in data["deeds"]:
                if isinstance(deed["object"], int):
                    deed["object"] = [self.figures[deed["object"]].thing]
            figures.append(json.dumps(data))
        return json.dumps([self.place, self.night, sorted(figures)])

    @property
    def split(self) -> SceneSplit:
        """The split of this content, decided by a hash: no scene is in two splits."""
        bucket = hashlib.sha256(self.content.encode()).digest()[0] % 10
        return "test" if bucket == 0 else "validation" if bucket == 1 else "train"


def problems(scene: Scene) -> list[str]:
    """Say what is wrong with a scene; empty if it is valid."""
    place, figures, found = places()[scene.place], scene.figures, []
    if not 1 <= len(figures) <= MOST_FIGURES or sum(figure.acts for figure in figures) > MOST_ACTORS:
        found.append("number of figures")
    if sum(figure.count for figure in figures) > MOST_INDIVIDUALS or not all(1 <= f.count <= 3 for f in figures):
        found.append("count")
    if len({figure.thing for figure in figures}) < len(figures):
        found.append("a thing twice")
    if (BY_DAY if scene.night else BY_NIGHT) & {figure.thing for figure in figures} or (scene.night and place.indoors):
        found.append("night")
    for number, figure in enumerate(figures):
        if bool(figure.colour) != bool(figure.kind.tint):
            found.append(f"colour of {figure.thing}")
        main = sorted((deed.start, deed.end) for deed in figure.doings if deed.kind.layer == "main")
        if any(before[1] > after[0] for before, after in pairwise(main)):
            found.append(f"{figure.thing} does two things at once")
        for deed in figure.deeds:
            is_quartered = deed.start * 4 % 1 == deed.end * 4 % 1 == 0
            if not is_quartered or not figure.enters <= deed.start < deed.end <= figure.leaves:
                found.append(f"time of {deed.verb}")
            if not deed.kind.may(figure.kind, place):
                found.append(f"{figure.thing} cannot {deed.verb} at {place.name}")
            if not _suits(deed, number, figures):
                found.append(f"object of {deed.verb}")
    return found


def _suits(deed: Deed, number: int, figures: Sequence[Figure]) -> bool:
    """Return whether the object of a deed fits its slot."""
    kind = deed.kind
    match deed.object:
        case None:
            return not kind.objects
        case int(other):
            return kind.targets and other != number and figures[other].thing in kind.objects
        case name:
            return not kind.targets and name in kind.objects and bool(deed.colour) == bool(things()[name].tint)


@cache
def _cast(name: str) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Return who may act at a place: persons, animals and others."""
    place = places()[name]
    persons = PLAIN if AT_SEA & place.tags else those(IN_SPACE if "space" in place.tags else ("person",))
    found = [things()[thing] for thing in place.found]
    able = [thing for thing in found if deeds_at(name, thing.name)]
    animals = tuple(thing.name for thing in able if thing.role == "animal")
    others = tuple(thing.name for thing in able if thing.role not in ("animal", "person"))
    return persons, animals, others


@cache
def _props(name: str, night: bool) -> tuple[str, ...]:
    place = places()[name]
    shown = {name for name, _ in place.shows} | (BY_DAY if night else BY_NIGHT)
    return tuple(n for n in place.found if things()[n].role not in ACTING and n not in shown)


@cache
def _anywhere() -> tuple[str, ...]:
    return those(("hand", "worn"))


@cache
def _choices(place: str, thing: str, layer: Layer) -> tuple[tuple[DeedKind, ...], tuple[float, ...]]:
    """Return the deeds of a layer that a thing may do at a place, with cumulated shares."""
    some = tuple(deed for deed in deeds_at(place, thing) if deed.layer == layer)
    return some, tuple(accumulate(deed.share for deed in some))


@cache
def _ordered(names: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(names))


def _colour(name: str, rng: random.Random) -> str:
    thing = things()[name]
    return rng.choice(FUR if "mammal" in thing.kinds else COLOURS) if thing.tint else ""


def _draw_deed(
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
            return Deed(kind.verb, thing, colour=_colour(thing, rng))
        else:
            return Deed(kind.verb)
    return None


def _act(number: int, cast: Sequence[str], place: str, rng: random.Random) -> Figure:
    """Draw an actor with its deeds."""
    name = cast[number]
    figure = Figure(name, _colour(name, rng))
    first = _draw_deed("main", number, cast, place, rng)
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
    if course == "then" and (second := _draw_deed("main", number, cast, place, rng, first.verb)):
        done = [replace(first, end=0.5), replace(second, start=0.5)]
    if _choices(place, name, "mood")[0] and rng.random() < MOOD_SHARE:
        mood = _draw_deed("mood", number, cast, place, rng)
        done += [replace(mood, start=figure.enters, end=figure.leaves)] if mood else []
    if name in deeds()[WEAR].who and rng.random() < WEAR_SHARE:
        worn = rng.choice(_ordered(deeds()[WEAR].objects))
        done.append(Deed(WEAR, worn, figure.enters, figure.leaves, _colour(worn, rng)))
    return replace(figure, deeds=tuple(done))


def sample_scene(rng: random.Random) -> Scene:
    """Draw one valid scene of any split."""
    place = rng.choice(_places())
    night = not place.indoors and rng.random() < NIGHT_SHARE
    persons, animals, others = _cast(place.name)
    num_actors = rng.choices((1, 2, 3), NUM_ACTORS_WEIGHTS)[0]
    cast: list[str] = []
    while len(cast) < num_actors:
        draw = rng.random()
        if draw < PERSON_SHARE or not (animals or others):
            name = rng.choice(PLAIN if "man" in persons and rng.random() < PLAIN_SHARE else persons)
        else:
            name = rng.choice(animals if animals and (draw < PERSON_SHARE + 0.28 or not others) else others)
        if name not in cast:
            cast.append(name)
    figures = [_act(number, cast, place.name, rng) for number in range(num_actors)]
    if num_actors > 1 and rng.random() < TOGETHER_SHARE:
        figures[1] = _like(figures[0], figures[1], place)
    found = _props(place.name, night)
    num_props = min(MOST_FIGURES - num_actors, rng.choices((0, 1, 2), NUM_PROPS_WEIGHTS)[0], len(found))
    props = rng.sample(found, num_props)
    if props and rng.random() < ANYWHERE_SHARE:
        props[0] = rng.choice(_anywhere())
    props = [name for name in dict.fromkeys(props) if name not in cast]
    if sum(things()[name].role == "sky" for name in props) > 1:
        props.pop()
    figures += [Figure(name, _colour(name, rng)) for name in props]
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


@cache
def _places() -> tuple[Place, ...]:
    return tuple(places().values())


def stream_scenes(split: SceneSplit, seed: int) -> Iterator[Scene]:
    """Yield distinct scenes of a split, endlessly."""
    if split not in ("train", "validation", "test"):
        raise ConfigError(f"Unknown split {split!r}. Choose one of: train, validation, test.")
    rng, seen = random.Random(f"{split}-{seed}"), set[str]()
    while True:
        scene = sample_scene(rng)
        content = scene.content
        if scene.split == split and content not in seen:
            seen.add(content)
            yield scene


def sample_scenes(split: SceneSplit, count: int, seed: int) -> list[Scene]:
    """Return `count` distinct scenes of a split; equal seeds give equal scenes."""
    return list(islice(stream_scenes(split, seed), count))
