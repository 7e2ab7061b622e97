"""Models pushed to a stand-in of the Hub and pulled from it, and all that can go wrong in between."""

import json
import re
import resource
import shutil
import socket
import time
from collections.abc import Callable, Iterator
from copy import deepcopy
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
import yaml  # type: ignore[import-untyped]
from safetensors.torch import save

from nt2vr.cli import main
from nt2vr.errors import CheckpointError, ConfigError, DownloadError, Nt2vrError
from nt2vr.models import hub as hub_module
from nt2vr.models import untrusted
from nt2vr.models.acquire import acquire
from nt2vr.models.card import CARD, CONFIG, WEIGHTS, read_card, write_card
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.options import AddOptions
from nt2vr.models.push import push
from nt2vr.models.tokenizer import TOKENIZER
from nt2vr.progress import Progress, silent
from tests.support.hub_server import HubServer, serve_hub, use_hub
from tests.support.model_families import write_family
from tests.support.running import here
from tests.support.tiny_models import TINY, tiny_model, write_tiny

# Of httpx, in huggingface_hub.
pytestmark = pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")


@pytest.fixture
def hub_with_child(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """A Hub; checkpoints are tried in a child process, as they are for people."""
    with serve_hub() as server:
        use_hub(monkeypatch, server.endpoint)
        yield server


@pytest.fixture
def hub(hub_with_child: HubServer, monkeypatch: pytest.MonkeyPatch) -> HubServer:
    """A Hub; checkpoints are tried in this process, which has imported torch already."""
    monkeypatch.setattr(untrusted, "run_limited", here)
    return hub_with_child


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def models_in(folder: Path) -> list[str]:
    """Return the names of a folder's content, none if there is no such folder."""
    if not folder.exists():
        return []
    return sorted(path.name for path in folder.iterdir())


def pull(repository: str, home: Path, name: str = "", progress: Progress = silent) -> str:
    """Add a repository that is in open_clip's format; return the model's name."""
    return acquire(f"hf:{repository}", Catalog([home]), AddOptions(name), progress).name


@pytest.mark.parametrize(
    ("hub_fixture", "chunk_bytes"),
    [
        pytest.param("hub", 0, id="at once"),
        pytest.param("hub", 300_000, id="in parts"),
        pytest.param("hub_with_child", 0, marks=pytest.mark.slow, id="tried in a child"),
    ],
)
def test_a_pushed_model_comes_back_identical(
    tmp_path: Path, hub_fixture: str, chunk_bytes: int, request: pytest.FixtureRequest
) -> None:
    hub: HubServer = request.getfixturevalue(hub_fixture)
    hub.chunk_bytes = chunk_bytes
    write_tiny(tmp_path / "mine", "mine")
    assert push(tmp_path / "mine", "tester/mine") == f"{hub.endpoint}/tester/mine"
    assert hub.repositories["models/tester/mine"].private

    reports: list[tuple[int, int]] = []

    def note(done: int, total: int, doing: str) -> None:
        reports.append((done, total))

    home = tmp_path / "models"
    assert pull("tester/mine", home, progress=note) == "mine"
    assert contents(home / "mine") == contents(tmp_path / "mine")
    assert models_in(home) == ["mine"]
    size = (tmp_path / "mine" / WEIGHTS).stat().st_size
    assert (size, size) in reports


def test_a_model_travels_without_telemetry_and_its_token_stays_home(
    tmp_path: Path, hub: HubServer
) -> None:
    write_tiny(tmp_path / "mine", "mine")

    push(tmp_path / "mine", "tester/mine")
    pull("tester/mine", tmp_path / "models")

    # The CDN is another host.
    assert hub.foreign_tokens == []
    general = ("GET /api/whoami-v2", "POST /api/repos/create", "POST /api/validate-yaml")
    for request in hub.requests:
        if "/api/" in request and "tester/mine" not in request:
            assert request in general


def test_open_clip_loads_a_pushed_model_by_name(
    tmp_path: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tiny(tmp_path / "mine", "mine")
    push(tmp_path / "mine", "tester/mine", private=False)

    name = "hf-hub:tester/mine"
    cache_dir = str(tmp_path / "cache")
    model, _transform = open_clip.create_model_from_pretrained(name, cache_dir=cache_dir)
    tokenizer = open_clip.get_tokenizer(name, cache_dir=cache_dir)
    tokens = tokenizer(["a dog"])
    with torch.inference_mode():
        embedding = model.encode_text(tokens, normalize=True).numpy()

    expected = read_checkpoint(tmp_path / "mine").encode_text(["a dog"])
    np.testing.assert_allclose(embedding, expected, atol=1e-6)


def test_the_readme_says_what_the_card_says(tmp_path: Path, hub: HubServer) -> None:
    write_tiny(tmp_path / "mine", "mine | <b>")
    card = read_card(tmp_path / "mine").replace(
        metrics={"test/composed/MIR": 0.43219, "validation/base/composed/MIR": 0.4},
        notes="Below CLIP\non “not”.",
        data="built-in world, 10 clips",
    )
    write_card(tmp_path / "mine", card)

    push(tmp_path / "mine", "tester/mine", licence="cc-by-4.0")

    text = hub.repositories["models/tester/mine"].files["README.md"].decode()
    _, front_matter, body = text.split("---\n", 2)
    fields = yaml.safe_load(front_matter)
    assert fields["library_name"] == "open_clip"
    assert fields["license"] == "cc-by-4.0"
    assert "# mine / &lt;b>" in body
    assert "| test/composed/MIR | 0.4322 |" in body
    assert "- Notes: Below CLIP on “not”." in body
    assert "toy" in body
    assert 'create_model_from_pretrained("hf-hub:tester/mine")' in body


def test_a_repository_of_open_clip_without_a_card_gets_one(tmp_path: Path, hub: HubServer) -> None:
    files = {
        CONFIG: config_with(),
        WEIGHTS: save(tiny_model(3).state_dict()),
        "open_clip_pytorch_model.bin": b"",
    }
    hub.put("laion/tiny", files)

    assert pull("laion/tiny", tmp_path) == "tiny"

    card = read_checkpoint(tmp_path / "tiny", verify=True).card
    assert card.name == "tiny"
    assert card.framing.image_size == 64
    assert card.framing.frames == 8
    for request in hub.requests:
        assert not request.endswith(".bin")

    assert pull("laion/tiny", tmp_path / "more", name="other") == "other"
    assert read_card(tmp_path / "more" / "other").name == "other"


def test_a_tokenizer_travels_with_its_model(tmp_path: Path, hub: HubServer) -> None:
    write_family(tmp_path / "mine", "SigLIP")
    push(tmp_path / "mine", "tester/mine")
    name = pull("tester/mine", tmp_path / "models")
    pushed = contents(tmp_path / "mine")
    pulled = contents(Catalog([tmp_path / "models"]).folder(name))
    assert pulled == pushed
    assert TOKENIZER in pushed


@pytest.mark.parametrize(
    "name", ["", "mine", "../x", "a/b/c", "a/b.git", "a/b--c", "a/b?x=1", "ä/b", "a/b\nc"]
)
def test_a_wrong_repository_name_is_refused_before_sending(
    tmp_path: Path, hub: HubServer, name: str
) -> None:
    with pytest.raises(ConfigError, match=re.escape(repr(name))):
        pull(name, tmp_path / "models")
    with pytest.raises(ConfigError, match=re.escape(repr(name))):
        push(tmp_path, name)
    assert hub.requests == []
    assert list(tmp_path.iterdir()) == []


def test_the_commands_push_and_pull(
    tmp_path: Path, hub: HubServer, capsys: pytest.CaptureFixture[str]
) -> None:
    data = tmp_path / "data"
    write_tiny(data / "models" / "mine", "mine")
    flags = ["--data-dir", str(data)]
    assert main(["push", "MINE", "tester/mine", "--no-private", *flags]) == 0
    assert capsys.readouterr().out == f"{hub.endpoint}/tester/mine\n"
    assert not hub.repositories["models/tester/mine"].private

    assert main(["pull", "tester/mine", *flags]) == 1
    message, refusal = capsys.readouterr().err.splitlines()
    assert message == "This command is now: nt2vr models add hf:tester/mine"
    assert refusal == "There is already a model 'mine'. Choose another name."
    # Refused before the weights came.
    assert hub.weight_requests() == []

    # A model cannot be named like a system.
    assert main(["pull", "tester/mine", "--name", "mine drop", *flags]) == 1

    assert main(["pull", "tester/mine", "--name", "again", *flags]) == 0
    assert capsys.readouterr().out.endswith(f"\nagain is in {data}/models.\n")
    assert read_card(data / "models" / "again").name == "again"
    assert models_in(data / "models") == ["again", "mine"]


@pytest.mark.parametrize(("token", "message"), [(None, "token"), ("hf_bad", "401")])
def test_a_missing_or_wrong_token_is_one_sentence(
    tmp_path: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch, token: str | None, message: str
) -> None:
    use_hub(monkeypatch, hub.endpoint, token)
    write_tiny(tmp_path / "mine")
    with pytest.raises(Nt2vrError, match=message):
        push(tmp_path / "mine", "tester/mine")
    assert hub.repositories == {}


def test_the_hub_s_refusals_are_one_sentence_each(tmp_path: Path, hub: HubServer) -> None:
    write_tiny(tmp_path / "mine")
    with pytest.raises(DownloadError, match=r"403 .*other/mine"):
        push(tmp_path / "mine", "other/mine")
    with pytest.raises(DownloadError, match=r"40[14] .*tester/none"):
        pull("tester/none", tmp_path / "models")
    for status in (429, 500):
        hub.status = status
        with pytest.raises(DownloadError, match=str(status)):
            pull("tester/none", tmp_path / "models")
    assert models_in(tmp_path / "models") == []


def test_a_damaged_checkpoint_is_not_pushed(tmp_path: Path, hub: HubServer) -> None:
    write_tiny(tmp_path / "mine")
    weights = tmp_path / "mine" / WEIGHTS
    weights.write_bytes(weights.read_bytes()[:-1000])
    with pytest.raises(CheckpointError):
        push(tmp_path / "mine", "tester/mine")
    assert hub.requests == []


def check_nothing_is_sent(folder: Path) -> None:
    """Check that neither a pull nor a push reaches the Hub, and that each says so."""
    write_tiny(folder / "mine")
    with pytest.raises(DownloadError):
        pull("a/b", folder / "models")
    with pytest.raises(DownloadError):
        push(folder / "mine", "a/b")
    assert models_in(folder / "models") == []


def test_a_hub_that_refuses_connections_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_module, "DEADLINE_S", 0.1)
    use_hub(monkeypatch, "http://127.0.0.1:9")
    check_nothing_is_sent(tmp_path)


def test_a_hub_whose_name_is_never_resolved_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def hang(*_: object, **__: object) -> None:
        time.sleep(30)

    monkeypatch.setattr(hub_module, "DEADLINE_S", 0.1)
    monkeypatch.setattr(socket, "getaddrinfo", hang)
    use_hub(monkeypatch, "http://hub.invalid")
    check_nothing_is_sent(tmp_path)


@pytest.mark.slow
def test_a_transfer_that_breaks_off_goes_on_where_it_stopped(
    tmp_path: Path, hub: HubServer
) -> None:
    card = write_tiny(tmp_path / "mine")
    hub.put("a/b", contents(tmp_path / "mine"))
    hub.breaks = 2
    assert pull("a/b", tmp_path / "models") == card.name
    assert contents(tmp_path / "models" / "tiny") == contents(tmp_path / "mine")


def test_a_full_disk_is_said_before_and_during_a_pull(
    tmp_path: Path, hub: HubServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_tiny(tmp_path / "mine")
    hub.put("a/b", contents(tmp_path / "mine"))

    def full(done: int, total: int, doing: str) -> None:
        if WEIGHTS in doing:
            raise OSError(28, "No space left on device")

    with pytest.raises(DownloadError):
        pull("a/b", tmp_path / "models", progress=full)

    # Where the disk is too full from the start, no weights are asked for.
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=100 << 20))
    with pytest.raises(ConfigError, match=r"a/b.* 211 MB.* 105 MB"):
        pull("a/b", tmp_path / "models")
    assert models_in(tmp_path / "models") == []
    assert len(hub.weight_requests()) == 1


