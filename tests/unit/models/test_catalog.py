"""The model catalog, and downloads from a local hub."""

import logging
import shutil
import socket
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import huggingface_hub
import numpy as np
import open_clip
import pytest
import safetensors.torch
import torch
from PIL import Image

from nt2vr.errors import CheckpointError, ConfigError, DownloadError
from nt2vr.files import write_json
from nt2vr.models.card import CARD, Card, read_card, write_card
from nt2vr.models.catalog import BEST, Catalog, CatalogEntry
from nt2vr.models.checkpoint import WEIGHTS
from nt2vr.models.downloads import available, download_all
from nt2vr.models.open_clip_encoder import OpenClipEncoder
from nt2vr.models.recommended import RECOMMENDED
from nt2vr.models.tokenizer import TOKENIZER
from nt2vr.progress import silent, stoppable
from tests.families import FAMILIES, family_model, write_tokenizer
from tests.tiny import SMALL_VIT, TINY, tiny_model, write_tiny
from trainer.config import TrainConfig


def test_models_are_listed_by_name_in_the_order_of_the_folders_and_new_ones_appear(tmp_path: Path) -> None:
    models = Catalog([tmp_path / "built-in", tmp_path / "mine"])
    assert models.names() == []
    write_tiny(tmp_path / "mine" / "a", "Mine")
    write_tiny(tmp_path / "built-in" / "clip", "CLIP")
    assert models.names() == ["CLIP", "Mine"]
    assert models.card("Mine").frames == 2
    with pytest.raises(ConfigError, match=r"Unknown model 'BLIP'\. Choose one of: CLIP, Mine\."):
        models.find("BLIP")


def test_a_model_is_found_in_any_letter_case_and_with_any_spaces_but_first_by_its_exact_name(tmp_path: Path) -> None:
    for folder, name in (("a", "ViT-B-32 / openai"), ("b", "Mine"), ("c", "mine")):
        write_tiny(tmp_path / folder, name)
    models = Catalog([tmp_path])
    for typed, folder in (("vit-b-32/OpenAI", "a"), ("MINE", "b"), ("Mine", "b"), ("mine", "c")):
        assert models.folder(typed) == tmp_path / folder
    assert [models.named(typed) for typed in ("vit-b-32/OpenAI", "mine", "", "yours")] == [
        "ViT-B-32 / openai",
        "mine",
        None,
        None,
    ]
    with pytest.raises(ConfigError, match="Unknown model None"):
        models.find(None)  # type: ignore[arg-type]  # of an empty drop-down


def load(models: Catalog, name: str) -> OpenClipEncoder:
    encoder = models.load(name)
    assert isinstance(encoder, OpenClipEncoder)
    return encoder


