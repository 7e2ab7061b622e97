"""Pre-trained models downloaded by huggingface_hub from a stand-in of the Hub: redirects, ranges, refusals, cuts."""

import re
import shutil
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import gradio
import huggingface_hub.constants
import open_clip
import pytest
from safetensors.torch import save

from nt2vr.__main__ import main
from nt2vr.errors import AccessError, DownloadError
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import WEIGHTS
from nt2vr.models.recommended import OFFERED
from nt2vr.search.searcher import DEFAULT_SYSTEMS
from nt2vr.services import Services
from nt2vr.settings import Settings
from nt2vr.ui.library import drawings
from nt2vr.ui.library.indexing import Indexing
from nt2vr.ui.web.permissions import Permissions
from tests.hub_server import HubServer, serve_hub, use_hub
from tests.tiny import TINY, tiny_model

SLEEP = "huggingface_hub.utils._http.time.sleep"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    """A Hub that has the weights of "tiny / test", one of open_clip's models here; nobody is signed in."""
    with serve_hub() as server:
        use_hub(monkeypatch, server.endpoint, token=None)
        monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
        monkeypatch.setattr(SLEEP, lambda _: None)
        monkeypatch.setattr("huggingface_hub.file_download.time.sleep", lambda _: None)
        monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, "tiny", TINY)
        weights: dict[str, Any] = {"hf_hub": "test/tiny/", "mean": (0.5, 0.5, 0.5), "std": (0.25, 0.25, 0.25)}
        monkeypatch.setitem(open_clip.pretrained._PRETRAINED, "tiny", {"test": weights})
        server.put("test/tiny", {WEIGHTS: save(tiny_model(3).state_dict())})
        yield server


def test_weights_come_over_a_redirect_to_another_host(tmp_path: Path, hub: HubServer) -> None:
    models, seen = Catalog([tmp_path / "models"]), [(0, 0)]
    assert models.download("tiny/test", lambda done, total, _: seen.append((done, total))) == "tiny / test"
    size = len(hub.repositories["models/test/tiny"].files[WEIGHTS])
    assert seen[-1] == (size, size)
    assert [each for each in hub.requests if "/cdn/" in each and each.startswith("GET")] != []
    assert hub.foreign_tokens == []


def test_a_cut_in_the_middle_is_resumed_and_a_failed_download_can_be_tried_again(
    tmp_path: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "DOWNLOAD_CHUNK_SIZE", 1000)  # 10 MB; less than that is lost
    models, size = Catalog([tmp_path / "models"]), len(hub.repositories["models/test/tiny"].files[WEIGHTS])
    hub.breaks = 1000
    with pytest.raises(DownloadError, match=r"broke off .*try again"):
        models.download("tiny/test")
    asked = [int(match[1]) for each in hub.ranges if (match := re.fullmatch(r"bytes=(\d+)-", each))]
    assert asked == sorted(asked) and asked[0] == size // 2 // 1000 * 1000  # each try went on from the last
    hub.breaks, hub.ranges = 0, []
    assert models.download("tiny/test") == "tiny / test"
    assert hub.ranges == [""]  # huggingface_hub 2 keeps nothing of a failed transfer
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["tiny--test"]


@pytest.mark.parametrize(
    ("status", "message"),
    [
        (429, "The Hub limits the rate of requests. Try again in a few minutes."),
        (401, "The Hub does not accept the token. Check HF_TOKEN, or run `hf auth login`."),
        (403, "The token may not do this with test/tiny. Use one with write access to it."),
        (503, "The Hub answered with error 503 for test/tiny. Try again later."),
    ],
)
def test_a_refusal_is_one_sentence_and_leaves_nothing(
    tmp_path: Path, hub: HubServer, status: int, message: str
) -> None:
    hub.refusals = [status] * 100
    with pytest.raises(DownloadError) as caught:
        Catalog([tmp_path / "models"]).download("tiny/test")
    assert str(caught.value) == message
    assert not (tmp_path / "models").exists()


def test_a_private_or_missing_repository_and_a_wrong_token_are_told_apart(
    tmp_path: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    hub.repositories["models/test/tiny"].private = True
    get = ["models", "get", "tiny/test", "--data-dir", str(tmp_path / "data")]
    assert main(get) == 2
    assert "The Hub has no test/tiny, or the token may not read it." in capsys.readouterr().err
    use_hub(monkeypatch, hub.endpoint, token="hf_wrong")
    assert main(get) == 2
    assert "The Hub does not accept the token." in capsys.readouterr().err
    use_hub(monkeypatch, hub.endpoint)
    assert main(get) == 0
    assert capsys.readouterr().out.endswith(f"tiny / test is in {tmp_path / 'data' / 'models'}.\n")


def test_a_library_gets_a_model_that_knows_more_than_drawings_once_it_is_asked_for(
    tmp_path: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(drawings, "OFFERED", replace(OFFERED, name="tiny/test"))
    (tmp_path / "films").mkdir()
    shutil.copy(Path(gradio.__file__).parent / "media_assets" / "images" / "lion.jpg", tmp_path / "films")
    anybody = Permissions("a-token-of-the-owner", {"import": "everyone", "download": "everyone"})
    no_download = replace(anybody, rules={"import": "everyone"})
    with closing(Services(Settings.read(tmp_path / "data", "cpu"))) as services:
        indexing, galleries = Indexing(services), services.galleries
        library = services.libraries.add("Films", "folder", tmp_path / "films").id
        said = indexing.drawings(library, ["CLIP", "CLIP-neg drop"], anybody, None, again=False)
        assert said["do"] == "Get tiny / test and index with it"
        with pytest.raises(AccessError, match="Only the owner may download models here"):
            indexing.get(library, no_download, None)
        assert galleries.default_systems(library) == DEFAULT_SYSTEMS
        assert hub.requests == []

        job = indexing.get(library, anybody, None).result(120)
        assert (job.state, job.error, job.models) == ("finished", "", ("tiny / test",))
        assert galleries.default_systems(library) == ("tiny / test", "tiny / test boolean")
        assert galleries.default_systems("") == DEFAULT_SYSTEMS
        answer = galleries.searcher(library).search("a lion", galleries.default_systems(library))
        assert [len(ranking.hits) for ranking in answer.rankings] == [1, 1]
        assert indexing.drawings(library, galleries.default_systems(library), anybody, None, again=True) == {}

        asked = len(hub.requests)
        assert indexing.get(library, no_download, None).result(120).state == "finished"  # it is here by now
        assert len(hub.requests) == asked
