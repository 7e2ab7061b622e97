"""Clips of video files, decoded once and in the same way as in the app, bad ones skipped; and a run on them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import numpy as np
import pytest

from nt2vr.datasets.load import load_dataset
from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.evaluation.embed_media import embed_files
from nt2vr.media.clip_frames import decode_videos
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.media.store import Cache
from nt2vr.models.card import read_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.framing import Framing
from nt2vr.progress import silent
from tests.support.mean_pooling import Brightness
from tests.support.tiny_models import TINY
from tests.support.trainings import run_training
from trainer.config import TrainConfig, resolved
from trainer.data.batches import epoch_batches
from trainer.data.caption_clips import read_split
from trainer.data.clip_loader import ClipLoader
from trainer.data.clips import Clips
from trainer.learner import Learner

WriteVideo = Callable[..., Path]
CONFIG = TrainConfig(
    model=TINY, num_clips=100, num_frames=2, validation_clips=2, batch_size=4, epochs=2, log_every=1
)
CAPTIONS = ["a man is singing", "someone sings with a guitar"]


@pytest.fixture
def folder(tmp_path: Path, write_video: WriteVideo) -> Path:
    """Eleven videos, each in its own shade of grey, and a file that is not a video."""
    lines = []
    for number in range(11):
        write_video(f"mine/clips/{number}.avi", [20 * number, 20 * number + 10], side=48)
        lines.append(
            {"video_id": f"v{number}", "path": f"clips/{number}.avi", "captions": CAPTIONS}
        )
    (tmp_path / "mine" / "clips" / "bad.avi").write_text("no video")
    lines.insert(3, {"video_id": "bad", "path": "clips/bad.avi", "captions": CAPTIONS})
    (tmp_path / "mine" / "captions.jsonl").write_text("\n".join(json.dumps(line) for line in lines))
    return tmp_path / "mine"


def greys(clips: Clips) -> list[int]:
    return sorted(round(float(clip[0].mean()) / 20) for clip in np.asarray(clips.frames))


def test_training_and_validation_clips_are_disjoint_and_complete(
    folder: Path, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    config = CONFIG.replace(data=str(folder))
    train, validation = (
        ClipLoader(config, tmp_path / "cache").load(split) for split in ("train", "validation")
    )
    assert (len(train) + len(validation), len(validation)) == (11, 1)
    assert sorted(greys(train) + greys(validation)) == list(range(11))
    assert train.name == validation.name == "mine"
    assert "Skipped bad: bad.avi is not a readable video" in caplog.text
    assert len(ClipLoader(config.replace(num_clips=5), tmp_path / "cache").load("train")) == 5


@pytest.mark.parametrize("validation_clips", [1, 1000])
def test_no_unseen_video_of_evaluation_is_trained_on(
    tmp_path: Path, write_video: WriteVideo, validation_clips: int
) -> None:
    names = [f"v{number}" for number in range(20)]
    for name in names:
        write_video(f"mine/{name}.avi", [50])
    (tmp_path / "mine" / "captions.csv").write_text(
        "\n".join(["video_id,caption", *(f"{n},it is {n}" for n in names)])
    )
    config = CONFIG.replace(data=str(tmp_path / "mine"), validation_clips=validation_clips)
    trained = set(ClipLoader(config, tmp_path / "cache").load("train").captions(""))
    assert trained == set(read_split(config, "train")[1])
    unseen: set[str] = set()
    for video in load_dataset(tmp_path / "mine", "validation").videos:
        unseen.update(video.captions)
    assert len(trained) == 18
    assert len(unseen) == 2
    assert trained.isdisjoint(unseen)


def test_rows_keep_their_captions_beside_a_bad_file(
    write_video: WriteVideo, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.avi"
    bad.write_bytes(b"")
    paths = [
        write_video("a.avi", [40] * 3),
        bad,
        tmp_path / "gone.avi",
        write_video("b.avi", [200] * 3),
    ]
    videos = [Video(path.stem, path, (path.stem,)) for path in paths]
    # They are decoded, then read from the store.
    for _ in range(2):
        with Cache(tmp_path / "cache") as cache:
            decoded, frames, _ = decode_videos(videos, 2, Framing(16), cache)
        assert [video.video_id for video in decoded] == ["a", "b"]
        assert frames.shape == (2, 2, 16, 16, 3)
        assert [round(float(clip.mean()), -1) for clip in np.asarray(frames)] == [40, 200]


def count_decoded(monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Return a list to which every file that is decoded is added."""
    decoded: list[Path] = []
    frames = Decoder.frames

    def counting(decoder: Decoder, path: Path, *options: Any) -> Any:
        decoded.append(path)
        return frames(decoder, path, *options)

    monkeypatch.setattr(Decoder, "frames", counting)
    return decoded


