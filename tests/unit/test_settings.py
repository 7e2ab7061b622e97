"""Where settings come from, and which one wins."""

import ctypes
import pwd
import re
from pathlib import Path

import pytest

from nt2vr.errors import ConfigError
from nt2vr.settings import (
    ASSETS,
    Settings,
    has_home,
    is_loopback,
    reach_directly,
    resolve_path,
    some_home,
    training_devices,
    use_device,
    without_proxies,
)


def test_arguments_come_before_environment_and_defaults() -> None:
    assert Settings.read(environment={}).data_dir == Path("~/.cache/nt2vr").expanduser()
    assert Settings.read(environment={}).device == "auto"
    environment = {"NT2VR_DATA": "/data", "NT2VR_DEVICE": "cuda"}
    assert Settings.read(environment=environment) == Settings(Path("/data"), "cuda")
    settings = Settings.read("/other", "cpu", port=8000, environment=environment)
    assert settings == Settings(Path("/other"), "cpu", port=8000)


def test_a_device_that_does_not_exist_is_refused() -> None:
    assert Settings.read(device="cuda:1").device == "cuda:1"
    with pytest.raises(ConfigError, match=r"gpu.*auto, cpu, cuda"):
        Settings.read(environment={"NT2VR_DEVICE": "gpu"})


def test_one_variable_lists_models_to_download_at_the_start() -> None:
    assert Settings.read(environment={}).models == ()
    environment = {"NT2VR_MODELS": " ViT-B-32/openai, ,ViT-B-16 / openai,"}
    assert Settings.read(environment=environment).models == ("ViT-B-32/openai", "ViT-B-16 / openai")


def test_by_default_only_this_machine_is_listened_to() -> None:
    assert Settings.read(environment={}).host == "127.0.0.1"
    assert Settings.read(environment={"SPACE_ID": "ada/nt2vr"}).host == "0.0.0.0"
    assert Settings.read(environment={"SYSTEM": "spaces"}).host == "0.0.0.0"
    assert Settings.read(environment={"GRADIO_SERVER_NAME": "10.0.0.1"}).host == "10.0.0.1"
    assert Settings.read(host="::1", environment={"GRADIO_SERVER_NAME": "10.0.0.1"}).host == "::1"


def test_permissions_come_from_the_environment_except_on_zero_gpu() -> None:
    assert Settings.read(environment={}).rules == {}
    assert Settings.read(environment={"NT2VR_ALLOW_IMPORT": "everyone"}).rules == {
        "import": "everyone"
    }
    zero_gpu = {"SPACES_ZERO_GPU": "true", "NT2VR_ALLOW_TRAIN": "everyone"}
    assert Settings.read(environment=zero_gpu).rules == {"train": "nobody"}


