"""The learner, the training loop, and runs from the command line."""

import json
import os
import shlex
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from nt2vr.models.card import read_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.open_clip_encoder import token_embeddings
from tests.support.tiny_models import RESNET, TINY
from tests.support.trainings import SMALL
from trainer.__main__ import main
from trainer.config import save_config
from trainer.data.batches import Batch, epoch_batches
from trainer.data.clips import Clips
from trainer.data.sentences import CaptionSentences
from trainer.learner import Learner
from trainer.loop import train
from trainer.runs.run_folder import RunFolder, RunStatus, read_metrics

COLOURS = {"red": (255, 0, 0), "green": (0, 255, 0), "blue": (0, 0, 255), "white": (255, 255, 255)}
CONFIG = SMALL.replace(learning_rate=5e-3)


def colours(count: int) -> Clips:
    """Noisy clips of one colour each, with captions that name it."""
    names = [list(COLOURS)[row % 4] for row in range(count)]
    pixels = np.array([COLOURS[name] for name in names])[:, None, None, None]
    noise = np.random.default_rng(0).integers(0, 30, (count, 2, 64, 64, 3))
    frames = np.clip(pixels - noise, 0, 255).astype(np.uint8)
    captions = [(f"a {name} picture", f"some {name} picture") for name in names]
    return Clips(frames, CaptionSentences(captions))


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_learner_learns(precision: Any) -> None:
    clips = colours(4)
    learner = Learner(CONFIG.replace(precision=precision, epochs=10))
    # One clip of each colour.
    batch = Batch(np.array(clips.frames), clips.captions("a"))
    losses = [learner.step([batch])["contrastive"] for _ in range(16)]
    assert losses[-1] < 0.5 * losses[0]
    assert learner.model.logit_scale.dtype == torch.float32


def test_tokens_without_a_caption_stay_zero(tmp_path: Path) -> None:
    clips = colours(8)
    learner = Learner(CONFIG)
    assert token_embeddings(learner.model).any(dim=1).all()
    train(learner, RunFolder(tmp_path), clips, colours(4))
    used = {learner.tokenizer.sot_token_id, learner.tokenizer.eot_token_id}
    for word in ("a", "some", "picture", *COLOURS):
        used.update(learner.tokenizer.encode(word))
    not_zero = token_embeddings(learner.model).any(dim=1).nonzero().flatten()
    assert set(not_zero.tolist()) == used
    encoder = read_checkpoint(RunFolder(tmp_path).checkpoint(2))
    assert encoder.unseen_words("not a red dog picture!") == ("not", "dog")


def test_a_config_without_later_keys_trains_as_before() -> None:
    clips = colours(8)
    learner = Learner(CONFIG.replace(model=RESNET, precision="fp32"))
    learner.prepare_tokens(clips.captions("0 tokens"))
    learner.start_epoch()
    losses = []
    for epoch in (1, 2):
        for batch in epoch_batches(clips, learner.config, epoch, inputs=learner.losses.inputs):
            losses.append(learner.step([batch])["contrastive"])
    # By the earlier code.
    before = [
        2.8070154190063477,
        2.842266798019409,
        2.185828447341919,
        1.3823707103729248,
    ]
    assert losses == pytest.approx(before, rel=1e-3)


