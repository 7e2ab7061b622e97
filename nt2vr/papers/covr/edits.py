"""Changes of a scene for covr: a single figure, its deed or the place replaced, added or removed; and what matches."""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product
from random import Random
from types import MappingProxyType

from nt2vr.negation.generate.wordings import CHANGE_KINDS, ChangeKind, Modification, modify
from nt2vr.world.casting import anywhere, cast_at, draw_colour, props_at, sample_deed
from nt2vr.world.claims import Act, Claim, SubjectClaim
from nt2vr.world.reader import read_claim
from nt2vr.world.sampling import stream_scenes
from nt2vr.world.scenes import Deed, Figure, Scene, SceneSplit, is_valid
from nt2vr.world.things import WEAR, Names, Noun, deeds, places, things
from nt2vr.world.wording import conjugate, draw_deed, draw_noun, meanings

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
            strange = [
                figure
                for figure in scene.figures
                if not figure.is_actor and figure.thing not in found
            ]
            return _without(replace(scene, place=self.place, night=night), strange)
        if self.old and self.new:
            return scene.swapped(self.old, self.new)
        return (
            replace(scene, figures=(*scene.figures, self.new))
            if self.new
            else _without(scene, [self.old])
        )

    @property
    def shown(self) -> Claim | None:
        """Claim of the addition; None for a removal."""
        if self.place:
            return Claim(places=frozenset((self.place,)))
        if self.new is None or self.kind == "remove accessory":
            return None
        return Claim(
            (
                SubjectClaim(
                    named(self.new.thing), (_act(self.does, self.before),) if self.does else ()
                ),
            )
        )

    @property
    def gone(self) -> Claim | None:
        """Claim of the removal; None for an addition."""
        match self.kind:
            case "remove accessory" if self.did:
                return Claim((SubjectClaim(_act(self.did, self.before).objects),))
            case "replace activity" | "remove activity" if self.did:
                return Claim((SubjectClaim(acts=(_act(self.did, self.before),)),))
            case "replace subject" | "remove actor" | "remove prop" if self.old:
                return Claim((SubjectClaim(named(self.old.thing)),))
        return None


def named(thing: str) -> Names:
    """Return all that the usual word for a thing names: "man" an old man too."""
    return meanings()[things()[thing].nouns[0].word]


def _act(deed: Deed, scene: Scene) -> Act:
    name = scene.object_of(deed)
    objects = named(name) if name else frozenset[str]()
    slot = "targets" if isinstance(deed.object, int) else "objects"
    return Act(frozenset((deed.verb,)), **{slot: objects})  # type: ignore[arg-type]


def _without(scene: Scene, gone: Sequence[Figure | None]) -> Scene:
    """Leave figures out. Who does something to one of them would do it to itself, which is never possible."""
    things_gone = {figure.thing for figure in gone if figure}
    left = [
        number for number, figure in enumerate(scene.figures) if figure.thing not in things_gone
    ]
    moved, figures = {number: place for place, number in enumerate(left)}, []
    for number in left:
        done = (
            replace(deed, object=moved.get(deed.object, moved[number]))
            if isinstance(deed.object, int)
            else deed
            for deed in scene.figures[number].deeds
        )
        figures.append(replace(scene.figures[number], deeds=tuple(done)))
    return replace(scene, figures=tuple(figures))


def possible(scene: Scene) -> bool:
    return is_valid(scene) and bool(scene.actors)


def changes_of(scene: Scene, kind: ChangeKind, rng: Random) -> Iterator[Change]:
    """Yield changes of a kind that lead to possible scenes, in random order.

    What a change takes away is in the scene once, so that its words are unambiguous; what it adds
    is new to the scene.
    """
    candidates = list(_CHANGES[kind](scene, rng))
    rng.shuffle(candidates)
    yield from (change for change in candidates if _is_clear(change, scene))


def _is_clear(change: Change, scene: Scene) -> bool:
    after, old = change.applied(scene), change.old
    return (
        possible(after)
        and not (change.shown and change.shown.holds(scene))
        and not (change.gone and (change.gone.holds(after) or not change.gone.holds(scene)))
        and not (
            old
            and any(
                each.thing in named(old.thing) for each in scene.figures if each.thing != old.thing
            )
        )
    )


def _is_one(figure: Figure) -> bool:
    """Return whether a text can call it "the dog"."""
    return figure.count == 1 and figure.kind.nouns[0].number == "one"


def _done(figure: Figure) -> list[Deed]:
    """Return what a figure does, coming and going aside."""
    return [deed for deed in figure.deeds if deed.kind.layer == "main"]


def _actors(scene: Scene) -> list[Figure]:
    return [figure for figure in scene.actors if _is_one(figure)]


def _replace_subject(scene: Scene, rng: Random) -> Iterator[Change]:
    for old, name in product(_actors(scene), chain(*cast_at(scene.place))):
        if _done(old) and things()[name].role == old.kind.role:
            new = replace(old, thing=name, colour=draw_colour(name, rng))
            if _is_one(new):
                yield Change("replace subject", scene, old, new, does=_done(new)[0])


