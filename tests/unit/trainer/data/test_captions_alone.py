"""Teaching negation from captions alone: reading and rejecting data, and complete runs."""

import random
from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch

from nt2vr.errors import ConfigError
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.negation.generate.denial import Denial
from tests.support.tiny_models import RESNET, write_tiny
from tests.support.trainings import run_training
from trainer.config import SENTENCES, TrainConfig
from trainer.data import clip_loader
from trainer.data.batches import epoch_batches
from trainer.data.caption_clips import read_split
from trainer.data.clip_loader import ClipLoader
from trainer.data.clips import Clips
from trainer.data.sentences import WorldSentences
from trainer.inputs import Denied, Parts
from trainer.inputs.frozen_texts import FrozenTexts
from trainer.inputs.parts import Teacher
from trainer.learner import Learner
from trainer.losses.distill import DistillLoss
from trainer.preparation import prepare
from trainer.runs.run_folder import read_metrics
from trainer.text_measures import KEPT, TextMeasures, unseen_idioms

WHO = ("a man", "a woman", "a boy", "a dog", "two girls")
WHERE = ("on a stage", "in a park", "near a red car", "at home")
DOING = (
    "singing",
    "playing the guitar",
    "eating an apple",
    "running",
    "throwing a ball",
    "riding a horse",
    "dancing",
)
# 140 captions.
CAPTIONS = [" ".join(words) for words in product(WHO, DOING, WHERE)]
CONFIG = TrainConfig(
    name="Tiny text",
    base="base",
    train="text",
    model=RESNET,
    losses={"distill": {"alpha": 0.65}},
    num_clips=100,
    batch_size=20,
    validation_clips=12,
    epochs=3,
    warmup_steps=0,
    log_every=1,
    learning_rate=5e-3,
    sentences={"composed": 0.3, "without": 0.2, "not": 0.1, "negated": 0.15, "fragment": 0.25},
)


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("base") / "tiny"
    write_tiny(folder, "Tiny base", resnet=True)
    return folder


@pytest.fixture
def config(base: Path, tmp_path: Path) -> TrainConfig:
    (tmp_path / "captions.txt").write_text("\n".join(CAPTIONS))
    return CONFIG.replace(base=str(base), data=str(tmp_path / "captions.txt"))


def loaded(learner: Learner, cache: Path) -> list[Clips]:
    loader = ClipLoader(learner.config, cache, learner.losses.reading)
    return [loader.load("train"), loader.load("validation")]


def test_a_tenth_of_the_videos_is_held_out(tmp_path: Path, config: TrainConfig) -> None:
    lines = [
        f"v{n // 2}#enc#{n % 2} {caption}" for n, caption in enumerate([*CAPTIONS, *CAPTIONS[:30]])
    ]
    (tmp_path / "captions.txt").write_text("\n".join(lines))
    many = config.replace(num_clips=1000, validation_clips=1000)
    name, captions = read_split(many, "train")
    _, held_out = read_split(many, "validation")
    assert name == "captions.txt"
    assert set(captions) | set(held_out) == set(CAPTIONS)
    assert not set(captions) & set(held_out)
    assert 4 <= len(held_out) <= 16
    assert len(captions) == len(set(captions))
    few = read_split(config, "train")[1]
    # They are always the same.
    assert few == captions[:100]
    # From three videos with two each.
    fewer = read_split(config.replace(validation_clips=3), "validation")[1]
    assert len(fewer) == 3
    assert set(fewer) <= set(held_out)
    # The same, however few are read.
    assert read_split(many.replace(validation_clips=3), "train")[1] == captions