@pytest.mark.parametrize(
    ("environment", "sentence"),
    [
        ({"NT2VR_ALLOW_TRAIN": "me"}, "NT2VR_ALLOW_TRAIN .*me.* nobody, owner, everyone"),
        (
            {"NT2VR_OWNER_TOKEN": "hunter2"},
            "NT2VR_OWNER_TOKEN .*16",
        ),
        ({"NT2VR_MAX_UPLOAD_GB": "8 GB"}, "NT2VR_MAX_UPLOAD_GB .*8 GB"),
        ({"NT2VR_MAX_UPLOAD_GB": "nan"}, "NT2VR_MAX_UPLOAD_GB .*nan"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused(
    environment: dict[str, str], sentence: str
) -> None:
    with pytest.raises(ConfigError, match=sentence):
        Settings.read(environment=environment)


@pytest.mark.parametrize("path", ["file", "file/below", "x" * 300])
def test_a_data_folder_that_cannot_be_made_is_refused(path: str, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(ConfigError, match=path[:20]):
        Settings.read(f"{tmp_path}/{path}", environment={})
    assert (
        Settings.read(tmp_path / "new" / "data", environment={}).data_dir
        == tmp_path / "new" / "data"
    )
    assert list(tmp_path.iterdir()) == [tmp_path / "file"]


def test_a_data_folder_of_an_unknown_user_is_refused() -> None:
    with pytest.raises(ConfigError, match="nobody-here"):
        Settings.read("~nobody-here/x", environment={})


@pytest.fixture
def homeless(monkeypatch: pytest.MonkeyPatch) -> None:
    """Run as a user id without name, and without HOME, as containers do."""

    def unknown(uid: int) -> None:
        raise KeyError(f"getpwuid(): uid not found: {uid}")

    monkeypatch.delenv("HOME", raising=False)
    monkeypatch.setattr(pwd, "getpwuid", unknown)


@pytest.mark.usefixtures("homeless")
def test_without_a_home_folder_a_data_folder_must_be_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="NT2VR_DATA"):
        Settings.read(environment={})
    with pytest.raises(ConfigError, match="~/videos"):
        Settings.read(tmp_path, roots=[Path("~/videos")], environment={})
    for settings in (
        Settings.read(tmp_path, environment={}),
        Settings.read(environment={"NT2VR_DATA": str(tmp_path)}),
    ):
        assert settings.data_dir == tmp_path
        assert settings.allow_roots == ()


@pytest.mark.usefixtures("homeless")
def test_a_library_that_needs_a_home_folder_can_be_imported() -> None:
    with some_home():
        assert Path.home().is_absolute()
    assert not has_home()


def test_a_home_folder_that_is_there_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    with some_home():
        assert Path.home() == tmp_path
    assert Path.home() == tmp_path


@pytest.mark.parametrize(
    ("address", "path"),
    [
        ("", ""),
        ("/", ""),
        ("/nt2vr", "/nt2vr"),
        ("/nt2vr/", "/nt2vr"),
        ("/search/v1.0/~ada/", "/search/v1.0/~ada"),
        ("https://videos.example/nt2vr", "/nt2vr"),
        ("HTTP://videos.example:8080/nt2vr/", "/nt2vr"),
        ("https://videos.example", ""),
        ("https://videos.example/", ""),
        ("http://[::1]/nt2vr", "/nt2vr"),
    ],
)
def test_the_app_is_found_below_a_path_or_address(address: str, path: str) -> None:
    assert Settings.read(environment={"GRADIO_ROOT_PATH": address}).root_path == path


@pytest.mark.parametrize(
    "address",
    [
        *(
            "nt2vr",
            "//nt2vr",
            "/nt2vr//",
            "/a//b",
            "/a b",
            " /nt2vr",
            "/nt2vr\n",
            "/../nt2vr",
            "/a/..",
            "/./a",
            "/a\\b",
        ),
        *(
            "/nt2vr?a=b",
            "/nt2vr#a",
            "/n%20t",
            "/ä",
            "videos.example/nt2vr",
            "ftp://videos.example/nt2vr",
            "https:///nt2vr",
        ),
        *(
            "https://videos.example/nt2vr?a=b",
            "https://videos.example/a b",
            "https://videos.example:99999/a",
            "https://[::1/a",
        ),
    ],
)
def test_a_path_below_which_nothing_can_be_reached_is_refused(address: str) -> None:
    with pytest.raises(ConfigError, match="GRADIO_ROOT_PATH"):
        Settings.read(environment={"GRADIO_ROOT_PATH": address})


@pytest.mark.parametrize(
    ("environment", "address"),
    [
        ({}, ""),
        ({"GRADIO_ROOT_PATH": "/nt2vr"}, ""),
        ({"GRADIO_ROOT_PATH": "https://videos.example/nt2vr"}, "https://videos.example/nt2vr/"),
        ({"GRADIO_ROOT_PATH": "HTTP://videos.example:8080/"}, "HTTP://videos.example:8080/"),
        (
            {"SPACE_ID": "ada/nt2vr", "SPACE_HOST": "ada-nt2vr.hf.space"},
            "https://ada-nt2vr.hf.space/",
        ),
    ],
)
def test_the_public_address_is_named_or_the_space_s(
    environment: dict[str, str], address: str
) -> None:
    assert Settings.read(environment=environment).public_address == address


def test_an_app_s_names_come_from_flag_variable_and_space() -> None:
    environment = {"NT2VR_ALLOW_HOST": "a.example, b.example", "SPACE_HOST": "ada-nt2vr.hf.space"}
    names = Settings.read(host_names=["c.example"], environment=environment).host_names
    assert names == ("c.example", "a.example", "b.example", "ada-nt2vr.hf.space")


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        *(
            ("127.0.0.1", True),
            ("127.1.2.3", True),
            ("::1", True),
            ("[::1]", True),
            ("::ffff:127.0.0.1", True),
        ),
        *(
            ("localhost", True),
            ("LOCALHOST.", True),
            ("0.0.0.0", False),
            ("::", False),
            ("10.0.0.1", False),
        ),
        *(
            ("localhost.evil.example", False),
            ("127.0.0.1.evil.example", False),
            ("", False),
            ("2130706433", False),
        ),
    ],
)
def test_addresses_of_this_machine_alone_are_told_from_others(host: str, expected: bool) -> None:
    assert is_loopback(host) == expected


def test_shipped_files_are_found_from_any_working_directory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
        (
            {"TORCHELASTIC_RUN_ID": "x", "LOCAL_WORLD_SIZE": "2", "CUDA_VISIBLE_DEVICES": "3,1,0"},
            ("cuda:3", "cuda:1"),
        ),
    ],
)
def test_a_training_uses_the_first_visible_gpus(
    monkeypatch: pytest.MonkeyPatch, environment: dict[str, str], devices: tuple[str, ...]
) -> None:
    monkeypatch.setattr(ctypes, "CDLL", lambda name: None)
    assert training_devices(environment) == devices

    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(ctypes, "CDLL", missing)
    assert training_devices(environment) == ("cpu",)


