"""The checkpoint folder: written atomically, readable by open_clip alone, refused in one sentence if broken."""

import json
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import open_clip
import pytest
import safetensors.torch
import torch

from nt2vr.errors import CheckpointError
from nt2vr.evaluation.text_systems import system_spec
from nt2vr.models.card import (
    ATTENTION,
    CARD,
    CONFIG,
    WEIGHTS,
    Card,
    configured,
    read_card,
    write_card,
)
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.framing import ENDS
from nt2vr.search.strategies import System
from tests.support.tiny_models import TINY, tiny_model, write_anew, write_tiny


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_tiny(tmp_path / "tiny")
    return tmp_path / "tiny"


def test_open_clip_alone_loads_it_without_network(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    model, _, preprocess = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    written = tiny_model().state_dict()
    for name, tensor in model.state_dict().items():
        torch.testing.assert_close(tensor, written[name].half().to(tensor.dtype), rtol=0, atol=0)
    assert preprocess.transforms[0].size == 64
    assert open_clip.get_tokenizer(f"local-dir:{folder}")(["a dog"]).shape == (1, 16)
    assert read_checkpoint(folder).embed_dim == 16


def test_fingerprints_tell_towers_apart_and_not_precisions(
    tmp_path: Path,
) -> None:
    cards = {}
    for name, change in {
        "same": (),
        "text": ("ln_final.bias",),
        "visual": ("visual.conv1.weight",),
    }.items():
        model = tiny_model().half().float()
        with torch.no_grad():
            # No embedding depends on it.
            model.logit_scale += 1
            for weight in change:
                model.get_parameter(weight).view(-1)[0] += 1
        cards[name] = write_checkpoint(tmp_path / name, model, TINY, {}, Card("tiny"), fp16=False)
    first = write_anew(tmp_path / "fp16")
    same = cards["same"]
    text = cards["text"]
    visual = cards["visual"]
    assert (same.visual.fingerprint, same.text.fingerprint) == (
        first.visual.fingerprint,
        first.text.fingerprint,
    )
    assert text.visual.fingerprint == first.visual.fingerprint
    assert text.text.fingerprint != first.text.fingerprint
    assert visual.visual.fingerprint != first.visual.fingerprint
    assert visual.text.fingerprint == first.text.fingerprint


CHANGES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({"quick_gelu": True}, {}),
    ({"vision_cfg": {**TINY["vision_cfg"], "head_width": 32}}, {}),
    ({}, {"mean": [0.5, 0.5, 0.5]}),
    ({}, {"std": [0.5, 0.5, 0.5]}),
    ({}, {"resize_mode": "squash"}),
    ({}, {"interpolation": "bilinear"}),
    ({}, {"resize_mode": "longest", "fill_color": 7}),
]


def test_equal_weights_used_differently_do_not_share_embeddings(tmp_path: Path) -> None:
    """Otherwise two imports of one file with two activations would both be searched with the first one's videos."""
    cards = [write_anew(tmp_path / "plain")]
    for number, (model, preprocess) in enumerate(CHANGES):
        folder = tmp_path / str(number)
        write_checkpoint(
            folder, tiny_model(), {**TINY, **model}, preprocess, Card("tiny", frames=2), fp16=True
        )
        cards.append(read_card(folder))
    cards += [
        cards[0].replace(frames=3),
        cards[0].replace(pooling=ATTENTION),
        cards[0].replace(positions=ENDS),
    ]
    assert len({card.visual.fingerprint for card in cards}) == 1
    assert len({card.visual_key for card in cards}) == len(cards)
    assert len({json.dumps(system_spec(System("tiny"), card)) for card in cards}) == len(cards)


def test_a_card_with_wrong_fingerprints_is_detected(folder: Path, tmp_path: Path) -> None:
    assert (
        read_checkpoint(folder, verify=True).visual_fingerprint
        == read_card(folder).visual.fingerprint
    )
    write_card(folder, write_anew(tmp_path / "other", seed=1))
    with pytest.raises(CheckpointError):
        read_checkpoint(folder, verify=True)


