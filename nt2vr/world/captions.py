"""Captions of scenes from varied templates with synonyms, each with its claim."""

import random
from dataclasses import dataclass

from nt2vr.language.inflect import inflect_phrase
from nt2vr.world.scenes import Actor, Scene
from nt2vr.world.truth import Claim, Who
from nt2vr.world.vocabulary import ACCESSORIES, ACTIVITIES, PLACES, PROPS, SUBJECTS

FULL_SHARE = 0.6  # captions of the complete scene; others omit actors, props, accessories or the place
JOINTS = (" while ", " and ", " as ", ", and ", ", ")
WEARING = ("wearing {}", "in {}", "with {}")
BESIDE = ("next to {}", "near {}", "beside {}", "with {} in the background", ", there is {}")


@dataclass(frozen=True)
class SceneCaption:
    """A sentence and its claim, which holds for its own scene and possibly for others."""

    text: str
    claim: Claim


def with_article(words: str) -> str:
    """Put "a" or "an" before a noun."""
    return f"{'an' if words[0] in 'aeiou' else 'a'} {words}"


def _clause(actor: Actor, with_wearing: bool, rng: random.Random) -> str:
    who = with_article(rng.choice(SUBJECTS[actor.subject].words))
    if with_wearing and actor.wearing:
        who += " " + rng.choice(WEARING).format(rng.choice(ACCESSORIES[actor.wearing].words))
    phrase = rng.choice(ACTIVITIES[actor.activity].phrases)
    doing = inflect_phrase(phrase, "VBG")
    return f"{who} " + rng.choice((f"is {doing}", f"is {doing}", doing, inflect_phrase(phrase, "VBZ")))


def _chosen(items: list[str], full: bool, rng: random.Random, share: float) -> list[str]:
    return [item for item in items if full or rng.random() < share]


def describe(scene: Scene, rng: random.Random) -> SceneCaption:
    """Draw a caption of a scene, never with a negation."""
    full = rng.random() < FULL_SHARE
    actors = list(scene.actors)
    rng.shuffle(actors)
    if not full:
        actors = actors[: rng.randint(1, len(actors))]
    props = _chosen(list(scene.props), full, rng, 0.5)
    with_wearing, with_place = full or rng.random() < 0.5, full or rng.random() < 0.6

    text = _clause(actors[0], with_wearing, rng)
    for actor in actors[1:]:
        text += rng.choice(JOINTS) + _clause(actor, with_wearing, rng)
    if with_place:
        where = rng.choice(PLACES[scene.place].phrases)
        text = f"{where}, {text}" if rng.random() < 0.2 else f"{text} {where}"
    for prop in props:
        text += " " + rng.choice(BESIDE).format(rng.choice(PROPS[prop].words))

    claim = Claim(
        actors=tuple(
            Who(
                frozenset((actor.subject,)),
                frozenset((actor.activity,)),
                frozenset((actor.wearing,) if with_wearing and actor.wearing else ()),
            )
            for actor in actors
        ),
        places=frozenset((scene.place,) if with_place else ()),
        props=tuple(frozenset((prop,)) for prop in props),
    )
    return SceneCaption(text.replace(" ,", ","), claim)


def captions(scene: Scene, count: int, seed: int = 0) -> list[str]:
    """Return `count` distinct captions of a scene; equal seeds give equal captions."""
    rng = random.Random(f"{scene.look}-{seed}")
    texts: dict[str, None] = {}
    while len(texts) < count:
        texts.setdefault(describe(scene, rng).text)
    return list(texts)
