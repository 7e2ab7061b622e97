"""Imports of foreign checkpoints: every form of a CLIP embeds as its plain weights do; others are one sentence."""

import argparse
import json
import os
import time
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import safetensors.torch
import timm
import torch
from timm.models import VisionTransformer

from nt2vr.errors import CheckpointError, ConfigError, Nt2vrError
from nt2vr.models import acquire as acquire_module
from nt2vr.models import foreign_architecture, untrusted
from nt2vr.models.acquire import Added, acquire
from nt2vr.models.card import read_card, read_configs, write_card
from nt2vr.models.catalog import Catalog
from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import OpenClipEncoder
from nt2vr.models.open_clip_model import build_model
from nt2vr.models.options import AddOptions
from nt2vr.models.pooling import SequenceTransformer
from nt2vr.models.untrusted import unchecked_folder
from tests.support.killed_work import import_half
from tests.support.model_families import FAMILIES, write_tokenizer
from tests.support.running import here
from tests.support.tiny_models import SMALL_VIT, tiny_model, write_tiny

Weights = dict[str, torch.Tensor]
TEXTS = ["a man sings and no dog barks", "a dog"]
TOKENIZER = open_clip.SimpleTokenizer(context_length=16)
LONGER_TOKENIZER = open_clip.SimpleTokenizer()
FRAMES = np.random.default_rng(0).integers(0, 256, (3, 64, 64, 3), np.uint8)


def import_checkpoint(path: Path, models: Catalog, name: str = "", **options: Any) -> Added:
    """Import in this process, which takes a tenth of the time."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(untrusted, "run_limited", here)
        return acquire(path, models, AddOptions(name or path.stem, **options))


def weights_of(seed: int) -> Weights:
    weights: Weights = tiny_model(seed).state_dict()
    return weights


def prefixed(prefix: str, weights: Weights) -> Weights:
    return {prefix + name: tensor for name, tensor in weights.items()}


@cache
def vit(seed: int = 0) -> Any:
    """Build a model whose shapes alone tell what it is, but for the activation."""
    torch.manual_seed(seed)
    return build_model(SMALL_VIT, {})


def as_transformers(weights: Weights) -> Weights:
    """Name tensors as transformers' CLIPModel does: q, k and v apart, both projections transposed."""
    renamed = {
        "logit_scale": weights["logit_scale"],
        "text_model.embeddings.position_ids": torch.arange(77)[None],
    }
    names = {
        "token_embedding.weight": "text_model.embeddings.token_embedding.weight",
        "positional_embedding": "text_model.embeddings.position_embedding.weight",
        "visual.class_embedding": "vision_model.embeddings.class_embedding",
        "visual.conv1.weight": "vision_model.embeddings.patch_embedding.weight",
        "visual.positional_embedding": "vision_model.embeddings.position_embedding.weight",
    }
    starts = {
        "visual.ln_pre": "vision_model.pre_layrnorm",
        "visual.ln_post": "vision_model.post_layernorm",
        "ln_final": "text_model.final_layer_norm",
        "visual.transformer.resblocks": "vision_model.encoder.layers",
        "transformer.resblocks": "text_model.encoder.layers",
    }
    parts = {
        ".ln_1.": ".layer_norm1.",
        ".ln_2.": ".layer_norm2.",
        ".c_fc.": ".fc1.",
        ".c_proj.": ".fc2.",
    }
    parts[".attn.out_proj."] = ".self_attn.out_proj."
    for name, tensor in weights.items():
        theirs = names.get(name, name)
        start = next((prefix for prefix in starts if theirs.startswith(f"{prefix}.")), None)
        theirs = f"{starts[start]}{theirs.removeprefix(start)}" if start else theirs
        for ours, part in parts.items():
            theirs = theirs.replace(ours, part)
        if ".attn.in_proj_" in theirs:
            layer, kind = theirs.split(".attn.in_proj_")
            for letter, third in zip("qkv", tensor.chunk(3), strict=True):
                renamed[f"{layer}.self_attn.{letter}_proj.{kind}"] = third.clone()
        elif name in ("visual.proj", "text_projection"):
            renamed[f"{name.replace('.proj', '_projection')}.weight"] = tensor.T.contiguous()
        else:
            renamed[theirs] = tensor
    return renamed