def test_home_folders_serve_libraries_only_without_strangers(
    tmp_path: Path,
) -> None:
    assert Settings.read(environment={}).allow_roots == (Path.home().resolve(),)
    assert Settings.read(host="0.0.0.0", environment={}).allow_roots == ()
    (tmp_path / "videos").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "videos")
    environment = {"NT2VR_ALLOW_ROOT": f"{tmp_path / 'link'}:{tmp_path}"}
    roots = (tmp_path / "videos").resolve(), tmp_path.resolve()
    assert Settings.read(host="0.0.0.0", environment=environment).allow_roots == roots
    assert Settings.read(roots=[tmp_path], environment={}).allow_roots == roots[1:]
    with pytest.raises(ConfigError, match="gone"):
        Settings.read(roots=[tmp_path / "gone"], environment={})


@pytest.mark.parametrize(
    ("device", "visible", "left_visible"),
    [
        ("auto", "3,1", "3,1"),
        ("cpu", "3,1", ""),
        ("cpu", None, ""),
        ("cuda", None, "0"),
        ("cuda", "3,1", "3"),
        ("cuda:1", None, "1"),
        ("cuda:1", "3, 1", "1"),
        ("cuda:0", "GPU-5a,1", "GPU-5a"),
    ],
)
def test_a_chosen_device_is_the_only_one_left_to_see(
    device: str, visible: str | None, left_visible: str
) -> None:
    environment = {} if visible is None else {"CUDA_VISIBLE_DEVICES": visible}
    use_device(device, environment)
    assert environment["CUDA_VISIBLE_DEVICES"] == left_visible


@pytest.mark.parametrize(
    ("device", "visible"), [("cuda:2", "3,1"), ("cuda", ""), ("mps", "3"), ("cuda:x", "3")]
)
def test_a_device_that_cannot_be_trained_on_is_refused(device: str, visible: str) -> None:
    environment = {"CUDA_VISIBLE_DEVICES": visible}
    with pytest.raises(ConfigError, match=re.escape(device)):
        use_device(device, environment)
    assert environment == {"CUDA_VISIBLE_DEVICES": visible}


def test_addresses_may_have_brackets_and_the_port_a_variable() -> None:
    environment = {"GRADIO_SERVER_NAME": "[::1]", "GRADIO_SERVER_PORT": "7000"}
    settings = Settings.read(environment=environment)
    assert settings.host == "::1"
    assert settings.port == 7000
    assert Settings.read(port=8000, environment=environment).port == 8000
    with pytest.raises(ConfigError, match="GRADIO_SERVER_PORT"):
        Settings.read(environment={"GRADIO_SERVER_PORT": "tcp://10.0.0.1:80"})


def test_proxies_are_left_out_for_a_while_or_here() -> None:
    environment = {"HTTP_PROXY": "http://proxy:3128", "no_proxy": "intranet"}
    before = dict(environment)
    with without_proxies(environment):
        assert environment["no_proxy"] == environment["NO_PROXY"] == "*"
    assert environment == before

    reach_directly("10.0.0.1", environment)
    assert (
        environment["no_proxy"]
        == environment["NO_PROXY"]
        == "intranet,localhost,127.0.0.1,::1,10.0.0.1"
    )

    untouched: dict[str, str] = {}
    reach_directly("10.0.0.1", untouched)
    assert untouched == {}
