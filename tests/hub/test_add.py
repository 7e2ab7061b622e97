"""The one way in for models: every kind of source, by the catalog, the command and Python."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub.constants
import numpy as np
import open_clip
import pytest
import torch
from numpy.typing import NDArray
from safetensors.torch import save

import nt2vr
from nt2vr import api
from nt2vr.cli import main
from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.models import clip_encoder, untrusted
from nt2vr.models.acquire import Added, is_download
from nt2vr.models.card import WEIGHTS
from nt2vr.models.catalog import Catalog
from nt2vr.models.clip_libraries import FrameDefaults
from nt2vr.models.framing import LONGEST
from nt2vr.models.options import AddOptions
from nt2vr.settings import prepare_environment
from tests.support.hub_server import HubServer, serve_hub, use_hub
from tests.support.paths import ROOT
from tests.support.running import here
from tests.support.tiny_models import TINY, tiny_model, write_tiny

EMBEDDINGS: dict[str, Any] = {
    "video_ids": np.array(["a", "b"]),
    "videos": np.eye(2),
    "queries": np.array(["a dog"]),
    "texts": np.array([[1.0, 0.1]]),
}
MODULES = [{"type": "sentence_transformers.models.Transformer", "path": "", "idx": 0, "name": "0"}]
OF_TRANSFORMERS = {
    "config.json": b"{}",
    "video_preprocessor_config.json": b"{}",
    "model.safetensors": b"weights",
}
OF_ST = {"modules.json": json.dumps(MODULES).encode(), "model.safetensors": b"weights"}


class Backend:
    """Stands for sentence-transformers and transformers, which are not installed."""

    composes = False

    def __init__(self, folder: Path, *_: Any) -> None:
        self.model = SimpleNamespace(parameters=list)
        self.defaults = FrameDefaults(2, 2, 0.0, (8, 8), LONGEST)

    def texts(self, texts: Sequence[str]) -> NDArray[np.float32]:
        return np.ones((len(texts), 4), np.float32)

    def clips(self, clips: Sequence[Any]) -> NDArray[np.float32]:
        return np.ones((len(clips), 4), np.float32)


def write_files(folder: Path, files: dict[str, bytes]) -> Path:
    folder.mkdir()
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def write_file(folder: Path) -> Path:
    torch.save(tiny_model(7).state_dict(), folder / "mine.pt")
    return folder / "mine.pt"


def write_checkpoint_folder(folder: Path) -> Path:
    write_tiny(folder / "whole", "Its own name", seed=7)
    return folder / "whole"


def write_embeddings(folder: Path) -> Path:
    np.savez(folder / "vectors.npz", **EMBEDDINGS)
    return folder / "vectors.npz"


@dataclass(frozen=True)
class Kind:
    """A kind of source.

    Attributes:
        source: on the Hub; or what writes it into a folder, and returns its path.
        name: of the model unless a person gives one.
        objective: on its card.
        model: the base that has to be named.
        is_found_again: whether to add it again finds the one that is here.
    """

    source: str | Callable[[Path], Path]
    name: str
    objective: str = "contrastive"
    model: str = ""
    is_found_again: bool = False

    def source_in(self, folder: Path) -> str:
        """Return the source as a person types it; write it into a folder first unless it is on the Hub."""
        if isinstance(self.source, str):
            return self.source
        return str(self.source(folder))


KINDS = {
    "a file": Kind(write_file, "mine", model="base"),
    "a folder": Kind(write_checkpoint_folder, "whole"),
    "a folder of sentence-transformers": Kind(
        lambda folder: write_files(folder / "pictures", OF_ST), "st:pictures", "whole clips"
    ),
    "a folder of transformers": Kind(
        lambda folder: write_files(folder / "videos", OF_TRANSFORMERS), "hf:videos", "whole clips"
    ),
    "of open_clip": Kind("tiny/test", "tiny / test", is_found_again=True),
    "in open_clip's format": Kind("hf:tester/mine", "Pushed", objective=""),
    "of transformers": Kind(
        "hf:tester/videos", "hf:tester/videos", "whole clips", is_found_again=True
    ),
    "of sentence-transformers": Kind(
        "st:tester/pictures", "st:tester/pictures", "whole clips", is_found_again=True
    ),
    "embeddings": Kind(write_embeddings, "vectors", "embeddings from a file"),
}


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[HubServer]:
    """A Hub with a model of each kind; models are tried out in this process, which has imported torch already."""
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_CACHE", str(tmp_path / "cache"))
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, "tiny", TINY)
    monkeypatch.setitem(
        open_clip.pretrained._PRETRAINED, "tiny", {"test": {"hf_hub": "test/tiny/"}}
    )
    monkeypatch.setattr(untrusted, "run_limited", here)
    monkeypatch.setattr(clip_encoder, "SentenceTransformers", Backend)
    monkeypatch.setattr(clip_encoder, "Transformers", Backend)
    write_tiny(tmp_path / "pushed", "Pushed")
    with serve_hub() as server:
        use_hub(monkeypatch, server.endpoint, token=None)
        server.put("test/tiny", {WEIGHTS: save(tiny_model(3).state_dict())})
        pushed = {path.name: path.read_bytes() for path in (tmp_path / "pushed").iterdir()}
        # As many repositories of open_clip's have both.
        server.put("tester/mine", pushed | OF_TRANSFORMERS)
        server.put("tester/videos", OF_TRANSFORMERS)
        server.put("tester/pictures", OF_ST)
        yield server


@pytest.fixture
def models(tmp_path: Path, hub: HubServer) -> Catalog:
    """The models of a data folder, which has one that others may name as their base."""
    write_tiny(tmp_path / "data" / "models" / "base", "base")
    return Catalog([tmp_path / "data" / "models"])


def add_by_catalog(models: Catalog, source: str, name: str = "", model: str = "") -> None:
    models.add(source, AddOptions(name, model))


def add_by_command(models: Catalog, source: str, name: str = "", model: str = "") -> None:
    flags = ["--data-dir", str(models.home.parent)]
    if name:
        flags += ["--name", name]
    if model:
        flags += ["--model", model]
    assert main(["models", "add", source, *flags]) == 0


def add_in_python(models: Catalog, source: str, name: str = "", model: str = "") -> None:
    options: dict[str, Any] = {}
    if model:
        options["model"] = model
    assert nt2vr.add_model(source, name, models.home.parent, **options) in models.names()


WAYS = {"the catalog": add_by_catalog, "the command": add_by_command, "Python": add_in_python}


@pytest.mark.parametrize(
    "way",
    [
        "the catalog",
        pytest.param("the command", marks=pytest.mark.slow),
        pytest.param("Python", marks=pytest.mark.slow),
    ],
)
@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_source_becomes_a_model_that_loads(
    models: Catalog, tmp_path: Path, kind: str, way: str
) -> None:
    expected = KINDS[kind]
    add = WAYS[way]
    source = expected.source_in(tmp_path)

    add(models, source, model=expected.model)
    assert set(models.names()) == {"base", expected.name}
    assert models.card(expected.name).training.objective == expected.objective
    assert models.load(expected.name).name == expected.name

    add(models, source, name="Another", model=expected.model)
    assert set(models.names()) == {"base", expected.name, "Another"}
    first = models.card(expected.name).visual
    second = models.card("Another").visual
    assert first.fingerprint == second.fingerprint
    assert not list(models.home.glob(".*"))


FOUND_AGAIN = [name for name, kind in KINDS.items() if kind.is_found_again]
REFUSED_AGAIN = [name for name, kind in KINDS.items() if not kind.is_found_again]


@pytest.mark.parametrize("kind", FOUND_AGAIN)
def test_a_download_that_is_here_is_found_again(
    models: Catalog, hub: HubServer, tmp_path: Path, kind: str
) -> None:
    expected = KINDS[kind]
    source = expected.source_in(tmp_path)
    models.add(source)
    hub.requests.clear()

    assert models.add(source) == Added(expected.name, "It was here already.", was_here=True)
    assert hub.requests == []

    # Under the name of another model it is refused.
    with pytest.raises(ConfigError, match="BASE"):
        models.add(source, AddOptions("BASE"))
    assert hub.weight_requests() == []
    assert len(models.names()) == 2


@pytest.mark.parametrize("kind", REFUSED_AGAIN)
def test_any_other_source_may_not_reuse_a_name(
    models: Catalog, hub: HubServer, tmp_path: Path, kind: str
) -> None:
    expected = KINDS[kind]
    source = expected.source_in(tmp_path)
    models.add(source, AddOptions(model=expected.model))
    hub.requests.clear()

    with pytest.raises(ConfigError, match=expected.name):
        models.add(source, AddOptions(model=expected.model))
    with pytest.raises(ConfigError, match="BASE"):
        models.add(source, AddOptions("BASE", model=expected.model))
    assert hub.weight_requests() == []
    assert len(models.names()) == 2


@pytest.mark.parametrize("stage", ["downloading", "trying it out"])
@pytest.mark.parametrize(
    "kind", ["of open_clip", "in open_clip's format", "of sentence-transformers"]
)
def test_what_is_cancelled_or_interrupted_leaves_nothing(
    models: Catalog, kind: str, stage: str
) -> None:
    def cancel(done: int, total: int, doing: str) -> None:
        if doing.startswith(stage):
            raise InterruptedError

    with pytest.raises(InterruptedError):
        models.add(str(KINDS[kind].source), progress=cancel)
    assert [path.name for path in models.home.iterdir()] == ["base"]


@pytest.mark.parametrize(
    "source",
    [
        "",
        " ",
        "mine",
        "ViT-B-33/openai",
        "OWNER/NAME",
        "a/b/c",
        "https://huggingface.co/a/b",
        "x" * 5000,
    ],
)
def test_a_wrong_source_gets_examples_of_every_form(
    models: Catalog, hub: HubServer, source: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        models.add(source)
    examples = "~/mine.pt ~/models/mine ViT-B-32/openai hf:OWNER/NAME st:OWNER/NAME ~/mine.npz"
    for example in examples.split():
        assert f"({example})" in str(caught.value)
    assert hub.requests == []


@pytest.mark.parametrize(
    ("source", "options", "message"),
    [
        ("/none/mine.pt", {}, "/none/mine.pt"),
        ("/none/mine.npz", {}, "/none/mine.npz"),
        ("mine.npz", {}, "mine.npz"),
        ("ViT-B-32/opnai", {}, "ViT-B-32/openai"),
        ("hf:none", {}, "none"),
        ("st:../x", {}, "../x"),
        ("tiny/test", {"activation": "GELU"}, "activation .*tiny / test"),
        ("hf:tester/mine", {"fps": 2.0}, "fps .*tester/mine"),
        ("st:tester/pictures", {"key": "ema"}, "key .*st:tester/pictures"),
        ("hf:tester/videos", {"dimensions": 2}, "instruction and dimensions .*hf:tester/videos"),
        ("mine.pt", {"activation": "gelu"}, "activation .*gelu.* QuickGELU, GELU"),
        ("mine.pt", {"positions": "middle"}, "positions .*middle.* centres, ends"),
        ("mine.pt", {"fps": -1.0}, "fps .*-1.0.* 0 to 60"),
        ("mine.pt", {"size": "8x8"}, "8x8"),
        ("tiny/test", {"name": "a|b"}, r"1 to 60 .*\|"),
    ],
)
def test_an_unusable_source_leaves_nothing_behind(
    models: Catalog, source: str, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(Nt2vrError, match=message) as caught:
        models.add(source, AddOptions(**options))
    assert re.fullmatch(r"[^\n]{10,400}\.", str(caught.value))
    assert [path.name for path in models.home.iterdir()] == ["base"]


def test_downloads_are_recognised_without_looking_at_files(
    hub: HubServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "ViT-B-32" / "openai").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    downloads = [
        "ViT-B-32/openai",
        "ViT-B-32 / openai",
        "tiny/none",
        "hf:a/b",
        "st:a",
        "st:/etc/passwd",
    ]
    paths = [
        "./ViT-B-32/openai",
        "ViT-B-32/openai.pt",
        "ViT-B-32",
        "ViT-B-32/a/b",
        "/etc/passwd",
        "~/a",
        "C:\\a.pt",
    ]
    for source in downloads:
        assert is_download(source), source
    for source in paths:
        assert not is_download(source), source
    assert hub.requests == []


@dataclass(frozen=True)
class Alias:
    """An old command that adds a model.

    Attributes:
        command: the old command.
        kind: of its source.
        flags: further ones.
        frames: that the new model's card has then.
        name: that is given, "" where the command takes none.
    """

    command: str
    kind: str
    flags: tuple[str, ...]
    frames: int
    name: str = ""


ALIASES = [
    Alias(
        "import",
        "a file",
        ("--model", "base", "--frames", "3", "--activation", "GELU", "--pooling", "raw_mean"),
        frames=3,
        name="Mine",
    ),
    Alias("import", "a folder", ("--frames", "3", "--positions", "ends"), frames=3, name="Mine"),
    Alias("import", "embeddings", (), frames=1, name="Mine"),
    Alias("models get", "of open_clip", (), frames=8),
    Alias(
        "models get",
        "of sentence-transformers",
        ("--frames", "3", "--fps", "2", "--size", "96x64"),
        frames=3,
    ),
    Alias("models get", "of transformers", ("--frames", "3"), frames=3),
    Alias("pull", "in open_clip's format", (), frames=2, name="Mine"),
]


@pytest.mark.parametrize("alias", ALIASES, ids=lambda alias: f"{alias.command} {alias.kind}")
def test_the_aliases_work_and_name_the_new_command(
    models: Catalog, tmp_path: Path, capsys: pytest.CaptureFixture[str], alias: Alias
) -> None:
    source = KINDS[alias.kind].source_in(tmp_path)
    typed_source = source
    if alias.command == "pull":
        # All that it pulls is on the Hub.
        typed_source = source.removeprefix("hf:")
    flags = [*alias.flags, "--data-dir", str(models.home.parent)]
    name = KINDS[alias.kind].name
    if alias.name:
        name = alias.name
        flags += ["--name", name]

    assert main([*alias.command.split(), typed_source, *flags]) == 0

    printed = capsys.readouterr()
    assert f"This command is now: nt2vr models add {source}\n" in printed.err
    assert f"{name} is in {models.home}." in printed.out
    assert set(models.names()) == {"base", name}
    assert models.card(name).framing.frames == alias.frames


def test_options_of_the_command_are_on_the_card(models: Catalog, tmp_path: Path) -> None:
    source = str(write_file(tmp_path))
    flags = ["--model", "base", "--frames", "2", "--pooling", "raw_mean", "--positions", "ends"]

    assert main(["models", "add", source, *flags, "--data-dir", str(models.home.parent)]) == 0

    card = models.card("mine")
    assert card.framing.frames == 2
    assert card.framing.positions == "ends"
    assert card.pooling.name == "raw_mean"
    in_float32 = write_tiny(tmp_path / "in_float32", seed=7, fp16=False)
    assert card.text.fingerprint == in_float32.text.fingerprint


def test_an_encoder_is_added_for_this_process(
    models: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "_ENCODERS", {})
    write_tiny(tmp_path / "other", "Outside", seed=5)
    model = nt2vr.load_model(tmp_path / "other")
    data = models.home.parent

    # It can be added again and again.
    assert models.add(model.encoder) == Added("Outside")
    assert models.add(model.encoder) == Added("Outside")
    assert nt2vr.add_model(model, data_dir=data) == "Outside"
    assert nt2vr.load_model("Outside", data).encoder is model.encoder
    assert "Outside" not in Catalog([models.home]).names()

    with pytest.raises(ConfigError):
        nt2vr.add_model(model, "Mine", data)
    with pytest.raises(ConfigError, match="frame"):
        nt2vr.add_model("mine.pt", data_dir=data, frame=3)


KILLED = """
import os, signal, sys
from pathlib import Path
from nt2vr.models.catalog import Catalog

def report(done, total, doing):
    if doing == "finding the architecture":
        os.kill(os.getpid(), signal.SIGKILL)

Catalog([Path(sys.argv[2])]).add(Path(sys.argv[1]), progress=report)
"""


@pytest.mark.slow
def test_a_killed_process_leaves_no_model_and_no_child(tmp_path: Path) -> None:
    prepare_environment()
    home = tmp_path / "models"
    command = [sys.executable, "-c", KILLED, str(write_checkpoint_folder(tmp_path)), str(home)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}

    process = subprocess.run(command, env=environment, check=False)

    assert process.returncode == -signal.SIGKILL
    # The child would have written the model in this time.
    time.sleep(5)
    assert Catalog([home]).names() == []
    assert {path.suffix for path in home.glob("*")} <= {".unchecked"}
    assert Catalog([home]).add(tmp_path / "whole").name == "whole"