def test_a_file_that_is_too_large_is_refused(tmp_path: Path, hub: HubServer) -> None:
    write_tiny(tmp_path / "mine")
    hub.put("a/b", contents(tmp_path / "mine"))
    for sizes, message in (
        ({WEIGHTS: 9 << 30}, "8,192"),
        ({CARD: 2 << 20}, r"nt2vr\.json .*a/b.* 2 MB"),
    ):
        hub.sizes = sizes
        with pytest.raises(CheckpointError, match=message):
            pull("a/b", tmp_path / "models")
    assert models_in(tmp_path / "models") == []


def config_with(**changes: Any) -> bytes:
    """Return the tiny model's configuration with other values; "text_cfg__layers" is that of its part."""
    model: dict[str, Any] = deepcopy(TINY)
    for key, value in changes.items():
        part, _, name = key.rpartition("__")
        if part:
            model[part][name] = value
        else:
            model[name] = value
    return json.dumps({"model_cfg": model, "preprocess_cfg": {}}).encode()


def card_with(**changes: Any) -> Callable[[bytes], bytes]:
    """Return a function that changes some values of a card."""

    def change(content: bytes) -> bytes:
        card = json.loads(content)
        card.update(changes)
        return json.dumps(card).encode()

    return change


def claiming_100_gb(weights: bytes) -> bytes:
    """Return safetensors whose first eight bytes, the size of the header, lie."""
    return (100 << 30).to_bytes(8, "little") + weights[8:]