def as_gmp(weights: Weights) -> Weights:
    """Store direction and length of each row of the MLPs, as fine-tuning by geometric parametrisation does."""
    tensors = dict(weights)
    for name in weights:
        if ".mlp." not in name or not name.endswith(".weight"):
            continue
        rows = tensors.pop(name)
        base = name.removesuffix("weight")
        tensors |= {
            f"{base}r": rows.norm(dim=1, keepdim=True),
            f"{base}theta": torch.nn.functional.normalize(rows, dim=1),
        }
    return tensors


def text_apart(weights: Weights) -> Weights:
    """Name tensors as open_clip does in models with a text tower of its own class."""
    both = ("visual.", "logit_scale")
    return {
        name if name.startswith(both) else f"text.{name}": tensor
        for name, tensor in weights.items()
    }


def renamed(old: str, new: str) -> Callable[[Weights], Weights]:
    return lambda weights: {name.replace(old, new, 1): tensor for name, tensor in weights.items()}


FORMS: dict[str, Callable[[Weights], Any]] = {
    "a state dict": lambda w: w,
    "open_clip's training": lambda w: {
        "epoch": 3,
        # Its shapes are others.
        "name": "2024_01_01-model_ViT-B-32-lr_1e-5",
        "state_dict": prefixed("module.", w),
        "optimizer": {"state": {0: {"exp_avg": w["logit_scale"]}}},
    },
    "Lightning": lambda w: {
        "hyper_parameters": argparse.Namespace(lr=1),
        "state_dict": prefixed("model.", w),
    },
    "deeper": lambda w: {"checkpoint": {"net": {"clip_model": w}}},
    "a text tower apart": text_apart,
    "a compiled tower": renamed("visual.", "visual._orig_mod."),
    "checkpointed activations": renamed("resblocks.0.", "resblocks.0._checkpoint_wrapped_module."),
    "FSDP": renamed("visual.", "_fsdp_wrapped_module.visual._fsdp_wrapped_module."),
    "GmP": as_gmp,
    "transformers": as_transformers,
    "a whole module": lambda w: filled(vit(1), w),
}


def filled(model: Any, weights: Weights) -> Any:
    model.load_state_dict(weights)
    return model


@pytest.fixture
def models(tmp_path: Path) -> Catalog:
    """One model like those that are imported: it tells the number of heads."""
    write_tiny(tmp_path / "models" / "clip", "CLIP")
    return Catalog([tmp_path / "models"])


def assert_alike(
    encoder: Encoder, expected: Encoder, tolerance: float = 1e-5, size: int = 224
) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (2, size, size, 3), np.uint8)
    np.testing.assert_allclose(
        encoder.encode_text(TEXTS), expected.encode_text(TEXTS), atol=tolerance
    )
    np.testing.assert_allclose(
        encoder.encode_video(frames[None]), expected.encode_video(frames[None]), atol=tolerance
    )


def assert_is_of_seed(
    encoder: Encoder, seed: int, tolerance: float = 1e-6, resnet: bool = False
) -> None:
    assert_alike(
        encoder,
        OpenClipEncoder(tiny_model(seed, resnet).eval(), TOKENIZER, encoder.card),
        tolerance,
        64,
    )


@pytest.mark.parametrize("form", FORMS)
def test_a_clip_in_any_form_embeds_like_its_weights(tmp_path: Path, form: str) -> None:
    model = vit(7).eval()
    models = Catalog([tmp_path / "models"])
    torch.save(FORMS[form](model.state_dict()), tmp_path / "mine.ckpt")
    imported = import_checkpoint(tmp_path / "mine.ckpt", models, frames=3)
    assert imported.remark.startswith("A guess from the tensors' shapes: a CLIP of its own shape")
    assert "with GELU." in imported.remark
    assert "--activation QuickGELU" in imported.remark
    card = models.card("mine")
    encoder = models.load("mine")
    assert card.base == "imported from mine.ckpt"
    assert card.framing.frames == 3
    assert card.framing.image_size == 224
    assert_alike(encoder, OpenClipEncoder(model, LONGER_TOKENIZER, card))


