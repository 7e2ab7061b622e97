"""Imports of foreign checkpoints: every way to save a CLIP, and files that are not one."""

import argparse
import os
import shutil
import signal
import time
import zipfile
from collections import defaultdict
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import open_clip
import pytest
import safetensors.torch
import torch

from nt2vr.errors import CheckpointError, ConfigError, Nt2vrError
from nt2vr.models import foreign
from nt2vr.models.card import CONFIG
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import build_model, read_checkpoint, read_configs
from nt2vr.models.encoder import Encoder
from nt2vr.models.foreign import Imported, ImportOptions
from nt2vr.models.open_clip_encoder import OpenClipEncoder
from nt2vr.models.temporal import SequenceTransformer
from nt2vr.progress import Progress, silent
from tests.killed import import_half
from tests.tiny import SMALL_VIT, tiny_model, write_tiny

Weights = dict[str, torch.Tensor]
TEXTS = ["a man sings and no dog barks", "a dog"]
TOKENIZER = open_clip.SimpleTokenizer(context_length=16)
FRAMES = np.random.default_rng(0).integers(0, 256, (3, 64, 64, 3), np.uint8)


def import_checkpoint(
    file: Path,
    models: Catalog,
    name: str = "",
    architecture: str = "",
    frames: int | None = None,
    activation: str = "",
    pooling: str = "",
    positions: str = "",
    progress: Progress = silent,
) -> Imported:
    """Import in this process, which takes a tenth of the time."""
    hidden = models.home / ".unchecked"
    options = ImportOptions(name, architecture, frames, activation, pooling, positions)
    options = replace(options, name=foreign._checked(file, models, options))
    return foreign._import(file, models, hidden, options, progress)


def weights_of(seed: int) -> Weights:
    weights: Weights = tiny_model(seed).state_dict()
    return weights


def prefixed(prefix: str, weights: Weights) -> Weights:
    return {prefix + name: tensor for name, tensor in weights.items()}


def text_apart(weights: Weights) -> Weights:
    """Name tensors as open_clip does in models with a text tower of its own class."""
    both = ("visual.", "logit_scale")
    return {name if name.startswith(both) else f"text.{name}": tensor for name, tensor in weights.items()}


def with_openais_numbers(weights: Weights) -> Weights:
    numbers = {"input_resolution": 64, "context_length": 16, "vocab_size": 49408}
    counted = {name: tensor for name, tensor in weights.items() if not name.endswith("num_batches_tracked")}
    return {**counted, **{name: torch.tensor(number) for name, number in numbers.items()}}


FORMS: dict[str, Callable[[Weights], Any]] = {
    "a state dict": lambda w: w,
    "state_dict, module.": lambda w: {
        "epoch": 3,
        "state_dict": prefixed("module.", w),
        "optimizer": {"state": {0: {"exp_avg": w["logit_scale"]}}},
    },
    "model, clip.": lambda w: {"model": prefixed("clip.", w), "args": {"lr": 1e-5}},
    "model_state_dict, module.model.": lambda w: {"model_state_dict": prefixed("module.model.", w), "loss": 0.3},
    "deeper": lambda w: {"checkpoint": {"net": {"clip_model": w}}},
    "a text tower apart": text_apart,
    "OpenAI's numbers": with_openais_numbers,
}


@pytest.fixture
def models(tmp_path: Path) -> Catalog:
    """One model like those that are imported: it tells the number of heads."""
    write_tiny(tmp_path / "models" / "clip", "CLIP")
    return Catalog([tmp_path / "models"])


def assert_is_of_seed(encoder: Encoder, seed: int, tolerance: float = 1e-6) -> None:
    model = tiny_model(seed).eval()
    expected = OpenClipEncoder(model, TOKENIZER, encoder.card)
    np.testing.assert_allclose(encoder.encode_text(TEXTS), expected.encode_text(TEXTS), atol=tolerance)
    np.testing.assert_allclose(encoder.encode_frames(FRAMES), expected.encode_frames(FRAMES), atol=tolerance)


@pytest.mark.parametrize("form", FORMS)
def test_a_clip_is_read_from_every_wrapper(models: Catalog, tmp_path: Path, form: str) -> None:
    torch.save(FORMS[form](weights_of(7)), tmp_path / "mine.pt")
    imported = import_checkpoint(tmp_path / "mine.pt", models, frames=3)
    assert imported.name == "mine" and models.names() == ["CLIP", "mine"]
    card = models.card("mine")
    assert (card.base, card.frames, card.image_size) == ("imported from mine.pt", 3, 64)
    assert_is_of_seed(models.read(models.home / "mine"), 7)


