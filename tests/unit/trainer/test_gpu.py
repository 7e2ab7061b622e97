"""Training on a GPU: bf16, prefetched batches, resuming, and the numbers of a CPU. Not run where there is no GPU."""

import json
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
import torch

from nt2vr.models.framing import Framing
from tests.support.tiny_models import SMALL_VIT
from tests.support.trainings import SMALL
from trainer.data.batches import epoch_batches
from trainer.data.clip_loader import world_clips
from trainer.data.clips import Clips
from trainer.learner import Learner
from trainer.loop import prefetched, train
from trainer.runs.run_folder import RunFolder

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no GPU"),
]
LOSSES = {"retrieval": {}, "bnl": {"weight": 1e-3}}
CONFIG = SMALL.replace(
    name="Small", model=SMALL_VIT, num_clips=16, losses=LOSSES, learning_rate=1e-3, precision="fp32"
)
# Of losses on one GPU, relative: its kernels add up in any order.
SAME = 1e-2
# Of losses in fp32 without TF32, relative.
AS_ON_CPU = 2e-3


@pytest.fixture(scope="module")
def clips(tmp_path_factory: pytest.TempPathFactory) -> tuple[Clips, Clips]:
    cache = tmp_path_factory.mktemp("frames")
    return world_clips("train", 16, 2, Framing(224), 0, cache), world_clips(
        "validation", 4, 2, Framing(224), 0, cache
    )


def losses_of(run: RunFolder) -> list[float]:
    rows = [json.loads(line) for line in run.metrics.read_text().splitlines()]
    return [row["retrieval"] for row in rows if "retrieval" in row]


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
def test_a_stopped_run_reaches_the_same_losses(
    tmp_path: Path, clips: tuple[Clips, Clips], precision: str
) -> None:
    config = CONFIG.replace(precision=precision)
    uninterrupted = RunFolder(tmp_path / "whole")
    cut = RunFolder(tmp_path / "cut")
    for run in (uninterrupted, cut):
        run.path.mkdir()
    assert train(Learner(config), uninterrupted, *clips) == "finished"
    polls = count(1)
    assert train(Learner(config), cut, *clips, should_stop=lambda: next(polls) == 3) == "stopped"
    assert train(Learner(config), cut, *clips) == "finished"
    assert len(losses_of(uninterrupted)) == 8
    assert losses_of(cut) == pytest.approx(losses_of(uninterrupted), rel=SAME)


def test_bf16_learns_what_fp32_does(tmp_path: Path, clips: tuple[Clips, Clips]) -> None:
    ends = []
    for precision in ("fp32", "bf16"):
        run = RunFolder(tmp_path / precision)
        run.path.mkdir()
        train(Learner(CONFIG.replace(epochs=6, precision=precision)), run, *clips)
        ends.append(sum(losses_of(run)[-4:]))
        assert ends[-1] < sum(losses_of(run)[:4])
    assert ends[1] == pytest.approx(ends[0], rel=0.2)


def test_prefetched_batches_are_pinned_and_give_equal_losses(
    clips: tuple[Clips, Clips], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", False)

    def losses() -> Iterator[float]:
        learner = Learner(CONFIG)
        learner.start_epoch()
        batches = epoch_batches(clips[0], CONFIG, 1, inputs=learner.losses.inputs)
        for batch in prefetched(batches) if learner.device == "cuda" else batches:
            assert batch.frames is not None
            assert torch.from_numpy(batch.frames).is_pinned() == (learner.device == "cuda")
            yield learner.step([batch])["retrieval"]

    on_gpu = list(losses())
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    assert on_gpu == pytest.approx(list(losses()), rel=AS_ON_CPU)
