"""Claims, captions and denials of the built-in world are true of the right scenes."""

import random
from collections.abc import Iterator
from functools import cache
from itertools import combinations, permutations, product

import pytest

from nt2vr.world.captions import describe
from nt2vr.world.claims import Act, ActOrder, Claim, SceneTable, SubjectClaim, visible_in
from nt2vr.world.negated_captions import negate
from nt2vr.world.reader import read_asked, read_claim
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scene_denials import SceneDenialKind
from nt2vr.world.scenes import Action, Figure, Scene, is_valid
from nt2vr.world.sentences import SceneDenials
from nt2vr.world.wording import meanings
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


def act(verb: str, word: str = "", **more: object) -> Act:
    return Act(frozenset((verb,)), names(word) if word else frozenset(), **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("claim", "holds"),
    [
        (Claim((SubjectClaim(names("man"), colour="red"),)), True),
        (Claim((SubjectClaim(names("man"), colour="blue"),)), False),
        (Claim((SubjectClaim(names("person"), (act("eat", "fruit"),)),)), True),
        (Claim((SubjectClaim(names("person"), (act("eat", "vegetable"),)),)), False),
        (Claim((SubjectClaim(names("guitar"), colour="blue"),)), True),
        (Claim((SubjectClaim(names("instrument")),)), True),
        (Claim((SubjectClaim(names("dog"), least=2, most=2, size="big"),)), True),
        (Claim((SubjectClaim(names("dog"), least=3, most=3),)), False),
        # Two dogs and a cat.
        (Claim((SubjectClaim(names("animal"), least=3, most=3),)), True),
        (Claim((SubjectClaim(names("animal"), least=2),)), True),
        (Claim((SubjectClaim(names("cat"), least=2),)), False),
        # The trees of the backdrop.
        (Claim((SubjectClaim(names("tree"), least=2),)), True),
        (Claim((SubjectClaim(names("dog"), (act("chase", targets=names("cat")),)),)), True),
        (Claim((SubjectClaim(names("dog"), (act("chase", targets=names("man")),)),)), False),
        (Claim((SubjectClaim(names("cat"), (act("enter"),)),)), True),
        (Claim((SubjectClaim(names("man"), (act("enter"),)),)), False),
        (Claim((SubjectClaim(names("man"), (act("eat", part="start"),)),)), True),
        (Claim((SubjectClaim(names("man"), (act("eat", part="end"),)),)), False),
        # There is one person.
        (
            Claim((SubjectClaim(names("man")), SubjectClaim(names("person")))),
            False,
        ),
        (Claim(places=frozenset({"forest"}), night=False), True),
        (Claim(places=frozenset({"beach"})), False),
        (Claim(night=True), False),
    ],
)
def test_a_claim_holds_exactly_if_the_scene_shows_it(claim: Claim, holds: bool) -> None:
    assert is_valid(SCENE)
    assert claim.holds(SCENE) is holds


@pytest.mark.parametrize(
    ("first", "second", "kind", "holds"),
    [
        (("eat", 0), ("play", 0), "before", True),
        (("play", 0), ("eat", 0), "before", False),
        (("eat", 0), ("play", 0), "while", False),
        (("eat", 0), ("run", 1), "while", True),
        (("enter", 1), ("play", 0), "before", True),
        (("run", 1), ("play", 0), "before", False),
    ],
)
def test_order_in_time_is_judged(
    first: tuple[str, int], second: tuple[str, int], kind: str, holds: bool
) -> None:
    acts: list[list[Act]] = [[], []]
    places = []
    for verb, who in (first, second):
        acts[who].append(act(verb))
        places.append((who, len(acts[who]) - 1))
    subjects = (
        SubjectClaim(names("man"), tuple(acts[0])),
        SubjectClaim(names("cat"), tuple(acts[1])),
    )
    assert Claim(subjects, orders=(ActOrder(places[0], places[1], kind),)).holds(SCENE) is holds  # type: ignore[arg-type]


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

        rows = range(len(self._seen))
        sets = [set(chosen) for size in (1, 2, 3) for chosen in combinations(rows, size)]
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
        figures = self._scene.figures
        return number_fits and all(subject.fits(self._seen[row], figures) for row in chosen)

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
                if act.fits(doing, self._scene.figures):
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
        claims.append(describe(scene, rng).claim)
        assert claims[-1].holds(scene)
        assert slowly_holds(claims[-1], scene)
    for claim, scene in zip(claims, scenes()[1:], strict=False):
        assert claim.holds(scene) == slowly_holds(claim, scene)


def test_the_table_agrees_with_single_judgements() -> None:
    table = SceneTable(scenes())
    rng = random.Random(4)
    for scene in scenes()[:40]:
        claim = describe(scene, rng).claim
        assert table.holding(claim).tolist() == [claim.holds(scene) for scene in scenes()]
    for claim in (
        Claim((SubjectClaim(names("animal")),)),
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
        for shown_row in sentences.showing_both(sentence).nonzero()[0][:9]:
            assert not fits(sentence, scenes()[int(shown_row)])


def test_a_negated_caption_is_false_and_its_rest_true() -> None:
    sentences = SceneDenials(scenes())
    rows = range(0, len(scenes()), 3)
    for row in rows:
        sentence = sentences.negated(row, random.Random(row))
        negation = negate(describe(scenes()[row], random.Random(row)))
        assert sentence in negation if negation else sentence is None
        if sentence:
            assert sentence.wanted_claim.holds(scenes()[row]) and not fits(
                sentence, scenes()[row]
            ), sentence.text
    drawn = [sentences.draw(row, "negated", random.Random(row)) for row in rows]
    assert sum(sentence.kind == "negated" for sentence in drawn) > 0.95 * len(rows)


def test_an_idiom_denies_nothing() -> None:
    sentences = SceneDenials(scenes())
    rng = random.Random(9)
    idioms = [(row, sentences.draw(row, "idiom", rng)) for row in range(200)]
    assert all(
        fits(sentence, scenes()[row]) and not sentence.unwanted
        for row, sentence in idioms
        if sentence.kind == "idiom"
    )


def test_a_colour_after_in_is_worn() -> None:
    with_couch = read_claim("a man in green with a couch")
    assert with_couch is not None
    assert [(who.colour, "sofa" in who.names) for who in with_couch.subjects] == [
        ("green", False),
        ("", True),
    ]
    assert read_claim("a man dancing, then wearing a red shirt") is None


def test_asking_for_two_dogs_excludes_one() -> None:
    one = Scene("park", False, (Figure("dog"),), 1)
    claims = {text: read_asked(text) for text in ("dogs", "two dogs")}
    holds = {text: claim is not None and claim.holds(one) for text, claim in claims.items()}
    assert holds == {"dogs": True, "two dogs": False}


def test_what_a_picture_wears_counts_once_a_scene_is_dressed() -> None:
    queen = Figure("princess")
    wizard = Figure("wizard", enters=0.5)
    builder = Figure("man construction worker")
    scene = Scene("stage", False, (queen, wizard, builder))
    holds = {
        phrase: (claim.holds(scene), claim.holds(scene.dressed))
        for phrase in (
            "a crown",
            "a queen with a hat",
            "a wizard wearing a blue hat",
            "a red hat",
            "a red helmet",
        )
        if (claim := read_asked(phrase))
    }
    assert holds == {
        "a crown": (False, True),
        "a queen with a hat": (False, False),
        "a wizard wearing a blue hat": (False, True),
        "a red hat": (False, False),
        # Helmets are red, but the picture's is yellow.
        "a red helmet": (False, False),
    }
    assert is_valid(scene)
