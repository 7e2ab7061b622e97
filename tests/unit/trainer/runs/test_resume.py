"""Runs that are killed, stopped or out of patience, compared with uninterrupted twins after resuming."""

import json
import math
import multiprocessing
import os
import signal
from collections.abc import Callable, Iterable
from itertools import product
from pathlib import Path
from typing import Any

import pytest
import torch

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.framing import Framing
from tests.support.tiny_models import TINY, tiny_model, write_tiny
from tests.support.trainings import SMALL, go_on, run_training
from tests.support.triplet_files import write_triplets
from trainer import validator
from trainer.config import TrainConfig, load_config, save_config
from trainer.data.batches import Batch
from trainer.data.clip_loader import world_clips
from trainer.learner import Learner
from trainer.loop import train
from trainer.optimizer import Trainable
from trainer.runs import resume
from trainer.runs.resume import Position, Saver, read_saved, read_state
from trainer.runs.run_folder import RunFolder

VIT = {
    "image_size": 64,
    "patch_size": 16,
    "width": 16,
    "head_width": 8,
    "layers": 1,
    "patch_dropout": 0.5,
}
# 7 steps per epoch.
ALL = TrainConfig(
    name="Tiny",
    model={**TINY, "vision_cfg": VIT},
    num_clips=44,
    num_frames=2,
    validation_clips=10,
    batch_size=6,
    accumulate=2,
    epochs=2,
    passes=2,
    warmup_steps=2,
    log_every=2,
    losses={"contrastive": {}, "composed": {}},
)
TEXT = ALL.replace(
    train="text",
    base="base",
    model={},
    accumulate=1,
    passes=1,
    log_every=3,
    pool_clips=8,
    losses={name: {} for name in ("contrastive", "retrieval", "bnl", "composed", "distill")},
)


@pytest.fixture(scope="module", autouse=True)
def _one_thread() -> Any:
    before = torch.get_num_threads()
    # The child processes have one, too.
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


def go(folder: Path, should_stop: Callable[[], bool] = lambda: False) -> str:
    """Start or resume a run on the built-in world."""
    config = load_config(folder / "config.json")
    cache = folder.parent / "frames"
    sizes = config.frames.num_frames, config.framing, 0, cache
    clips = world_clips("train", config.dataset.num_clips, *sizes)
    validation = world_clips("validation", config.validation.validation_clips, *sizes)
    return train(Learner(config), RunFolder(folder), clips, validation, should_stop)


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def write_partly(folder: Path, *_: Any, **__: Any) -> None:
    """Die while a checkpoint is written."""
    folder.with_name(f".{folder.name}.1.partial").mkdir(parents=True)
    die()


def go_and_die(folder: Path, when: str, step: int, every_s: float) -> None:
    """Train in a separate process and kill it at the moment named by `when`."""
    torch.set_num_threads(1)
    resume.SAVE_EVERY_S = every_s
    resume.SAVE_SHARE = math.inf
    take_step = Learner.step
    save = Saver.save
    learners = []

    def counted(learner: Learner, batches: Iterable[Batch]) -> dict[str, float]:
        learners.append(learner)
        losses = take_step(learner, batches)
        if when == "step" and learner.steps == step:
            die()
        return losses

    def save_late(*arguments: Any) -> None:
        if learners[-1].steps >= step:
            die()
        save(*arguments)

    def replace_unless(old: Path, new: Path) -> None:
        if new.name == "resume.pt" and learners[-1].steps >= step:
            die()
        os.rename(old, new)

    # It lasts for the life of this process.
    patch = pytest.MonkeyPatch()
    patch.setattr(Learner, "step", counted)
    # The checkpoint already exists.
    if when == "before it is saved":
        patch.setattr(Saver, "save", save_late)
    if when == "while it is saved":
        patch.setattr(os, "replace", replace_unless)
    if when == "while a checkpoint is written":
        patch.setattr(validator, "write_checkpoint", write_partly)
    go(folder)


PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["trainer.loop", "tests.support.tiny_models"])