def test_a_broken_folder_does_not_affect_the_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    for name in ("CLIP", "cut", "cardless"):
        write_tiny(tmp_path / name, name)
    (tmp_path / "cut" / WEIGHTS).write_bytes(b"")
    (tmp_path / "cardless" / CARD).unlink()
    models = Catalog([tmp_path])
    with caplog.at_level(logging.WARNING):
        assert models.names() == models.names() == ["CLIP", "cut"]
    assert caplog.text.count("cardless has no") == 1  # though it is met at each look
    with pytest.raises(CheckpointError):
        load(models, "cut")
    assert load(models, "CLIP").name == "CLIP"


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("ViT-B-32", "no pre-trained model 'ViT-B-32'. Try ViT-B-32/openai"),
        ("../../etc/passwd", "no pre-trained model"),
        ("roberta-ViT-B-32/laion2b_s12b_b32k", "text tower from Hugging Face"),
    ],
)
def test_an_unsupported_model_is_refused_before_any_download(tmp_path: Path, name: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        Catalog([tmp_path]).download(name)


@pytest.fixture
def hub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder that a server here serves as a hub does: PATH is answered with the file of its last part's name."""
    folder = tmp_path / "hub"
    folder.mkdir()

    class Hub(BaseHTTPRequestHandler):
        def do_HEAD(self, with_body: bool = False) -> None:
            path = folder / self.path.rpartition("/")[2]
            if not path.is_file():
                self.send_response(404)
                self.send_header("X-Error-Code", "EntryNotFound")
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("Content-Length", str(path.stat().st_size))
            self.send_header("ETag", '"1234"')
            self.send_header("X-Repo-Commit", "f" * 40)
            self.end_headers()
            if with_body:
                self.wfile.write(path.read_bytes())

        def do_GET(self) -> None:
            self.do_HEAD(with_body=True)

        def log_message(self, *_: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Hub) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
        thread.start()
        point_at(monkeypatch, f"http://127.0.0.1:{server.server_port}", tmp_path)
        yield folder
        server.shutdown()


def point_at(monkeypatch: pytest.MonkeyPatch, endpoint: str, tmp_path: Path) -> None:
    """Make `endpoint` the hub, with an empty cache, and "tiny / test" one of its pre-trained models."""
    template = endpoint + "/{repo_id}/resolve/{revision}/{filename}"
    places = {"ENDPOINT": endpoint, "HUGGINGFACE_CO_URL_TEMPLATE": template, "HF_HUB_CACHE": str(tmp_path / "cache")}
    for name, value in places.items():
        monkeypatch.setattr(huggingface_hub.constants, name, value)
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, "tiny", TINY)
    weights: dict[str, Any] = {"hf_hub": "test/tiny/", "mean": (0.5, 0.5, 0.5), "std": (0.25, 0.25, 0.25)}
    monkeypatch.setitem(open_clip.pretrained._PRETRAINED, "tiny", {"test": {**weights, "quick_gelu": True}})


def test_only_models_whose_bases_saw_drawings_alone_know_only_drawings(tmp_path: Path) -> None:
    world = "built-in world, 8 clips"
    cards = {
        "real": Card("real"),
        "drawn": Card("drawn", data=world),
        "large": Card("large", data=f"large {world}", base="drawn"),
        "of real": Card("of real", data=world, base="real"),
        "filmed": Card("filmed", data="MSR-VTT, 8 clips", base="drawn"),
        "of gone": Card("of gone", data=world, base="gone"),
        "circle": Card("circle", data=world, base="circle"),
    }
    for name, card in cards.items():
        (tmp_path / "models" / name).mkdir(parents=True)
        write_card(tmp_path / "models" / name, card)
    run = tmp_path / "runs" / "night" / "checkpoints" / "epoch_001"
    run.mkdir(parents=True)
    write_card(run, Card("night", data=world, base="drawn"))
    models = Catalog([tmp_path / "models"], runs=tmp_path / "runs")
    drawn = {name for name in models.names() if models.knows_only_drawings(name)}
    assert drawn == {"drawn", "large", "of gone", "circle", "night", "night · epoch 1"}
    assert sorted(models.real_models()) == ["filmed", "of real", "real"]
    assert not models.knows_only_drawings("no such model")


def test_a_model_that_cannot_be_downloaded_at_the_start_is_one_line_and_the_next_one_comes(
    tmp_path: Path, hub: Path, caplog: pytest.LogCaptureFixture
) -> None:
    safetensors.torch.save_file(tiny_model().state_dict(), hub / "open_clip_model.safetensors")
    models = Catalog([tmp_path / "models"])
    with caplog.at_level(logging.WARNING, "nt2vr"):
        download_all(("none/such", "tiny/test"), models.download)
    assert models.names() == ["tiny / test"]
    messages = [record.getMessage() for record in caplog.records if record.name.startswith("nt2vr")]
    assert len(messages) == 1
    assert messages[0].startswith("NT2VR_MODELS: open_clip has no pre-trained model 'none/such'.")