def test_a_checkpoint_folder_keeps_its_card_s_base(tmp_path: Path) -> None:
    models = Catalog([tmp_path / "models"])
    folder = tmp_path / "tuned"
    write_tiny(folder, "tuned")
    write_card(folder, read_card(folder).replace(base="ViT-B-32"))
    import_checkpoint(folder, models, name="from a folder")
    import_checkpoint(folder / "open_clip_model.safetensors", models, name="from a file")
    assert models.card("from a folder").base == "ViT-B-32"
    assert models.card("from a file").base == "ViT-B-32"

    write_card(folder, read_card(folder).replace(base=""))
    import_checkpoint(folder, models, name="unknown")
    assert models.card("unknown").base == "imported from open_clip_model.safetensors"


@pytest.mark.parametrize("file", ["mine.safetensors", "old.pth", "half.bin"])
def test_a_clip_is_read_from_every_kind_of_file(models: Catalog, tmp_path: Path, file: str) -> None:
    # It has whole numbers, too: what BatchNorm counts.
    weights = tiny_model(7, resnet=True).state_dict()
    write_tiny(models.home / "resnet", "ResNet", resnet=True)
    if file == "mine.safetensors":
        safetensors.torch.save_file(weights, tmp_path / file)
    elif file == "old.pth":
        torch.save(weights, tmp_path / file, _use_new_zipfile_serialization=False)
    else:
        torch.save(
            {name: w.half() if w.is_floating_point() else w for name, w in weights.items()},
            tmp_path / file,
        )
    import_checkpoint(tmp_path / file, models, "Mine, epoch 3!", model="ResNet")
    (folder,) = models.find("Mine, epoch 3!").folders
    assert folder.parent == models.home
    assert folder.name == "Mine-epoch-3"
    assert_is_of_seed(models.read(folder), 7, 2e-3 if file == "half.bin" else 1e-6, resnet=True)
    in_file = {
        tensor.dtype
        for tensor in safetensors.torch.load_file(folder / "open_clip_model.safetensors").values()
    }
    # Half precision stays half, and full precision full.
    assert (torch.float16 in in_file) == (file == "half.bin")


def test_transformers_files_beside_the_weights_tell_heads_activation_and_pictures(
    tmp_path: Path,
) -> None:
    """In a folder of two parts, one of which alone is named for what it is."""
    weights = as_transformers(vit(7).state_dict())
    folder = tmp_path / "theirs"
    folder.mkdir()
    names = sorted(weights)
    for part, part_names in (("1", names[:20]), ("2", names[20:])):
        safetensors.torch.save_file(
            {name: weights[name] for name in part_names},
            folder / f"model-0000{part}-of-00002.safetensors",
        )
    side = {"num_attention_heads": 2, "hidden_act": "quick_gelu"}
    (folder / "config.json").write_text(json.dumps({"vision_config": side, "text_config": side}))
    pictures = {"image_mean": [0.5, 0.5, 0.5], "image_std": [0.25, 0.25, 0.25], "resample": 2}
    (folder / "preprocessor_config.json").write_text(json.dumps(pictures))
    models = Catalog([tmp_path / "models"])
    assert "by config.json, with QuickGELU." in import_checkpoint(folder, models).remark
    model_cfg, preprocess_cfg = read_configs(models.folder("theirs"))
    assert (model_cfg["text_cfg"]["heads"], model_cfg["vision_cfg"]["head_width"]) == (2, 32)
    assert preprocess_cfg == {"mean": [0.5] * 3, "std": [0.25] * 3, "interpolation": "bilinear"}
    with pytest.raises(CheckpointError, match="2 parts"):
        import_checkpoint(folder / "model-00001-of-00002.safetensors", models)
    (folder / "model-00002-of-00002.safetensors").unlink()
    with pytest.raises(CheckpointError, match="1 of the 2"):
        import_checkpoint(folder, models, "half")


