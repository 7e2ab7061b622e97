"""What can be set, and which setting wins."""

import ctypes
from pathlib import Path

import pytest

from nt2vr.settings import ASSETS, Settings, training_devices


def test_flags_win_over_the_environment_and_that_over_the_defaults() -> None:
    assert Settings.read([], {}).data_dir == Path("~/.cache/nt2vr").expanduser()
    environment = {"NT2VR_DATA": "/data", "NT2VR_DEVICE": "cuda"}
    assert Settings.read([], environment).data_dir == Path("/data")
    flagged = Settings.read(["--data-dir", "/other", "--device", "cpu", "--port", "8000"], environment)
    assert (flagged.data_dir, flagged.device, flagged.port) == (Path("/other"), "cpu", 8000)


def test_strangers_on_spaces_may_not_download_models() -> None:
    assert Settings.read([], {}).may_download
    assert not Settings.read([], {"SYSTEM": "spaces"}).may_download


def test_strangers_on_spaces_may_train_only_where_the_owner_says_so_and_nobody_on_zero_gpu() -> None:
    assert Settings.read([], {}).may_train
    assert not Settings.read([], {"SYSTEM": "spaces"}).may_train
    assert Settings.read([], {"SYSTEM": "spaces", "NT2VR_TRAIN": "1"}).may_train
    assert not Settings.read([], {"SPACES_ZERO_GPU": "true", "NT2VR_TRAIN": "1"}).may_train


def test_the_assets_are_found_from_any_working_directory() -> None:
    assert (ASSETS / "gallery" / "gallery.jsonl").is_file()
    assert ASSETS.is_absolute()


@pytest.mark.parametrize(
    ("environment", "devices"),
    [
        ({}, ("cuda:0",)),
        ({"CUDA_VISIBLE_DEVICES": "3,1"}, ("cuda:3",)),
        ({"CUDA_VISIBLE_DEVICES": ""}, ("cpu",)),
        ({"CUDA_VISIBLE_DEVICES": "-1"}, ("cpu",)),
        ({"TORCHELASTIC_RUN_ID": "x", "LOCAL_WORLD_SIZE": "2"}, ("cuda:0", "cuda:1")),
        ({"TORCHELASTIC_RUN_ID": "x", "LOCAL_WORLD_SIZE": "2", "CUDA_VISIBLE_DEVICES": "3,1,0"}, ("cuda:3", "cuda:1")),
    ],
)
def test_a_training_uses_the_first_visible_gpus_where_there_is_a_driver_and_otherwise_the_processor(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], devices: tuple[str, ...]
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: None)
    assert training_devices(environment) == devices

    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert training_devices(environment) == ("cpu",)
