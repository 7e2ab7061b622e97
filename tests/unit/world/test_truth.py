"""Claims, captions and denials of the built-in world are true of the right scenes."""

import random
from collections.abc import Iterator
from functools import cache
from itertools import combinations, permutations, product
from typing import Any, Literal

import pytest

from nt2vr.world.captions import describe
from nt2vr.world.claims import Act, ActOrder, Claim, SceneTable, SubjectClaim, visible_in
from nt2vr.world.negated_captions import negate
from nt2vr.world.reader import read_asked, read_claim
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scene_denials import SceneDenialKind
from nt2vr.world.scenes import Action, Figure, Scene, is_valid
from nt2vr.world.sentences import SceneDenials
from nt2vr.world.things import meanings
from tests.support.scene_truth import fits

KINDS: tuple[SceneDenialKind, ...] = ("composed", "without", "list", "not", "except", "place")
MAN = Figure(
    "man", "red", actions=(Action("eat", "apple", 0, 0.5), Action("play", "guitar", 0.5, 1, "blue"))
)
DOGS = Figure("dog", "black", "big", 2, (Action("chase", 2),))
CAT = Figure("cat", "white", actions=(Action("run", None, 0.25, 1),), enters=0.25)
SCENE = Scene("forest", False, (MAN, DOGS, CAT), 1)


@cache
def scenes() -> list[Scene]:
    return sample_scenes("train", 500, seed=5)


def names(word: str) -> frozenset[str]:
    return meanings()[word]


def shows(word: str, *acts: Act, **details: Any) -> Claim:
    """Return the claim that there is such a figure or thing, which does all of this."""
    return Claim((SubjectClaim(names(word), acts, **details),))


def act(verb: str, word: str = "", **details: Any) -> Act:
    things = names(word) if word else frozenset[str]()
    return Act(frozenset((verb,)), things, **details)


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (shows("man", colour="red"), True),
        (shows("man", colour="blue"), False),
        (shows("person", act("eat", "fruit")), True),
        (shows("person", act("eat", "vegetable")), False),
        (shows("guitar", colour="blue"), True),
        (shows("instrument"), True),
        (shows("dog", least=2, most=2, size="big"), True),
        (shows("dog", least=3, most=3), False),
        # Two dogs and a cat.
        (shows("animal", least=3, most=3), True),
        (shows("animal", least=2), True),
        (shows("cat", least=2), False),
        # The trees of the backdrop.
        (shows("tree", least=2), True),
        (shows("dog", act("chase", targets=names("cat"))), True),
        (shows("dog", act("chase", targets=names("man"))), False),
        (shows("cat", act("enter")), True),
        (shows("man", act("enter")), False),
        (shows("man", act("eat", part="start")), True),
        (shows("man", act("eat", part="end")), False),
        # There is one person.
        (Claim((SubjectClaim(names("man")), SubjectClaim(names("person")))), False),
        (Claim(places=frozenset({"forest"}), night=False), True),
        (Claim(places=frozenset({"beach"})), False),
        (Claim(night=True), False),
    ],
)
def test_a_claim_holds_exactly_if_the_scene_shows_it(claim: Claim, holds: bool) -> None:
    assert is_valid(SCENE)
    assert claim.holds(SCENE) is holds


@pytest.mark.parametrize(
    ("first", "kind", "second", "holds"),
    [
        ("man eat", "before", "man play", True),
        ("man play", "before", "man eat", False),
        ("man eat", "while", "man play", False),
        ("man eat", "while", "cat run", True),
        ("cat enter", "before", "man play", True),
        ("cat run", "before", "man play", False),
    ],
)
def test_order_in_time_is_judged(
    first: str, kind: Literal["before", "while"], second: str, holds: bool
) -> None:
    acts: dict[str, list[Act]] = {"man": [], "cat": []}
    # The numbers of the subject and of its act.
    places = []
    for name, verb in (first.split(), second.split()):
        places.append((list(acts).index(name), len(acts[name])))
        acts[name].append(act(verb))
    subjects = tuple(SubjectClaim(names(name), tuple(acts[name])) for name in acts)
    order = ActOrder(places[0], places[1], kind)
    assert Claim(subjects, orders=(order,)).holds(SCENE) is holds


class SlowJudge:
    """Judges a claim by trying everything: every set of figures for every subject."""

    def __init__(self, claim: Claim, scene: Scene) -> None:
        self._claim = claim
        self._scene = scene
        self._seen = visible_in(scene)

    def holds(self) -> bool:
        if self._claim.places and self._scene.place not in self._claim.places:
            return False
        if self._claim.night is not None and self._claim.night != self._scene.night:
            return False

        sets: list[set[int]] = []
        for size in (1, 2, 3):
            sets += map(set, combinations(range(len(self._seen)), size))
        per_subject = []
        for subject in self._claim.subjects:
            per_subject.append([chosen for chosen in sets if self._fits(subject, chosen)])
        return any(self._is_in_order(cast) for cast in self._casts(per_subject))

    def _fits(self, subject: SubjectClaim, chosen: set[int]) -> bool:
        total = sum(self._seen[row].count for row in chosen)
        if subject.least == 1:
            number_fits = len(chosen) == 1
        else:
            number_fits = subject.least <= total <= subject.most
        return number_fits and all(subject.fits(self._seen[row], self._scene) for row in chosen)

    def _casts(self, per_subject: list[list[set[int]]]) -> Iterator[tuple[set[int], ...]]:
        """Yield all ways to give each subject a set, so that no figure is in two."""
        for cast in product(*per_subject):
            if sum(map(len, cast)) == len(set().union(*cast)):
                yield cast

    def _is_in_order(self, cast: tuple[set[int], ...]) -> bool:
        return all(self._holds_order(order, cast) for order in self._claim.orders)

    def _holds_order(self, order: ActOrder, cast: tuple[set[int], ...]) -> bool:
        for first_start, first_end in self._times(order.first, cast):
            for second_start, second_end in self._times(order.second, cast):
                if order.kind == "before":
                    is_so = first_end <= second_start
                else:
                    is_so = max(first_start, second_start) < min(first_end, second_end)
                if is_so:
                    return True
        return False

    def _times(
        self, place: tuple[int, int], cast: tuple[set[int], ...]
    ) -> list[tuple[float, float]]:
        """Return when the figures of a subject do an act of it; a place is a subject's and an act's number."""
        subject, act_number = place
        act = self._claim.subjects[subject].acts[act_number]
        times = []
        for row in cast[subject]:
            for doing in self._seen[row].doings:
                if act.fits(doing, self._scene):
                    times.append((doing.start, doing.end))
        return times