@pytest.mark.parametrize("file", ["open_clip_model.safetensors", "open_clip_pytorch_model.bin"])
def test_a_download_becomes_a_checkpoint_folder(tmp_path: Path, hub: Path, file: str) -> None:
    weights = tiny_model(seed=7).state_dict()
    (safetensors.torch.save_file if file.endswith("safetensors") else torch.save)(weights, hub / file)
    seen: list[tuple[int, int, str]] = []
    models = Catalog([tmp_path / "models"])
    encoder = load(models, models.download("tiny / test", lambda *now: seen.append(now)))
    size = (hub / file).stat().st_size
    assert seen[-1] == (size, size, "downloading tiny / test")
    (hub / file).unlink()
    again = Catalog([tmp_path / "models"])
    assert again.names() == ["tiny / test"]
    assert again.card(again.download("tiny/test")).visual_fingerprint == encoder.visual_fingerprint
    assert [path.name for path in (tmp_path / "models").iterdir()] == ["tiny--test"]
    frames = np.random.default_rng(0).integers(0, 256, (3, 64, 64, 3), np.uint8)
    model = tiny_model(seed=7).eval()
    pixels = (torch.tensor(frames).permute(0, 3, 1, 2) / 255 - 0.5) / 0.25
    with torch.inference_mode():
        expected = model.encode_image(pixels, normalize=True)
    np.testing.assert_allclose(encoder.encode_frames(frames), expected, atol=1e-6)
    assert "QuickGELU" in str(encoder._model.transformer)  # as the weights were trained


def test_a_hub_without_the_weights_is_one_sentence(tmp_path: Path, hub: Path) -> None:
    with pytest.raises(DownloadError, match="no weights that can be read"):
        Catalog([tmp_path / "models"]).download("tiny/test")


def test_damaged_weights_leave_no_model(tmp_path: Path, hub: Path) -> None:
    (hub / WEIGHTS).write_bytes(b"not weights")
    models = Catalog([tmp_path / "models"])
    with pytest.raises(CheckpointError, match=r"tiny / test was downloaded, but: .* cannot be loaded"):
        models.download("tiny/test")
    assert models.names() == []
    assert not list((tmp_path / "models").iterdir())  # or the next attempt would find them again


def test_the_space_is_told_before_the_transfer_and_a_disk_that_lacks_it_refused(
    tmp_path: Path, hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    safetensors.torch.save_file({"x": torch.zeros(1 << 20)}, hub / "open_clip_model.safetensors")
    told: list[str] = []
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=205 << 20))
    with pytest.raises(ConfigError, match=r"^Downloading tiny / test needs about 0\.2 GB, .* has 0\.2 GB left\."):
        Catalog([tmp_path / "models"]).download("tiny/test", announce=told.append)
    size = sum(tensor.numel() for tensor in tiny_model().state_dict().values()) * 4
    assert told == [
        f"tiny / test: 4 MB to download, and {(4 << 20) + size >> 20} MB of disk while it is converted; "
        f"{size >> 20} MB stay."
    ]
    assert not (tmp_path / "models").exists()


@pytest.mark.parametrize("how", ["stopped", "Ctrl+C"])
def test_a_cancelled_download_leaves_nothing(tmp_path: Path, hub: Path, how: str) -> None:
    safetensors.torch.save_file(tiny_model().state_dict(), hub / "open_clip_model.safetensors")
    models = Catalog([tmp_path / "models"])

    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    with pytest.raises(InterruptedError if how == "stopped" else KeyboardInterrupt):
        if how == "stopped":
            models.download("tiny/test", stoppable(silent, lambda: True))
        else:
            models.download("tiny/test", interrupt)
    assert not list((tmp_path / "models").iterdir())
    assert models.download("tiny/test") == "tiny / test"


