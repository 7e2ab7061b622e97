"""Denying sentences in batches, and the clips they are compared with."""

import random
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import get_args

import numpy as np
import pytest

from nt2vr.errors import ConfigError
from nt2vr.negation.generate.denials import CaptionDenials
from nt2vr.progress import silent
from nt2vr.world.captions import describe
from nt2vr.world.labels import labels
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scene_denials import SceneDenial, SceneDenialKind
from nt2vr.world.scenes import Scene
from tests.support.scene_truth import fits
from trainer.config import TrainConfig
from trainer.data.batches import Batch, epoch_batches
from trainer.data.clips import Clips
from trainer.data.sentences import CaptionSentences, WorldSentences
from trainer.inputs import Denied, InputFactory, Labels, Negated, Truth, inputs_of
from trainer.loop import AHEAD, prefetched

# Two frames of one pixel per clip, whose values differ between most clips.
FRAMES = np.repeat(np.arange(300).astype(np.uint8), 2).reshape(300, 2, 1, 1, 1)
CONFIG = TrainConfig(
    num_clips=300, num_frames=2, batch_size=20, base="somewhere", train="text", pool_clips=50
)
INPUTS: tuple[InputFactory, ...] = (Negated, Truth)


@cache
def scenes() -> list[Scene]:
    return sample_scenes("train", 300, seed=0)


@cache
def world() -> Clips:
    return Clips(FRAMES, WorldSentences(scenes()))


def first(
    config: TrainConfig = CONFIG, epoch: int = 1, factories: tuple[InputFactory, ...] = INPUTS
) -> Batch:
    inputs = inputs_of(factories)
    for loss_input in inputs:
        loss_input.prepare(world(), config, silent)
    return next(epoch_batches(world(), config, epoch, inputs=inputs))


def test_unused_inputs_are_not_drawn_and_change_nothing() -> None:
    bare = first(CONFIG.replace(train="all"), factories=())
    full = first(CONFIG.replace(train="all"))
    assert bare.drawn == {}
    assert list(full.drawn) == [Negated, Denied, Truth]
    assert bare.captions == full.captions
    assert bare.frames is not None
    assert full.frames is not None
    np.testing.assert_array_equal(bare.frames, full.frames)
    # The visual tower is frozen.
    assert first().frames is None


def test_denying_sentences_know_which_clips_of_their_pool_are_right() -> None:
    batch = first()
    assert batch.rows is not None
    denied = batch.drawn[Truth]
    np.testing.assert_array_equal(denied.pool[:20], batch.rows)
    assert len(set(denied.pool.tolist())) == len(denied.pool) > 50
    sentences = batch.drawn[Denied]
    pool = [scenes()[row] for row in denied.pool.tolist()]
    for row, sentence in enumerate(sentences):
        assert isinstance(sentence, SceneDenial)
        assert denied.fitting[row].tolist() == [fits(sentence, scene) for scene in pool]
        assert denied.both[row].tolist() == [shows_both(sentence, scene) for scene in pool]
        assert denied.fitting[row, row] == (sentence.kind != "negated")


def shows_both(sentence: SceneDenial, scene: Scene) -> bool:
    """Return whether a scene shows what a sentence wants, and something that it denies."""
    shows_unwanted = any(claim.holds(scene) for claim in sentence.unwanted_claims)
    return sentence.wanted_claim.holds(scene) and shows_unwanted


def test_every_kind_of_sentence_is_right_for_its_clip() -> None:
    kinds = dict.fromkeys(get_args(SceneDenialKind), 1.0)
    kinds_drawn = set()
    for row in range(100):
        denial = world().sentences.denial(row, {**kinds, "fragment": 9.0}, random.Random(row))
        truth = world().sentences.truth(denial)
        assert truth is not None
        assert not (truth.fitting & truth.both).any()
        assert truth.fitting[row] == (denial.kind != "negated")
        kinds_drawn.add(denial.kind)
    # There are no fragments.
    assert kinds_drawn == {*kinds}


