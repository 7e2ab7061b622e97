"""Checkpoint folder: open_clip's own local format plus a card. Any open_clip tool can load a whole one.

    open_clip_config.json · open_clip_model.safetensors · nt2vr.json and, unless the tokenizer is
    CLIP's: tokenizer.json · tokenizer_config.json and, if its pooling learns: head.safetensors; if
    it has a text side or a composer of an extension: NAME.safetensors

A fine-tuned model has difference.safetensors instead of all weights, see `difference`, and the
tokenizer of its base.
"""

import json
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from nt2vr.errors import CheckpointError
from nt2vr.files import atomic_folder, write_json
from nt2vr.models.card import (
    CONFIG,
    DIFFERENCE,
    HEAD,
    WEIGHTS,
    Card,
    configured,
    extension_file,
    read_card,
    read_configs,
    write_card,
)
from nt2vr.models.composer import read_composers
from nt2vr.models.device import resolve_device
from nt2vr.models.difference import (
    SharedWeights,
    difference_from,
    read_tensors,
    shared_weights,
    tokenizer_folder,
    whole_folder,
)
from nt2vr.models.framing import Config, Configs, Framing
from nt2vr.models.open_clip_encoder import OpenClipEncoder
from nt2vr.models.open_clip_model import check_towers, empty_model, random_model, with_weights
from nt2vr.models.tokenizer import digest_of, files_of, load_tokenizer
from nt2vr.models.weights import (
    check_finite,
    loading,
    save_tensors,
    text_fingerprint,
    visual_fingerprint,
)

if TYPE_CHECKING:
    from torch import Tensor, nn

    from nt2vr.models.text_side import TextSide


def identified(
    card: Card, model: Any, tokenizer: Any, weights: "Mapping[str, Tensor] | None" = None
) -> Card:
    """Return the card with a model's frame size and fingerprints.

    Args:
        weights: the model's as they are stored, in half precision; its own in memory by default.
    """
    weights = weights or model.state_dict()
    return card.replace(
        image_size=Framing.of(model.visual.preprocess_cfg).size,
        visual_fingerprint=visual_fingerprint(weights),
        text_fingerprint=text_fingerprint(weights, digest_of(tokenizer)),
    )


def write_checkpoint(
    folder: Path,
    model: Any,
    model_cfg: Config,
    preprocess_cfg: Config,
    card: Card,
    fp16: bool = True,
    tokenizer: Any = None,
    pooling: "nn.Module | None" = None,
    text_side: "TextSide | None" = None,
    base: Path | None = None,
) -> Card:
    """Write a checkpoint folder, atomically; return the card as written, with date and fingerprints.

    Args:
        tokenizer: the model's; may be left out if it is CLIP's own.
        pooling: of frame embeddings; may be left out if it has no weights.
        text_side: an extension's, instead of the text tower.
        base: checkpoint folder that training started from; what it has is not stored again.
    """
    from nt2vr.models.pooling import fixed_pooling, head_of  # noqa: PLC0415  imports torch
    from nt2vr.models.text_side import card_fields  # noqa: PLC0415  imports torch

    if folder.exists():
        raise CheckpointError(f"{folder} already exists. Choose another name or delete it.")
    tokenizer_files = files_of(tokenizer, model_cfg["text_cfg"])
    if pooling is None:
        pooling = fixed_pooling(card)
    weights = _as_stored(model, fp16, folder)
    head = _as_stored(pooling, fp16, folder)
    side_weights = _as_stored(text_side, fp16, folder) if text_side else {}

    tensor_files = {WEIGHTS: weights}
    difference = difference_from(base, folder, model.state_dict(), weights) if base else None
    if difference:
        tensor_files = {DIFFERENCE: difference.changed}
        weights = difference.weights
        card = card.replace(difference=difference.entry)
        if _has_files(difference.base, tokenizer_files):
            tokenizer_files = {}
    if head:
        tensor_files[HEAD] = head

    card = card.replace(
        head=head_of(pooling, head),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        **card_fields(text_side, side_weights),
    )
    card = configured(identified(card, model, tokenizer, weights), model_cfg, preprocess_cfg)

    with atomic_folder(folder) as partial:
        configs = {"model_cfg": model_cfg, "preprocess_cfg": preprocess_cfg}
        write_json(partial / CONFIG, configs, indent=2)
        write_card(partial, card)
        _write_parts(partial, tokenizer_files, tensor_files)
        if text_side:
            save_tensors(side_weights, partial / extension_file(text_side.name), text_side.metadata)
    return card


def _write_parts(
    folder: Path,
    tokenizer_files: "Mapping[str, bytes]",
    tensor_files: "Mapping[str, dict[str, Tensor]]",
) -> None:
    for name, content in tokenizer_files.items():
        (folder / name).write_bytes(content)
    for name, tensors in tensor_files.items():
        save_tensors(tensors, folder / name)


def _as_stored(module: "nn.Module", fp16: bool, folder: Path) -> "dict[str, Tensor]":
    """Return a module's weights as `folder` will have them; a CheckpointError refuses infinite ones."""
    stored = {}
    for name, tensor in module.state_dict().items():
        if fp16 and tensor.is_floating_point():
            tensor = tensor.half()
        stored[name] = tensor.detach().cpu().contiguous()
    check_finite(stored, folder)
    return stored