def test_a_tokenizer_comes_with_its_model(tmp_path: Path, hub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    family = FAMILIES["SigLIP"]
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, family.architecture, family.model_cfg)
    safetensors.torch.save_file(family_model(family).state_dict(), hub / "open_clip_model.safetensors")
    models = Catalog([tmp_path / "models"])
    name = f"{family.architecture}/{family.tag}"
    with pytest.raises(
        DownloadError, match=rf"{family.architecture} / webli has no tokenizer\.json, in timm/ViT-B-16"
    ):
        models.download(name)
    write_tokenizer(hub, family)
    encoder = load(models, models.download(name))
    assert encoder.encode_text(["a dog"]).shape == (1, 64)
    assert (models.home / f"{family.architecture}--webli" / TOKENIZER).read_bytes() == (hub / TOKENIZER).read_bytes()


def test_only_what_was_added_is_removed(tmp_path: Path) -> None:
    write_tiny(tmp_path / "shipped" / "clip", "CLIP")
    write_tiny(tmp_path / "mine" / "a", "Mine")
    write_epochs(tmp_path / "runs", "neg", 1)
    models = Catalog([tmp_path / "shipped", tmp_path / "mine"], runs=tmp_path / "runs")
    models.remove("Mine")
    assert models.names() == ["CLIP", "neg", "neg · epoch 1"]
    assert not list((tmp_path / "mine").iterdir())
    for name in models.names():
        with pytest.raises(ConfigError, match="was not downloaded or imported"):
            models.remove(name)
    assert models.names() == ["CLIP", "neg", "neg · epoch 1"]


@pytest.mark.parametrize("deaf", [False, True], ids=["nobody there", "never answers"])
def test_without_network_one_sentence_comes_within_seconds(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, deaf: bool
) -> None:
    monkeypatch.setattr("nt2vr.models.downloads.CONNECT_S", 0.5)
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        if deaf:
            unused.listen()
        point_at(monkeypatch, f"http://127.0.0.1:{unused.getsockname()[1]}", tmp_path)
        start = time.monotonic()
        with pytest.raises(DownloadError, match="Check the network and try again"):
            Catalog([tmp_path / "models"]).download("tiny/test")
    assert time.monotonic() - start < 20  # open_clip would take 50


def test_a_vit_in_half_precision_is_downloaded_and_encodes_as_open_clip_does(
    tmp_path: Path, hub: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, "ViT-B-32", SMALL_VIT)
    torch.manual_seed(0)
    model = open_clip.create_model("ViT-B-32", force_quick_gelu=True).half()
    safetensors.torch.save_file(model.state_dict(), hub / "open_clip_model.safetensors")
    model = model.float().eval()
    models = Catalog([tmp_path / "models"])
    encoder = load(models, models.download("ViT-B-32/openai"))
    assert (encoder.name, encoder.embed_dim, encoder.image_size) == ("ViT-B-32 / openai", 32, 224)
    assert read_card(tmp_path / "models" / "ViT-B-32--openai") == encoder.card
    texts = ["a man playing the guitar and not singing", "a dog"]
    frames = np.random.default_rng(0).integers(0, 256, (2, 224, 224, 3), np.uint8)
    preprocess = open_clip.image_transform(224, is_train=False)
    with torch.inference_mode():
        expected_texts = model.encode_text(open_clip.get_tokenizer("ViT-B-32")(texts), normalize=True)
        images = torch.stack([preprocess(Image.fromarray(frame)) for frame in frames])
        expected_frames = model.encode_image(images, normalize=True)
    np.testing.assert_allclose(encoder.encode_text(texts), expected_texts, atol=1e-6)
    np.testing.assert_allclose(encoder.encode_frames(frames), expected_frames, atol=1e-6)


def write_epochs(runs: Path, run: str, *epochs: int) -> None:
    for epoch in epochs:
        (runs / run / "checkpoints" / f"epoch_{epoch:03d}").mkdir(parents=True)