# Names of open_clip's layers, by part, as transformers has them.
SIGLIP_LAYERS = {
    "attn": "self_attn.out_proj",
    "norm1": "layer_norm1",
    "norm2": "layer_norm2",
    "ln_1": "layer_norm1",
    "ln_2": "layer_norm2",
    "c_fc": "mlp.fc1",
    "c_proj": "mlp.fc2",
    "fc1": "mlp.fc1",
    "fc2": "mlp.fc2",
}
SIGLIP_BLOCKS = {
    "visual.trunk.blocks": "vision_model",
    "text.transformer.resblocks": "text_model",
}
# What the names of all other tensors begin with.
SIGLIP_REST = {
    "visual.trunk.patch_embed.proj": "vision_model.embeddings.patch_embedding",
    "visual.trunk.norm": "vision_model.post_layernorm",
    "visual.trunk.attn_pool.latent": "vision_model.head.probe",
    "visual.trunk.attn_pool.proj": "vision_model.head.attention.out_proj",
    "visual.trunk.attn_pool.norm": "vision_model.head.layernorm",
    "visual.trunk.attn_pool.mlp": "vision_model.head.mlp",
    "text.token_embedding": "text_model.embeddings.token_embedding",
    "text.ln_final": "text_model.final_layer_norm",
    "text.text_projection": "text_model.head",
    "logit_": "logit_",
}


def siglip_block(name: str, tensor: torch.Tensor, start: str, model: str) -> Weights:
    """Name a tensor of a block as transformers does; queries, keys and values come apart."""
    number, _, part = name.removeprefix(f"{start}.").partition(".")
    layer = f"{model}.encoder.layers.{number}"
    kind = "weight" if name.endswith("weight") else "bias"
    if "qkv" in part or "in_proj" in part:
        thirds = zip("qkv", tensor.chunk(3), strict=True)
        return {
            f"{layer}.self_attn.{letter}_proj.{kind}": third.clone() for letter, third in thirds
        }
    new_part = next(new for old, new in SIGLIP_LAYERS.items() if old in part)
    return {f"{layer}.{new_part}.{kind}": tensor}


def siglip_as_transformers(weights: Weights) -> Weights:
    """Undo by hand what an import does to the names of transformers' SigLIP."""
    rest = dict(weights)
    renamed: Weights = {}
    for start, model in SIGLIP_BLOCKS.items():
        for name in [name for name in rest if name.startswith(f"{start}.")]:
            renamed |= siglip_block(name, rest.pop(name), start, model)

    pool = "visual.trunk.attn_pool"
    for kind in ("weight", "bias"):
        q_kv = [rest.pop(f"{pool}.q.{kind}"), rest.pop(f"{pool}.kv.{kind}")]
        renamed[f"vision_model.head.attention.in_proj_{kind}"] = torch.cat(q_kv)

    vision_positions = rest.pop("visual.trunk.pos_embed")[0]
    renamed["vision_model.embeddings.position_embedding.weight"] = vision_positions
    text_positions = rest.pop("text.positional_embedding")
    renamed["text_model.embeddings.position_embedding.weight"] = text_positions
    for name, tensor in rest.items():
        start = next(prefix for prefix in SIGLIP_REST if name.startswith(prefix))
        is_scalar = name.startswith("logit_")
        new_name = SIGLIP_REST[start] + name.removeprefix(start)
        renamed[new_name] = tensor[None] if is_scalar else tensor
    return renamed


def test_transformers_siglip_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """open_clip's model is renamed, imported, and embeds as before."""

    def tiny_siglip(num_classes: int, global_pool: Any, **_: Any) -> VisionTransformer:
        return VisionTransformer(
            img_size=32,
            patch_size=16,
            embed_dim=64,
            depth=2,
            num_heads=2,
            num_classes=num_classes,
            global_pool=global_pool,
            class_token=False,
        )

    entrypoints = timm.models._registry._model_entrypoints
    monkeypatch.setitem(entrypoints, "vit_tiny_patch16_siglip_32", tiny_siglip)
    family = FAMILIES["SigLIP"]
    config = family.model_cfg
    config["vision_cfg"] |= {"timm_model_name": "vit_tiny_patch16_siglip_32", "image_size": 32}
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, "ViT-tiny-SigLIP", config)
    torch.manual_seed(0)
    model = build_model(config, {}).eval()
    theirs = siglip_as_transformers(model.state_dict())
    write_tokenizer(tmp_path / "theirs", family)
    safetensors.torch.save_file(theirs, tmp_path / "theirs" / "model.safetensors")

    models = Catalog([tmp_path / "models"])
    remark = import_checkpoint(tmp_path / "theirs", models).remark
    assert remark.startswith("Read as ViT-tiny-SigLIP, with GELU.")
    encoder = models.load("theirs")
    assert isinstance(encoder, OpenClipEncoder)
    expected = OpenClipEncoder(model, encoder._tokenizer, encoder.card)
    expected._preprocess = encoder._preprocess
    assert_alike(encoder, expected, size=32)


