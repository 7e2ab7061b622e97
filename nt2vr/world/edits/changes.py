"""Changes of a scene for covr: one thing replaced, added or removed, and what matches.

Only single figures are changed, not groups of two or three. Words are those that name exactly what the
usual one does.
"""

import random
from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from itertools import chain, product

from nt2vr.negation.generate.modifications import ChangeKind
from nt2vr.world.claims import Act, Claim, Who
from nt2vr.world.deeds import WEAR, deeds
from nt2vr.world.nouns import draw_noun, meanings
from nt2vr.world.sampling import anywhere, cast_at, draw_colour, props_at, sample_deed
from nt2vr.world.scenes import Deed, Figure, Scene, problems
from nt2vr.world.things import Names, Noun, places, things
from nt2vr.world.truth import read_claim
from nt2vr.world.wording import conjugate, draw_deed

TRIES = 8  # deeds drawn per changed one, and new actors per kind


@dataclass(frozen=True)
class Change:
    """One thing that is different; fields that do not apply are empty."""

    kind: ChangeKind  # "remove activity" removes the actor, named by its activity
    before: Scene
    old: Figure | None = None
    new: Figure | None = None
    did: Deed | None = None  # by `old`, also what it wore
    does: Deed | None = None
    place: str = ""  # the new one

    def applied(self, scene: Scene) -> Scene:
        """Return the scene with the change, and without the things that are not found at its place."""
        if self.place:
            night = scene.night and not places()[self.place].indoors
            found = {*anywhere(), *props_at(self.place, night)}
            strange = [figure.thing for figure in scene.figures if not figure.acts and figure.thing not in found]
            return _without(replace(scene, place=self.place, night=night), strange)
        if self.new is None:
            return _without(scene, [figure.thing for figure in (self.old,) if figure])
        if self.old is None:
            return replace(scene, figures=(*scene.figures, self.new))
        old, new = self.old.thing, self.new
        return replace(scene, figures=tuple(new if figure.thing == old else figure for figure in scene.figures))

    @property
    def names(self) -> Names:
        """Names of the vocabulary that a text about it mentions."""
        figures = {figure.thing for figure in (self.old, self.new) if figure}
        done = [deed for deed in (self.did, self.does) if deed]
        objects = {name for deed in done if (name := self.before.object_of(deed))}
        return frozenset(figures | objects | {deed.verb for deed in done} | set(filter(None, [self.place])))

    @property
    def shown(self) -> Claim | None:
        """Claim of the addition; None for a removal."""
        if self.place:
            return Claim(places=frozenset((self.place,)))
        if self.new is None or self.kind == "remove accessory":
            return None
        return Claim((Who(named(self.new.thing), (_act(self.does, self.before),) if self.does else ()),))

    @property
    def gone(self) -> Claim | None:
        """Claim of the removal; None for an addition."""
        match self.kind:
            case "remove accessory" if self.did:
                return Claim((Who(_act(self.did, self.before).objects),))
            case "replace activity" | "remove activity" if self.did:
                return Claim((Who(acts=(_act(self.did, self.before),)),))
            case "replace subject" | "remove actor" | "remove prop" if self.old:
                return Claim((Who(named(self.old.thing)),))
        return None


def named(thing: str) -> Names:
    """Return all that the usual word for a thing names: "man" an old man too."""
    return meanings()[things()[thing].nouns[0].word]


def _act(deed: Deed, scene: Scene) -> Act:
    name = scene.object_of(deed)
    objects = named(name) if name else frozenset[str]()
    slot = "targets" if isinstance(deed.object, int) else "objects"
    return Act(frozenset((deed.verb,)), **{slot: objects})  # type: ignore[arg-type]


def _without(scene: Scene, gone: Collection[str]) -> Scene:
    """Leave figures out. Who does something to one of them would do it to itself, which is never possible."""
    left = [number for number, figure in enumerate(scene.figures) if figure.thing not in gone]
    moved = {number: place for place, number in enumerate(left)}

    def renumbered(number: int) -> Figure:
        figure = scene.figures[number]
        done = (
            replace(deed, object=moved.get(deed.object, moved[number])) if isinstance(deed.object, int) else deed
            for deed in figure.deeds
        )
        return replace(figure, deeds=tuple(done))

    return replace(scene, figures=tuple(map(renumbered, left)))


def possible(scene: Scene) -> bool:
    """Return whether a scene is valid and has an actor."""
    return not problems(scene) and any(figure.acts for figure in scene.figures)


def changes_of(scene: Scene, kind: ChangeKind, rng: random.Random) -> Iterator[Change]:
    """Yield changes of a kind that lead to possible scenes, in random order.

    What a change takes away is in the scene once, so that its words are unambiguous; what it adds is new to the scene.
    """
    candidates = list(_candidates(scene, kind, rng))
    rng.shuffle(candidates)
    yield from (change for change in candidates if _is_clear(change, scene))


def _is_clear(change: Change, scene: Scene) -> bool:
    after, old = change.applied(scene), change.old
    return (
        possible(after)
        and not (change.shown and change.shown.holds(scene))
        and not (change.gone and (change.gone.holds(after) or not change.gone.holds(scene)))
        and not (old and any(each.thing in named(old.thing) for each in scene.figures if each.thing != old.thing))
    )