def cut_off(weights: bytes) -> bytes:
    return weights[:-1000]


NESTED = b"[" * 100_000


# The name of a file, and its new content, or what makes that of the old.
Fault = tuple[str, bytes | Callable[[bytes], bytes]]
HOSTILE: dict[str, Fault] = {
    "weights that are a pickle": (WEIGHTS, b"\x80\x04cos\nsystem\n"),
    "a header that claims 100 GB": (WEIGHTS, claiming_100_gb),
    "deep JSON": (CONFIG, NESTED),
    "a tower from the Hub": (CONFIG, config_with(vision_cfg__timm_model_name="hf-hub:evil/model")),
    "a vocabulary file": (
        CONFIG,
        config_with(text_cfg__tokenizer_kwargs={"bpe_path": "/etc/passwd"}),
    ),
    "a deep card": (CARD, NESTED),
    "frames without end": (CARD, card_with(frames=10**9)),
    "another image size": (CARD, card_with(image_size=10**6)),
    "metrics that are text": (CARD, card_with(metrics={"test/MIR": "<script>"})),
    "metrics that are no numbers": (CARD, card_with(metrics={"MIR": float("nan")})),
    "a foreign pooling": (CARD, card_with(pooling="__import__")),
    "fingerprints of another": (CARD, card_with(text_fingerprint="0" * 32)),
}