@pytest.mark.parametrize("file", ["mine.safetensors", "old.pth", "half.bin"])
def test_a_clip_is_read_from_every_kind_of_file(models: Catalog, tmp_path: Path, file: str) -> None:
    weights = weights_of(7)
    if file == "mine.safetensors":
        safetensors.torch.save_file(weights, tmp_path / file)
    elif file == "old.pth":
        torch.save(weights, tmp_path / file, _use_new_zipfile_serialization=False)
    else:
        torch.save({name: w.half() if w.is_floating_point() else w for name, w in weights.items()}, tmp_path / file)
    import_checkpoint(tmp_path / file, models, "Mine, epoch 3!")
    (folder,) = models.find("Mine, epoch 3!").folders
    assert folder.parent == models.home and folder.name == "Mine-epoch-3"
    assert_is_of_seed(models.read(folder), 7, 2e-3 if file == "half.bin" else 1e-6)
    in_file = {tensor.dtype for tensor in safetensors.torch.load_file(folder / "open_clip_model.safetensors").values()}
    assert (torch.float16 in in_file) == (file == "half.bin")  # half precision stays half, and full precision full


def test_broken_models_here_are_passed_over(models: Catalog, tmp_path: Path) -> None:
    for name, config in (("cut off", "{"), ("of another kind", "[]"), ("without", None)):
        write_tiny(models.home / name, name)
        (models.home / name / "tokenizer.json").write_text("{}")
        (models.home / name / CONFIG).unlink() if config is None else (models.home / name / CONFIG).write_text(config)
    torch.save(weights_of(7), tmp_path / "mine.pt")
    assert "Read as CLIP" in import_checkpoint(tmp_path / "mine.pt", models).remark
    with pytest.raises(ConfigError, match="needs the tokenizer 'x'"):
        foreign._tokenizer({"hf_tokenizer_name": "x"}, tmp_path / "mine.pt", models)


def test_the_remark_names_the_architecture_and_ignored_tensors(models: Catalog, tmp_path: Path) -> None:
    head = {"head.weight": torch.zeros(3), "head.bias": torch.zeros(3)}
    torch.save(
        {"model": {**prefixed("clip.", weights_of(7)), **head}, "ema": {"decay": torch.ones(1)}}, tmp_path / "a.pt"
    )
    remark = import_checkpoint(tmp_path / "a.pt", models).remark
    assert remark == "Read as CLIP, with GELU. Ignored, as not part of a CLIP: model.head.weight, model.head.bias."
    remark = import_checkpoint(tmp_path / "a.pt", models, "b", "CLIP", activation="QuickGELU").remark
    assert remark.startswith("Read as CLIP, with QuickGELU.")
    assert read_configs(models.home / "b")[0]["quick_gelu"] is True


def test_a_clip_of_openais_own_shape_gets_openais_activation(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, "ViT-B-32", SMALL_VIT)
    torch.manual_seed(0)
    model = open_clip.create_model("ViT-B-32", force_quick_gelu=True).half().float().eval()
    state = {f"module.{name}": w.half() for name, w in model.state_dict().items()}
    torch.save({"state_dict": state}, tmp_path / "con-clip.pt")
    models = Catalog([tmp_path / "models"])
    remark = import_checkpoint(tmp_path / "con-clip.pt", models).remark
    assert remark == "Read as ViT-B-32, with QuickGELU."
    encoder = read_checkpoint(models.home / "con-clip")
    with torch.inference_mode():
        expected = model.encode_text(open_clip.get_tokenizer("ViT-B-32")(TEXTS), normalize=True)
    np.testing.assert_allclose(encoder.encode_text(TEXTS), expected, atol=1e-5)


class Malicious:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (str(self.folder),)


@pytest.mark.parametrize("is_zip", [True, False])
def test_code_in_a_file_never_runs(models: Catalog, tmp_path: Path, is_zip: bool) -> None:
    content = {"state_dict": weights_of(7), "config": Malicious(tmp_path / "it ran")}
    torch.save(content, tmp_path / "evil.pt", _use_new_zipfile_serialization=is_zip)
    with pytest.raises(CheckpointError, match=r"evil\.pt holds more than tensors \(posix\.mkdir\)") as caught:
        import_checkpoint(tmp_path / "evil.pt", models)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "it ran").exists()
    assert models.names() == ["CLIP"]


class Many(list[int]):
    """A list that pickles as an object with items."""