def _is_one(figure: Figure) -> bool:
    return figure.count == 1 and figure.kind.nouns[0].number == "one"


def _done(figure: Figure) -> list[Deed]:
    """Return what a figure does, coming and going aside."""
    return [deed for deed in figure.deeds if deed.kind.layer == "main"]


def _candidates(scene: Scene, kind: ChangeKind, rng: random.Random) -> Iterator[Change]:
    """Yield changes of a kind, possible or not."""
    cast = [figure.thing for figure in scene.figures]
    actors = [figure for figure in scene.figures if figure.acts and _is_one(figure)]  # a text can call them "the dog"
    match kind:
        case "replace subject":
            for old, name in product(actors, chain(*cast_at(scene.place))):
                if _done(old) and things()[name].role == old.kind.role:
                    new = replace(old, thing=name, colour=draw_colour(name, rng))
                    if _is_one(new):
                        yield Change(kind, scene, old, new, does=_done(new)[0])
        case "replace activity":
            for old, did in ((each, deed) for each in actors for deed in _done(each) for _ in range(TRIES)):
                drawn = sample_deed("main", cast.index(old.thing), cast, scene.place, rng, did.verb)
                if drawn:
                    does = replace(drawn, start=did.start, end=did.end)
                    done = tuple(does if deed == did else deed for deed in old.deeds)
                    yield Change(kind, scene, old, replace(old, deeds=done), did, does)
        case "replace place":
            acting = {figure.thing for figure in scene.figures if figure.acts}
            able = (name for name in places() if name != scene.place and acting <= set(chain(*cast_at(name))))
            yield from (Change(kind, scene, place=name) for name in able)
        case "add actor":
            for name in (name for group in cast_at(scene.place) for name in rng.sample(group, min(TRIES, len(group)))):
                new = Figure(name, draw_colour(name, rng))
                drawn = sample_deed("main", len(cast), [*cast, name], scene.place, rng)
                if drawn and _is_one(new):
                    yield Change(kind, scene, new=replace(new, deeds=(drawn,)), does=drawn)
        case "add prop":
            for name in (*props_at(scene.place, scene.night), *rng.sample(anywhere(), TRIES)):
                if things()[name].nouns[0].number != "many":  # "there is a ball", not "there are scissors"
                    yield Change(kind, scene, new=Figure(name, draw_colour(name, rng)))
        case "add accessory":
            wear = deeds()[WEAR]
            for old, worn in product(actors, sorted(wear.objects)):
                if old.thing in wear.who and not any(deed.verb == WEAR for deed in old.deeds):
                    does = Deed(WEAR, worn, old.enters, old.leaves, draw_colour(worn, rng))
                    yield Change(kind, scene, old, replace(old, deeds=(*old.deeds, does)), does=does)
        case "remove actor":
            yield from (Change(kind, scene, old) for old in actors)
        case "remove activity":
            people = (old for old in actors if old.kind.role == "person")
            yield from (Change(kind, scene, old, did=did) for old in people for did in _done(old))
        case "remove accessory":
            for old, did in ((each, deed) for each in actors for deed in each.deeds if deed.verb == WEAR):
                kept = tuple(deed for deed in old.deeds if deed != did)
                yield Change(kind, scene, old, replace(old, deeds=kept), did)
        case "remove prop":
            yield from (Change(kind, scene, old) for old in scene.figures if not old.acts and old.count == 1)


def fields_of(scene: Scene, change: Change, rng: random.Random) -> dict[str, str]:
    """Draw words for everything that a wording of a change may name."""
    fields = {"here": rng.choice(places()[scene.place].phrases)}
    if change.place:
        fields["there"] = rng.choice(places()[change.place].phrases)
    for name, figure in (("old", change.old), ("new", change.new)):
        if figure:
            noun = _noun(figure.thing, rng)
            fields |= {name: noun.word, f"a_{name}": noun.with_article()}
    if change.did:
        phrase = _deed(change.did, scene, rng)
        fields |= {"did": conjugate(phrase, "{ing}"), "was_doing": phrase}
    if change.does:
        phrase = _deed(change.does, scene, rng)
        fields |= {"doing": conjugate(phrase, "{ing}"), "does": conjugate(phrase, "{s}")}
    if thing := _thing(change):
        noun = _noun(thing, rng)
        fields |= {"thing": noun.with_article(), "bare": noun.word, "the_thing": f"the {noun.word}"}
    return fields


def _noun(thing: str, rng: random.Random) -> Noun:
    """Draw a word that names exactly what the usual one does, and is read so: "ice cube", as "ice" is a place."""
    while read_claim((noun := draw_noun(things()[thing], rng)).word) != Claim((Who(named(thing)),)):
        pass
    return noun


def _deed(deed: Deed, scene: Scene, rng: random.Random) -> str:
    """Draw words for a deed, with the verb as a lemma, that claim what a change does."""
    while (drawn := draw_deed(deed, scene.figures, rng, named=True))[1] != _act(deed, scene):
        pass
    return drawn[0]


def _thing(change: Change) -> str:
    """Return the thing or garment of a change; empty if it has none."""
    worn = change.does if change.kind == "add accessory" else change.did if change.kind == "remove accessory" else None
    figure = change.new or change.old
    return str(worn.object) if worn else figure.thing if figure and change.kind.endswith("prop") else ""
