"""Draws streams of random scenes, also of those for which claims hold.

Seeded: equal seeds give equal scenes.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cache
from itertools import chain, islice
from random import Random

from nt2vr.errors import ConfigError
from nt2vr.world.casting import (
    draw_actor,
    draw_colour,
    others_among,
    sample_scene,
    with_object,
)
from nt2vr.world.claims import Act, Claim, SubjectClaim
from nt2vr.world.scenes import BY_DAY, BY_NIGHT, Action, Figure, Scene, SceneSplit, is_valid
from nt2vr.world.things import (
    ACTING,
    ENTER,
    LEAVE,
    WEAR,
    ActionKind,
    Names,
    Place,
    actions,
    places,
    roles_of,
    things,
)

# Of scenes: about something that was drawn first.
ABOUT_SHARE = 0.85
# Until a scene about something succeeds.
STAGED_TRIES = 15
# Of claims that are drawn: about a thing.
THING_SHARE = 0.65
# Of things with a use: somebody uses it.
USED_SHARE = 0.5


def stream_scenes(split: SceneSplit, seed: int) -> Iterator[Scene]:
    """Yield distinct scenes of a split, endlessly."""
    if split not in ("train", "validation", "test"):
        raise ConfigError(f"Unknown split {split!r}. Choose one of: train, validation, test.")
    rng = Random(f"{split}-{seed}")
    contents: set[str] = set()
    while True:
        claims = []
        if rng.random() < ABOUT_SHARE:
            claims.append(draw_claim(rng))
        for _ in range(STAGED_TRIES):
            scene = staged(claims, rng)
            if scene and scene.split == split and scene.content not in contents:
                contents.add(scene.content)
                yield scene
                break


def sample_scenes(split: SceneSplit, count: int, seed: int) -> list[Scene]:
    """Return `count` distinct scenes of a split; equal seeds give equal scenes."""
    return list(islice(stream_scenes(split, seed), count))


def showing(name: str) -> Claim:
    """Claim that a thing is there."""
    return Claim.of_things(frozenset((name,)))


def draw_claim(rng: Random) -> Claim:
    """Draw what a scene is about: a thing, perhaps in use, or an action."""
    if rng.random() >= THING_SHARE:
        action = rng.choice(tuple(actions().values()))
        claim = Claim.of_act(Act.of(action.verb))
        if not action.targets:
            return claim
        target = showing(rng.choice(sorted(action.objects)))
        return Claim(target.subjects + claim.subjects)

    name = rng.choice(tuple(things()))
    uses = _uses_of(name)
    if uses and rng.random() < USED_SHARE:
        return Claim.of_act(Act.of(rng.choice(uses), name))
    return showing(name)


def _uses_of(thing: str) -> list[str]:
    """Return what may be done to or with a thing."""
    uses = []
    for verb, action in actions().items():
        if thing in action.objects and not action.targets:
            uses.append(verb)
    return uses


def staged(claims: Sequence[Claim], rng: Random) -> Scene | None:
    """Draw a valid scene for which all claims hold; None if this draw failed."""
    place = _draw_place(claims, rng)
    scene = sample_scene(rng, place)

    # The claimed figures replace the first ones that were drawn.
    figures = list(scene.figures)
    subjects = chain.from_iterable(map(_with_acts_in_turn, claims))
    for number, subject in enumerate(subjects):
        if number == len(figures):
            figures.append(Figure(""))
        figure = _draw_figure(subject, number=number, figures=figures, place=place, rng=rng)
        if figure is None:
            return None
        figures[number] = figure

    scene = replace(scene, night=_is_night(claims, scene.night), figures=tuple(figures))
    if not scene.actors or not is_valid(scene):
        return None
    if all(claim.holds(scene) for claim in claims):
        return scene
    return None


def _draw_place(claims: Sequence[Claim], rng: Random) -> Place:
    """Draw one of the places of the claims, where as many of their things as possible may be."""
    names: list[str] = []
    for claim in claims:
        names += sorted(claim.places)
    subjects = _subjects_of(claims)
    possible = [_places_with(subject.names) for subject in subjects]
    for subject in subjects:
        possible += [_places_for(act.verbs) for act in subject.acts]

    names = names or list(places())
    for fitting in possible:
        names = [name for name in names if name in fitting] or names
    return places()[rng.choice(names)]


def _subjects_of(claims: Sequence[Claim]) -> list[SubjectClaim]:
    return list(chain.from_iterable(claim.subjects for claim in claims))


@cache
def _places_with(names: Names) -> Names:
    """Return the places that may have one of some things; none if some may be anywhere."""
    somewhere: set[str] = set()
    fitting = set()
    for place in places().values():
        somewhere.update(place.may_have)
        if not names.isdisjoint(place.may_have):
            fitting.add(place.name)
    if names <= somewhere:
        return frozenset(fitting)
    return frozenset()


@cache
def _places_for(verbs: Names) -> Names:
    """Return the places where one of some actions may be done."""
    fitting = set()
    for place in places().values():
        if any(actions()[verb].may_at(place) for verb in verbs):
            fitting.add(place.name)
    return frozenset(fitting)


def _is_night(claims: Sequence[Claim], is_drawn: bool) -> bool:
    """Return whether it is night: as claims say, as their things require, or as drawn."""
    for claim in claims:
        if claim.night is not None:
            return claim.night

    names_of_subjects = [subject.names for subject in _subjects_of(claims) if subject.names]
    if any(names <= BY_NIGHT for names in names_of_subjects):
        return True
    return is_drawn and not any(names <= BY_DAY for names in names_of_subjects)


def _with_acts_in_turn(claim: Claim) -> Iterator[SubjectClaim]:
    """Yield the subjects of a claim, each with the acts that are done later after the others."""
    later = {order.second for order in claim.orders}
    for number, subject in enumerate(claim.subjects):
        positions = [(number, i) for i in range(len(subject.acts))]
        positions.sort(key=lambda position: position in later)
        yield replace(subject, acts=tuple(map(claim.act_at, positions)))


def _draw_figure(
    subject: SubjectClaim,
    number: int,
    figures: list[Figure],
    place: Place,
    rng: Random,
) -> Figure | None:
    """Draw a figure as a claim describes it; None if it cannot do that here."""
    acts = subject.acts
    name = rng.choice(sorted(subject.names or _names_able(acts)))
    figure = Figure(name)
    if things()[name].role in ACTING:
        figure = draw_actor(0, cast=(name,), place=place.name, rng=rng)
    colour = subject.colour or draw_colour(name, rng)
    figure = replace(figure, colour=colour, size=subject.size, count=subject.least)

    # All actions are drawn, even after an impossible one: what is drawn later must not depend on it.
    drawn = [
        _draw_action(act, name=name, number=number, figures=figures, place=place, rng=rng)
        for act in acts
    ]
    done = list(filter(None, drawn))
    if len(done) < len(acts):
        return None
    if not done:
        return figure
    return _in_turns(figure, done)


def _names_able(acts: Sequence[Act]) -> set[str]:
    able: set[str] = set()
    for act in acts:
        for verb in act.verbs:
            able |= actions()[verb].subjects
    return able


def _in_turns(figure: Figure, done: Sequence[Action]) -> Figure:
    """Let a figure do some actions one after the other, in place of its own of these layers."""
    verbs = {action.verb for action in done}
    enters = 0.25 if ENTER in verbs else 0.0
    leaves = 0.75 if LEAVE in verbs else 1.0
    own_actions = figure.actions
    figure = replace(figure, enters=enters, leaves=leaves, actions=())
    new_actions = [action for action in done if action.verb not in (ENTER, LEAVE)]
    if not new_actions:
        return figure

    # Main actions come first.
    new_actions.sort(key=lambda action: action.kind.layer != "main")
    layers = [action.kind.layer for action in new_actions]
    remaining = [action for action in own_actions if action.kind.layer not in layers]
    for action in (*new_actions, *remaining):
        figure = figure.also(action)

    num_turns = layers.count("main")
    if num_turns < 2:
        return figure
    # Each has an equal share of the clip.
    in_turn = []
    for turn, action in enumerate(new_actions[:num_turns]):
        in_turn.append(replace(action, start=turn / num_turns, end=(turn + 1) / num_turns))
    return replace(figure, actions=(*in_turn, *figure.actions[num_turns:]))


def _draw_action(
    act: Act, name: str, number: int, figures: Sequence[Figure], place: Place, rng: Random
) -> Action | None:
    """Draw an action of a thing that an act describes; None if there is none here."""
    thing = things()[name]
    possible = [kind for kind in _kinds_of(act) if kind.may(thing, place)]
    if not possible:
        return None
    kind = rng.choice(possible)
    objects = kind.objects
    if act.objects:
        objects = kind.objects & act.objects
    cast = [figure.thing for figure in figures]
    targets = others_among(cast, act.targets or kind.objects, number)
    return with_object(kind, targets=targets, objects=objects, rng=rng, colour=act.colour)


def _kinds_of(act: Act) -> list[ActionKind]:
    """Return the kinds of actions that an act may be; a man "with a hat" wears it."""
    if act.verbs:
        return [actions()[verb] for verb in sorted(act.verbs)]
    if roles_of(act.objects) <= {"worn"}:
        return [actions()[WEAR]]
    return [actions()["hold"]]