@pytest.mark.slow
def test_the_notes_of_open_clips_training_tell_the_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, quick in (("ViT-B-32", {}), ("ViT-B-32-quickgelu", {"quick_gelu": True})):
        monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, name, SMALL_VIT | quick)
    run = tmp_path / "run"
    (run / "checkpoints").mkdir(parents=True)
    file = run / "checkpoints" / "epoch_1.pt"
    models = Catalog([tmp_path / "models"])
    torch.save({"state_dict": vit().state_dict(), "name": "2024-model_ViT-B-32-lr_1e-5-b_8"}, file)
    assert (
        import_checkpoint(file, models, "a").remark
        == "Read as ViT-B-32 by the run's name, with GELU."
    )
    for stated, expected in (
        (
            "model: ViT-B-32-quickgelu\nlr: 0.1\n",
            "Read as ViT-B-32-quickgelu by params.txt, with QuickGELU.",
        ),
        (
            "force_quick_gelu: True\nmodel: ViT-B-32\n",
            "Read as ViT-B-32-quickgelu by params.txt, with QuickGELU.",
        ),
    ):
        (run / "params.txt").write_text(stated)
        assert import_checkpoint(file, models, f"b{len(stated)}").remark == expected
    torch.save(vit().state_dict(), tmp_path / "plain.pt")
    # It does not depend on what was imported before.
    guess = import_checkpoint(tmp_path / "plain.pt", models).remark
    assert guess.startswith("A guess from the tensors' shapes: ViT-B-32, with GELU.")
    openais = {
        **vit().state_dict(),
        "input_resolution": torch.tensor(224),
        "vocab_size": torch.tensor(49408),
    }
    torch.save(openais, tmp_path / "openai.pt")
    remark = import_checkpoint(tmp_path / "openai.pt", models).remark
    assert remark == "Read as ViT-B-32 by its shapes, with QuickGELU."


def test_a_coca_fits_the_model_of_its_name(models: Catalog) -> None:
    architecture = foreign_architecture._named("coca_ViT-B-32", models)
    with torch.device("meta"):
        weights_of_coca = build_model(
            architecture.model_cfg, architecture.preprocess_cfg, "meta"
        ).state_dict()
    assert "text_decoder.ln_final.weight" in weights_of_coca
    _, weights, misfits = foreign_architecture.fitted(
        architecture.model_cfg,
        {name.removeprefix("text."): weights_of_coca[name] for name in weights_of_coca},
    )
    assert (weights.keys(), misfits) == (weights_of_coca.keys(), "")


def test_one_of_several_models_is_named_by_its_key(models: Catalog, tmp_path: Path) -> None:
    torch.save({"state_dict": weights_of(1), "state_dict_ema": weights_of(2)}, tmp_path / "ema.pt")
    with pytest.raises(CheckpointError, match="--key state_dict_ema"):
        import_checkpoint(tmp_path / "ema.pt", models)
    import_checkpoint(tmp_path / "ema.pt", models, model="CLIP", key="state_dict_ema")
    assert_is_of_seed(models.load("ema"), 2)
    with pytest.raises(CheckpointError, match=r"other.*state_dict, state_dict_ema"):
        import_checkpoint(tmp_path / "ema.pt", models, "other", key="other")


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_torchscript_is_read_without_running_it(tmp_path: Path) -> None:
    """With a class for each of its modules, over 128 of them as in OpenAI's own ViT-B-32.pt."""
    torch.manual_seed(7)
    text = {**SMALL_VIT["text_cfg"], "layers": 12}
    model = build_model({**SMALL_VIT, "text_cfg": text}, {}).eval()
    models = Catalog([tmp_path / "models"])
    inputs = torch.zeros(1, 3, 224, 224), torch.ones(1, 77, dtype=torch.long)
    script = torch.jit.trace(model, inputs, check_trace=False)  # type: ignore[no-untyped-call]
    torch.jit.save(script, tmp_path / "ViT-B-32.pt")
    import_checkpoint(tmp_path / "ViT-B-32.pt", models)
    expected = OpenClipEncoder(model, LONGER_TOKENIZER, models.card("ViT-B-32"))
    np.testing.assert_allclose(
        models.load("ViT-B-32").encode_text(TEXTS), expected.encode_text(TEXTS), atol=1e-5
    )


