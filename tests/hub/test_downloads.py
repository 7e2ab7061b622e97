"""Pre-trained models from a stand-in of the Hub: redirects, ranges, refusals, cuts, and the folders they become."""

import io
import logging
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub.constants
import numpy as np
import open_clip
import pytest
import torch
from safetensors.torch import save

from nt2vr.cli import main
from nt2vr.errors import AccessError, CheckpointError, ConfigError, DownloadError
from nt2vr.models import untrusted
from nt2vr.models.card import WEIGHTS
from nt2vr.models.catalog import Catalog
from nt2vr.models.download import OFFERED, download_all
from nt2vr.models.open_clip_encoder import OpenClipEncoder
from nt2vr.models.open_clip_model import build_model
from nt2vr.models.tokenizer import TOKENIZER
from nt2vr.progress import silent, stoppable
from nt2vr.search.plan import DEFAULT_SYSTEMS
from nt2vr.services import Services
from nt2vr.settings import Settings
from nt2vr.ui.library import drawings
from nt2vr.ui.library.indexing import Indexing
from nt2vr.ui.web.permissions import Permissions
from tests.support.hub_server import HubServer, serve_hub, use_hub
from tests.support.model_families import FAMILIES, family_model, write_tokenizer
from tests.support.paths import GRADIO_MEDIA
from tests.support.running import here
from tests.support.tiny_models import TINY, tiny_model

SLEEP = "huggingface_hub.utils._http.time.sleep"


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Make "tiny / test" one of open_clip's models, of which the cache has nothing."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, "tiny", TINY)
    weights: dict[str, Any] = {
        "hf_hub": "test/tiny/",
        "mean": (0.5, 0.5, 0.5),
        "std": (0.25, 0.25, 0.25),
        "quick_gelu": True,
    }
    monkeypatch.setitem(open_clip.pretrained._PRETRAINED, "tiny", {"test": weights})
    monkeypatch.setattr(untrusted, "run_limited", here)


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, offered: None) -> Iterator[HubServer]:
    """A Hub that has the weights of "tiny / test"; nobody is signed in."""
    with serve_hub() as server:
        use_hub(monkeypatch, server.endpoint, token=None)
        monkeypatch.setattr(SLEEP, lambda _: None)
        monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda _: None)
        server.put("test/tiny", {WEIGHTS: save(tiny_model(3).state_dict())})
        yield server


def start_of(byte_range: str) -> int:
    """Return the first byte of a range such as "bytes=1000-"."""
    return int(byte_range.removeprefix("bytes=").removesuffix("-"))