def _has_files(folder: Path, files: Mapping[str, bytes]) -> bool:
    """Return whether a folder has files of these names and contents."""
    for name, content in files.items():
        path = folder / name
        if not path.is_file() or path.read_bytes() != content:
            return False
    return True


def read_checkpoint(folder: Path, device: str = "cpu", verify: bool = False) -> OpenClipEncoder:
    """Load a checkpoint folder as an encoder, which shares the tensors of its base with other encoders.

    Args:
        verify: compare the fingerprints of both towers with the weights (1 s per GB), not of the
            visual one alone.
    """
    card = read_card(folder)
    with loading(folder):
        configs = _configs_of_towers(folder)
        model_cfg, _ = configs
        # Before the base, which may be missing: a head that does not fit its card is named first.
        heads = _read_heads(folder, card, model_cfg["embed_dim"])
        stored = _read_stored(folder, card, model_cfg)
        towers = _load_towers(stored, configs, resolve_device(device))
        folded = towers.visual.folded
        visual_cfg = json.dumps({**model_cfg, "text_cfg": {}})
        encoder = OpenClipEncoder(
            towers.model,
            stored.tokenizer,
            card,
            *heads,
            folded=folded.get(visual_cfg),
        )
        folded[visual_cfg] = encoder.folded
        encoder.shared = towers.shared
        encoder.composers = read_composers(folder, encoder.embed_dim)

    if not _matches_card(card, towers, stored.tokenizer, verify):
        raise CheckpointError(
            f"{folder} holds weights that do not match its card. Write the checkpoint again."
        )
    return encoder


class _LoadedTowers(NamedTuple):
    """A model of pictures and texts on its device.

    Attributes:
        weights: all of them.
        shared: those of its base, which other models use, too.
        visual: the weights with its visual tower. Models that share that of their base share its
            hash, and its folding, too.
    """

    model: Any
    weights: "dict[str, Tensor]"
    shared: SharedWeights
    visual: SharedWeights


def _load_towers(stored: "_StoredTowers", configs: Configs, device: str) -> _LoadedTowers:
    shared = shared_weights(stored.base, device)
    weights = {**shared.tensors, **stored.changed}
    model = with_weights(empty_model(*configs), weights).to(device)
    visual = SharedWeights(weights) if _has_visual_tower(stored.changed) else shared
    return _LoadedTowers(model, weights, shared, visual)


def _matches_card(card: Card, towers: _LoadedTowers, tokenizer: Any, verify: bool) -> bool:
    """Compare the fingerprints of both towers with the card, or of the visual one alone."""
    if towers.visual.visual_fingerprint != card.visual.fingerprint:
        return False
    if not verify:
        return True
    return text_fingerprint(towers.weights, digest_of(tokenizer)) == card.text.fingerprint


def _read_heads(folder: Path, card: Card, embed_dim: int) -> "tuple[nn.Module, TextSide | None]":
    """Read the pooling, and the text side of an extension, if there is one."""
    from nt2vr.models.pooling import read_pooling  # noqa: PLC0415  imports torch
    from nt2vr.models.text_side import read_text_side  # noqa: PLC0415  imports torch

    pooling = read_pooling(folder, card, embed_dim)
    text_side = read_text_side(folder, card)
    if getattr(pooling, "embed_dim", 0) != getattr(text_side, "embed_dim", 0):
        raise ValueError("videos and texts are not embedded into the same spaces")
    return pooling, text_side


def _has_visual_tower(changed: "Mapping[str, Tensor]") -> bool:
    return any(
        name.startswith("visual.") and tensor.is_floating_point()
        for name, tensor in changed.items()
    )


def read_model(folder: Path, device: str = "cpu") -> tuple[Any, Any, Card]:
    """Load the float32 open_clip model of a checkpoint folder, for training, its tokenizer and its card."""
    card = read_card(folder)
    with loading(folder):
        model_cfg, preprocess_cfg = _configs_of_towers(folder)
        stored = _read_stored(folder, card, model_cfg)
        # What a run draws next depends on the numbers that this draws.
        model = random_model(model_cfg, preprocess_cfg, "cpu")
        model = with_weights(model, {**read_tensors(stored.base / WEIGHTS), **stored.changed})
        return model.to(resolve_device(device)), stored.tokenizer, card


class _StoredTowers(NamedTuple):
    """What a checkpoint folder holds of the towers of pictures and texts.

    Attributes:
        base: folder of the whole model: the checkpoint's own if it is whole.
        changed: tensors that the checkpoint has instead of its base's.
    """

    base: Path
    tokenizer: Any
    changed: "dict[str, Tensor]"


def _configs_of_towers(folder: Path) -> Configs:
    """Read the configurations of a model of pictures and texts; a CheckpointError refuses another."""
    model_cfg, preprocess_cfg = read_configs(folder)
    check_towers(model_cfg, folder, CheckpointError)
    return model_cfg, preprocess_cfg


def _read_stored(folder: Path, card: Card, model_cfg: Config) -> _StoredTowers:
    base = whole_folder(folder, card)
    return _StoredTowers(
        base=base,
        tokenizer=load_tokenizer(tokenizer_folder(folder, base), model_cfg["text_cfg"]),
        changed=read_tensors(folder / DIFFERENCE) if card.difference else {},
    )