def _replace_activity(scene: Scene, rng: Random) -> Iterator[Change]:
    cast = [figure.thing for figure in scene.figures]
    for old, did in (
        (each, deed) for each in _actors(scene) for deed in _done(each) for _ in range(TRIES)
    ):
        drawn = sample_deed("main", cast.index(old.thing), cast, scene.place, rng, did.verb)
        if drawn:
            does = replace(drawn, start=did.start, end=did.end)
            yield Change("replace activity", scene, old, old.redone(did, does), did, does)


def _replace_place(scene: Scene, _rng: Random) -> Iterator[Change]:
    acting = {figure.thing for figure in scene.actors}
    able = (
        name for name in places() if name != scene.place and acting <= set(chain(*cast_at(name)))
    )
    return (Change("replace place", scene, place=name) for name in able)


def _add_actor(scene: Scene, rng: Random) -> Iterator[Change]:
    cast = [figure.thing for figure in scene.figures]
    for name in (
        name for group in cast_at(scene.place) for name in rng.sample(group, min(TRIES, len(group)))
    ):
        new = Figure(name, draw_colour(name, rng))
        drawn = sample_deed("main", len(cast), [*cast, name], scene.place, rng)
        if drawn and _is_one(new):
            yield Change("add actor", scene, new=replace(new, deeds=(drawn,)), does=drawn)


def _add_prop(scene: Scene, rng: Random) -> Iterator[Change]:
    for name in (*props_at(scene.place, scene.night), *rng.sample(anywhere(), TRIES)):
        if things()[name].nouns[0].number != "many":  # "there is a ball", not "there are scissors"
            yield Change("add prop", scene, new=Figure(name, draw_colour(name, rng)))


def _add_accessory(scene: Scene, rng: Random) -> Iterator[Change]:
    wear = deeds()[WEAR]
    for old, worn in product(_actors(scene), sorted(wear.objects)):
        if old.thing in wear.subjects and all(deed.verb != WEAR for deed in old.deeds):
            does = Deed(WEAR, worn, old.enters, old.leaves, draw_colour(worn, rng))
            yield Change(
                "add accessory", scene, old, replace(old, deeds=(*old.deeds, does)), does=does
            )


def _remove_activity(scene: Scene, _rng: Random) -> Iterator[Change]:
    people = (old for old in _actors(scene) if old.kind.role == "person")
    return (Change("remove activity", scene, old, did=did) for old in people for did in _done(old))


def _remove_accessory(scene: Scene, _rng: Random) -> Iterator[Change]:
    for old, did in (
        (each, deed) for each in _actors(scene) for deed in each.deeds if deed.verb == WEAR
    ):
        kept = tuple(deed for deed in old.deeds if deed != did)
        yield Change("remove accessory", scene, old, replace(old, deeds=kept), did)


_CHANGES: dict[ChangeKind, Callable[[Scene, Random], Iterator[Change]]] = {  # possible or not
    "replace subject": _replace_subject,
    "replace activity": _replace_activity,
    "replace place": _replace_place,
    "add actor": _add_actor,
    "add prop": _add_prop,
    "add accessory": _add_accessory,
    "remove actor": lambda scene, _: (Change("remove actor", scene, old) for old in _actors(scene)),
    "remove activity": _remove_activity,
    "remove accessory": _remove_accessory,
    "remove prop": lambda scene, _: (
        Change("remove prop", scene, old)
        for old in scene.figures
        if not old.is_actor and old.count == 1
    ),
}


def fields_of(scene: Scene, change: Change, rng: Random) -> dict[str, str]:
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


def _thing(change: Change) -> str:
    worn, figure = change.does or change.did, change.new or change.old
    if change.kind.endswith("accessory") and worn:
        return str(worn.object)
    return figure.thing if change.kind.endswith("prop") and figure else ""


def _noun(thing: str, rng: Random) -> Noun:
    """Draw a word that names exactly what the usual one does, and is read so: "ice cube", as "ice" is a place."""
    while read_claim((noun := draw_noun(things()[thing], rng)).word) != Claim(
        (SubjectClaim(named(thing)),)
    ):
        pass
    return noun


def _deed(deed: Deed, scene: Scene, rng: Random) -> str:
    """Draw words for a deed, with the verb as a lemma, that claim what a change does."""
    while (drawn := draw_deed(deed, scene.figures, rng, was_named=True))[1] != _act(deed, scene):
        pass
    return drawn[0]


TWO = "two changes"
EDIT_KINDS = (*CHANGE_KINDS, TWO)
COPIES = 5  # right clips per query, and twins per reference, at least