class Saved:
    """An object that is rebuilt without a call, and makes a folder when told its state."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.measure = str(folder), "cosine"

    def __setstate__(self, state: dict[str, str]) -> None:
        os.mkdir(state["folder"])


class Config(Saved):
    """nT2VR's configuration: it would make a folder when rebuilt."""

    def __reduce__(self) -> tuple[object, ...]:
        return touch, (self.folder,), {"folder": self.folder}


def touch(folder: str) -> Config:
    os.mkdir(folder)
    return Config(Path(folder))


def nt2vr_file(weights: Weights, folder: Path) -> dict[str, Any]:
    """What `trainer.py` of nT2VR saves as model_best.pth.tar."""
    return {
        "epoch": 4,
        "model": prefixed("clip_model.ClipModel.", weights),
        "best_perf": np.float64(0.4),
        "config": Config(folder),
        "opt": argparse.Namespace(rootpath=folder, saved=Saved(folder)),
        "optimizer": {"state": {}, "param_groups": [{"lr": 1e-6}]},
    }


def con_clip_file(weights: Weights, folder: Path) -> dict[str, Any]:
    """What `helpers.py` of CoN-CLIP saves."""
    options = argparse.Namespace(ckpt_save_folder=Saved(folder), epochs=5)
    return {"model": weights, "optimizer": {"state": {}}, "args": options}


AUTHORS: dict[str, tuple[Callable[[Weights, Path], Any], int, str, str, str]] = {
    "model_best.pth.tar": (nt2vr_file, 8, "raw_mean", "ends", "config, opt"),
    "ckpt_5_conclip.pt": (con_clip_file, 8, "mean", "centres", "args"),
    "pytorch_model.bin.4": (lambda weights, _: prefixed("clip.", weights), 12, "mean", "ends", ""),
}


@pytest.mark.parametrize("is_zip", [True, False])
@pytest.mark.parametrize("file", AUTHORS)
def test_a_papers_checkpoint_is_read_as_its_authors_use_it(
    models: Catalog, tmp_path: Path, file: str, is_zip: bool
) -> None:
    form, frames, pooling, positions, objects = AUTHORS[file]
    path = tmp_path / (file if not file.endswith(".4") else "pytorch_model.bin")
    content = form(weights_of(7), tmp_path / "it ran")
    torch.save(content, path, _use_new_zipfile_serialization=is_zip)
    remark = import_checkpoint(path, models, "theirs").remark
    assert not (tmp_path / "it ran").exists()
    card = models.card("theirs")
    assert (card.frames, card.pooling, card.positions) == (frames, pooling, positions)
    assert "Recognised as a file of" in remark and f"{frames} frames, {pooling}, {positions}" in remark
    assert ("neither tensors nor plain values" in remark) == bool(objects) and f"{objects}." in remark
    torch.save(weights_of(7), tmp_path / "plain.pt")
    import_checkpoint(tmp_path / "plain.pt", models, "plain", frames=frames, pooling=pooling, positions=positions)
    theirs, plain = (models.read(models.find(name).folders[0]) for name in ("theirs", "plain"))
    np.testing.assert_array_equal(theirs.encode_text(TEXTS), plain.encode_text(TEXTS))
    np.testing.assert_array_equal(theirs.encode_frames(FRAMES), plain.encode_frames(FRAMES))
    assert theirs.card.video_key == plain.card.video_key


def test_what_a_person_says_of_an_authors_checkpoint_counts(models: Catalog, tmp_path: Path) -> None:
    torch.save(nt2vr_file(weights_of(7), tmp_path / "it ran"), tmp_path / "a.pth.tar")
    import_checkpoint(tmp_path / "a.pth.tar", models, "a", frames=3, pooling="mean", positions="centres")
    assert (models.card("a").frames, models.card("a").pooling, models.card("a").positions) == (3, "mean", "centres")


def test_a_wrapped_head_of_clip4clip_is_refused_too(models: Catalog, tmp_path: Path) -> None:
    state = {**prefixed("module.clip.", weights_of(7)), "module.cross.weight": torch.zeros(1)}
    torch.save({"model": state}, tmp_path / "a.pt")
    with pytest.raises(CheckpointError, match="with the head tightTransf"):
        import_checkpoint(tmp_path / "a.pt", models)


