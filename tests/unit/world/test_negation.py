"""Negated sentences: expected wordings, and parts that the query parser finds again."""

import random
from collections.abc import Sequence
from functools import cache

import pytest

from nt2vr.negation.generate.composer import WITH_PRONOUN, WITHOUT_PRONOUN
from nt2vr.negation.parse.query import understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.world.claims import Act, Claim, SubjectClaim
from nt2vr.world.reader import read_asked
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scene_denials import SceneDenialKind, compose
from nt2vr.world.scenes import Action, Figure, Scene
from nt2vr.world.sentences import SceneDenials
from nt2vr.world.things import places
from nt2vr.world.wording import Done, draw_phrase
from tests.support.scene_truth import fits

SINGING, DANCING = (Done(verb, Act(frozenset((verb,)))) for verb in ("sing", "dance"))
MAN = Figure("man", "red", actions=(Action("sing"),))
WOMAN = Figure("woman", "red", actions=(Action("dance"),))


@cache
def scenes() -> list[Scene]:
    return sample_scenes("train", 300, seed=5)


def test_composed_sentences_follow_the_twelve_templates() -> None:
    rng = random.Random(0)
    texts = {compose(draw_phrase(MAN, rng), SINGING, DANCING, rng).text for _ in range(4000)}
    for text in (
        "a man sings and he doesn't dance",
        "a man does not dance and he sings",
        "a man singing and not dancing",
        "a man not dancing and he singing",
        "a man is singing and not dancing",
        "a man isn't dancing and he is singing",
        "a man sings and does not dance",
        "a man doesn't dance while sings",
        "a man not dancing while singing",
        "a man is not dancing while singing",
    ):
        assert text in texts, text
    # The paper's two sets share two.
    assert len(set(WITH_PRONOUN + WITHOUT_PRONOUN)) == 10
    dog = Figure("dog", "brown", actions=(Action("run"),))
    for _ in range(300):
        sentence = compose(draw_phrase(dog, rng), SINGING, DANCING, rng)
        assert {"he", "she"}.isdisjoint(sentence.text.split())


def test_a_denial_applies_to_everybody() -> None:
    man = SubjectClaim(frozenset({"man"}), (SINGING.act,))
    scenes = [Scene("stage", False, figures) for figures in ((MAN,), (MAN, WOMAN), (WOMAN,))]
    rng = random.Random(0)
    sentence = compose(draw_phrase(MAN, rng), SINGING, DANCING, rng)
    while sentence.wanted_claim != Claim((man,)):
        sentence = compose(draw_phrase(MAN, rng), SINGING, DANCING, rng)
    assert [fits(sentence, scene) for scene in scenes] == [True, False, False]
    table = SceneDenials(scenes)
    assert table.fitting(sentence).tolist() == [True, False, False]
    assert table.showing_both(sentence).tolist() == [False, True, False]


def last_words(parts: Sequence[str]) -> list[str]:
    return [part.split()[-1] for part in parts]


@pytest.mark.parametrize(("kind", "share"), [("composed", 0.95), ("without", 0.95), ("not", 0.95)])
def test_query_understanding_finds_the_unwanted_part_of_generated_sentences(
    kind: SceneDenialKind, share: float
) -> None:
    sentences = SceneDenials(scenes())
    tagger = load_tagger()
    num_understood = 0
    for row in range(150):
        sentence = sentences.draw(row, kind, random.Random(row))
        unwanted = understand(sentence.text, tagger).unwanted
        has_claims = tuple(map(read_asked, unwanted)) == sentence.unwanted_claims
        num_understood += has_claims or last_words(unwanted) == last_words([sentence.unwanted])
    assert num_understood >= share * 150


def test_a_time_of_day_is_denied() -> None:
    sentences = SceneDenials(scenes())
    drawn = [
        (row, sentences.draw(row, "place", random.Random(row))) for row in range(len(scenes()))
    ]
    timed = [
        (row, sentence, sentence.unwanted_claims[0].night)
        for row, sentence in drawn
        if not sentence.unwanted_claims[0].places
    ]
    texts = {sentence.text for _, sentence, _ in timed}
    assert {"not at night", "not during the day", "the playground but not at night"} <= texts
    assert len([sentence for _, sentence, _ in timed if sentence.wanted_claim.subjects]) > 10
    for row, sentence, night in timed:
        assert night == (not scenes()[row].night)
        assert not places()[scenes()[row].place].indoors
        assert sentences.showing_unwanted(sentence).tolist() == [
            scene.night == night for scene in scenes()
        ]
        assert sentences.fitting(sentence)[row]