def test_runs_are_found_by_their_epochs_and_the_newest_also_by_the_runs_own_name(tmp_path: Path) -> None:
    write_tiny(tmp_path / "models" / "clip", "CLIP")
    models = Catalog([tmp_path / "models"], runs=tmp_path / "runs")
    assert models.names() == ["CLIP"]  # no folder of runs yet
    write_epochs(tmp_path / "runs", "neg 2", 9, 1000, 99, 2)
    write_epochs(tmp_path / "runs", "clip", 1)  # a name that is taken
    write_epochs(tmp_path / "runs", ".hidden", 1)
    (tmp_path / "runs" / "just begun").mkdir()
    checkpoints = tmp_path / "runs" / "neg 2" / "checkpoints"
    (checkpoints / ".epoch_1001.7.partial").mkdir()
    (checkpoints / "epoch_best").mkdir()
    assert models.names() == [
        "CLIP",
        "neg 2",
        "neg 2 · epoch 1000",
        "neg 2 · epoch 99",
        "neg 2 · epoch 9",
        "neg 2 · epoch 2",
        "clip (run)",
        "clip (run) · epoch 1",
    ]
    assert (
        models.find("neg 2").folders[0] == models.find("neg 2 · epoch 1000").folders[0] == checkpoints / "epoch_1000"
    )
    assert [models.find(name).kind for name in ("CLIP", "neg 2", "neg 2 · epoch 9")] == ["model", "run", "epoch"]
    shutil.rmtree(tmp_path / "runs" / "neg 2")
    assert models.names() == ["CLIP", "clip (run)", "clip (run) · epoch 1"]


def test_the_best_epoch_of_a_run_has_a_name_which_moves_with_it(tmp_path: Path) -> None:
    models = Catalog([tmp_path / "models"], runs=tmp_path / "runs")
    write_epochs(tmp_path / "runs", "neg", 1, 2, 3)
    checkpoints = tmp_path / "runs" / "neg" / "checkpoints"
    for note in ("", "[]", "{}", '{"epoch": "2"}', '{"epoch": 7}'):  # no epoch that is there
        (checkpoints / BEST).write_text(note)
        assert "neg · best" not in models.names()
        models = Catalog([tmp_path / "models"], runs=tmp_path / "runs")
    for best in (2, 3):
        (checkpoints / BEST).unlink()
        write_json(checkpoints / BEST, {"epoch": best})
        assert models.names()[:2] == ["neg", "neg · best"]
        assert models.find("neg · best") == CatalogEntry((checkpoints / f"epoch_{best:03d}",), "run")


def test_a_card_is_read_again_only_after_a_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    card = write_tiny(tmp_path / "clip", "CLIP")
    models, reads = Catalog([tmp_path]), []

    def read(folder: Path) -> Card:
        reads.append(folder)
        return read_card(folder)

    monkeypatch.setattr("nt2vr.models.catalog.read_card", read)
    assert models.names() == models.names() == ["CLIP"]
    assert len(reads) == 1
    write_card(tmp_path / "clip", replace(card, name="Mine"))
    assert models.names() == ["Mine"]


def test_recommended_models_can_be_downloaded_and_a_figure_has_a_source() -> None:
    assert {model.name for model in RECOMMENDED} <= set(available())
    assert all(bool(model.msrvtt) == bool(model.source) for model in RECOMMENDED)
    speeds = {model.name: model.speed for model in RECOMMENDED}
    assert (speeds["ViT-B-32/openai"], speeds["ViT-L-14/openai"]) == ("fast", "slow")


def test_a_download_that_is_not_there_says_how_to_get_it(tmp_path: Path) -> None:
    folder = tmp_path / "my data" / "models" / "ViT-B-32--openai"
    command = f"nt2vr models get \"ViT-B-32/openai\" --data-dir '{tmp_path}/my data'"
    with pytest.raises(CheckpointError) as caught:
        read_card(folder)
    assert str(caught.value) == f"{folder} has no readable {CARD}. Download it: {command}"
    with pytest.raises(ConfigError, match="Download it: nt2vr models get"):
        _ = TrainConfig(base=str(folder)).image_size
