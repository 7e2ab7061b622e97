"""Training a base's text tower with a frozen visual tower."""

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import load_file

from nt2vr.models import short_text
from nt2vr.models.card import WEIGHTS, Card
from nt2vr.models.checkpoint import read_checkpoint, read_model, write_checkpoint
from nt2vr.models.framing import Framing
from nt2vr.models.open_clip_encoder import token_embeddings
from nt2vr.world.claims import Claim
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scene_denials import SceneDenial, SceneDenialKind
from tests.support.tiny_models import RESNET, tiny_model
from tests.support.trainings import run_training
from trainer.config import METRICS, SENTENCES, TrainConfig
from trainer.data.batches import epoch_batches
from trainer.data.clip_loader import world_clips
from trainer.data.sentences import WorldSentences, captions_of
from trainer.inputs.frozen_texts import FrozenTexts
from trainer.inputs.parts import Teacher
from trainer.learner import Learner
from trainer.preparation import prepare

ALL_LOSSES: dict[str, Any] = {
    **{
        name: {"weight": 1}
        for name in ("contrastive", "labels", "retrieval", "composed", "distill")
    },
    **{name: {"weight": 1e-3} for name in ("snl", "bnl")},
}


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoint that has seen only four words."""
    folder = tmp_path_factory.mktemp("base") / "tiny"
    model = tiny_model(resnet=True)
    learner = Learner(TrainConfig(model=RESNET))
    learner.model = model
    learner.prepare_tokens(["a man sings while"])
    write_checkpoint(folder, model, RESNET, {}, Card("Tiny base", frames=2))
    return folder


@pytest.fixture
def config(base: Path) -> TrainConfig:
    return TrainConfig(
        name="Tiny text",
        base=str(base),
        train="text",
        model=RESNET,
        losses=ALL_LOSSES,
        sentences=dict.fromkeys(get_args(SceneDenialKind), 1.0),
        num_clips=40,
        num_frames=2,
        validation_clips=60,
        batch_size=10,
        epochs=2,
        warmup_steps=0,
        log_every=1,
        learning_rate=5e-3,
        pool_clips=10,
    )


@pytest.mark.slow
def test_a_text_run_changes_the_text_tower_alone(
    tmp_path: Path, base: Path, config: TrainConfig
) -> None:
    run = run_training(config, tmp_path / "run")
    before = load_file(base / WEIGHTS)
    after = load_file(run.checkpoint(2) / WEIGHTS)
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    # Including BatchNorm's counters.
    assert changed
    assert not any(name.startswith("visual.") for name in changed)
    start = read_checkpoint(base, verify=True).card
    end = read_checkpoint(run.checkpoint(2), verify=True).card
    assert start.visual.fingerprint == end.visual.fingerprint
    assert start.text.fingerprint != end.text.fingerprint
    assert end.base == "Tiny base"
    assert end.name == "Tiny text"
    assert end.training.data == "built-in world, 40 clips"

    lines = [json.loads(line) for line in run.metrics.read_text().splitlines()]
    controls = lines[0]
    epochs = [line for line in lines if "original/MIR" in line]
    assert controls["epoch"] == 0
    of_videos = {name for name in METRICS if not name.startswith(("text/", "fusion/"))}
    assert of_videos == set(epochs[-1]) - {"epoch", "step"}
    names = {name for name in of_videos if not name.startswith("original/")}
    for system in ("base/", "drop/", "boolean/"):
        assert names <= {name.removeprefix(system) for name in controls if name.startswith(system)}
    assert [line["epoch"] for line in epochs] == [1, 2]
    assert (
        names
        <= epochs[-1].keys()
        <= {name.removeprefix("validation/") for name in end.metrics} | {"epoch", "step"}
    )
    assert end.metrics["validation/drop/composed/MIR"] == controls["drop/composed/MIR"]


def test_new_words_start_small_and_change_no_other_row(config: TrainConfig) -> None:
    learner = Learner(config)
    table = token_embeddings(learner.model)
    before = table.detach().clone()
    learner.prepare_tokens(["a man sings", "a man doesn't sing", "not"])
    new = set(learner.tokenizer.encode("doesn't sing not"))
    new -= set(learner.tokenizer.encode("a man sings while"))
    changed = (table != before).any(dim=1).nonzero().flatten()
    assert set(changed.tolist()) == new
    assert not before[sorted(new)].any()
    assert table[sorted(new)].std().item() == pytest.approx(0.02, rel=0.3)


def test_learnt_tokens_are_kept_while_new_ones_learn(tmp_path: Path, config: TrainConfig) -> None:
    learner = Learner(config.replace(keep_tokens=True, losses={"contrastive": {}}))
    table = token_embeddings(learner.model)
    is_known = table.any(dim=1)
    clips = world_clips("train", 40, 2, Framing(64), 0, tmp_path)
    prepare(learner, clips, lambda: False)
    new = table.any(dim=1) & ~is_known
    before = {name: weights.detach().clone() for name, weights in learner.model.named_parameters()}
    learner.start_epoch()
    learner.step(epoch_batches(clips, learner.config.replace(batch_size=40), 1))
    changed = (table != before["token_embedding.weight"]).any(dim=1)
    # Known rows are not decayed either.
    assert is_known.sum() > 4
    assert changed.any()
    assert not changed[~new].any()
    layers = {
        name
        for name, weights in learner.model.named_parameters()
        if not torch.equal(weights, before[name])
    }
    assert {"positional_embedding", "ln_final.weight", "text_projection"} < layers


CLIPS_END = 49407
COMMA = 267


@pytest.mark.parametrize(
    "pooling",
    [{}, {"pool_type": "eos", "eos_id": CLIPS_END}, {"pool_type": "eos", "eos_id": COMMA}],
    ids=["at the highest token", "at the end token", "at an end token that is not the highest"],
)
def test_sentences_without_their_padding_are_embedded_alike_and_teach_alike(
    monkeypatch: pytest.MonkeyPatch, pooling: dict[str, Any]
) -> None:
    monkeypatch.setattr(short_text, "CHUNK", 2)
    texts = [
        "a man",
        "",
        "a man is singing while a dog runs on the beach near a tent and a cat",
        "not dancing",
        "x",
    ]
    texts = [f"{text} ," for text in texts]
    learner = Learner(TrainConfig(model={**RESNET, "text_cfg": {**RESNET["text_cfg"], **pooling}}))
    tokens = learner.tokenizer(texts)
    model = learner.model
    full = model.encode_text(tokens, normalize=True)
    short = short_text.encode_short(model, tokens)
    torch.testing.assert_close(short, full, rtol=1e-4, atol=1e-6)
    gradients = [
        torch.autograd.grad(step_sentences[:, 0].sum(), list(model.transformer.parameters()))
        for step_sentences in (full, short)
    ]
    for first, second in zip(*gradients, strict=True):
        torch.testing.assert_close(first, second, rtol=1e-3, atol=1e-6)


class Lengths:
    """Encoder whose embedding is the text's length; it counts its calls."""

    def __init__(self) -> None:
        self.seen: list[str] = []

    def encode_text(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen += texts
        return np.array([[len(text), 1] for text in texts], np.float32).reshape(-1, 2)


def test_the_teacher_embeds_parts_and_phrases_once() -> None:
    one = SceneDenial("composed", "x", "sings", "dances", Claim(), (Claim(),))
    pure = SceneDenial("not", "x", "", "dog", Claim(), (Claim(),))
    encoder: Any = Lengths()
    videos = np.array([[1, 0], [0, 1], [0, 1]], np.float32)
    teacher = Teacher(encoder, [one, one, pure], videos, "cpu")
    for _ in range(2):
        parts = teacher.parts([one, pure], None)
        assert parts.wanted.tolist() == [[5, 1], [0, 1]]
        assert parts.unwanted.tolist() == [[6, 1], [3, 1]]
    assert parts.pure.tolist() == [False, True]
    assert parts.unwanted_mean.tolist() == [4.5, 1]
    assert parts.video_mean.tolist() == pytest.approx([1 / 3, 2 / 3])
    assert parts.caption is None
    assert encoder.seen == ["dances", "dog", *2 * ["sings", "", "dances", "dog"]]
    caption = teacher.parts([one], ["caption"]).caption
    assert caption is not None
    assert caption.tolist() == [[7, 1]]


def test_the_teacher_embeds_a_batch_alike_whatever_it_embedded_before(base: Path) -> None:
    """Embeddings are compared bit by bit: a cached one would have been computed in a batch of other texts."""
    model, tokenizer, _ = read_model(base, "cpu")
    scenes = WorldSentences(sample_scenes("train", 60, 0))
    denials = [scenes.denial(row, SENTENCES, random.Random(row)) for row in range(60)]
    captions = captions_of(scenes, "a")

    def teacher() -> Teacher:
        texts = FrozenTexts(model, tokenizer, "cpu")
        return Teacher(texts, [], np.zeros((1, 16), np.float32), "cpu")

    experienced = teacher()
    experienced.parts(denials[:40], captions[:40])
    first = experienced.parts(denials[20:], captions[20:])
    second = teacher().parts(denials[20:], captions[20:])
    assert torch.equal(first.wanted, second.wanted)
    assert torch.equal(first.unwanted, second.unwanted)
    assert first.caption is not None
    assert second.caption is not None
    assert torch.equal(first.caption, second.caption)
