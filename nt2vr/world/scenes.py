"""Scenes as data: actors with activities and accessories, place and props. Seeded; splits are disjoint."""

import hashlib
import json
import random
from collections.abc import Hashable, Iterator, Mapping
from dataclasses import asdict, dataclass
from itertools import islice
from typing import Any, Literal

from nt2vr.errors import ConfigError
from nt2vr.world.vocabulary import ACCESSORIES, ANIMAL_ACTIVITIES, FLYING, PLACES, SUBJECTS

SceneSplit = Literal["train", "validation", "test"]
PEOPLE = tuple(name for name, subject in SUBJECTS.items() if subject.kind == "person")
NUM_ACTORS_WEIGHTS = (0.2, 0.45, 0.35)  # for 1, 2, 3 actors: wanted and unwanted parts must often occur together
PERSON_SHARE, ANIMAL_SHARE = 0.74, 0.18  # the rest are vehicles, if the place has any
WEARING_SHARE = 0.3
NUM_PROPS_WEIGHTS = (0.45, 0.45, 0.1)


@dataclass(frozen=True)
class Actor:
    """An actor: names from SUBJECTS, ACTIVITIES and ACCESSORIES."""

    subject: str
    activity: str
    wearing: str | None = None


@dataclass(frozen=True)
class Scene:
    """Content of a clip, in names of the vocabulary."""

    place: str
    actors: tuple[Actor, ...]  # 1 to 3, distinct in subject and activity
    props: tuple[str, ...] = ()  # 0 to 2
    look: int = 0  # seed of everything captions never mention: positions, skin and hair, phase of the motion

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON data."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Scene":
        """Read the data of `to_dict`."""
        actors = tuple(Actor(**actor) for actor in data["actors"])
        return cls(data["place"], actors, tuple(data["props"]), data["look"])

    @property
    def content(self) -> str:
        """The scene without its look, independent of the order of actors and props."""
        actors = sorted(json.dumps(asdict(actor)) for actor in self.actors)
        return json.dumps([self.place, actors, sorted(self.props)])

    @property
    def cast(self) -> frozenset[tuple[str, str]]:
        """The (subject, activity) pairs of its actors."""
        return frozenset((actor.subject, actor.activity) for actor in self.actors)

    @property
    def gist(self) -> Hashable:
        """What an edit keeps unless its text says otherwise: the place, and who does what."""
        return self.place, self.cast

    @property
    def split(self) -> SceneSplit:
        """The split of this content, decided by a hash: no scene is in two splits."""
        bucket = hashlib.sha256(self.content.encode()).digest()[0] % 10
        return "test" if bucket == 0 else "validation" if bucket == 1 else "train"


def _draw_actor(place: str, rng: random.Random) -> Actor:
    where, draw = PLACES[place], rng.random()
    if draw < PERSON_SHARE or (draw >= PERSON_SHARE + ANIMAL_SHARE and not where.vehicles):
        wearing = rng.choice(list(ACCESSORIES)) if rng.random() < WEARING_SHARE else None
        return Actor(rng.choice(PEOPLE), rng.choice(where.activities), wearing)
    if draw < PERSON_SHARE + ANIMAL_SHARE:
        return Actor(rng.choice(where.animals), rng.choice(ANIMAL_ACTIVITIES))
    vehicle = rng.choice(where.vehicles)
    return Actor(vehicle, "fly" if vehicle in FLYING else "drive")


def draw_scene(rng: random.Random) -> Scene:
    """Draw one scene of any split."""
    place = rng.choice(list(PLACES))
    num_actors = rng.choices((1, 2, 3), NUM_ACTORS_WEIGHTS)[0]
    actors: dict[tuple[str, str], Actor] = {}
    while len(actors) < num_actors:
        actor = _draw_actor(place, rng)
        if SUBJECTS[actor.subject].kind == "vehicle" and any(SUBJECTS[s].kind == "vehicle" for s, _ in actors):
            continue  # two vehicles would overlap
        actors.setdefault((actor.subject, actor.activity), actor)
    props = rng.sample(PLACES[place].props, rng.choices((0, 1, 2), NUM_PROPS_WEIGHTS)[0])
    return Scene(place, tuple(actors.values()), tuple(props), rng.getrandbits(32))


def stream_scenes(split: SceneSplit, seed: int) -> Iterator[Scene]:
    """Yield distinct scenes of a split, endlessly."""
    if split not in ("train", "validation", "test"):
        raise ConfigError(f"Unknown split {split!r}. Choose one of: train, validation, test.")
    rng, seen = random.Random(f"{split}-{seed}"), set[str]()
    while True:
        scene = draw_scene(rng)
        if scene.split == split and scene.content not in seen:
            seen.add(scene.content)
            yield scene


def sample_scenes(split: SceneSplit, count: int, seed: int) -> list[Scene]:
    """Return `count` distinct scenes of a split; equal seeds give equal scenes."""
    return list(islice(stream_scenes(split, seed), count))