@dataclass(frozen=True)
class Requirements:
    """Requirements of a changed scene: its gist, which is its place and who does what; the rest is free."""

    gist: Hashable
    shown: tuple[Claim, ...]  # added by the changes
    gone: tuple[Claim, ...]  # taken away by them

    @classmethod
    def of(cls, scene: Scene, changes: Sequence[Change]) -> "Requirements":
        """Return the requirements of changes that led to `scene`."""
        shown, gone = [change.shown for change in changes], [change.gone for change in changes]
        return cls(scene.gist, tuple(filter(None, shown)), tuple(filter(None, gone)))

    def holds(self, scene: Scene) -> bool:
        shown = scene.gist == self.gist and all(claim.holds(scene) for claim in self.shown)
        return shown and not self.violated_by(scene)

    def violated_by(self, scene: Scene) -> bool:
        """Return whether a scene still shows something to be taken away."""
        return any(claim.holds(scene) for claim in self.gone)


@dataclass(frozen=True)
class Edit:
    kind: str  # one of EDIT_KINDS
    changes: tuple[Change, ...]  # one or two
    modification: Modification
    unseen: bool  # its wording is not of training
    scene: Scene  # the changed reference
    requirements: Requirements  # content of a right clip


@dataclass(frozen=True)
class Family:
    """A reference and edits of it, all of one split."""

    reference: Scene
    edits: tuple[Edit, ...]


def stream_families(
    split: SceneSplit,
    seed: int,
    unseen_share: float = 0.0,
    left: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[Family]:
    """Yield families of a split, endlessly, each with at most one edit per kind, if there are `left` to make of it.

    A share of the texts is in wordings that training has not seen.
    """
    rng = Random(f"families {split}-{seed}")
    for reference in stream_scenes(split, seed):
        kinds = (kind for kind in EDIT_KINDS if left.get(kind, 1) > 0)
        edits = (_edit(reference, kind, split, unseen_share, rng) for kind in kinds)
        yield Family(reference, tuple(filter(None, edits)))


def choose_families(split: SceneSplit, per_kind: int, seed: int) -> list[Family]:
    """Choose families with `per_kind` edits of every kind, half of them in unseen wordings."""
    left, families = dict.fromkeys(EDIT_KINDS, per_kind), list[Family]()
    stream = stream_families(split, seed, 0.5, left)
    while any(left.values()):
        family = next(stream)
        for edit in family.edits:
            left[edit.kind] -= 1
        families += [family] if family.edits else []
    return families


def training_families(count: int, seed: int) -> list[Family]:
    return list(islice(stream_families("train", seed), count))


def ask_for(
    scene: Scene, changes: Iterable[Change], rng: Random, unseen: bool = False
) -> Modification:
    """Write a text that asks for one or two changes of a scene, in wordings of training or in unseen ones."""
    return modify(((each.kind, fields_of(scene, each, rng)) for each in changes), rng, unseen)


def two_changes(scene: Scene, rng: Random) -> Iterator[tuple[Change, Change]]:
    """Yield pairs of changes of different kinds, to different things, that lead to possible scenes."""
    kinds, found = rng.sample(CHANGE_KINDS, len(CHANGE_KINDS)), list[Change]()
    for change in filter(None, (next(changes_of(scene, kind, rng), None) for kind in kinds)):
        for other in found:
            pair = (change, other) if rng.random() < 0.5 else (other, change)
            after = changed(scene, pair)
            apart = change.old is None or change.old != other.old
            if apart and possible(after) and Requirements.of(after, pair).holds(after):
                yield pair
        found.append(change)


def copies(scene: Scene, count: int) -> list[Scene]:
    """Return the scene in `count` other looks."""
    rng = Random(f"copies {scene.seed}")
    return [replace(scene, seed=rng.getrandbits(32)) for _ in range(count)]


def gallery_of(families: Sequence[Family], count: int = COPIES) -> list[Scene]:
    """Return the clips that are searched: `count` twins of each reference, and as many looks of each edit."""
    scenes = (
        scene
        for family in families
        for scene in (family.reference, *(edit.scene for edit in family.edits))
    )
    return [copy for scene in scenes for copy in copies(scene, count)]


def changed(scene: Scene, changes: Iterable[Change]) -> Scene:
    """Return the scene with all changes; what leaves figures out comes last: it renumbers them."""
    for change in sorted(
        changes, key=lambda each: each.kind.startswith(("remove", "replace place"))
    ):
        scene = change.applied(scene)
    return scene


def _edit(
    reference: Scene, kind: str, split: SceneSplit, unseen_share: float, rng: Random
) -> Edit | None:
    unseen = rng.random() < unseen_share
    singles = ((change,) for change in changes_of(reference, kind, rng))  # type: ignore[arg-type]
    for changes in two_changes(reference, rng) if kind == TWO else singles:
        scene = replace(changed(reference, changes), seed=rng.getrandbits(32))
        if scene.split == split:
            requirements = Requirements.of(scene, changes)
            return Edit(
                kind, changes, ask_for(reference, changes, rng, unseen), unseen, scene, requirements
            )
    return None


class WishTable:
    """`Requirements.holds` for all scenes of a gallery at once."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes, self._rows = scenes, defaultdict[Hashable, list[int]](list)
        for row, scene in enumerate(scenes):
            self._rows[scene.gist].append(row)

    def right(self, requirements: Requirements) -> list[int]:
        return [
            row
            for row in self._rows.get(requirements.gist, ())
            if requirements.holds(self._scenes[row])
        ]