def test_the_remark_names_the_model_and_ignored_tensors(models: Catalog, tmp_path: Path) -> None:
    head = {"head.weight": torch.zeros(3), "head.bias": torch.zeros(3)}
    torch.save(
        {"model": {**prefixed("clip.", weights_of(7)), **head}, "ema": {"decay": torch.ones(1)}},
        tmp_path / "a.pt",
    )
    remark = import_checkpoint(
        tmp_path / "a.pt", models, model="CLIP", activation="QuickGELU"
    ).remark
    assert remark == (
        "Read as CLIP, with QuickGELU. Ignored, as not part of a CLIP: model.head.weight, model.head.bias."
    )
    assert read_configs(models.home / "a")[0]["quick_gelu"] is True


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
    with pytest.raises(CheckpointError, match=r"evil\.pt .*posix\.mkdir") as caught:
        import_checkpoint(tmp_path / "evil.pt", models)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "it ran").exists()
    assert models.names() == ["CLIP"]


class Many(list[int]):
    """A list that pickles as an object with items."""


class Saved:
    """An object that is rebuilt without a call, and makes a folder when told its state."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)
        self.measure = "cosine"

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


AUTHORS: dict[str, tuple[Callable[[Weights, Path], Any], int, str, str]] = {
    "model_best.pth.tar": (nt2vr_file, 8, "raw_mean", "ends"),
    "ckpt_5_conclip.pt": (con_clip_file, 8, "mean", "centres"),
    "pytorch_model.bin.4": (lambda weights, _: prefixed("clip.", weights), 12, "mean", "ends"),
}


@pytest.mark.parametrize(
    ("file", "is_zip"), [*((file, True) for file in AUTHORS), ("model_best.pth.tar", False)]
)
def test_a_papers_checkpoint_is_read_as_its_authors_use_it(
    models: Catalog, tmp_path: Path, file: str, is_zip: bool
) -> None:
    form, frames, pooling, positions = AUTHORS[file]
    path = tmp_path / (file if not file.endswith(".4") else "pytorch_model.bin")
    content = form(weights_of(7), tmp_path / "it ran")
    torch.save(content, path, _use_new_zipfile_serialization=is_zip)
    remark = import_checkpoint(path, models, "theirs", model="CLIP").remark
    assert not (tmp_path / "it ran").exists()
    card = models.card("theirs")
    assert card.framing.frames == frames
    assert card.pooling.name == pooling
    assert card.framing.positions == positions
    assert "Recognised as a file of" in remark
    assert f"{frames} frames, {pooling}, {positions}" in remark
    torch.save(weights_of(7), tmp_path / "plain.pt")
    options: dict[str, Any] = {"frames": frames, "pooling": pooling, "positions": positions}
    import_checkpoint(tmp_path / "plain.pt", models, "plain", model="CLIP", **options)
    theirs, plain = (models.read(models.find(name).folders[0]) for name in ("theirs", "plain"))
    np.testing.assert_array_equal(theirs.encode_text(TEXTS), plain.encode_text(TEXTS))
    np.testing.assert_array_equal(
        theirs.encode_video(FRAMES[None]), plain.encode_video(FRAMES[None])
    )
    assert theirs.card.visual_key == plain.card.visual_key


@pytest.mark.parametrize("wrapper", ["", "module."])
def test_clip4clips_seqtransf_is_read_with_its_head(
    models: Catalog, tmp_path: Path, wrapper: str
) -> None:
    """In half precision and with the names that its trainer saves."""
    torch.manual_seed(3)
    head = SequenceTransformer(16, 77, heads=1)
    for parameter in head.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    head = head.half()
    modules = {
        f"transformerClip.{name}": tensor
        for name, tensor in head.state_dict().items()
        if name != "positions"
    }
    modules["frame_position_embeddings.weight"] = head.positions.detach()
    weights = {name: w.half() if w.is_floating_point() else w for name, w in weights_of(7).items()}
    torch.save(
        prefixed(wrapper, {**prefixed("clip.", weights), **modules}), tmp_path / "pytorch_model.bin"
    )
    remark = import_checkpoint(
        tmp_path / "pytorch_model.bin", models, "theirs", model="CLIP"
    ).remark
    assert "CLIP4Clip with seqTransf: 12 frames, seqTransf, ends." in remark
    assert "Ignored" not in remark
    encoder = models.read(models.folder("theirs"))
    frames = encoder.encode_video(FRAMES[None])[0]
    with torch.no_grad():
        expected = head.float()(torch.from_numpy(frames)).numpy()
    np.testing.assert_allclose(encoder.pool(frames), expected, atol=1e-6)
    remark = import_checkpoint(
        tmp_path / "pytorch_model.bin", models, "mean", model="CLIP", pooling="mean"
    ).remark
    assert "Ignored, as not part of a CLIP: resblocks.0" in remark
    assert models.card("mean").pooling.name == "mean"


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


def _few_words(path: Path) -> None:
    """Shapes that fit each other, as the built-in models' do, but CLIP's words are not among the 100 tokens."""
    torch.save(
        build_model(
            {**SMALL_VIT, "text_cfg": {**SMALL_VIT["text_cfg"], "vocab_size": 100}}, {}
        ).state_dict(),
        path,
    )


def _bomb(path: Path) -> None:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("bomb/data.pkl", bytes(30_000_000))


def _other_version(path: Path) -> None:
    """Write a file whose version PyTorch refuses in many words of its own."""
    torch.save({"a": torch.zeros(3)}, path)
    with zipfile.ZipFile(path) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for name, content in files.items():
            archive.writestr(name, b"99" if name.endswith("/version") else content)


BAD: dict[str, tuple[Callable[[Path], object], str]] = {
    "dicts in each other": (lambda path: torch.save(_in_each_other(300), path), r"bad\.pt"),
    "a tensor without numbers": (
        _save(
            lambda w: w.update(
                {"ln_final.bias": torch.empty_like(w["ln_final.bias"], device="meta")}
            )
        ),
        r"ln_final\.bias",
    ),
    "empty": (lambda path: path.write_bytes(b""), r"bad\.pt"),
    "cut off": (
        lambda path: (_save(dict)(path), path.write_bytes(path.read_bytes()[:-5000])),
        r"bad\.pt",
    ),
    "an empty folder": (lambda path: path.mkdir(), r"bad\.pt"),
    "a Git LFS pointer": (
        lambda path: path.write_text(
            "version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 605156676\n"
        ),
        "git lfs pull",
    ),
    "a web page": (
        lambda path: path.write_text("<!DOCTYPE html><html><title>Warning</title>"),
        r"bad\.pt",
    ),
    "LoRA": (
        _save(lambda w: w.update({"visual.x.lora_A.default.weight": torch.zeros(1)})),
        "LoRA",
    ),
    "a list of its own class": (
        _save(lambda w: {"model": w, "args": Many([1])}),
        r"bad\.pt",
    ),
    "seqTransf of another width": (
        _save(
            lambda w: {
                **prefixed("clip.", w),
                "frame_position_embeddings.weight": torch.zeros(77, 3),
                "transformerClip.resblocks.0.ln_1.weight": torch.zeros(3),
            }
        ),
        "16",
    ),
    "seqLSTM": (
        _save(lambda w: {**prefixed("clip.", w), "lstm_visual.weight_ih_l0": torch.zeros(3)}),
        "seqLSTM",
    ),
    "a classifier": (
        lambda path: torch.save({"conv1.weight": torch.zeros(3)}, path),
        r"conv1\.weight",
    ),
    "two models": (
        _save(lambda w: {"student": w, "teacher": dict(w)}),
        "student, teacher",
    ),
    "missing": (_save(lambda w: w.pop("ln_final.bias")), r"ln_final\.bias"),
    "not a number": (
        _save(lambda w: w["ln_final.bias"].fill_(torch.nan)),
        r"ln_final\.bias",
    ),
    "a file of another PyTorch": (
        _other_version,
        r"bad\.pt",
    ),
    "a cut-off header": (lambda path: path.write_bytes(b"\x80\x02" * 9), r"bad\.pt"),
    "a compressed archive": (_bomb, r"bad\.pt"),
    "few words": (_few_words, r"bad\.pt .*100"),
    "an odd model": (
        _save(lambda w: w.pop("text_projection")),
        "text_projection",
    ),
}


@pytest.mark.filterwarnings("ignore:`torch.jit")
@pytest.mark.parametrize("bad", BAD)
def test_a_file_without_a_clip_leaves_nothing(models: Catalog, tmp_path: Path, bad: str) -> None:
    write, message = BAD[bad]
    write(tmp_path / "bad.pt")
    with pytest.raises(Nt2vrError, match=message) as caught:
        import_checkpoint(
            tmp_path / "bad.pt",
            models,
            model="" if bad in ("an odd model", "few words") else "CLIP",
        )
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < 400
    assert [path.name for path in models.home.iterdir()] == ["clip"]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"name": "a|b"}, r"\|"),
        ({"name": "x" * 61}, "1 to 60"),
        ({"model": "ViT-B-33"}, "ViT-B-33.*ViT-B-32"),
        ({"model": "roberta-ViT-B-32"}, "Hugging Face"),
        ({"model": "RN50"}, "RN50|transformer"),
    ],
)
def test_an_invalid_choice_is_one_sentence(
    models: Catalog, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    torch.save(weights_of(7), tmp_path / "mine.pt")
    with pytest.raises((ConfigError, CheckpointError), match=message):
        import_checkpoint(tmp_path / "mine.pt", models, **change)


@pytest.mark.slow
def test_imports_run_in_a_child_of_limited_memory_and_time(
    models: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.save(weights_of(7), tmp_path / "mine.pt")
    stages: list[str] = []
    acquire(
        tmp_path / "mine.pt",
        models,
        AddOptions("mine", "CLIP"),
        progress=lambda done, total, doing: stages.append(doing),
    )
    assert [stage for stage in dict.fromkeys(stages) if stage != "starting"] == [
        "reading mine.pt",
        "finding the architecture",
        "writing mine",
        "trying it out",
    ]
    assert "mine" in models.names()
    for limit, value in (("TIMEOUT_S", 0.1), ("MEMORY_BYTES", 100 << 20)):
        with (
            monkeypatch.context() as patch,
            pytest.raises(CheckpointError, match=r"mine\.pt"),
        ):
            patch.setattr(untrusted, limit, value)
            acquire(tmp_path / "mine.pt", models, AddOptions("late", "CLIP"))
    assert sorted(path.name for path in models.home.iterdir()) == ["clip", "mine"]


def test_a_mistake_is_reported_before_torch_is_imported(
    models: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        untrusted, "run_limited", lambda *_, **__: pytest.fail("a child was started")
    )
    (tmp_path / "a.pt").write_bytes(b"anything")
    (tmp_path / "a.txt").write_bytes(b"anything")
    for file, name, message in (
        ("none.pt", "mine", "none.pt"),
        ("a.txt", "mine", "a.txt"),
        ("a.pt", "clip", "clip"),
    ):
        with pytest.raises(Nt2vrError, match=message):
            acquire(tmp_path / file, models, AddOptions(name))


def test_a_killed_import_leaves_nothing(
    models: Catalog, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    torch.save(weights_of(7), tmp_path / "mine.pt")
    (models.home / ".another.unchecked").mkdir()
    monkeypatch.setattr(acquire_module, "_build", import_half)
    with pytest.raises(CheckpointError, match=r"mine\.pt"):
        acquire(tmp_path / "mine.pt", models, AddOptions())
    assert sorted(path.name for path in models.home.iterdir()) == [".another.unchecked", "clip"]


def test_a_killed_app_s_leftovers_are_removed_next_time(models: Catalog) -> None:
    for name, age_s in (
        (".a.7.unchecked", 3700),
        ("..a.7.unchecked.7.partial", 3700),
        (".b.unchecked", 500),
    ):
        (models.home / name / "model").mkdir(parents=True)
        os.utime(models.home / name, (time.time() - age_s,) * 2)
    with unchecked_folder(models.home) as hidden:
        (hidden / "half").mkdir(parents=True)
    assert sorted(path.name for path in models.home.iterdir()) == [".b.unchecked", "clip"]