def test_training_and_evaluation_of_one_folder_decode_each_video_once(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "clips" / "bad.avi").unlink()
    decoded = count_decoded(monkeypatch)
    config = CONFIG.replace(data=str(folder))
    folder_of_runs = tmp_path / "runs"
    for _ in range(2):
        parts = [
            ClipLoader(config, folder_of_runs / ".frames").load(split)
            for split in ("train", "validation")
        ]
        assert (sum(map(len, parts)), len(decoded)) == (11, 11)
    encoder = Brightness(image_size=config.framing.size)
    videos = load_dataset(str(folder), "all").videos
    with Decoder(1) as decoder, Cache.of(tmp_path) as cache:
        assert (
            len(embed_files(videos, decoder, cache)(encoder, silent).vectors) == len(decoded) == 11
        )
    assert not list(folder_of_runs.rglob("*.npy"))


def test_a_follower_reads_what_the_leader_has_stored(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = CONFIG.replace(data=str(folder))
    leader = ClipLoader(config, tmp_path / "cache").load("train")
    decoded = count_decoded(monkeypatch)
    monkeypatch.setenv("TORCHELASTIC_RUN_ID", "any")
    monkeypatch.setenv("RANK", "1")
    follower = ClipLoader(config, tmp_path / "cache").load("train")
    assert decoded == []
    assert follower.path == leader.path
    np.testing.assert_array_equal(follower.frames, leader.frames)


def test_a_run_on_videos_skips_a_bad_file(folder: Path, tmp_path: Path) -> None:
    losses = {"retrieval": {}, "bnl": {"weight": 1e-3}}
    config = CONFIG.replace(data=str(folder), losses=losses, learning_rate=1e-4)
    finished = run_training(config, tmp_path / "runs" / "a")
    status = finished.status()
    # Two batches of 4 of its 10 clips, twice.
    assert status is not None
    assert status.step == 4
    log = finished.log.read_text()
    assert "Skipped bad: bad.avi is not a readable video" in log
    card = read_checkpoint(finished.checkpoint(2)).card
    assert card.training.data == "mine, 10 clips"
    lines = [json.loads(line) for line in finished.metrics.read_text().splitlines()]
    assert all(line["bnl"] > 0 for line in lines if "bnl" in line)
    # One clip is held out.
    assert lines[-1]["original/MIR"] == 1
    assert "negated/delta_MIR" in lines[-1]


def test_a_run_s_pooling_and_positions_are_on_its_cards(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = CONFIG.replace(data=str(folder), epochs=1, pooling="raw_mean", positions="ends")
    run = run_training(config, tmp_path / "runs" / "a")
    card = read_card(run.checkpoint(1))
    assert (card.pooling.name, card.framing.positions) == ("raw_mean", "ends")
    second_learner = Learner(
        config.replace(model={}, base=str(run.checkpoint(1)), pooling="base", positions="base")
    )
    assert (second_learner.card.pooling.name, second_learner.card.framing.positions) == (
        "raw_mean",
        "ends",
    )
    assert second_learner.config.framing.positions == "ends"
    usual = Learner(second_learner.config.replace(pooling="mean", positions="centres"))
    batch = next(
        epoch_batches(
            ClipLoader(second_learner.config, tmp_path / "runs" / ".frames").load("train"),
            second_learner.config,
            1,
        )
    )
    for learner in (second_learner, usual):
        encoded = MagicMock(wraps=learner.model.encode_image)
        monkeypatch.setattr(learner.model, "encode_image", encoded)
        learner._embed_videos(batch)
        assert encoded.call_args.kwargs == {"normalize": learner is usual}
    (run.checkpoint(1) / "nt2vr.json").write_text('{"name": "a", "positions": "middle"}')
    with pytest.raises(CheckpointError, match="positions"):
        read_card(run.checkpoint(1))


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"losses": {"composed": {}}}, "composed"),
        ({"batch_size": 12}, "mine .*11 .*12"),
        ({"data": "/nowhere"}, "/nowhere"),
    ],
    ids=["a loss that needs more", "too few", "nothing there"],
)
def test_what_cannot_be_trained_is_refused_before_anything_is_decoded(
    folder: Path, change: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        resolved(CONFIG.replace(**{"data": str(folder), **change}))
