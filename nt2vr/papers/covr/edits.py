"""Changes of a scene for covr: one figure, its action or the place replaced, added or removed; and what matches."""

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice, product
from random import Random
from types import MappingProxyType

from nt2vr.negation.generate.modifications import CHANGE_KINDS, ChangeKind, Modification, modify
from nt2vr.world.casting import anywhere, cast_at, draw_colour, props_at, sample_action
from nt2vr.world.claims import Act, Claim, SubjectClaim
from nt2vr.world.reader import read_claim
from nt2vr.world.sampling import stream_scenes
from nt2vr.world.scenes import Action, Figure, Scene, SceneSplit, is_valid
from nt2vr.world.things import WEAR, Names, Noun, actions, places, things
from nt2vr.world.wording import conjugate, draw_action, draw_noun, meanings

# Actions drawn per changed one, and new actors per kind.
TRIES = 8


@dataclass(frozen=True)
class Change:
    """One thing that is different; fields that do not apply are empty.

    Attributes:
        kind: "remove activity" removes the actor, named by its activity.
        did: what `old` did, or wore.
        place: the new one.
    """

    kind: ChangeKind
    before: Scene
    old: Figure | None = None
    new: Figure | None = None
    did: Action | None = None
    does: Action | None = None
    place: str = ""

    def applied(self, scene: Scene) -> Scene:
        """Return the scene with the change, and without the things that are not found at its place."""
        if self.place:
            return self._moved(scene)
        if self.old and self.new:
            return scene.swapped(self.old, self.new)
        if self.new:
            return replace(scene, figures=(*scene.figures, self.new))
        assert self.old, "only a removal is left"
        return _without(scene, {self.old.thing})

    def _moved(self, scene: Scene) -> Scene:
        night = scene.night and not places()[self.place].indoors
        usual = {*anywhere(), *props_at(self.place, night)}
        strange = set()
        for figure in scene.figures:
            if not figure.is_actor and figure.thing not in usual:
                strange.add(figure.thing)
        return _without(replace(scene, place=self.place, night=night), strange)

    @property
    def added(self) -> Claim | None:
        """Claim of the addition; None for a removal."""
        if self.place:
            return Claim(places=frozenset((self.place,)))
        if self.new is None or self.kind == "remove accessory":
            return None
        acts = (_act(self.does, self.before),) if self.does else ()
        return Claim((SubjectClaim(named(self.new.thing), acts),))

    @property
    def removed(self) -> Claim | None:
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


def _act(action: Action, scene: Scene) -> Act:
    name = scene.object_of(action)
    objects = named(name) if name else frozenset[str]()
    slot = "targets" if isinstance(action.object, int) else "objects"
    return Act(frozenset((action.verb,)), **{slot: objects})  # type: ignore[arg-type]


def _without(scene: Scene, things_gone: Collection[str]) -> Scene:
    """Leave figures out. Who does something to one of them would do it to itself, which is never possible."""
    remaining = []
    for number, figure in enumerate(scene.figures):
        if figure.thing not in things_gone:
            remaining.append(number)
    new_numbers = {old: new for new, old in enumerate(remaining)}

    figures = []
    for itself, number in enumerate(remaining):
        actions = []
        for action in scene.figures[number].actions:
            if isinstance(action.object, int):
                actions.append(replace(action, object=new_numbers.get(action.object, itself)))
            else:
                actions.append(action)
        figures.append(replace(scene.figures[number], actions=tuple(actions)))
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
    after = change.applied(scene)
    if not possible(after):
        return False
    added = change.added
    if added and added.holds(scene):
        return False
    removed = change.removed
    if removed and (removed.holds(after) or not removed.holds(scene)):
        return False
    if change.old is None:
        return True
    names = named(change.old.thing)
    return not any(
        figure.thing in names for figure in scene.figures if figure.thing != change.old.thing
    )


def _is_one(figure: Figure) -> bool:
    """Return whether a text can call it "the dog"."""
    return figure.count == 1 and figure.kind.nouns[0].number == "one"


def _done(figure: Figure) -> list[Action]:
    """Return what a figure does, coming and going aside."""
    return [action for action in figure.actions if action.kind.layer == "main"]


def _actors(scene: Scene) -> list[Figure]:
    return [figure for figure in scene.actors if _is_one(figure)]