def test_epochs_leave_checkpoints_that_measure_what_they_say(tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    validation = colours(4)
    assert train(Learner(CONFIG), run, colours(8), validation) == "finished"
    lines = read_metrics(run.metrics)
    assert [line["step"] for line in lines if "contrastive" in line] == [1, 2, 3, 4]
    assert [line["epoch"] for line in lines if "original/MIR" in line] == [1, 2]
    encoder = read_checkpoint(run.checkpoint(2), verify=True)
    card = encoder.card
    assert (card.name, card.framing.frames) == ("Tiny", 2)
    assert (card.training.epoch, card.training.objective) == (2, "contrastive")
    assert card.metrics["validation/original/MIR"] == lines[-1]["original/MIR"]
    assert run.status() == RunStatus("running", os.getpid(), 2, 4, 0, total=4)


@pytest.mark.parametrize(("count", "kept_epochs"), [(0, {1, 2, 3, 4}), (2, {3, 4})])
def test_the_newest_and_best_checkpoints_are_kept(
    tmp_path: Path, count: int, kept_epochs: set[int]
) -> None:
    run = RunFolder(tmp_path)
    learner = Learner(CONFIG.replace(epochs=4, keep_checkpoints=count))
    train(learner, run, colours(8), colours(4))
    measured = [line for line in read_metrics(run.metrics) if "original/MIR" in line]
    # The first of equals counts.
    best = max(measured, key=lambda line: line["original/MIR"])["epoch"]
    assert json.loads((tmp_path / "checkpoints" / "best.json").read_text()) == {"epoch": best}
    names = {path.name for path in (tmp_path / "checkpoints").iterdir()}
    assert names == {"best.json", *(f"epoch_{epoch:03d}" for epoch in kept_epochs | {best})}


def test_a_run_as_a_person_starts_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    save_config(CONFIG, tmp_path / "tiny.json")
    run = RunFolder(tmp_path / "runs" / "first")
    assert main([str(run.path), "--config", str(tmp_path / "tiny.json"), "--json"]) == 0
    status = run.status()
    assert status == RunStatus("finished", os.getpid(), 2, 4, total=4)
    # There is no terminal.
    captured = capsys.readouterr()
    epochs = [line for line in captured.err.splitlines() if line.startswith("epoch ")]
    assert [line.partition(":")[0] for line in epochs] == ["epoch 1 of 2", "epoch 2 of 2"]
    # R@1 of one clip is always 0 or 100.
    assert all(line.endswith(" held-out clips)") for line in epochs)
    outcome = json.loads(captured.out)
    assert outcome["state"] == "finished"
    assert outcome["epoch"] == 2
    assert outcome["error"] is None
    assert outcome["checkpoint"] == str(run.checkpoint(2))
    assert outcome["metrics"] == dict(read_card(run.checkpoint(2)).metrics)
    names = "checkpoints config.json lock metrics.jsonl resume.pt status.json train.log"
    assert sorted(path.name for path in run.path.iterdir()) == names.split()
    assert "epoch 2 of 2: original/R@1" in run.log.read_text()
    last = captured.err.splitlines()[-1]
    assert "“first · best”" in last
    command = shlex.split(last.partition("”: ")[2])
    assert command[:2] == ["nt2vr", "search"]
    assert command[-4:] == ["--systems", "first · best", "--data-dir", str(tmp_path)]
    assert read_checkpoint(run.checkpoint(2)).name == "Tiny"
    assert main([str(run.path)]) == 2
    assert "nothing left to train" in capsys.readouterr().err


def test_a_run_elsewhere_ends_with_its_model_s_folder(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    save_config(CONFIG.replace(epochs=1), tmp_path / "tiny.json")
    assert main([str(tmp_path / "mine"), "--config", str(tmp_path / "tiny.json")]) == 0
    last = capsys.readouterr().err.splitlines()[-1]
    command = shlex.split(last.partition(": ")[2])
    assert command[:2] == ["nt2vr", "export"]
    assert read_card(Path(command[2])).training.epoch == 1


def test_an_impossible_run_says_why_in_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    run.config.write_text(json.dumps({"model": TINY, "losses": {"triplet": {}}}))
    assert main([str(run.path)]) == 1
    status = run.status()
    message = capsys.readouterr().err
    assert status is not None
    assert status.state == "failed"
    assert str(status.error).startswith("Unknown loss 'triplet'. Choose one")
    # Nothing was rendered.
    assert not (tmp_path / ".frames").exists()
    assert message.splitlines()[-1] == status.error
    assert "Traceback" not in message
    assert "Traceback" in run.log.read_text()
