"""Negated sentences: good English, consistent parts, true of the right scenes."""

import random

import pytest

from nt2vr.language.query import understand
from nt2vr.language.tagger import load_tagger
from nt2vr.querygen.templates import WITH_PRONOUN, WITHOUT_PRONOUN
from nt2vr.world.captions import SceneCaption, describe
from nt2vr.world.negation import (
    SceneDenial,
    SceneDenialKind,
    compose,
    deny_deed,
    leave_out,
    negate,
)
from nt2vr.world.scenes import Actor, Scene, sample_scenes
from nt2vr.world.sentences import SceneDenials
from nt2vr.world.truth import Claim, Who, read_claim

KINDS: tuple[SceneDenialKind, ...] = ("negated", "composed", "without", "not")
SCENES = sample_scenes("train", 600, seed=5)
MAN_SINGS = Actor("man", "sing")


@pytest.fixture(scope="module")
def sentences() -> SceneDenials:
    return SceneDenials(SCENES)


def drawn(sentences: SceneDenials, kind: SceneDenialKind, count: int, seed: int = 0) -> list[SceneDenial]:
    rng = random.Random(seed)
    return [sentences.draw(row, kind, rng) for row in range(count)]


def test_a_caption_is_denied_in_every_way_its_grammar_allows() -> None:
    claim = Claim(
        (Who(frozenset({"man"}), frozenset({"run"}), frozenset({"cap"})), Who(frozenset({"dog"}), frozenset({"eat"}))),
        props=(frozenset({"sun"}),),
    )
    text = "a guy with a cap is running fast while a puppy eats food with the sun in the background"
    found = {sentence.text: sentence for sentence in negate(SceneCaption(text, claim))}
    rest = "while a puppy eats food with the sun in the background"
    runs = "a guy with a cap is running fast while a puppy"
    assert {text: (sentence.wanted, sentence.unwanted) for text, sentence in found.items()} == {
        f"a guy with a cap is not running fast {rest}": (f"a guy with a cap {rest}", "running fast"),
        f"a guy with a cap isn't running fast {rest}": (f"a guy with a cap {rest}", "running fast"),
        f"a guy without a cap is running fast {rest}": (f"a guy is running fast {rest}", "a cap"),
        f"{runs} does not eat food with the sun in the background": (
            f"{runs} with the sun in the background",
            "eating food",
        ),
        f"{runs} doesn't eat food with the sun in the background": (
            f"{runs} with the sun in the background",
            "eating food",
        ),
        f"{runs} eats food without the sun in the background": (f"{runs} eats food", "the sun"),
    }
    for sentence in found.values():
        assert read_claim(sentence.wanted) == sentence.wanted_claim


def test_two_actors_with_the_same_activity_are_denied_separately() -> None:
    claim = Claim(tuple(Who(frozenset({who}), frozenset({"sing"})) for who in ("man", "woman")))
    texts = {sentence.text for sentence in negate(SceneCaption("a man singing as a lady sings a song", claim))}
    assert texts == {
        "a man not singing as a lady sings a song",
        "a man singing as a lady does not sing a song",
        "a man singing as a lady doesn't sing a song",
    }


def test_composed_sentences_follow_the_twelve_templates() -> None:
    rng = random.Random(0)
    texts = {compose(MAN_SINGS, "dance", rng).text for _ in range(3000)}
    for text in (
        "a man sings and he doesn't dance",
        "a guy does not dance and he sings",
        "a man singing and not dancing",
        "a man not dancing and he singing",
        "a man is singing and not dancing",
        "a man isn't dancing and he is singing",
        "a man sings and does not dance",
        "a man doesn't dance while sings",
        "a man not dancing while singing",
        "a man is not dancing while singing",
        "a male person sings a song and he does not do a dance",
    ):
        assert text in texts, text
    assert len(set(WITH_PRONOUN + WITHOUT_PRONOUN)) == 10  # the paper's two sets share two
    dogs = {compose(Actor("dog", "run"), "sleep", rng).text.split()[-2] for _ in range(200)}
    assert "he" not in dogs


