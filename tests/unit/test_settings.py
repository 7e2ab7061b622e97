"""What can be set, and which setting wins."""

from pathlib import Path

from nt2vr.settings import ASSETS, Settings


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