def test_kinds_come_by_their_shares_and_anew_each_epoch() -> None:
    config = CONFIG.replace(sentences={"composed": 0, "not": 1})
    first_epoch = first(config, 1).drawn[Denied]
    assert {sentence.kind for sentence in first_epoch} == {"not"}
    assert first(config, 1).drawn[Denied] == first_epoch
    assert first(config, 2).drawn[Denied] != first_epoch
    np.testing.assert_array_equal(first(config).drawn[Truth].pool, first(config).drawn[Truth].pool)


def test_in_the_first_epochs_nothing_is_wanted() -> None:
    config = CONFIG.replace(not_epochs=2)
    for epoch in (1, 2):
        sentences = first(config, epoch).drawn[Denied]
        assert {sentence.kind for sentence in sentences} == {"not"}

    sentences = first(config, 3).drawn[Denied]
    assert len({sentence.kind for sentence in sentences}) > 2
    assert sentences == first(CONFIG, 3).drawn[Denied]


def test_some_sentences_are_made_of_captions_without_truth() -> None:
    denials = CaptionDenials([describe(scene, random.Random(0)).text for scene in scenes()])
    config = CONFIG.replace(sentences={**CONFIG.negation.sentences, "fragment": 0.5})
    # Of 20 sentences, how many have a truth, by the share that is made of captions.
    for share, least, most in ((1, 0, 0), (0.5, 5, 15), (0, 20, 20)):
        clips = replace(world(), sentences=WorldSentences(scenes(), share, denials))
        batch = next(epoch_batches(clips, config, 1, inputs=inputs_of(INPUTS)))
        has_claims = [isinstance(sentence, SceneDenial) for sentence in batch.drawn[Denied]]
        assert least <= sum(has_claims) <= most
        truth = batch.drawn[Truth]
        assert (truth.fitting.any(axis=1) <= has_claims).all()
        assert (truth.both.any(axis=1) <= has_claims).all()
        has_fragments = "fragment" in {sentence.kind for sentence in batch.drawn[Denied]}
        # The grammar makes none.
        assert has_fragments == (share > 0)


def test_a_missing_kind_of_sentence_is_replaced_or_refused() -> None:
    def draw(captions: list[str], shares: dict[str, float]) -> Batch:
        denials = CaptionDenials(captions)
        sentences = CaptionSentences([["a caption"]] * 300, denials, has_videos=False)
        config = CONFIG.replace(sentences=shares, data="captions.txt")
        clips = Clips(FRAMES, sentences)
        return next(epoch_batches(clips, config, 1, inputs=inputs_of([Denied])))

    with pytest.raises(ConfigError, match="composed, negated"):
        draw(["a red car", "a blue car"], {"composed": 0.5, "negated": 0.5})
    batch = draw(["a red car", "a dog"], {"composed": 0.9, "not": 0.1})
    assert {sentence.kind for sentence in batch.drawn[Denied]} == {"not"}


def test_labels_are_words_with_the_clips_that_show_them() -> None:
    batch = first(CONFIG.replace(train="all"), factories=(Labels,))
    assert batch.rows is not None
    drawn = batch.drawn[Labels]
    claims = {}
    for label in labels():
        for text in label.texts:
            claims[text] = label.claim
    label_texts = drawn.texts
    assert len(set(label_texts)) == len(label_texts) > 20
    assert drawn.is_shown.any(axis=0).all()
    for row, is_shown in zip(batch.rows.tolist(), drawn.is_shown, strict=True):
        assert is_shown.tolist() == [claims[text].holds(scenes()[row]) for text in label_texts]


def test_batches_ahead_come_once_in_order_and_few() -> None:
    drawn: list[int] = []

    def numbered() -> Iterator[Batch]:
        for number in range(9):
            drawn.append(number)
            yield Batch(None, [str(number)])

    for count, batch in enumerate(prefetched(numbered(), pins=False), 1):
        assert batch.captions == [str(count - 1)]
        assert len(drawn) <= count + AHEAD
    assert drawn == list(range(9))