@pytest.mark.slow
def test_captions_alone_approach_their_targets_and_keep_the_visual_tower(
    tmp_path: Path, config: TrainConfig, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("decode_videos", "world_clips"):
        monkeypatch.setattr(clip_loader, name, lambda *_: pytest.fail("looked at videos"))
    finished = run_training(
        config.replace(epochs=8, patience=8, monitor="text/target"), tmp_path / "runs" / "a"
    )
    lines = read_metrics(finished.metrics)
    losses = [line["distill"] for line in lines if "distill" in line]
    assert sum(losses[-5:]) < 0.6 * sum(losses[:5])
    controls = lines[0]
    epochs = [line for line in lines if "text/target" in line]
    measured = {
        f"base/text/{name}" for name in ("target", "kept", "order", "order_if_kept", "idioms")
    }
    assert controls.keys() == {"epoch", "step", "drop/text/order", *measured}
    assert controls["base/text/kept"] == pytest.approx(1, abs=1e-5)
    assert epochs[-1]["text/target"] > controls["base/text/target"] + 0.05
    assert epochs[-1]["text/order"] > controls["base/text/order"] + 10
    assert epochs[-1]["text/kept"] > 0.8
    card = read_checkpoint(finished.checkpoint(8), verify=True).card
    before = read_checkpoint(base).card
    assert card.visual.fingerprint == before.visual.fingerprint
    assert card.text.fingerprint != before.text.fingerprint
    assert (card.training.data, card.base) == ("captions.txt, 100 captions", "Tiny base")
    assert card.framing.frames == before.framing.frames
    assert card.metrics["validation/text/target"] == epochs[-1]["text/target"]
    assert card.metrics["validation/base/text/target"] == controls["base/text/target"]


def cosine(encoder: Any, text: str, other_encoder: Any, other_text: str) -> float:
    """Return the cosine of two texts, each embedded by an encoder of its own."""
    vector = encoder.encode_text([text])[0]
    other_vector = other_encoder.encode_text([other_text])[0]
    return float(vector @ other_vector)


class TextLoop:
    """The measures on text, one sentence after the other.

    Args:
        encoder: the base, which embeds the texts that sentences are compared with.
        sentences: those that deny something.
        video_mean: of the clips of the training.
        unwanted_mean: of the unwanted parts of the training's sentences.
    """

    def __init__(
        self, encoder: Any, sentences: Sequence[Denial], video_mean: Any, unwanted_mean: Any
    ) -> None:
        self._encoder = encoder
        self._sentences = sentences
        self._video_mean = video_mean
        self._unwanted_mean = unwanted_mean

    def target_cosines(self, model: Any) -> list[float]:
        cosines = []
        for sentence in self._sentences:
            target = self._target(sentence)
            vector = model.encode_text([sentence.text])[0]
            cosines.append(float(vector @ target / np.linalg.norm(target)))
        return cosines

    def _target(self, sentence: Denial) -> Any:
        unwanted = self._encoder.encode_text([sentence.unwanted])[0]
        if not sentence.wanted:
            return self._video_mean - unwanted
        wanted = self._encoder.encode_text([sentence.wanted])[0]
        return wanted - 0.65 * (unwanted - self._unwanted_mean)

    def pairs(self) -> Iterator[tuple[Denial, Any, Any]]:
        """Yield each sentence, "WANTED and UNWANTED" and "WANTED and OTHER"."""
        shifted = [*self._sentences[1:], self._sentences[0]]
        for sentence, next_sentence in zip(self._sentences, shifted, strict=True):
            start = f"{sentence.wanted} and " if sentence.wanted else ""
            texts = [f"{start}{sentence.unwanted}", f"{start}{next_sentence.unwanted}"]
            both, with_other = self._encoder.encode_text(texts)
            yield sentence, both, with_other

    def ordered(self, model: Any) -> list[bool]:
        """Say of each sentence whether a model has it nearer to what it wants."""
        is_ordered = []
        for sentence, both, with_other in self.pairs():
            vector = model.encode_text([sentence.text])[0]
            is_ordered.append(bool(vector @ with_other > vector @ both))
        return is_ordered

    def ordered_by_wanted(self) -> list[bool]:
        """Say the same of the wanted part alone, where there is one."""
        is_ordered = []
        for sentence, both, with_other in self.pairs():
            if sentence.wanted:
                vector = self._encoder.encode_text([sentence.wanted])[0]
                is_ordered.append(bool(vector @ with_other > vector @ both))
        return is_ordered


def test_measures_on_text_equal_a_plain_loop(
    tmp_path: Path, config: TrainConfig, base: Path
) -> None:
    learner = Learner(config.replace(sentences={"composed": 1, "without": 1, "not": 1}))
    encoder = read_checkpoint(base)
    clips, held_out = loaded(learner, tmp_path)
    prepare(learner, clips, lambda: False)
    measures = TextMeasures(learner, held_out)
    write_tiny(tmp_path / "other", seed=1, resnet=True)
    model = read_checkpoint(tmp_path / "other")

    # Without videos, their mean is that of the captions.
    parts = learner.losses.inputs.of(Parts).teacher.parts([], None)
    assert not clips.has_videos
    caption_mean = encoder.encode_text(clips.captions("0 tokens")).mean(axis=0)
    np.testing.assert_allclose(parts.video_mean, caption_mean, atol=1e-6)

    sentences = measures.sentences
    assert len(sentences) == 12
    assert not {sentence.wanted for sentence in sentences} & set(clips.captions("x"))
    loop = TextLoop(encoder, sentences, parts.video_mean.numpy(), parts.unwanted_mean.numpy())
    captions = held_out.captions("x")
    kept_cosine = np.mean([cosine(model, caption, encoder, caption) for caption in captions])
    assert kept_cosine < KEPT
    is_ordered = loop.ordered(model)
    assert 0 < sum(is_ordered) < 12
    idioms = unseen_idioms(captions)
    assert len(idioms) == 12
    idiom_cosines = [cosine(model, idiom.text, encoder, idiom.wanted) for idiom in idioms]
    expected = {
        "text/target": np.mean(loop.target_cosines(model)),
        "text/kept": kept_cosine,
        "text/order": 100 * np.mean(is_ordered),
        "text/order_if_kept": 100 * (kept_cosine - KEPT),
        "text/idioms": np.mean(idiom_cosines),
    }
    assert measures(model) == pytest.approx(expected, abs=1e-4)

    of_base = measures(encoder)
    assert of_base["text/order_if_kept"] == of_base["text/order"] > 0
    controls = measures.controls
    assert controls["base/text/order"] == pytest.approx(of_base["text/order"], abs=1e-4)
    dropped = loop.ordered_by_wanted()
    assert 0 < len(dropped) < 12
    assert controls["drop/text/order"] == pytest.approx(100 * np.mean(dropped), abs=1e-4)


def test_an_idiom_s_target_is_its_paraphrase(
    tmp_path: Path, config: TrainConfig, base: Path
) -> None:
    learner = Learner(config.replace(sentences={"idiom": 1, "not": 1}))
    clips, held_out = loaded(learner, tmp_path)
    prepare(learner, clips, lambda: False)
    teacher = learner.losses.inputs.of(Parts).teacher
    (_, distill) = learner.losses.terms["distill"]
    assert isinstance(distill, DistillLoss)
    idioms = [Denial("idiom", "a man can't stop singing", "a man keeps singing", "")]
    expected = read_checkpoint(base).encode_text(["a man keeps singing"])
    np.testing.assert_allclose(distill.target(teacher.parts(idioms, None)), expected, atol=1e-6)
    measures = TextMeasures(learner, held_out)
    kinds = [sentence.kind for sentence in measures.sentences]
    assert {"idiom", "not"} == set(kinds)
    ordered = measures(read_checkpoint(base))["text/order"] / 100 * kinds.count("not")
    assert ordered == pytest.approx(round(ordered))


def test_the_world_draws_kinds_by_their_shares() -> None:
    """Another order would give other sentences, and other models, from the same config."""
    grammar: Any = SimpleNamespace(draw=lambda row, kind, rng: kind)
    world = WorldSentences([])
    world.grammar = grammar
    for seed in range(50):
        shares = {"idiom": 0.3, **SENTENCES}
        expected = random.Random(seed).choices(list(shares), list(shares.values()))[0]
        drawn: Any = world.denial(0, {**shares, "fragment": 0.5}, random.Random(seed))
        assert drawn == expected


def test_a_share_of_the_captions_is_held_in_place(tmp_path: Path, config: TrainConfig) -> None:
    quarter = Learner(config.replace(keep_share=0.25))
    clips, _ = loaded(quarter, tmp_path)
    full, part = (
        next(epoch_batches(clips, config.replace(keep_share=share), 1, 0, quarter.losses.inputs))
        for share in (1, 0.25)
    )
    assert part.captions == full.captions[:5]
    assert len(full.captions) == 20
    assert part.drawn[Denied] == full.drawn[Denied]
    prepare(quarter, clips, lambda: False)
    assert quarter.step([part])["distill"] > 0
    with pytest.raises(ConfigError, match=r"keep_share .*distill.*composed"):
        config.replace(keep_share=0.5, losses={"distill": {}, "contrastive": {}})


@pytest.mark.slow
def test_a_killed_preparation_continues_with_stored_embeddings(
    tmp_path: Path, config: TrainConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    def prepared(cache: Path | None) -> tuple[Teacher, dict[str, float]]:
        learner = Learner(config)
        clips, held_out = loaded(learner, tmp_path)
        prepare(learner, clips, lambda: False, cache=cache)
        return learner.losses.inputs.of(Parts).teacher, TextMeasures(learner, held_out).controls

    cache = tmp_path / "cache"
    teacher, controls = prepared(None)
    assert prepared(cache)[1] == controls
    next(cache.glob("texts-*.npy")).write_bytes(b"damaged")
    assert prepared(cache)[1] == controls

    monkeypatch.setattr(FrozenTexts, "encode_text", lambda *_: pytest.fail("embedded again"))
    repeated, controls_again = prepared(cache)
    assert controls_again == controls
    assert torch.equal(repeated.unwanted_mean, teacher.unwanted_mean)
    assert torch.equal(repeated.video_mean, teacher.video_mean)
