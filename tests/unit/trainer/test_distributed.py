"""Two processes compared with one that has the full batch."""

import json
import multiprocessing
import os
import signal
import subprocess
import sys
from copy import deepcopy
from dataclasses import replace
from functools import partial
from itertools import islice, product
from pathlib import Path
from typing import Any, cast
from unittest.mock import Mock

import numpy as np
import pytest
import torch
import torch.distributed as dist
from numpy.typing import NDArray
from torch import Tensor
from torch.multiprocessing.spawn import start_processes

from nt2vr.errors import ConfigError
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.framing import Framing
from nt2vr.models.open_clip_encoder import token_embeddings
from nt2vr.world.claims import Claim
from nt2vr.world.scene_denials import SceneDenial
from tests.support.paths import ROOT
from tests.support.tiny_models import TINY
from tests.support.trainings import assert_ended
from trainer import distributed
from trainer.__main__ import main
from trainer.config import TrainConfig, TrainedPart, save_config
from trainer.data.batches import epoch_batches
from trainer.data.clip_loader import world_clips
from trainer.data.sentences import CaptionSentences
from trainer.inputs.parts import Parts, Teacher
from trainer.learner import Learner
from trainer.losses import build_losses
from trainer.runs.run_folder import RunFolder

# These tests start processes that import torch.
slow = pytest.mark.slow
VIT = {
    **TINY,
    "vision_cfg": {"image_size": 64, "patch_size": 32, "width": 16, "head_width": 8, "layers": 1},
}
LOSSES = ("contrastive", "retrieval", "bnl", "composed")
# Imports torch once for both.
multiprocessing.set_forkserver_preload(["trainer.loop", "tests.support.tiny_models"])
KINDS = ("text", "visual", "all", "accumulated")
# The share of the 8 captions of a batch.
KEPT = {"4 kept": 0.5, "2 kept": 0.25}
HEADS: dict[str, TrainedPart] = {"head": "head", "head and all": "all"}
CASES = [
    *product(KINDS, LOSSES),
    *product(("text", *KEPT), ("distill",)),
    *product(HEADS, ("contrastive", "composed")),
]


def trained_part(kind: str) -> TrainedPart:
    if kind in ("text", *KEPT):
        return "text"
    if kind == "visual":
        return "visual"
    return HEADS.get(kind, "all")


def config_of(kind: str, base: Path) -> TrainConfig:
    train = trained_part(kind)
    return TrainConfig(
        base=str(base),
        train=train,
        pooling="unit_seqTransf" if kind in HEADS else "base",
        accumulate=2 if kind == "accumulated" else 1,
        num_clips=24,
        num_frames=2,
        frames_per_step=2,
        batch_size=8,
        precision="fp32",
        pool_clips=6,
        max_grad_norm=1e9,
        warmup_steps=0,
        keep_share=KEPT.get(kind, 1),
        losses={"distill" if kind in KEPT else "contrastive": {}},
    )


def gradients(folder: Path) -> dict[str, dict[str, Any]]:
    """Take one step per case from the same start; return its loss and the gradients the optimizer received."""
    clips = world_clips("train", 24, 2, Framing(64), 0, folder / "frames")
    videos = np.random.default_rng(0).normal(size=(24, 16)).astype(np.float32)
    videos /= np.linalg.norm(videos, axis=1, keepdims=True)
    learners = {kind: Learner(config_of(kind, folder / "base")) for kind in (*KINDS, *KEPT, *HEADS)}
    for kind in ("text", *KEPT):
        learners[kind].use_videos(videos)
    learners["head"].use_videos(np.stack([videos, videos[::-1]], axis=1))
    start = deepcopy(learners["text"].model.state_dict())
    gradients_by_name = {}
    heads = {kind: deepcopy(learner.pooling.state_dict()) for kind, learner in learners.items()}
    for kind, loss in CASES:
        learner = learners[kind]
        config = learners[kind].config
        learner.losses = build_losses({loss: {"detach_video": False} if loss == "bnl" else {}})
        learner.model.load_state_dict(start)
        learner.pooling.load_state_dict(heads[kind])
        if loss == "distill":
            encoder = read_checkpoint(folder / "base")
            sentence = SceneDenial("not", "", "", "dog", Claim(), (Claim(),))
            learner.losses.inputs.of(Parts).teacher = Teacher(encoder, [sentence], videos, "cpu")
            perturb(learner)
        learner.start_epoch()
        batches = epoch_batches(clips, config, 1, inputs=learner.losses.inputs)
        values = learner.step(islice(batches, config.batches.accumulate))
        parameters = (*learner.model.named_parameters(), *learner.pooling.named_parameters("head"))
        grads = {name: p.grad.clone() for name, p in parameters if p.grad is not None}
        gradients_by_name[f"{kind} {loss}"] = {"loss": torch.tensor(values[loss]), **grads}
    return gradients_by_name