def test_a_denial_applies_to_everybody() -> None:
    sentence = compose(MAN_SINGS, "dance", random.Random(0))
    alone = Scene("stage", (MAN_SINGS,))
    with_dancer = Scene("stage", (MAN_SINGS, Actor("woman", "dance")))
    without_man = Scene("stage", (Actor("woman", "sing"),))
    assert [sentence.fits(scene) for scene in (alone, with_dancer, without_man)] == [True, False, False]
    table = SceneDenials([alone, with_dancer, without_man])
    assert table.fitting(sentence).tolist() == [True, False, False]
    assert table.showing_both(sentence).tolist() == [False, True, False]
    hat = leave_out("man", "sing", ("accessory", "tophat"), random.Random(0))
    assert hat.fits(alone)
    assert not hat.fits(Scene("stage", (Actor("man", "sing", "tophat"),)))


def test_nobody_is_used_only_for_activities_of_people() -> None:
    rng = random.Random(0)
    assert {deny_deed("run", rng).text for _ in range(50)} == {"not running", "not running fast"}
    assert "nobody is juggling" in {deny_deed("juggle", rng).text for _ in range(50)}


@pytest.mark.parametrize("kind", KINDS)
def test_a_scene_satisfies_its_sentences_except_negated_captions(
    sentences: SceneDenials, kind: SceneDenialKind
) -> None:
    for row, sentence in enumerate(drawn(sentences, kind, 400)):
        assert sentence.fits(SCENES[row]) == (kind != "negated"), sentence.text
        assert bool(sentences.fitting(sentence)[row]) == sentence.fits(SCENES[row])
        assert sentences.showing_both(sentence)[row] == (kind == "negated")


@pytest.mark.parametrize("kind", KINDS)
def test_parts_of_a_sentence_match_their_claims(sentences: SceneDenials, kind: SceneDenialKind) -> None:
    for sentence in drawn(sentences, kind, 400):
        assert (read_claim(sentence.wanted) or Claim()) == sentence.wanted_claim, sentence
        assert read_claim(sentence.unwanted) == sentence.unwanted_claim, sentence


@pytest.mark.parametrize(("kind", "share"), [("composed", 1.0), ("without", 0.95), ("not", 0.95)])
def test_query_understanding_finds_the_parts_of_generated_sentences(
    sentences: SceneDenials, kind: SceneDenialKind, share: float
) -> None:
    tagger = load_tagger()
    same = [
        [read_claim(part) for part in query.unwanted] == [sentence.unwanted_claim]
        and [read_claim(part) for part in query.wanted] == [sentence.wanted_claim][: len(sentence.wanted)]
        for sentence in drawn(sentences, kind, 100)
        for query in [understand(sentence.text, tagger)]
    ]
    assert sum(same) >= share * len(same)


@pytest.mark.parametrize("kind", ["composed", "without"])
def test_most_sentences_have_hard_clips(sentences: SceneDenials, kind: SceneDenialKind) -> None:
    has_hard = [sentences.showing_both(sentence).any() for sentence in drawn(sentences, kind, 300)]
    assert sum(has_hard) > 0.8 * len(has_hard)


def test_a_negated_caption_denies_the_caption_drawn_by_an_equal_generator(sentences: SceneDenials) -> None:
    for row in range(50):
        caption = describe(SCENES[row], random.Random(row))
        assert sentences.negated(row, random.Random(row)) in negate(caption)


def test_equal_generators_draw_equal_sentences(sentences: SceneDenials) -> None:
    for kind in KINDS:
        assert drawn(sentences, kind, 30) == drawn(SceneDenials(SCENES), kind, 30)
        assert drawn(sentences, kind, 30) != drawn(sentences, kind, 30, seed=1)
