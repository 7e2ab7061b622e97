"""Where settings come from, and which one wins."""

import ctypes
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from nt2vr.settings import ASSETS, Settings, resolve_path, training_devices


def test_arguments_win_over_the_environment_and_the_environment_over_the_defaults() -> None:
    assert Settings.read(environment={}).data_dir == Path("~/.cache/nt2vr").expanduser()
    assert Settings.read(environment={}).device == "auto"
    environment = {"NT2VR_DATA": "/data", "NT2VR_DEVICE": "cuda"}
    assert Settings.read(environment=environment) == Settings(Path("/data"), "cuda")
    given = Settings.read("/other", "cpu", port=8000, environment=environment)
    assert given == Settings(Path("/other"), "cpu", port=8000)


def test_a_device_that_does_not_exist_is_refused() -> None:
    assert Settings.read(device="cuda:1").device == "cuda:1"
    with pytest.raises(ConfigError, match=r"^Unknown device 'gpu'\. Choose auto, cpu, cuda or mps\.$"):
        Settings.read(environment={"NT2VR_DEVICE": "gpu"})


def test_models_to_download_at_the_start_are_listed_in_one_variable() -> None:
    assert Settings.read(environment={}).models == ()
    environment = {"NT2VR_MODELS": " ViT-B-32/openai, ,ViT-B-16 / openai,"}
    assert Settings.read(environment=environment).models == ("ViT-B-32/openai", "ViT-B-16 / openai")


def test_strangers_on_spaces_may_not_download_models() -> None:
    assert Settings.read(environment={}).may_download
    assert not Settings.read(environment={"SYSTEM": "spaces"}).may_download


def test_strangers_on_spaces_may_train_only_if_the_owner_allows_it_and_nobody_may_on_zero_gpu() -> None:
    assert Settings.read(environment={}).may_train
    assert not Settings.read(environment={"SYSTEM": "spaces"}).may_train
    assert Settings.read(environment={"SYSTEM": "spaces", "NT2VR_TRAIN": "1"}).may_train
    assert not Settings.read(environment={"SPACES_ZERO_GPU": "true", "NT2VR_TRAIN": "1"}).may_train


def test_shipped_files_are_found_from_any_working_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert (ASSETS / "gallery" / "gallery.jsonl").is_file()
    assert (resolve_path("assets/models/clip") / "nt2vr.json").is_file()


def test_other_paths_stay_as_they_are() -> None:
    assert resolve_path("~/models/mine") == Path.home() / "models" / "mine"
    assert resolve_path("models/mine") == Path("models/mine")
    assert resolve_path("/assets/models/clip") == Path("/assets/models/clip")
    assert resolve_path("assets/models/none") == Path("assets/models/none")
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