@pytest.mark.parametrize("wrapper", ["", "module."])
def test_clip4clips_seqtransf_is_read_with_its_head(models: Catalog, tmp_path: Path, wrapper: str) -> None:
    """In half precision and with the names that its trainer saves."""
    torch.manual_seed(3)
    head = SequenceTransformer(16, 77, heads=1)
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    head = head.half()
    named = {f"transformerClip.{name}": tensor for name, tensor in head.state_dict().items() if name != "positions"}
    named["frame_position_embeddings.weight"] = head.positions.detach()
    weights = {name: w.half() if w.is_floating_point() else w for name, w in weights_of(7).items()}
    torch.save(prefixed(wrapper, {**prefixed("clip.", weights), **named}), tmp_path / "pytorch_model.bin")
    remark = import_checkpoint(tmp_path / "pytorch_model.bin", models, "theirs").remark
    assert "CLIP4Clip with seqTransf: 12 frames, seqTransf, ends." in remark and "Ignored" not in remark
    encoder = models.read(models.folder("theirs"))
    frames = encoder.encode_frames(FRAMES)
    with torch.no_grad():
        expected = head.float()(torch.from_numpy(frames)).numpy()
    np.testing.assert_allclose(encoder.pool(frames), expected, atol=1e-6)
    remark = import_checkpoint(tmp_path / "pytorch_model.bin", models, "mean", pooling="mean").remark
    assert "Ignored, as not part of a CLIP: resblocks.0" in remark and models.card("mean").pooling == "mean"


def _script(path: Path) -> None:
    class Twice(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return 2 * x

    torch.jit.save(torch.jit.trace(Twice(), torch.zeros(1)), str(path))  # type: ignore[no-untyped-call]


def _save(change: Callable[[Weights], object]) -> Callable[[Path], None]:
    def write(path: Path) -> None:
        weights = dict(weights_of(7))
        changed = change(weights)
        torch.save(changed if isinstance(changed, dict) else weights, path)

    return write


def _in_each_other(count: int) -> dict[str, Any]:
    """Dicts of dicts, the same one under every key: a walk along every path takes count ** 5 steps."""
    inner: dict[str, Any] = {"leaf": 1}
    for _ in range(6):
        inner = {f"key {number}": inner for number in range(count)}
    inner["itself"] = inner
    return inner


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "dicts in each other": (lambda path: torch.save(_in_each_other(300), path), "but no tensors"),
    "more numbers than bytes": (
        _save(lambda w: w.update({"ln_final.bias": torch.zeros(1).expand(10**6, 10**6)})),
        "different shape: ln_final.bias",
    ),
    "a tensor without numbers": (
        _save(lambda w: w.update({"ln_final.bias": torch.empty_like(w["ln_final.bias"], device="meta")})),
        r"weights without plain numbers \(ln_final\.bias\)",
    ),
    "a sparse tensor": (
        _save(lambda w: w.update({"ln_final.bias": w["ln_final.bias"].to_sparse()})),
        "plain numbers|cannot be read",  # the second where warnings are errors
    ),
    "nothing": (lambda path: None, "There is no file"),
    "empty": (lambda path: path.write_bytes(b""), "cannot be read"),
    "a text": (lambda path: path.write_text("not weights"), "cannot be read"),
    "cut off": (lambda path: (_save(dict)(path), path.write_bytes(path.read_bytes()[:-5000])), "cannot be read"),
    "a folder": (lambda path: path.mkdir(), "There is no file"),
    "code": (_script, "TorchScript archive"),
    "only an object": (_save(lambda w: {"args": argparse.Namespace(model=w)}), r"more than tensors \(args\)"),
    "a list of its own class": (_save(lambda w: {"model": w, "args": Many([1])}), r"tensors \(a dict, list or module"),
    "a dict of its own class": (
        _save(lambda w: {"model": w, "args": defaultdict(list, a=[1])}),
        r"tensors \(a dict, list or module",
    ),
    "many classes": (
        lambda path: path.write_bytes(
            b"\x80\x02]" + b"".join(b"cmodule%d\nname\na" % number for number in range(99)) + b"."
        ),
        "cannot be read|more than tensors",
    ),
    "a class with a long name": (
        lambda path: path.write_bytes(b"\x80\x02c" + 999 * b"a" + b"\nname\n."),
        "cannot be read|more than tensors",
    ),
    "seqTransf of another width": (
        _save(
            lambda w: {
                **prefixed("clip.", w),
                "frame_position_embeddings.weight": torch.zeros(77, 3),
                "transformerClip.resblocks.0.ln_1.weight": torch.zeros(3),
            }
        ),
        r"The head of .* does not fit embeddings of length 16",
    ),
    "seqTransf without positions": (
        _save(lambda w: {**prefixed("clip.", w), "transformerClip.resblocks.0.ln_1.weight": torch.zeros(16)}),
        "The head of .*'positions'",
    ),
    "seqLSTM": (
        _save(lambda w: {**prefixed("clip.", w), "lstm_visual.weight_ih_l0": torch.zeros(3)}),
        r"a CLIP4Clip with the head seqLSTM \(lstm_visual\.weight",
    ),
    "tight CLIP4Clip": (
        _save(lambda w: {**prefixed("clip.", w), "similarity_dense.weight": torch.zeros(3)}),
        r"with the head tightTransf",
    ),
    "a number": (lambda path: torch.save(3, path), "but no tensors"),
    "a classifier": (lambda path: torch.save({"conv1.weight": torch.zeros(3)}, path), "no CLIP .* but conv1.weight"),
    "two models": (_save(lambda w: {"student": w, "teacher": dict(w)}), r"several models \(student, teacher\)"),
    "missing": (_save(lambda w: w.pop("ln_final.bias")), r"missing: ln_final.bias\)"),
    "unexpected": (_save(lambda w: w.update({"visual.extra": torch.zeros(1)})), "unexpected: visual.extra"),
    "another shape": (
        _save(lambda w: w.update({"ln_final.bias": torch.zeros(3)})),
        "different shape: ln_final.bias",
    ),
    "not a number": (_save(lambda w: w["ln_final.bias"].fill_(torch.nan)), r"not finite \(ln_final.bias\)"),
    "a long pickle": (_save(lambda w: {"model": w, "text": "x" * 40_000_000}), r"takes \d\d MB, more than the 32"),
    "an odd model": (_save(lambda w: w.pop("text_projection")), "do not determine the architecture"),
}