def slowly_holds(claim: Claim, scene: Scene) -> bool:
    return SlowJudge(claim, scene).holds()


def test_scenes_are_valid_and_survive_json() -> None:
    for scene in scenes():
        assert is_valid(scene)
        assert Scene.from_dict(scene.to_dict()) == scene
        # As version 0.2.0 wrote it.
        assert Scene.from_dict(scene.key_data) == scene
    orders = {Scene("forest", False, figures, 1).content for figures in permutations((MAN, CAT))}
    assert len(orders) == 1


def test_captions_are_true_and_agree_with_a_slow_twin() -> None:
    rng = random.Random(2)
    claims = []
    for scene in scenes():
        claim = describe(scene, rng).claim
        assert claim.holds(scene)
        assert slowly_holds(claim, scene)
        claims.append(claim)
    for claim, scene in zip(claims, scenes()[1:], strict=False):
        assert claim.holds(scene) == slowly_holds(claim, scene)


def test_the_table_agrees_with_single_judgements() -> None:
    table = SceneTable(scenes())
    rng = random.Random(4)
    for scene in scenes()[:40]:
        claim = describe(scene, rng).claim
        assert table.holding(claim).tolist() == [claim.holds(scene) for scene in scenes()]
    for claim in (
        shows("animal"),
        Claim((SubjectClaim(acts=(act("run"),)),)),
        Claim(),
    ):
        assert table.holding(claim).tolist() == [claim.holds(scene) for scene in scenes()]


@pytest.mark.parametrize("kind", KINDS)
def test_denials_fit_their_scene_and_not_the_unwanted(kind: SceneDenialKind) -> None:
    sentences = SceneDenials(scenes())
    rng = random.Random(7)
    for row in range(0, len(scenes()), 5):
        sentence = sentences.draw(row, kind, rng)
        assert fits(sentence, scenes()[row])
        assert sentences.fitting(sentence)[row]
        assert not sentences.showing_unwanted(sentence)[row]
        (rows_of_both,) = sentences.showing_both(sentence).nonzero()
        for row_of_both in rows_of_both[:9]:
            assert not fits(sentence, scenes()[row_of_both])


def test_a_negated_caption_is_false_and_its_rest_true() -> None:
    sentences = SceneDenials(scenes())
    rows = range(0, len(scenes()), 3)
    for row in rows:
        sentence = sentences.negated(row, random.Random(row))
        negation = negate(describe(scenes()[row], random.Random(row)))
        if not negation:
            assert sentence is None
            continue
        assert sentence is not None
        assert sentence in negation
        assert sentence.wanted_claim.holds(scenes()[row]), sentence.text
        assert not fits(sentence, scenes()[row]), sentence.text
    drawn = [sentences.draw(row, "negated", random.Random(row)) for row in rows]
    assert sum(sentence.kind == "negated" for sentence in drawn) > 0.95 * len(rows)


def test_an_idiom_denies_nothing() -> None:
    sentences = SceneDenials(scenes())
    rng = random.Random(9)
    for row in range(200):
        sentence = sentences.draw(row, "idiom", rng)
        # A scene that no idiom fits gets a denial of another kind.
        if sentence.kind == "idiom":
            assert fits(sentence, scenes()[row])
            assert not sentence.unwanted


def test_a_colour_after_in_is_worn() -> None:
    with_couch = read_claim("a man in green with a couch")
    assert with_couch is not None
    assert [(who.colour, "sofa" in who.names) for who in with_couch.subjects] == [
        ("green", False),
        ("", True),
    ]
    assert read_claim("a man dancing, then wearing a red shirt") is None


def test_asking_for_two_dogs_excludes_one() -> None:
    one_dog = Scene("park", False, (Figure("dog"),), 1)
    dogs = read_asked("dogs")
    two_dogs = read_asked("two dogs")
    assert dogs is not None
    assert two_dogs is not None
    assert dogs.holds(one_dog)
    assert not two_dogs.holds(one_dog)


@pytest.mark.parametrize(
    ("phrase", "holds", "holds_once_dressed"),
    [
        ("a crown", False, True),
        ("a queen with a hat", False, False),
        ("a wizard wearing a blue hat", False, True),
        ("a red hat", False, False),
        # Helmets are red, but the picture's is yellow.
        ("a red helmet", False, False),
    ],
)
def test_what_a_picture_wears_counts_once_a_scene_is_dressed(
    phrase: str, holds: bool, holds_once_dressed: bool
) -> None:
    queen = Figure("princess")
    wizard = Figure("wizard", enters=0.5)
    builder = Figure("man construction worker")
    scene = Scene("stage", False, (queen, wizard, builder))
    assert is_valid(scene)
    claim = read_asked(phrase)
    assert claim is not None
    assert claim.holds(scene) is holds
    assert claim.holds(scene.dressed) is holds_once_dressed