def test_broken_downloads_resume_and_failed_ones_are_tried_again(
    tmp_path: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 10 MB; less than that is lost.
    monkeypatch.setattr(huggingface_hub.constants, "DOWNLOAD_CHUNK_SIZE", 1000)
    models = Catalog([tmp_path / "models"])
    size = len(hub.repositories["models/test/tiny"].files[WEIGHTS])

    hub.breaks = 1000
    with pytest.raises(DownloadError):
        models.add("tiny/test")
    _first, *resumed = hub.ranges
    starts = [start_of(byte_range) for byte_range in resumed]
    # Each try went on from the last.
    assert starts == sorted(starts)
    assert starts[0] == size // 2 // 1000 * 1000

    hub.breaks = 0
    hub.ranges = []
    assert models.add("tiny/test").name == "tiny / test"
    # huggingface_hub 2 keeps nothing of a failed transfer.
    assert hub.ranges == [""]
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["tiny--test"]


def test_a_private_repository_needs_the_right_token(
    tmp_path: Path,
    hub: HubServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    hub.repositories["models/test/tiny"].private = True
    get = ["models", "get", "tiny/test", "--data-dir", str(tmp_path / "data")]
    for token in (None, "hf_wrong"):
        use_hub(monkeypatch, hub.endpoint, token=token)
        assert main(get) == 1
        refusal = "for test/tiny. Check its name, and that HF_TOKEN may use it."
        assert refusal in capsys.readouterr().err

    use_hub(monkeypatch, hub.endpoint)
    assert main(get) == 0
    assert capsys.readouterr().out.endswith(f"tiny / test is in {tmp_path / 'data' / 'models'}.\n")


def load(models: Catalog, name: str) -> OpenClipEncoder:
    """Load a model of open_clip."""
    encoder = models.load(name)
    assert isinstance(encoder, OpenClipEncoder)
    return encoder


def test_one_failed_download_does_not_stop_the_next(
    tmp_path: Path, hub: HubServer, caplog: pytest.LogCaptureFixture
) -> None:
    models = Catalog([tmp_path / "models"])
    with caplog.at_level(logging.WARNING, "nt2vr"):
        download_all(("none/such", "tiny/test"), models.add)
    assert models.names() == ["tiny / test"]
    warnings = []
    for record in caplog.records:
        if record.name.startswith("nt2vr"):
            warnings.append(record.getMessage())
    (warning,) = warnings
    assert warning.startswith("NT2VR_MODELS: 'none/such' is not a source of a model.")


def weights_file(seed: int, name: str) -> bytes:
    """Return the weights of a tiny model, as safetensors or as a pickle."""
    weights = tiny_model(seed).state_dict()
    if name == WEIGHTS:
        return save(weights)
    pickle = io.BytesIO()
    torch.save(weights, pickle)
    return pickle.getvalue()


@pytest.mark.parametrize("file", [WEIGHTS, "open_clip_pytorch_model.bin"])
def test_a_download_becomes_a_checkpoint_folder(tmp_path: Path, hub: HubServer, file: str) -> None:
    content = weights_file(7, file)
    hub.put("test/tiny", {file: content})
    reports: list[tuple[int, int, str]] = []
    models = Catalog([tmp_path / "models"])

    models.add("tiny / test", progress=lambda *report: reports.append(report))

    num_bytes = len(content)
    assert (num_bytes, num_bytes, "downloading tiny / test") in reports
    assert reports[-1] == (0, 0, "trying it out")
    encoder = load(models, "tiny / test")
    torch.testing.assert_close(encoder._model.state_dict(), tiny_model(7).state_dict())

    # It is there after a restart, and without the Hub.
    hub.repositories.clear()
    restarted = Catalog([tmp_path / "models"])
    assert restarted.names() == ["tiny / test"]
    assert restarted.add("tiny/test").was_here
    assert restarted.card("tiny / test").visual.fingerprint == encoder.visual_fingerprint
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["tiny--test"]


def test_a_download_encodes_as_its_weights_were_trained(tmp_path: Path, hub: HubServer) -> None:
    models = Catalog([tmp_path / "models"])
    encoder = load(models, models.add("tiny/test").name)
    frames = np.random.default_rng(0).integers(0, 256, (3, 64, 64, 3), np.uint8)

    # open_clip says so of these weights.
    model = build_model({**TINY, "quick_gelu": True}, {}).eval()
    model.load_state_dict(tiny_model(3).state_dict())
    pixels = (torch.tensor(frames).permute(0, 3, 1, 2) / 255 - 0.5) / 0.25
    with torch.inference_mode():
        expected = model.encode_image(pixels, normalize=True)
    np.testing.assert_allclose(encoder.encode_frames(frames), expected, atol=1e-6)
    assert "QuickGELU" in str(encoder._model.transformer)


def test_damaged_weights_leave_no_model(tmp_path: Path, hub: HubServer) -> None:
    hub.put("test/tiny", {WEIGHTS: b"not weights"})
    models = Catalog([tmp_path / "models"])
    with pytest.raises(CheckpointError, match="tiny / test"):
        models.add("tiny/test")
    assert models.names() == []
    # Otherwise the next attempt would find them again.
    assert not list((tmp_path / "models").iterdir())


def test_the_disk_space_of_a_download_is_checked_first(
    tmp_path: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    hub.put("test/tiny", {WEIGHTS: save({"x": torch.zeros(1 << 20)})})
    messages: list[str] = []
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=205 << 20))
    with pytest.raises(ConfigError, match=r"tiny / test.* 222 MB.* 215 MB"):
        Catalog([tmp_path / "models"]).add("tiny/test", announce=messages.append)
    assert messages == ["tiny / test: 4 MB to download, and up to 12 MB while it is converted."]
    assert not (tmp_path / "models").exists()


def test_a_stopped_download_leaves_nothing(tmp_path: Path, hub: HubServer) -> None:
    models = Catalog([tmp_path / "models"])
    with pytest.raises(InterruptedError):
        models.add("tiny/test", progress=stoppable(silent, lambda: True))
    assert list((tmp_path / "models").iterdir()) == []
    assert models.add("tiny/test").name == "tiny / test"


def test_a_download_ended_by_ctrl_c_leaves_nothing(tmp_path: Path, hub: HubServer) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    models = Catalog([tmp_path / "models"])
    with pytest.raises(KeyboardInterrupt):
        models.add("tiny/test", progress=interrupt)
    assert list((tmp_path / "models").iterdir()) == []
    assert models.add("tiny/test").name == "tiny / test"


def test_a_tokenizer_comes_with_its_model(
    tmp_path: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    family = FAMILIES["SigLIP"]
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, family.architecture, family.model_cfg)
    files = {WEIGHTS: save(family_model(family).state_dict())}
    repository = f"timm/{family.architecture}"
    name = f"{family.architecture}/{family.tag}"
    models = Catalog([tmp_path / "models"])

    # Without its tokenizer, the model is refused.
    hub.put(repository, files)
    message = rf"{family.architecture} / webli .*tokenizer\.json.*{repository}"
    with pytest.raises(DownloadError, match=message):
        models.add(name)

    folder = tmp_path / "files"
    folder.mkdir()
    write_tokenizer(folder, family)
    for path in folder.iterdir():
        files[path.name] = path.read_bytes()
    hub.put(repository, files)
    encoder = load(models, models.add(name).name)
    assert encoder.encode_text(["a dog"]).shape == (1, 64)
    tokenizer = models.home / f"{family.architecture}--webli" / TOKENIZER
    assert tokenizer.read_bytes() == files[TOKENIZER]


@pytest.fixture
def services(tmp_path: Path) -> Iterator[Services]:
    with closing(Services(Settings.read(tmp_path / "data", "cpu"))) as services:
        yield services


@pytest.fixture
def library(services: Services, tmp_path: Path) -> str:
    """A library with one photo."""
    folder = tmp_path / "videos"
    folder.mkdir()
    shutil.copy(GRADIO_MEDIA / "images" / "lion.jpg", folder)
    return services.libraries.add("Videos", "folder", folder).id


# What visitors may do.
DOWNLOAD = Permissions("a-token-of-the-owner", {"import": "everyone", "download": "everyone"})
NO_DOWNLOAD = Permissions("a-token-of-the-owner", {"import": "everyone"})


@pytest.fixture
def offered_tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make "tiny / test" the model that libraries are offered."""
    monkeypatch.setattr(drawings, "OFFERED", replace(OFFERED, name="tiny/test"))


@pytest.mark.usefixtures("offered_tiny")
def test_a_library_is_offered_a_model_before_it_is_downloaded(
    hub: HubServer, services: Services, library: str
) -> None:
    indexing = Indexing(services)
    systems = ["CLIP", "CLIP-neg drop"]
    notice = indexing.drawings(library, systems, DOWNLOAD, None, is_indexed=False)
    assert notice["offer"] == "Get tiny / test and index with it"

    with pytest.raises(AccessError):
        indexing.get(library, NO_DOWNLOAD, None)
    default_systems = services.galleries.default_systems(library)
    assert default_systems == ("CLIP-neg", "CLIP-neg rectified")
    assert hub.requests == []


@pytest.mark.usefixtures("offered_tiny")
def test_a_library_is_indexed_and_searched_by_a_download(
    hub: HubServer, services: Services, library: str
) -> None:
    indexing = Indexing(services)
    galleries = services.galleries

    job = indexing.get(library, DOWNLOAD, None).result(120)

    assert job.state == "finished"
    assert job.error == ""
    assert job.models == ("tiny / test",)
    default_systems = galleries.default_systems(library)
    assert default_systems == ("tiny / test", "tiny / test rectified")
    assert galleries.default_systems("") == DEFAULT_SYSTEMS
    answer = galleries.searcher(library).search("a lion", default_systems)
    assert [len(ranking.hits) for ranking in answer.rankings] == [1, 1]
    assert indexing.drawings(library, default_systems, DOWNLOAD, None, is_indexed=True) == {}

    # The model is here by now, so nobody needs permission to download it.
    hub.requests.clear()
    second_job = indexing.get(library, NO_DOWNLOAD, None).result(120)
    assert second_job.state == "finished"
    assert hub.requests == []
