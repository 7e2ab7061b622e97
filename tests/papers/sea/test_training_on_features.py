"""Training and evaluation on features of videos that other code has computed, from their files to a table."""

import json
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.torch import load_file

from nt2vr.cli import main
from nt2vr.errors import CheckpointError, ConfigError, DatasetError
from nt2vr.evaluation.benchmark_kinds import Places
from nt2vr.evaluation.protocol import evaluate, with_controls
from nt2vr.evaluation.sources import Data, load_benchmark
from nt2vr.files import parse_json
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.capabilities import VideoInputName
from nt2vr.models.card import CARD, HEAD, Card, read_card
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.progress import silent
from nt2vr.search.strategies import System
from tests.support.big_files import write_big_file
from tests.support.tiny_models import TINY, tiny_model, write_tiny
from trainer.config import TrainConfig
from trainer.start import check_model

COLOURS = ("red", "green", "blue", "white")
NAME = "colours,os"
INPUT = VideoInputName("features", NAME)
SETTINGS: dict[str, Any] = {
    "name": "Tiny features",
    "train": "head",
    "pooling": "projected",
    "words": {"spaces": "each", "size": 8, "states": 6, "vector_size": 3, "least": 2},
    "features": NAME,
    "losses": {"contrastive": {}},
    "num_clips": 32,
    "batch_size": 16,
    "epochs": 1,
    "passes": 30,
    "learning_rate": 1e-2,
    "warmup_steps": 0,
    "weight_decay": 0.0,
    "precision": "fp32",
}


def write_dataset(folder: Path) -> None:
    """Write captions of 32 + 4 + 4 videos of one colour each, no video, and three frames' features of each."""
    rng = np.random.default_rng(0)
    rows = {}
    lines = ["video_id,caption,split"]
    for number in range(40):
        colour = number % 4
        split = "train" if number < 32 else "val" if number < 36 else "test"
        lines.append(f"video{number},it is all {COLOURS[colour]},{split}")
        for frame in range(3):
            rows[f"video{number}_{frame}"] = (
                3 * np.eye(5)[colour] + 0.3 * rng.normal(size=5)
            ).tolist()
    write_big_file(folder / "FeatureData" / NAME, rows)
    (folder / "captions.csv").write_text("\n".join(lines), encoding="utf-8")


def config_of(folder: Path, **changes: Any) -> Path:
    file = folder / "config.json"
    settings = {
        **SETTINGS,
        "base": str(folder / "models" / "base"),
        "data": str(folder / "data"),
        **changes,
    }
    file.write_text(json.dumps(settings), encoding="utf-8")
    return file


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A data folder with a finished run, next to its data."""
    folder = tmp_path_factory.mktemp("features")
    write_dataset(folder / "data")
    write_tiny(folder / "models" / "base", "Tiny base")
    with pytest.MonkeyPatch.context() as patch:
        # This leaves pytest's own handlers in place.
        patch.setattr("signal.signal", lambda *_: None)
        assert (
            main(
                ["train", str(folder / "home" / "runs" / "sea"), "--config", str(config_of(folder))]
            )
            == 0
        )
    return folder


@pytest.fixture
def models(trained: Path) -> Catalog:
    return Catalog([trained / "models"], runs=trained / "home" / "runs")


@pytest.fixture
def load(tmp_path: Path, decoder: Decoder) -> Iterator[Callable[..., Any]]:
    with ExitStack() as stack:
        cache = stack.enter_context(Cache(tmp_path / "cache"))

        def load_data(data: Path | str, next_to_frames: bool = False) -> Any:
            inputs = {INPUT, None} if next_to_frames else {INPUT}
            places = Places(tmp_path / "kept", decoder, cache)
            return load_benchmark(Data(str(data)), places, silent, inputs=frozenset(inputs))

        yield load_data


def test_a_run_on_features_finds_what_captions_name(
    trained: Path, models: Catalog, load: Callable[..., Any]
) -> None:
    folder = trained / "home" / "runs" / "sea" / "checkpoints" / "epoch_001"
    card = read_card(folder)
    assert (card.visual.input, card.base, card.pooling.name) == (INPUT, "", "projected")
    assert card.metrics["validation/original/MIR"] == 1
    # Its towers see no features.
    assert not any(name.startswith("validation/base/") for name in card.metrics)
    benchmark = load(trained / "data")
    assert benchmark.video_ids == tuple(f"video{number}" for number in range(36, 40))
    report = evaluate(benchmark, with_controls([System("sea")], models), models)
    assert [result.system for result in report.results] == ["sea", "sea drop"]
    assert report.results[0].measured.ranks[:4].tolist() == [1] * 4

    weights = {name: tensor.float().numpy() for name, tensor in load_file(folder / HEAD).items()}
    means = []
    content = np.fromfile(trained / "data" / "FeatureData" / NAME / "feature.bin", "<f4").reshape(
        40, 3, 5
    )
    for rows in content[36:]:
        spaces = [
            np.tanh(weights[f"spaces.{k}.weight"] @ rows.mean(axis=0) + weights[f"spaces.{k}.bias"])
            for k in range(3)
        ]
        means.append(np.concatenate([one / np.linalg.norm(one) for one in spaces]) / np.sqrt(3))
    embedded = benchmark.embed(read_checkpoint(folder), silent).vectors
    # Weights are stored in half precision.
    np.testing.assert_allclose(embedded, np.stack(means), atol=2e-3)


def test_videos_without_features_rank_last(
    trained: Path,
    models: Catalog,
    load: Callable[..., Any],
    write_video: Callable[..., Path],
    tmp_path: Path,
) -> None:
    data = tmp_path / "data"
    shutil.copytree(trained / "data", data)
    with pytest.raises(DatasetError):
        load(data, next_to_frames=True)
    for number in range(36, 40):
        write_video(f"data/video{number}.avi", [number])
    folder = data / "FeatureData" / NAME
    names = (folder / "id.txt").read_text().replace("video39_", "video99_")
    (folder / "id.txt").write_text(names)
    benchmark = load(data, next_to_frames=True)
    assert len(benchmark.video_ids) == 4
    assert "1 of 4 videos have no features colours,os; they are ranked last" in " ".join(
        benchmark.source["remarks"]
    )
    results = evaluate(benchmark, [System("sea"), System("Tiny base")], models).results
    ranks = dict(zip(benchmark.video_ids, results[0].measured.ranks[:4].tolist(), strict=True))
    assert ranks == {"video36": 1, "video37": 1, "video38": 1, "video39": 4}
    alone = load(data)
    assert alone.video_ids == ("video36", "video37", "video38")
    assert "they are left out" in " ".join(alone.source["remarks"])
    # A stored result is not taken for that of other features.
    assert alone.digest != load(trained / "data").digest


def test_a_base_of_features_is_not_trained_on_frames(tmp_path: Path) -> None:
    card = Card("Tiny of features", features=NAME)
    write_checkpoint(tmp_path / "base", tiny_model(), TINY, {}, card)
    config = TrainConfig(base=str(tmp_path / "base"), train="text")
    with pytest.raises(ConfigError, match=NAME):
        check_model(config)


def test_a_card_with_other_features_than_its_head_is_refused(trained: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(trained / "home" / "runs" / "sea" / "checkpoints" / "epoch_001", folder)
    card = parse_json((folder / CARD).read_text())
    for features, problem in (
        (["a"], "features"),
        ("", "16"),
    ):
        (folder / CARD).write_text(json.dumps({**card, "features": features}))
        with pytest.raises(CheckpointError, match=problem):
            read_checkpoint(folder)
