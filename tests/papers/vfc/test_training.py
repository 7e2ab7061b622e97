"""A training with VFC's loss, and what its input gives to a batch."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nt2vr.models.encoder import Encoder
from nt2vr.papers.vfc.verbs_input import DrawnVerbs, Verbs
from nt2vr.progress import Progress, silent
from nt2vr.world.drawn.clips import ClipFile
from tests.support.tiny_models import write_tiny
from tests.support.trainings import run_training
from trainer.config import TrainConfig
from trainer.data.batches import Batch, epoch_batches
from trainer.data.clip_loader import ClipLoader
from trainer.learner import Learner
from trainer.losses import losses_of


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    write_tiny(tmp_path / "base", resnet=True)
    return TrainConfig(
        base=str(tmp_path / "base"),
        train="text",
        losses={"vfc": {}},
        num_clips=40,
        num_frames=2,
        validation_clips=60,
        batch_size=10,
        epochs=2,
        warmup_steps=0,
        log_every=1,
        learning_rate=5e-3,
    )


def undrawn(file: ClipFile, encoder: Encoder, progress: Progress = silent) -> NDArray[np.float32]:
    """Return an embedding per clip that depends on its place in the file; drawing 460 clips takes 8 s."""
    dim = encoder.encode_text(["a"]).shape[1]
    embeddings = np.random.default_rng(0).normal(size=(len(file), dim)).astype(np.float32)
    unit: NDArray[np.float32] = embeddings / np.linalg.norm(embeddings, axis=1, keepdims=True)
    return unit


@pytest.mark.slow
def test_changed_verbs_are_calibrated_and_repeat_and_the_loss_falls(
    tmp_path: Path,
    config: TrainConfig,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(ClipFile, "embeddings", undrawn)
    vfc = config.replace(losses={"vfc": {"temperature": 0.05}}, epochs=3, verb_negatives=3)
    # A verb is taken from captions with the same object.
    vfc = vfc.replace(num_clips=400, batch_size=40)
    run = run_training(vfc, tmp_path / "run")
    log = capsys.readouterr().err
    assert "captions with another verb, for 400 captions." in log
    lines = [json.loads(line) for line in run.metrics.read_text().splitlines()]
    lost = [line["vfc"] for line in lines if "vfc" in line]
    assert sum(lost[-4:]) < sum(lost[:4])
    inputs = losses_of(vfc).inputs
    clips = ClipLoader(vfc, tmp_path / "cache").load("train")
    inputs.of(Verbs).prepare(clips, vfc, silent)
    first, second = (next(epoch_batches(clips, vfc, 1, inputs=inputs)) for _ in range(2))
    assert first.drawn[Verbs] == second.drawn[Verbs]
    changed = first.drawn[Verbs].changed
    assert any(changed)
    assert max(map(len, changed)) <= 3
    later = next(epoch_batches(clips, vfc, 2, inputs=inputs))
    assert later.rows is not None
    assert first.rows is not None
    assert later.rows.tolist() != first.rows.tolist()
    known_texts = {
        text for row in later.rows.tolist() for text in inputs.of(Verbs).known_texts(row)
    }
    assert set(later.captions) <= known_texts


def test_each_caption_meets_its_own_changed_captions(config: TrainConfig, tmp_path: Path) -> None:
    vfc = config.replace(losses={"vfc": {}}, verb_negatives=2)
    learner = Learner(vfc)
    learner.use_videos(np.eye(3, learner.model.text_projection.shape[1], dtype=np.float32))
    changed = [["a man runs"], [], ["a dog sings", "a cat sings"]]
    phrases = ["running", "", "singing"]
    batch = Batch(None, ["a", "b", "c"], np.arange(3), {Verbs: DrawnVerbs(changed, phrases)})
    with torch.no_grad():
        verbs = learner._embed(batch).of(Verbs)
        texts = learner.model.encode_text(
            learner.tokenizer(["a man runs", "a dog sings", "a cat sings"]), normalize=True
        )
    assert verbs is not None
    assert verbs.is_changed.tolist() == [[True, False], [False, False], [True, True]]
    assert verbs.has_phrase.tolist() == [True, False, True]
    torch.testing.assert_close(verbs.changed[verbs.is_changed], texts, rtol=0, atol=1e-2)