def perturb(learner: Learner) -> None:
    """Move a learner away from its base: a caption that is still in place gets no gradient."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in learner.model.parameters():
            parameter += 0.1 * torch.randn(parameter.shape, generator=generator)


class Counted:
    """Frames that count what is read of them."""

    def __init__(self, frames: NDArray[np.uint8]) -> None:
        self.frames = frames
        self.shape = frames.shape
        self.read = 0

    def __len__(self) -> int:
        return len(self.frames)

    def __getitem__(self, place: Any) -> NDArray[np.uint8]:
        read: NDArray[np.uint8] = self.frames[place]
        self.read += read.nbytes
        return read


def read_in_an_epoch(folder: Path) -> dict[str, Any]:
    """Learn an epoch of "some captions cannot be negated"; return what this process read, and the losses."""
    clips = world_clips("train", 24, 2, Framing(64), 0, folder / "frames")
    captions = [["a dog runs", "kites"] if row % 3 else ["kites"] for row in range(24)]
    counted = Counted(np.asarray(clips.frames))
    source = CaptionSentences(captions)
    clips = replace(clips, frames=cast(NDArray[np.uint8], counted), sentences=source)
    config = config_of("all", folder / "base").replace(losses={"bnl": {"detach_video": False}})
    learner = Learner(config)
    learner.tokenizer = tokenize = Mock(wraps=learner.tokenizer)
    learner.start_epoch()
    batches = epoch_batches(clips, config, 1, inputs=learner.losses.inputs)
    losses = [learner.step(islice(batches, 1))["bnl"] for _ in range(config.steps_per_epoch)]
    return {
        "bytes": counted.read,
        "texts": sum(len(call.args[0]) for call in tokenize.call_args_list),
        "losses": losses,
    }


def tokens_of(folder: Path) -> Tensor:
    """Return which token rows are in use once each process has named the texts of its stripe."""
    learner = Learner(config_of("all", folder / "base").replace(base="", model=VIT))
    learner.prepare_tokens(
        ["a red kite", "two dogs sleep"][row]
        for row in range(distributed.rank(), 2, distributed.world_size())
    )
    return token_embeddings(learner.model).any(dim=1)


def one_of_two(rank: int, folder: Path) -> None:
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    facts: dict[str, Any] = {
        "agree": [distributed.agree(flag) for flag in (False, rank == 1)],
        "refused": "",
    }
    facts["gathered"] = distributed.gather(torch.tensor([rank == 1, True])).tolist()
    try:
        Learner(TrainConfig(model=TINY, batch_size=7))
    except ConfigError as error:
        facts["refused"] = str(error)
    read = read_in_an_epoch(folder)
    tokens = tokens_of(folder)
    torch.save(
        {"found": gradients(folder), "facts": facts, "read": read, "tokens": tokens},
        folder / f"{rank}.pt",
    )
    dist.destroy_process_group()


def average(rank: int, folder: Path) -> None:
    """Take the gradient of a loss of gathered rows, of which this process has half."""
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=2)
    weight, frozen = (torch.nn.Parameter(torch.tensor([[2.0, -1.0]])) for _ in range(2))
    loss_of_rows(distributed.gather(ROWS[distributed.share(4)] @ weight.T)).backward()  # type: ignore[no-untyped-call]
    distributed.average_gradients([weight, frozen])
    torch.save((weight.grad, frozen.grad, distributed.agree(rank == 1)), folder / f"{rank}.pt")
    dist.destroy_process_group()


ROWS = torch.tensor([[1.0, 2.0], [3.0, 5.0], [-1.0, 0.5], [0.0, 4.0]])


def loss_of_rows(scores: Tensor) -> Tensor:
    return (scores @ scores.T).logsumexp(dim=0).sum()


@pytest.mark.slow
def test_averaged_gradients_of_two_processes_equal_one(tmp_path: Path) -> None:
    start_processes(average, (tmp_path,), nprocs=2, start_method="forkserver")  # type: ignore[no-untyped-call]
    weight = torch.tensor([[2.0, -1.0]], requires_grad=True)
    loss_of_rows(ROWS @ weight.T).backward()  # type: ignore[no-untyped-call]
    for rank in (0, 1):
        gradient, of_frozen, agreed = torch.load(tmp_path / f"{rank}.pt")
        torch.testing.assert_close(gradient, weight.grad)
        assert of_frozen is None
        assert agreed


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Take the steps in two processes and store their results in files."""
    folder = tmp_path_factory.mktemp("two")
    torch.manual_seed(0)
    base = Learner(TrainConfig(model=VIT))
    write_checkpoint(folder / "base", base.model, VIT, {}, Card("Tiny ViT", frames=2), fp16=False)
    world_clips("train", 24, 2, Framing(64), 0, folder / "frames")
    start_processes(one_of_two, (folder,), nprocs=2, start_method="forkserver")  # type: ignore[no-untyped-call]
    torch.save(gradients(folder), folder / "one.pt")
    torch.save(
        {"read": read_in_an_epoch(folder), "tokens": tokens_of(folder)}, folder / "one_read.pt"
    )
    return folder


