"""Training a pooling: over frozen frames or with the towers, from a base's, resumed, and what it learns of order."""

from dataclasses import replace
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.framing import Framing
from nt2vr.models.pooling import SequenceTransformer
from tests.support.paper_references import papers_reference
from tests.support.tiny_models import TINY, write_tiny
from trainer.config import TrainConfig
from trainer.data.batches import epoch_batches
from trainer.data.clip_loader import world_clips
from trainer.data.clips import Clips
from trainer.data.sentences import CaptionSentences
from trainer.inputs import EmbeddedBatch, Order
from trainer.inputs.order import OrderedClips
from trainer.learner import Learner
from trainer.loop import train
from trainer.losses.contrastive import ContrastiveLoss
from trainer.preparation import prepare, prepare_inputs
from trainer.runs.run_folder import RunFolder

COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "white": (255, 255, 255)}
ORDERED = [f"{first} then {then}" for first, then in permutations(COLOURS, 2)]


def colours_of(text: str) -> list[tuple[int, int, int]]:
    """Return both colours of "red then blue"."""
    return [COLOURS[word] for word in text.split(" then ")]


def ordered(count: int, seed: int) -> Clips:
    """Noisy clips of two colours, one after the other, with captions that name them in their order."""
    rng = np.random.default_rng(seed)
    texts = [ORDERED[row % len(ORDERED)] for row in range(count)]
    colours = np.array([colours_of(text) for text in texts])  # (N, 2, 3)
    noise = rng.integers(-60, 60, (count, 2, 64, 64, 3))
    frames = np.clip(colours[:, :, None, None] + noise, 0, 255).astype(np.uint8)
    return Clips(frames, CaptionSentences([(text,) for text in texts]))


