"""Models with tokenizers of their own, from the folder to a reload after training."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from open_clip.tokenizer import get_clean_fn
from tokenizers import Tokenizer

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.models.acquire import acquire
from nt2vr.models.card import read_card
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.download import pretrained
from nt2vr.models.options import AddOptions
from nt2vr.models.tokenizer import TOKENIZER, TOKENIZER_CONFIG, load_tokenizer
from tests.support.model_families import FAMILIES, family_model, write_family
from tests.support.running import here

TEXTS = [
    "a dog and not a cat",
    "",
    "Nobody's DANCING  in the_kitchen!! 🎸 zzz",
    "a man is running " * 30,
]
NEED_TRANSFORMERS = {
    ("roberta-ViT-B-32", "laion2b_s12b_b32k"),
    ("xlm-roberta-base-ViT-B-32", "laion5b_s13b_b90k"),
    ("xlm-roberta-large-ViT-H-14", "frozen_laion5b_s13b_b90k"),
    ("nllb-clip-base", "v1"),
    ("nllb-clip-large", "v1"),
    ("nllb-clip-base-siglip", "v1"),
    ("nllb-clip-base-siglip", "mrl"),
    ("nllb-clip-large-siglip", "v1"),
    ("nllb-clip-large-siglip", "mrl"),
}


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folders = {name: tmp_path_factory.mktemp("families") / "model" for name in FAMILIES}
    for name, folder in folders.items():
        write_family(folder, name)
    return folders


def test_open_clip_s_tokenizers_are_accepted_except_nine() -> None:
    # Of sound, in 4.
    pairs = [pair for pair in open_clip.list_pretrained() if not pair[0].startswith("CLAP")]
    refused = set()
    for architecture, tag in pairs:
        try:
            pretrained(f"{architecture}/{tag}")
        except ConfigError as error:
            assert "text tower from Hugging Face transformers" in str(error)
            refused.add((architecture, tag))
    assert refused == NEED_TRANSFORMERS & set(pairs)
    assert len(pairs) - len(refused) >= 187
    assert set(pairs) >= NEED_TRANSFORMERS


def expected_tokens(folder: Path, name: str, text: str) -> list[int]:
    """Tokenize by hand as open_clip's HFTokenizer does with transformers."""
    family = FAMILIES[name]
    text_cfg = family.model_cfg["text_cfg"]
    options = text_cfg.get("tokenizer_kwargs", {})
    length = text_cfg["context_length"]
    plain = Tokenizer.from_file(str(folder / TOKENIZER))
    words = plain.encode(
        get_clean_fn(options.get("clean", "whitespace"))(text), add_special_tokens=False
    ).ids
    ids = [*family.start, *words[: length - len(family.start) - len(family.end)], *family.end]
    return ids + [family.pad] * (length - len(ids))


@pytest.mark.parametrize("name", FAMILIES)
def test_texts_are_cleaned_cut_and_padded_as_open_clip_does(
    folders: dict[str, Path], name: str
) -> None:
    family = FAMILIES[name]
    tokenizer = load_tokenizer(folders[name], family.model_cfg["text_cfg"])
    assert tokenizer(TEXTS).tolist() == [
        expected_tokens(folders[name], name, text) for text in TEXTS
    ]
    assert tokenizer([]).shape == (0, family.model_cfg["text_cfg"]["context_length"])
    dog = tokenizer.encode("a dog")
    assert dog
    assert not {family.pad, *family.start, *family.end} & {*dog}


@pytest.mark.parametrize("name", FAMILIES)
def test_embeddings_are_those_of_open_clips_own_model(folders: dict[str, Path], name: str) -> None:
    model, *_ = open_clip.create_model_and_transforms(f"local-dir:{folders[name]}")
    encoder = read_checkpoint(folders[name], verify=True)
    tokens = torch.tensor([expected_tokens(folders[name], name, text) for text in TEXTS])
    with torch.inference_mode():
        expected = model.eval().encode_text(tokens, normalize=True)
    np.testing.assert_allclose(encoder.encode_text(TEXTS), expected, atol=1e-6)
    assert encoder.embed_dim == 64
    assert encoder.card.framing.resize_mode == ("squash" if name != "MetaCLIP 2" else "shortest")


def test_a_changed_tokenizer_is_another_text_tower(
    folders: dict[str, Path], tmp_path: Path
) -> None:
    folder = tmp_path / "changed"
    shutil.copytree(folders["SigLIP"], folder)
    data = json.loads((folder / TOKENIZER).read_text())
    vocabulary = data["model"]["vocab"]
    (one, two, *_) = read_checkpoint(folder)._tokenizer.encode("a dog")
    vocabulary[one], vocabulary[two] = vocabulary[two], vocabulary[one]
    (folder / TOKENIZER).write_text(json.dumps(data))
    with pytest.raises(CheckpointError):
        read_checkpoint(folder, verify=True)
    first = read_checkpoint(folders["SigLIP"])
    second = read_checkpoint(folder)
    assert first.encode_text(["a dog"]).tolist() != second.encode_text(["a dog"]).tolist()


BROKEN: dict[str, tuple[str, bytes | None, str]] = {
    "none": (TOKENIZER, None, r"tokenizer\.json"),
    "no JSON": (TOKENIZER, b"{", r"tokenizer\.json"),
    "another thing": (TOKENIZER, b'{"version": "1.0"}', r"tokenizer\.json"),
    "a pad that it lacks": (
        TOKENIZER_CONFIG,
        b'{"pad_token": "[NONE]"}',
        r"\[NONE\]",
    ),
    "no side": (TOKENIZER_CONFIG, b'{"padding_side": "top"}', r"tokenizer\.json"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_tokenizer_is_one_sentence(
    folders: dict[str, Path], tmp_path: Path, broken: str
) -> None:
    file, content, message = BROKEN[broken]
    shutil.copytree(folders["SigLIP"], tmp_path / "broken")
    (tmp_path / "broken" / file).unlink()
    if content is not None:
        (tmp_path / "broken" / file).write_bytes(content)
    with pytest.raises(CheckpointError, match=message) as caught:
        read_checkpoint(tmp_path / "broken")
    assert "\n" not in str(caught.value)


def test_an_import_takes_the_named_model_s_tokenizer(
    folders: dict[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nt2vr.models.untrusted.run_limited", here)
    family = FAMILIES["SigLIP"]
    models = Catalog([tmp_path / "models"])
    monkeypatch.setitem(open_clip.factory._MODEL_CONFIGS, family.architecture, family.model_cfg)
    (tmp_path / "files").mkdir()
    torch.save(family_model(family, seed=3).state_dict(), tmp_path / "files" / "tuned.pt")
    file = tmp_path / "files" / "tuned.pt"
    with pytest.raises(
        ConfigError,
        match=r"timm/ViT-B-16-SigLIP.*tokenizer.json",
    ):
        acquire(file, models, AddOptions("tuned", family.architecture))
    shutil.copytree(folders["SigLIP"], tmp_path / "models" / "base")
    acquire(file, models, AddOptions("tuned", models.names()[0]))
    tuned = read_card(tmp_path / "models" / "tuned")
    base = read_card(folders["SigLIP"])
    assert replace(tuned.input_framing, size=1) == replace(base.input_framing, size=1)
    assert read_checkpoint(tmp_path / "models" / "tuned", verify=True).encode_text(
        ["a dog"]
    ).shape == (1, 64)