def _replace_subject(scene: Scene, rng: Random) -> Iterator[Change]:
    for old, name in product(_actors(scene), chain(*cast_at(scene.place))):
        if _done(old) and things()[name].role == old.kind.role:
            new = replace(old, thing=name, colour=draw_colour(name, rng))
            if _is_one(new):
                yield Change(
                    kind="replace subject",
                    before=scene,
                    old=old,
                    new=new,
                    does=_done(new)[0],
                )


def _replace_activity(scene: Scene, rng: Random) -> Iterator[Change]:
    cast = [figure.thing for figure in scene.figures]
    for old in _actors(scene):
        for did in _done(old):
            for _ in range(TRIES):
                number = cast.index(old.thing)
                drawn = sample_action("main", number, cast, scene.place, rng, but=did.verb)
                if drawn:
                    does = replace(drawn, start=did.start, end=did.end)
                    new = old.redone(did, does)
                    yield Change(
                        kind="replace activity",
                        before=scene,
                        old=old,
                        new=new,
                        did=did,
                        does=does,
                    )


def _replace_place(scene: Scene, _rng: Random) -> Iterator[Change]:
    acting = {figure.thing for figure in scene.actors}
    for name in places():
        if name != scene.place and acting <= set(chain(*cast_at(name))):
            yield Change("replace place", scene, place=name)


def _add_actor(scene: Scene, rng: Random) -> Iterator[Change]:
    cast = [figure.thing for figure in scene.figures]
    for group in cast_at(scene.place):
        for name in rng.sample(group, min(TRIES, len(group))):
            new = Figure(name, draw_colour(name, rng))
            does = sample_action(
                "main", number=len(cast), cast=[*cast, name], place=scene.place, rng=rng
            )
            if does and _is_one(new):
                yield Change(
                    kind="add actor",
                    before=scene,
                    new=replace(new, actions=(does,)),
                    does=does,
                )


def _add_prop(scene: Scene, rng: Random) -> Iterator[Change]:
    for name in (*props_at(scene.place, scene.night), *rng.sample(anywhere(), TRIES)):
        # "There is a ball", not "there are scissors".
        if things()[name].nouns[0].number != "many":
            yield Change("add prop", scene, new=Figure(name, draw_colour(name, rng)))


def _add_accessory(scene: Scene, rng: Random) -> Iterator[Change]:
    wear = actions()[WEAR]
    for old, worn in product(_actors(scene), sorted(wear.objects)):
        if old.thing in wear.subjects and all(action.verb != WEAR for action in old.actions):
            does = Action(
                verb=WEAR,
                object=worn,
                start=old.enters,
                end=old.leaves,
                colour=draw_colour(worn, rng),
            )
            new = replace(old, actions=(*old.actions, does))
            yield Change(
                kind="add accessory",
                before=scene,
                old=old,
                new=new,
                does=does,
            )


def _remove_actor(scene: Scene, _rng: Random) -> Iterator[Change]:
    for old in _actors(scene):
        yield Change("remove actor", scene, old)


def _remove_activity(scene: Scene, _rng: Random) -> Iterator[Change]:
    for old in _actors(scene):
        if old.kind.role == "person":
            for did in _done(old):
                yield Change(
                    kind="remove activity",
                    before=scene,
                    old=old,
                    did=did,
                )


def _remove_accessory(scene: Scene, _rng: Random) -> Iterator[Change]:
    for old in _actors(scene):
        for did in old.actions:
            if did.verb == WEAR:
                actions = tuple(action for action in old.actions if action != did)
                yield Change(
                    kind="remove accessory",
                    before=scene,
                    old=old,
                    new=replace(old, actions=actions),
                    did=did,
                )


def _remove_prop(scene: Scene, _rng: Random) -> Iterator[Change]:
    for old in scene.figures:
        if not old.is_actor and old.count == 1:
            yield Change("remove prop", scene, old)