def start(target: Callable[..., Any], *arguments: Any) -> Any:
    process = PROCESSES.Process(target=target, args=arguments)
    process.start()
    return process


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Train uninterrupted runs, and the base that one of them needs."""
    folder = tmp_path_factory.mktemp("runs")
    base = Learner(TrainConfig(model=TINY))
    base.model = tiny_model()
    base.prepare_tokens(["a man sings while"])
    write_checkpoint(folder / "base", base.model, TINY, {}, Card("Tiny base", frames=2))
    for name, config in (("all", ALL), ("text", TEXT.replace(base=str(folder / "base")))):
        (folder / name).mkdir()
        save_config(config, folder / name / "config.json")
        assert go(folder / name) == "finished"
    return folder


def new_run_like(twins: Path, kind: str, name: str) -> Path:
    folder = twins / f"{kind} {name}"
    folder.mkdir()
    save_config(load_config(twins / kind / "config.json"), folder / "config.json")
    return folder


def assert_twins(folder: Path, twin: Path) -> None:
    assert RunFolder(folder).metrics.read_text() == RunFolder(twin).metrics.read_text()
    for epoch in (1, 2):
        one, two = (
            read_checkpoint(RunFolder(run).checkpoint(epoch), verify=True).card
            for run in (folder, twin)
        )
        assert one.replace(created="") == two.replace(created="")
    assert {path.name for path in folder.iterdir()} == {path.name for path in twin.iterdir()}
    assert not list(folder.glob("checkpoints/.*"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "when", "step", "every_s", "saved_at"),
    [
        # Though lines of metrics were written.
        pytest.param("all", "step", 3, 1000, None, marks=pytest.mark.slow),
        # With a loss not yet in the metrics.
        pytest.param("all", "step", 6, 0, 5, marks=pytest.mark.slow),
        pytest.param("all", "before it is saved", 7, 1000, None, marks=pytest.mark.slow),
        pytest.param("all", "while it is saved", 7, 0, 6, marks=pytest.mark.slow),
        pytest.param("text", "step", 12, 0, 11, marks=pytest.mark.slow),
        pytest.param("text", "before it is saved", 14, 1000, 7, marks=pytest.mark.slow),
        ("text", "while a checkpoint is written", 7, 0, 7),
    ],
)
def test_a_killed_run_reaches_the_same_numbers(
    twins: Path, kind: str, when: str, step: int, every_s: float, saved_at: int | None
) -> None:
    folder = new_run_like(twins, kind, f"{when} {step}")
    process = start(go_and_die, folder, when, step, every_s)
    process.join()
    assert process.exitcode == -signal.SIGKILL
    assert RunFolder(folder).metrics.read_text()
    if when == "before it is saved":
        assert RunFolder(folder).checkpoint(step // 7).is_dir()
    assert steps_saved(folder) == saved_at
    assert go(folder) == "finished"
    assert_twins(folder, twins / kind)


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """Train a small run."""
    return run_training(SMALL, tmp_path_factory.mktemp("finished") / "run")


def test_a_run_of_the_former_world_is_refused(finished: RunFolder, tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    saved = torch.load(finished.resume, weights_only=True)
    # 0.2.0 wrote none.
    del saved["look"]
    torch.save(saved, run.resume)
    with pytest.raises(ConfigError, match="former"):
        read_state(run)
    torch.save({**saved, "config": {**saved["config"], "data": "videos"}}, run.resume)
    assert read_state(run)


def steps_saved(folder: Path) -> int | None:
    saved = read_state(RunFolder(folder))
    return saved.learner["steps"] if saved and saved.learner else None


def captions_alone(folder: Path, _: Any) -> dict[str, Any]:
    who = ("a man", "a woman", "a boy", "a dog", "two girls")
    doing = ("singing", "eating an apple", "running")
    where = ("on a stage", "in a park")
    captions = [" ".join(words) for words in product(who, doing, where)]
    (folder / "captions.txt").write_text("\n".join(captions))
    losses = {"distill": {"alpha": 0.65}}
    return {
        "train": "text",
        "losses": losses,
        "data": str(folder / "captions.txt"),
        "validation_clips": 3,
    }


def every_caption(folder: Path, write_video: Any) -> dict[str, Any]:
    lines = []
    for number in range(12):
        write_video(f"mine/{number}.avi", [20 * number] * 3)
        lines.append(
            {
                "video_id": str(number),
                "path": f"{number}.avi",
                "captions": ["it sings", "a man dances"],
            }
        )
    (folder / "mine" / "captions.jsonl").write_text("\n".join(map(json.dumps, lines)))
    losses = {"retrieval": {}, "bnl": {"weight": 1e-3}}
    return {
        "losses": losses,
        "data": str(folder / "mine"),
        "num_captions": 1_000,
        "validation_clips": 3,
    }


def of_fusion(folder: Path, _: Any) -> dict[str, Any]:
    write_triplets(folder / "triplets")
    changes = {
        "data": str(folder / "triplets"),
        "losses": {},
        "monitor": "fusion/R@1",
        "num_clips": 100,
    }
    return {
        **changes,
        "train": "fusion",
        "fusion": {"iterate": "triplets", "random_clips": 3},
        "batch_size": 12,
    }


WORDS = {"spaces": "each", "size": 8, "states": 6, "vector_size": 3, "least": 2}
KINDS: dict[str, Callable[[Path, Any], dict[str, Any]]] = {
    "towers that drop patches": lambda *_: {
        "base": "",
        "model": {**TINY, "vision_cfg": VIT},
        "accumulate": 2,
    },
    "text tower": lambda *_: {
        "train": "text",
        "losses": {"contrastive": {}, "composed": {}, "distill": {}},
    },
    "pooling": lambda *_: {"train": "text", "pooling": "unit_seqTransf"},
    "words": lambda *_: {
        "train": "head",
        "pooling": "unit_projected",
        "words": WORDS,
        "losses": {"retrieval": {}},
    },
    "captions alone": captions_alone,
    "every caption": every_caption,
    "fusion": of_fusion,
}


# The others take long, too, and differ in fewer ways.
DEFAULT = "text tower"


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=() if k == DEFAULT else pytest.mark.slow) for k in KINDS]
)
def test_a_stopped_run_continues_as_if_never_stopped(
    kind: str, tmp_path: Path, write_video: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever is trained, and on whatever data: every later number is the same, and so are the checkpoints."""
    write_tiny(tmp_path / "base", "Tiny base")
    sizes = {
        "num_clips": 24,
        "num_frames": 2,
        "validation_clips": 8,
        "batch_size": 4,
        "pool_clips": 8,
        "epochs": 2,
    }
    common = {
        "base": str(tmp_path / "base"),
        "log_every": 3,
        "warmup_steps": 2,
        "learning_rate": 5e-3,
        **sizes,
    }
    config = TrainConfig(**{**common, **KINDS[kind](tmp_path, write_video)})
    uninterrupted = run_training(config, tmp_path / "runs" / "whole")
    step = Trainable.step

    def interrupted(self: Trainable, batches: Iterable[Any]) -> dict[str, float]:
        values = step(self, batches)
        # In an epoch, and near the end.
        if self.steps == 2 or self.steps == (uninterrupted.status() or fail()).step - 1:
            # Ctrl+C, and the app's.
            os.kill(os.getpid(), signal.SIGINT if self.steps == 2 else signal.SIGTERM)
        return values

    monkeypatch.setattr(Trainable, "step", interrupted)
    run = run_training(config, tmp_path / "runs" / "stopped", "stopped")
    assert steps_saved(run.path) == 2
    assert not run.checkpoint(2).exists()
    go_on(run, "stopped")
    go_on(run)
    assert run.metrics.read_text() == uninterrupted.metrics.read_text()
    cards = [
        read_checkpoint(run_folder.checkpoint(2), verify=True).card
        for run_folder in (run, uninterrupted)
    ]
    assert cards[0].replace(created="") == cards[1].replace(created="")