@pytest.mark.filterwarnings("ignore:`torch.jit")
@pytest.mark.parametrize("bad", BAD)
def test_a_file_that_is_not_a_clip_is_one_sentence_and_leaves_nothing(
    models: Catalog, tmp_path: Path, bad: str
) -> None:
    write, message = BAD[bad]
    write(tmp_path / "bad.pt")
    with pytest.raises(Nt2vrError, match=message) as caught:
        import_checkpoint(tmp_path / "bad.pt", models)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert [path.name for path in models.home.iterdir()] == ["clip"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "clip"}, "There is already a model 'clip'"),
        ({"name": "a|b"}, r"without \|"),
        ({"name": "x" * 61}, "choose 1 to 60 characters"),
        ({"frames": 0}, "cannot take 0 frames"),
        ({"architecture": "ViT-B-33"}, r"Unknown architecture 'ViT-B-33'. Try .*ViT-B-32"),
        ({"architecture": "roberta-ViT-B-32"}, "Hugging Face"),
        ({"architecture": "RN50"}, r"does not fit the architecture \(missing: visual.layer1.1"),
    ],
)
def test_an_invalid_choice_is_one_sentence(
    models: Catalog, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    torch.save(weights_of(7), tmp_path / "mine.pt")
    with pytest.raises((ConfigError, CheckpointError), match=message):
        import_checkpoint(tmp_path / "mine.pt", models, **change)


def test_files_with_other_suffixes_are_not_opened(models: Catalog) -> None:
    with pytest.raises(CheckpointError, match=r"suffix. Choose a file that ends in \.pt"):
        import_checkpoint(Path("/etc/passwd"), models)


def test_a_model_that_cannot_encode_a_sentence_is_refused(models: Catalog, tmp_path: Path) -> None:
    """Its shapes fit each other, but the tokenizer's words are not among its 100."""
    model = build_model({**SMALL_VIT, "text_cfg": {**SMALL_VIT["text_cfg"], "vocab_size": 100}}, {})
    torch.save(model.state_dict(), tmp_path / "few.pt")
    with pytest.raises(CheckpointError, match=r"few\.pt cannot encode a sentence"):
        import_checkpoint(tmp_path / "few.pt", models)
    assert [path.name for path in models.home.iterdir()] == ["clip"]


def test_a_compressed_archive_is_refused_before_it_is_unpacked(models: Catalog, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bomb.pt", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb/data.pkl", bytes(30_000_000))
    with pytest.raises(CheckpointError, match="compressed or overlapping"):
        import_checkpoint(tmp_path / "bomb.pt", models)


def test_the_messages_of_libraries_do_not_name_their_parts(models: Catalog, tmp_path: Path) -> None:
    torch.save(weights_of(7), tmp_path / "a.pt")
    content = (tmp_path / "a.pt").read_bytes()
    told = []
    for place in (30, len(content) // 2, len(content) - 40):
        (tmp_path / "bad.pt").write_bytes(content[:place] + bytes(30) + content[place + 30 :])
        try:
            import_checkpoint(tmp_path / "bad.pt", models, f"at {place}")
        except CheckpointError as error:
            told.append(str(error))
    assert told and not [each for each in told if "miniz" in each or "Pytorch" in each]


@pytest.mark.slow
def test_imports_run_in_a_child_of_limited_memory_and_time(
    models: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.save(weights_of(7), tmp_path / "mine.pt")
    stages: list[str] = []
    foreign.import_checkpoint(
        tmp_path / "mine.pt", models, ImportOptions("mine"), progress=lambda done, total, doing: stages.append(doing)
    )
    assert stages[0] == "reading mine.pt" and "mine" in models.names()
    with pytest.raises(ConfigError, match="already a model 'mine'"):
        foreign.import_checkpoint(tmp_path / "mine.pt", models, ImportOptions("mine"))
    monkeypatch.setattr(foreign, "TIMEOUT_S", 0.1)
    with pytest.raises(CheckpointError, match="takes longer"):
        foreign.import_checkpoint(tmp_path / "mine.pt", models, ImportOptions("late"))
    monkeypatch.setattr(foreign, "TIMEOUT_S", 60.0)
    monkeypatch.setattr(foreign, "MEMORY_BYTES", 100 << 20)
    with pytest.raises(CheckpointError, match=r"too much memory|cannot be"):
        foreign.import_checkpoint(tmp_path / "mine.pt", models, ImportOptions("large"))
    assert sorted(path.name for path in models.home.iterdir()) == ["clip", "mine"]


def test_a_mistake_is_told_without_a_child_that_imports_torch_first(
    models: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(foreign, "run_limited", lambda *_, **__: pytest.fail("a child was started"))
    (tmp_path / "a.pt").write_bytes(b"anything")
    (tmp_path / "a.txt").write_bytes(b"anything")
    for file, name, message in (
        ("none.pt", "mine", "There is no file"),
        ("a.txt", "mine", "does not have a checkpoint's suffix"),
        ("a.pt", "clip", "already a model 'clip'"),
    ):
        with pytest.raises(Nt2vrError, match=message):
            foreign.import_checkpoint(tmp_path / file, models, ImportOptions(name))


def die(*_: Any) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def import_until(part: str, *arguments: Any) -> Imported:
    """Import in a child that is killed in a part of the work."""
    setattr(foreign if part == "_try_out" else safetensors.torch, part, die)
    return foreign._import(*arguments)


SLOW = [pytest.param(partial(import_until, part), marks=pytest.mark.slow) for part in ("save_file", "_try_out")]


@pytest.mark.parametrize("work", [import_half, *SLOW])
def test_an_import_whose_child_is_killed_leaves_nothing_and_another_one_alone(
    models: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, work: Callable[..., Any]
) -> None:
    torch.save(weights_of(7), tmp_path / "mine.pt")
    (models.home / ".another.unchecked").mkdir()
    monkeypatch.setattr(foreign, "_import", work)
    with pytest.raises(CheckpointError, match=r"mine\.pt takes too much memory"):
        foreign.import_checkpoint(tmp_path / "mine.pt", models)
    assert sorted(path.name for path in models.home.iterdir()) == [".another.unchecked", "clip"]


def test_what_a_killed_app_left_of_an_import_is_removed_by_the_next_one(models: Catalog, tmp_path: Path) -> None:
    for name, age_s in ((".a.7.unchecked", 3700), ("..a.7.unchecked.7.partial", 3700), (".b.unchecked", 500)):
        (models.home / name / "model").mkdir(parents=True)
        os.utime(models.home / name, (time.time() - age_s,) * 2)
    with pytest.raises(ConfigError, match="cannot take 0 frames"):
        foreign.import_checkpoint(tmp_path / "none.pt", models, ImportOptions(frames=0))
    assert sorted(path.name for path in models.home.iterdir()) == [".b.unchecked", "clip"]


def test_a_model_that_would_fill_the_disk_is_refused_before_it_is_read(
    models: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.pt").write_bytes(bytes(3_000))
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=5_999))
    with pytest.raises(ConfigError, match=r"^Importing mine\.pt needs about 0\.0 GB"):
        foreign.import_checkpoint(tmp_path / "mine.pt", models)
    assert models.names() == ["CLIP"]