# Each yields changes, possible or not.
_CHANGES: dict[ChangeKind, Callable[[Scene, Random], Iterator[Change]]] = {
    "replace subject": _replace_subject,
    "replace activity": _replace_activity,
    "replace place": _replace_place,
    "add actor": _add_actor,
    "add prop": _add_prop,
    "add accessory": _add_accessory,
    "remove actor": _remove_actor,
    "remove activity": _remove_activity,
    "remove accessory": _remove_accessory,
    "remove prop": _remove_prop,
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
        phrase = _action(change.did, scene, rng)
        fields |= {"did": conjugate(phrase, "{ing}"), "was_doing": phrase}
    if change.does:
        phrase = _action(change.does, scene, rng)
        fields |= {"doing": conjugate(phrase, "{ing}"), "does": conjugate(phrase, "{s}")}
    if thing := _thing(change):
        noun = _noun(thing, rng)
        fields |= {"thing": noun.with_article(), "bare": noun.word, "the_thing": f"the {noun.word}"}
    return fields


def _thing(change: Change) -> str:
    """Return the thing that is worn, or the prop, that a change is about; "" for other changes."""
    worn = change.does or change.did
    if change.kind.endswith("accessory") and worn:
        return str(worn.object)
    figure = change.new or change.old
    if change.kind.endswith("prop") and figure:
        return figure.thing
    return ""


def _noun(thing: str, rng: Random) -> Noun:
    """Draw a word that names exactly what the usual one does, and is read so: "ice cube", as "ice" is a place."""
    claim = Claim((SubjectClaim(named(thing)),))
    while True:
        noun = draw_noun(things()[thing], rng)
        if read_claim(noun.word) == claim:
            return noun


def _action(action: Action, scene: Scene, rng: Random) -> str:
    """Draw words for an action, with the verb as a lemma, that claim what a change does."""
    while True:
        phrase, act = draw_action(action, scene.figures, rng, was_named=True)
        if act == _act(action, scene):
            return phrase


TWO = "two changes"
EDIT_KINDS = (*CHANGE_KINDS, TWO)
# Right clips per query, and twins per reference, at least.
COPIES = 5


@dataclass(frozen=True)
class Requirements:
    """Requirements of a changed scene.

    Attributes:
        gist: its place and who does what; the rest is free.
        added: by the changes.
        removed: by them.
    """

    gist: Hashable
    added: tuple[Claim, ...]
    removed: tuple[Claim, ...]

    @classmethod
    def of(cls, scene: Scene, changes: Sequence[Change]) -> "Requirements":
        """Return the requirements of changes that led to `scene`."""
        added = tuple(filter(None, [change.added for change in changes]))
        removed = tuple(filter(None, [change.removed for change in changes]))
        return cls(scene.gist, added, removed)

    def holds(self, scene: Scene) -> bool:
        if scene.gist != self.gist or self.violated_by(scene):
            return False
        return all(claim.holds(scene) for claim in self.added)

    def violated_by(self, scene: Scene) -> bool:
        """Return whether a scene still shows something to be taken away."""
        return any(claim.holds(scene) for claim in self.removed)


@dataclass(frozen=True)
class Edit:
    """A change of a reference, or two, in words.

    Attributes:
        kind: one of EDIT_KINDS.
        unseen: whether its wording is not of training.
        scene: the changed reference.
        requirements: content of a right clip.
    """

    kind: str
    changes: tuple[Change, ...]
    modification: Modification
    unseen: bool
    scene: Scene
    requirements: Requirements

    @property
    def is_removal(self) -> bool:
        return self.kind.startswith("remove")


@dataclass(frozen=True)
class Family:
    """A reference and edits of it, all of one split."""

    reference: Scene
    edits: tuple[Edit, ...]

    @property
    def edited_scenes(self) -> list[Scene]:
        return [edit.scene for edit in self.edits]


def stream_families(
    split: SceneSplit,
    seed: int,
    unseen_share: float = 0.0,
    num_missing: Mapping[str, int] = MappingProxyType({}),
) -> Iterator[Family]:
    """Yield families of a split, endlessly, each with at most one edit per kind.

    Kinds of which `num_missing` says 0 are left out. A share of the texts is in wordings that
    training has not seen.
    """
    rng = Random(f"families {split}-{seed}")
    for reference in stream_scenes(split, seed):
        edits = []
        for kind in EDIT_KINDS:
            if num_missing.get(kind, 1) > 0:
                edits.append(_edit(reference, kind, split, unseen_share, rng))
        yield Family(reference, tuple(filter(None, edits)))


def choose_families(split: SceneSplit, per_kind: int, seed: int) -> list[Family]:
    """Choose families with `per_kind` edits of every kind, half of them in unseen wordings."""
    num_missing = dict.fromkeys(EDIT_KINDS, per_kind)
    stream = stream_families(split, seed, unseen_share=0.5, num_missing=num_missing)
    families = []
    while any(num_missing.values()):
        family = next(stream)
        if family.edits:
            families.append(family)
        for edit in family.edits:
            num_missing[edit.kind] -= 1
    return families


def training_families(count: int, seed: int) -> list[Family]:
    return list(islice(stream_families("train", seed), count))


def ask_for(
    scene: Scene, changes: Iterable[Change], rng: Random, unseen: bool = False
) -> Modification:
    """Write a text that asks for one or two changes of a scene, in wordings of training or in unseen ones."""
    fields = ((change.kind, fields_of(scene, change, rng)) for change in changes)
    return modify(fields, rng, unseen)


def two_changes(scene: Scene, rng: Random) -> Iterator[tuple[Change, Change]]:
    """Yield pairs of changes of different kinds, to different things, that lead to possible scenes."""
    earlier_changes: list[Change] = []
    for kind in rng.sample(CHANGE_KINDS, len(CHANGE_KINDS)):
        change = next(changes_of(scene, kind, rng), None)
        if change is None:
            continue
        for earlier in earlier_changes:
            if rng.random() < 0.5:
                pair = (change, earlier)
            else:
                pair = (earlier, change)
            is_same_figure = change.old is not None and change.old == earlier.old
            after = changed(scene, pair)
            if not is_same_figure and possible(after) and Requirements.of(after, pair).holds(after):
                yield pair
        earlier_changes.append(change)


def copies(scene: Scene, count: int) -> list[Scene]:
    """Return the scene in `count` other looks."""
    rng = Random(f"copies {scene.seed}")
    return [replace(scene, seed=rng.getrandbits(32)) for _ in range(count)]


def gallery_of(families: Sequence[Family], count: int = COPIES) -> list[Scene]:
    """Return the clips that are searched: `count` twins of each reference, and as many looks of each edit."""
    clips = []
    for family in families:
        for scene in (family.reference, *family.edited_scenes):
            clips += copies(scene, count)
    return clips


def changed(scene: Scene, changes: Iterable[Change]) -> Scene:
    """Return the scene with all changes; what leaves figures out comes last: it renumbers them."""
    for change in sorted(changes, key=_leaves_figures_out):
        scene = change.applied(scene)
    return scene


def _leaves_figures_out(change: Change) -> bool:
    return change.kind.startswith(("remove", "replace place"))


def _edit(
    reference: Scene, kind: str, split: SceneSplit, unseen_share: float, rng: Random
) -> Edit | None:
    unseen = rng.random() < unseen_share
    for changes in _changes_of_edit(reference, kind, rng):
        scene = replace(changed(reference, changes), seed=rng.getrandbits(32))
        if scene.split == split:
            text = ask_for(reference, changes, rng, unseen)
            return Edit(
                kind=kind,
                changes=changes,
                modification=text,
                unseen=unseen,
                scene=scene,
                requirements=Requirements.of(scene, changes),
            )
    return None


def _changes_of_edit(reference: Scene, kind: str, rng: Random) -> Iterator[tuple[Change, ...]]:
    if kind == TWO:
        yield from two_changes(reference, rng)
        return
    for change in changes_of(reference, kind, rng):  # type: ignore[arg-type]
        yield (change,)


class WishTable:
    """`Requirements.holds` for all scenes of a gallery at once."""

    def __init__(self, scenes: Sequence[Scene]) -> None:
        self._scenes = scenes
        self._rows: dict[Hashable, list[int]] = defaultdict(list)
        for row, scene in enumerate(scenes):
            self._rows[scene.gist].append(row)

    def right(self, requirements: Requirements) -> list[int]:
        rows = self._rows.get(requirements.gist, ())
        return [row for row in rows if requirements.holds(self._scenes[row])]

    def violating(self, requirements: Requirements) -> list[int]:
        """Return the rows of the scenes that still show something to be taken away."""
        return [row for row, scene in enumerate(self._scenes) if requirements.violated_by(scene)]