def fail() -> Any:
    pytest.fail("The run has no status.")


@pytest.mark.parametrize(
    ("damage", "error", "message"),
    [
        (lambda path: path.write_bytes(b""), CheckpointError, "resume.pt"),
        (
            lambda path: path.write_bytes(path.read_bytes()[:-300]),
            CheckpointError,
            "resume.pt",
        ),
        (
            lambda path: torch.save({"model": torch.ones(2)}, path),
            CheckpointError,
            "resume.pt",
        ),
        # Would have to be unpickled.
        (
            lambda path: torch.save(Position(), path),
            CheckpointError,
            "resume.pt",
        ),
        (
            lambda path: None,
            ConfigError,
            "learning_rate, seed",
        ),
    ],
    ids=["empty", "cut off", "another file", "an object", "another config"],
)
def test_an_unusable_state_is_refused_in_one_sentence(
    finished: RunFolder,
    tmp_path: Path,
    damage: Callable[[Path], None],
    error: type[Exception],
    message: str,
) -> None:
    run = RunFolder(tmp_path)
    run.resume.write_bytes(finished.resume.read_bytes())
    damage(run.resume)
    config = SMALL.replace(seed=1, learning_rate=1) if error is ConfigError else SMALL
    with pytest.raises(error, match=message) as caught:
        read_saved(run, config, {})
    assert "\n" not in str(caught.value)


def test_patience_counts_from_the_best_epoch() -> None:
    config = ALL.replace(epochs=9, patience=2)
    position = Position()
    seen = []
    for value in (0.5, 0.4, 0.6, math.nan, 0.6):
        position = position.after_epoch(value, config)
        seen.append((position.epoch, position.best, position.best_epoch, position.finished))
    assert seen == [
        (2, 0.5, 1, False),
        (3, 0.5, 1, False),
        (4, 0.6, 3, False),
        (5, 0.6, 3, False),
        (6, 0.6, 3, True),
    ]
    assert not Position(8, 0.5, 1).after_epoch(0.1, config.replace(patience=0)).finished
    # It is the last epoch.
    assert Position(9, 0.5, 1).after_epoch(0.9, config).finished
    # These epochs do not count against patience.
    lenient = config.replace(not_epochs=3)
    assert not Position(4, 0.5, 0).after_epoch(0.1, lenient).finished
    assert Position(5, 0.5, 0).after_epoch(0.1, lenient).finished


def test_a_run_out_of_patience_ends_early_and_says_why(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = iter((0.5, 0.7, 0.7))
    monkeypatch.setattr(validator, "validate", lambda *_: {"original/MIR": next(values)})
    config = ALL.replace(epochs=5, patience=1, num_clips=12, accumulate=1, passes=1)
    clips = world_clips("train", 12, 2, Framing(64), 0, tmp_path / "frames")
    caplog.set_level("INFO", "trainer.loop")
    run = RunFolder(tmp_path / "run")
    run.path.mkdir()
    assert train(Learner(config), run, clips, clips) == "finished"
    epochs = [
        line["epoch"]
        for line in map(json.loads, run.metrics.read_text().splitlines())
        if "original/MIR" in line
    ]
    assert epochs == [1, 2, 3]
    assert (
        "original/MIR has not improved for 1 epochs; it was best after epoch 2 (0.7000)"
        in caplog.text
    )
    # It trains no further epoch.
    assert train(Learner(config), run, clips, clips) == "finished"