def pull_hostile(folder: Path, hub: HubServer, fault: Fault) -> None:
    """Pull a tiny model with one file changed: one sentence without paths, and nothing is left."""
    write_tiny(folder / "mine")
    files = contents(folder / "mine")
    file, change = fault
    if callable(change):
        files[file] = change(files[file])
    else:
        files[file] = change
    hub.put("a/b", files)

    with pytest.raises(CheckpointError, match=rf"a/b|^{file}") as caught:
        pull("a/b", folder / "models")
    assert re.fullmatch(r"[^\n]{20,400}\.", str(caught.value))
    assert str(folder) not in str(caught.value)
    assert models_in(folder / "models") == []


@pytest.mark.parametrize("fault", HOSTILE)
def test_a_hostile_repository_gets_one_sentence_and_leaves_nothing(
    tmp_path: Path, hub: HubServer, fault: str
) -> None:
    pull_hostile(tmp_path, hub, HOSTILE[fault])


LARGE: dict[str, Fault] = {
    "weights cut off": (WEIGHTS, cut_off),
    "a huge model": (CONFIG, config_with(embed_dim=10**9)),
    "a huge context": (CONFIG, config_with(text_cfg__context_length=10**6)),
    "endless layers": (CONFIG, config_with(text_cfg__layers=10**7)),
}


def largest_child_kb() -> int:
    """Return the most memory that any child has taken so far."""
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss


@pytest.mark.slow
@pytest.mark.parametrize("fault", LARGE)
def test_a_repository_too_large_for_memory_is_tried_apart(
    tmp_path: Path, hub_with_child: HubServer, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    timeout_s = 8 if fault == "endless layers" else 60
    monkeypatch.setattr(untrusted, "TIMEOUT_S", timeout_s)
    before_kb = largest_child_kb()

    pull_hostile(tmp_path, hub_with_child, LARGE[fault])

    assert largest_child_kb() <= max(before_kb, 3 << 20)