@pytest.fixture(scope="module")
def base(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Checkpoint with a mean pooling."""
    folder = tmp_path_factory.mktemp("base") / "tiny"
    write_tiny(folder, "Tiny base")
    return folder


@pytest.fixture
def config(base: Path) -> TrainConfig:
    return TrainConfig(
        name="Tiny order",
        base=str(base),
        train="text",
        pooling="unit_seqTransf",
        num_clips=48,
        num_frames=2,
        validation_clips=12,
        batch_size=12,
        epochs=40,
        warmup_steps=4,
        learning_rate=1e-2,
        precision="fp32",
        keep_checkpoints=1,
    )


@pytest.mark.parametrize(
    ("train_", "pooling"), [("head", "attention"), ("text", "seqTransf"), ("all", "seqTransf")]
)
def test_the_pooling_learns_with_the_towers_that_are_chosen(
    train_: Any, pooling: Any, config: TrainConfig
) -> None:
    config = config.replace(
        train=train_, pooling=pooling, frames_per_step=2, weight_decay=0.0, warmup_steps=0
    )
    learner = Learner(config)
    clips = ordered(48, 0)
    prepare(learner, clips, lambda: False)
    before = {name: value.clone() for name, value in learner.model.state_dict().items()}
    head = {name: value.clone() for name, value in learner.pooling.state_dict().items()}
    learner.start_epoch()
    for batch in epoch_batches(clips, config, 1):
        learner.step([batch])
    after = learner.model.state_dict()
    changed = {name for name, value in after.items() if not torch.equal(value, before[name])} - {
        "logit_scale"
    }
    towers = {"visual" if name.startswith("visual.") else "text" for name in changed}
    assert towers == {"head": set(), "text": {"text"}, "all": {"text", "visual"}}[train_]
    assert any(
        not torch.equal(value, head[name]) for name, value in learner.pooling.state_dict().items()
    )


def test_a_kept_pooling_pools_once_and_does_not_change(config: TrainConfig, tmp_path: Path) -> None:
    run = RunFolder(tmp_path / "head")
    clips = ordered(48, 0)
    run.path.mkdir()
    assert train(Learner(config.replace(epochs=1)), run, clips, ordered(12, 1)) == "finished"
    kept_config = config.replace(
        base=str(run.checkpoint(1)), train="text", keep_head=True, num_frames=2, pooling="base"
    )
    learner = Learner(kept_config)
    prepare(learner, clips, lambda: False)
    base = read_checkpoint(run.checkpoint(1))
    frames = base.encode_frames(np.array(clips.frames).reshape(-1, 64, 64, 3)).reshape(48, 2, -1)
    assert learner.videos is not None
    np.testing.assert_allclose(learner.videos, base.pool(frames), atol=1e-6)
    learner.start_epoch()
    for batch in epoch_batches(clips, kept_config, 1):
        learner.step([batch])
    assert learner.encoder().card.pooling.head == base.card.pooling.head is not None
    assert learner.encoder().text_fingerprint != base.text_fingerprint
    unlearned: list[dict[str, Any]] = [{"base": config.encoder.base}, {"pooling": "attention"}]
    for changes in unlearned:
        with pytest.raises(ConfigError, match=r"mean|attention"):
            Learner(kept_config.replace(**changes))


def test_the_loss_order_trains_text_with_a_kept_pooling(
    config: TrainConfig, tmp_path: Path
) -> None:
    """It pools the frames in another order, and nothing else is pooled at each step."""
    folder = tmp_path / "base"
    folder.mkdir()
    assert (
        train(Learner(config.replace(epochs=1)), RunFolder(folder), ordered(48, 0), ordered(12, 1))
        == "finished"
    )
    base = RunFolder(folder).checkpoint(1)
    losses: dict[str, Any] = {"contrastive": {}, "order": {}}
    config = config.replace(
        base=str(base), train="text", keep_head=True, pooling="base", losses=losses, num_clips=48
    )
    clips = world_clips("train", 48, config.frames.num_frames, Framing(64), 0, tmp_path)
    learner = Learner(config)
    prepare_inputs(learner, clips)
    prepare(learner, clips, lambda: False)
    assert learner.videos is not None
    assert learner.frames is not None
    assert learner.frames.ndim == 3
    with torch.no_grad():
        np.testing.assert_allclose(learner.pooling(learner.frames), learner.videos, atol=1e-6)
    learner.start_epoch()
    batch = next(epoch_batches(clips, config, 1, inputs=learner.losses.inputs))
    assert learner.step([batch])["order"] > 0
    no_frames = np.empty((0, config.frames.num_frames), np.int64)
    nothing = OrderedClips([], no_frames, no_frames)
    assert learner.step([replace(batch, drawn={**batch.drawn, Order: nothing})])["order"] == 0
    assert learner.encoder().card.pooling.head == read_checkpoint(base).card.pooling.head
    assert learner.encoder().text_fingerprint != read_checkpoint(base).text_fingerprint


def test_the_pooling_has_a_learning_rate_of_its_own(config: TrainConfig) -> None:
    learner = Learner(config.replace(learning_rate=1e-4, head_learning_rate=1e-2, warmup_steps=0))
    rates = {}
    for group in learner.optimizer.param_groups:
        for parameter in group["params"]:
            rates[id(parameter)] = group["lr"]
    assert {rates[id(p)] for p in learner.pooling.parameters()} == {1e-2}
    assert {rates[id(p)] for p in learner.model.parameters() if p.requires_grad} == {1e-4}
    assert len(Learner(config.replace(pooling="mean")).optimizer.param_groups) == 2


def test_a_pooling_starts_from_an_equal_one(config: TrainConfig, tmp_path: Path) -> None:
    learner = Learner(config)
    for parameter in learner.pooling.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    card = Card("Base", frames=2, pooling="unit_seqTransf")
    write_checkpoint(
        tmp_path / "base", learner.model, TINY, {}, card, fp16=False, pooling=learner.pooling
    )
    config = config.replace(base=str(tmp_path / "base"))
    for pooling in ("base", "unit_seqTransf"):
        trained = Learner(config.replace(pooling=pooling)).pooling.state_dict()
        assert all(
            torch.equal(trained[name], value)
            for name, value in learner.pooling.state_dict().items()
        )
    assert not Learner(config.replace(pooling="mean")).pooling.state_dict()
    with pytest.raises(ConfigError, match="num_frames"):
        Learner(config.replace(num_frames=3))


def test_the_loss_over_seqtransf_is_that_of_clip4clip() -> None:
    reference = {name: torch.from_numpy(array) for name, array in papers_reference("c4c_").items()}
    pooling = SequenceTransformer(16, 8, heads=2).double()
    weights = {
        name.removeprefix("c4c_w_"): value
        for name, value in reference.items()
        if name.startswith("c4c_w_")
    }
    pooling.load_state_dict(weights | {"positions": reference["c4c_pos"]})
    texts = normalize(reference["c4c_texts"], dim=-1)
    batch = EmbeddedBatch(pooling(reference["c4c_frames"]), texts, reference["c4c_logit_scale"])
    expected = reference["c4c_seqTransf_full_loss"].item()
    assert ContrastiveLoss()(batch).item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize("part", ["optimizer", "model", "head"])
def test_a_run_with_other_parameters_is_not_resumed(
    config: TrainConfig, tmp_path: Path, part: str
) -> None:
    run = RunFolder(tmp_path)
    steps = iter([False] * (48 + 4) + [True])
    assert (
        train(Learner(config), run, ordered(48, 0), ordered(12, 1), lambda: next(steps))
        == "stopped"
    )
    state = torch.load(run.resume, weights_only=True)
    learned = state["learner"][part]
    # The order in which seqTransf's parameters were registered has changed.
    if part == "optimizer":
        moments = learned["state"]
        shapes = {name: moment["exp_avg"].shape for name, moment in moments.items()}
        other_name = next(name for name in moments if shapes[name] != shapes[0])
        moments[0], moments[other_name] = moments[other_name], moments[0]
    else:
        learned["another"] = learned.pop(next(iter(learned)))
    torch.save(state, run.resume)
    with pytest.raises(CheckpointError) as refused:
        train(Learner(config), run, ordered(48, 0), ordered(12, 1))
    assert "\n" not in str(refused.value)