def test_a_card_keeps_measurements_and_later_versions_keys(folder: Path) -> None:
    losses = {"contrastive": {"weight": 1.0}}
    metrics = {"test/original/MIR": 0.7}
    choices: dict[str, Any] = {"exclusion": {"t": 0.9, "anchor": ["a"]}, "shifts": {"anchor": 1.0}}
    card = Card("CLIP", frames=4, losses=losses, metrics=metrics, notes="Weak.", **choices)
    write_card(folder, card)
    data = json.loads((folder / CARD).read_text())
    (folder / CARD).write_text(json.dumps({**data, "colour": "blue"}))
    assert read_card(folder) == configured(card, TINY, {})


def _nan(folder: Path) -> None:
    weights = safetensors.torch.load_file(folder / WEIGHTS)
    weights["visual.conv1.weight"][0] = torch.nan
    safetensors.torch.save_file(weights, folder / WEIGHTS)


def _change(folder: Path, **fields: Any) -> None:
    (folder / CARD).write_text(json.dumps({**json.loads((folder / CARD).read_text()), **fields}))


def _config(**text_cfg: object) -> Callable[[Path], None]:
    def change(folder: Path) -> None:
        config: dict[str, Any] = json.loads((folder / CONFIG).read_text())
        config["model_cfg"]["text_cfg"].update(text_cfg)
        (folder / CONFIG).write_text(json.dumps(config))

    return change


BROKEN: dict[str, Callable[[Path], object]] = {
    "cut off": lambda folder: (folder / WEIGHTS).write_bytes(
        (folder / WEIGHTS).read_bytes()[:-1000]
    ),
    "not numbers": _nan,
    "no weights": lambda folder: (folder / WEIGHTS).unlink(),
    "no card": lambda folder: (folder / CARD).unlink(),
    "card is a list": lambda folder: (folder / CARD).write_text("[]"),
    "card without name": lambda folder: (folder / CARD).write_text("{}"),
    "exclusion by a word": lambda folder: _change(folder, exclusion={"lambda": "much"}),
    "exclusion by no number": lambda folder: _change(folder, exclusion={"t": float("nan")}),
    "an anchor that cannot be encoded": lambda folder: _change(
        folder, exclusion={"anchor": ["\ud800"]}
    ),
    "config is no JSON": lambda folder: (folder / CONFIG).write_text("{"),
    "config of something else": lambda folder: (folder / CONFIG).write_text(
        '{"model_type": "bert"}'
    ),
    "another architecture": _config(width=24),
    "a tower from the hub": _config(hf_model_name="roberta-base"),
    "a tokenizer from the hub": _config(hf_tokenizer_name="bert-base-uncased"),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_broken_folder_is_refused_in_one_sentence(folder: Path, broken: str) -> None:
    BROKEN[broken](folder)
    with pytest.raises(CheckpointError) as caught:
        read_checkpoint(folder)
    assert "\n" not in str(caught.value)
    assert str(folder) in str(caught.value)


def test_a_failed_write_leaves_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise OSError("disk full")

    with monkeypatch.context() as patch:
        patch.setattr(safetensors.torch, "save_file", fail)
        with pytest.raises(OSError, match="disk full"):
            write_anew(tmp_path / "tiny")
    assert not (tmp_path / "tiny").exists()
    write_anew(tmp_path / "tiny")
    assert [path.name for path in tmp_path.iterdir()] == ["tiny"]


def test_neither_an_existing_folder_is_overwritten_nor_infinite_weights_written(
    folder: Path,
) -> None:
    with pytest.raises(CheckpointError, match=folder.name):
        write_anew(folder)
    model = tiny_model()
    with torch.no_grad():
        # It is beyond half precision.
        model.text_projection[0, 0] = 1e6
    with pytest.raises(CheckpointError, match="text_projection"):
        write_checkpoint(folder.with_name("new"), model, TINY, {}, Card("tiny"))
    assert not folder.with_name("new").exists()