@slow
@pytest.mark.parametrize(("kind", "loss"), CASES)
def test_two_processes_learn_what_one_does_from_the_same_batch(
    folder: Path, kind: str, loss: str
) -> None:
    alone = torch.load(folder / "one.pt")[f"{kind} {loss}"]
    for rank in (0, 1):
        together = torch.load(folder / f"{rank}.pt")["found"][f"{kind} {loss}"]
        assert together.keys() == alone.keys()
        assert any(
            gradient.abs().max() > 1e-6 for name, gradient in alone.items() if name != "loss"
        )
        for name, value in alone.items():
            torch.testing.assert_close(
                together[name], value, rtol=1e-4, atol=1e-6, msg=partial("{}: {}".format, name)
            )


@slow
def test_a_run_of_two_processes_as_a_person_starts_it(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = config_of("visual", folder / "base").replace(epochs=1, validation_clips=6, log_every=1)
    save_config(config, tmp_path / "config.json")
    torchrun = [
        sys.executable,
        *"-m torch.distributed.run --standalone --nproc_per_node 2 -m trainer".split(),
    ]
    arguments = [
        [str(tmp_path / name), "--config", str(tmp_path / "config.json")] for name in ("one", "two")
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [*torchrun, *arguments[1]], cwd=ROOT, env=environment, capture_output=True, text=True
    )
    two = RunFolder(tmp_path / "two")
    assert done.returncode == 0, f"{done.stderr}\n{two.log.read_text() if two.log.exists() else ''}"
    # This leaves pytest's own handlers in place.
    monkeypatch.setattr(signal, "signal", lambda *_: None)
    one = RunFolder(tmp_path / "one")
    assert main(arguments[0]) == 0, one.log.read_text()
    assert_ended(two, "finished")
    rows_alone = [json.loads(line) for line in one.metrics.read_text().splitlines()]
    rows_together = [json.loads(line) for line in two.metrics.read_text().splitlines()]
    assert len(rows_alone) == 5
    for alone, together in zip(rows_alone, rows_together, strict=True):
        assert together == pytest.approx(alone, rel=1e-3)
    assert two.log.read_text().count("The run has finished") == 1
    assert sorted(path.name for path in two.path.iterdir()) == sorted(
        path.name for path in one.path.iterdir()
    )
