"""Checkpoint folder: open_clip's own local format plus a card. Any open_clip tool can load a whole one.

    open_clip_config.json · open_clip_model.safetensors · nt2vr.json and, unless the tokenizer is
    CLIP's: tokenizer.json · tokenizer_config.json and, if its pooling learns: head.safetensors; if
    it has a text side or a composer of an extension: NAME.safetensors

A fine-tuned model has difference.safetensors instead of all weights, see `difference`, and the
tokenizer of its base.
"""

import json
from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nt2vr.errors import CheckpointError
from nt2vr.files import atomic_folder, parse_json, write_json
from nt2vr.models.card import (
    CONFIG,
    DIFFERENCE,
    HEAD,
    WEIGHTS,
    Card,
    configured,
    extension_file,
    read_card,
    write_card,
)
from nt2vr.models.composer import read_composers
from nt2vr.models.device import resolve_device
from nt2vr.models.difference import (
    difference_from,
    read_tensors,
    shared_weights,
    tokenizer_folder,
    whole_folder,
)
from nt2vr.models.framing import Framing
from nt2vr.models.open_clip_encoder import OpenClipEncoder
from nt2vr.models.open_clip_model import check_towers, empty_model, random_model, with_weights
from nt2vr.models.tokenizer import digest_of, files_of, load_tokenizer
from nt2vr.models.weights import (
    check_finite,
    loading,
    text_fingerprint,
    visual_fingerprint,
)

if TYPE_CHECKING:
    from torch import Tensor, nn

    from nt2vr.models.text_side import TextSide


def identified(
    card: Card, model: Any, tokenizer: Any, weights: Mapping[str, "Tensor"] | None = None
) -> Card:
    """Return the card with a model's frame size and fingerprints; `weights` are those stored, in half precision."""
    weights = weights or model.state_dict()
    return card.replace(
        image_size=Framing.of(model.visual.preprocess_cfg).size,
        visual_fingerprint=visual_fingerprint(weights),
        text_fingerprint=text_fingerprint(weights, digest_of(tokenizer)),
    )


def write_checkpoint(
    folder: Path,
    model: Any,
    model_cfg: Mapping[str, Any],
    preprocess_cfg: Mapping[str, Any],
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
    from safetensors.torch import save_file  # noqa: PLC0415  imports torch

    from nt2vr.models.pooling import fixed_pooling, head_of  # noqa: PLC0415  imports torch
    from nt2vr.models.text_side import card_fields  # noqa: PLC0415  imports torch

    if folder.exists():
        raise CheckpointError(f"{folder} already exists. Choose another name or delete it.")
    files = files_of(tokenizer, model_cfg["text_cfg"])
    pooling = fixed_pooling(card) if pooling is None else pooling
    weights, head = (_stored(each.state_dict(), fp16, folder) for each in (model, pooling))
    of_text_side = _stored(text_side.state_dict(), fp16, folder) if text_side else {}
    changed: dict[str, Tensor] = {}
    if base and (difference := difference_from(base, folder, model.state_dict(), weights)):
        weights, changed = difference.weights, difference.changed
        card = card.replace(difference=difference.entry)
        there = (name for name in files if (difference.base / name).is_file())
        files = (
            {}
            if files == {name: (difference.base / name).read_bytes() for name in there}
            else files
        )
    card = card.replace(
        head=head_of(pooling, head),
        created=datetime.now(UTC).isoformat(timespec="seconds"),
        **card_fields(text_side, of_text_side),
    )
    card = configured(identified(card, model, tokenizer, weights), model_cfg, preprocess_cfg)
    with atomic_folder(folder) as partial:
        write_json(
            partial / CONFIG, {"model_cfg": model_cfg, "preprocess_cfg": preprocess_cfg}, indent=2
        )
        write_card(partial, card)
        for name, content in files.items():
            (partial / name).write_bytes(content)
        stored = {DIFFERENCE: changed} if changed else {WEIGHTS: weights}
        stored[HEAD] = head
        metadata: dict[str, dict[str, str]] = {}  # by file
        if text_side:
            stored[extension_file(text_side.name)] = of_text_side
            metadata[extension_file(text_side.name)] = text_side.metadata
        for name, tensors in stored.items():
            if tensors:
                save_file(tensors, partial / name, metadata.get(name))
                (partial / name).chmod(
                    0o644
                )  # readable for others like the rest; safetensors writes 0600
    return card


def _stored(weights: Mapping[str, "Tensor"], fp16: bool, folder: Path) -> dict[str, "Tensor"]:
    """Return weights as a checkpoint has them, or raise a CheckpointError for those that are not finite."""
    halved = {
        name: each.half() if fp16 and each.is_floating_point() else each
        for name, each in weights.items()
    }
    stored = {name: tensor.detach().cpu().contiguous() for name, tensor in halved.items()}
    check_finite(stored, folder)
    return stored


def read_checkpoint(folder: Path, device: str = "cpu", verify: bool = False) -> OpenClipEncoder:
    """Load a checkpoint folder as an encoder, which shares the tensors of its base with other encoders.

    Args:
        verify: compare the fingerprints of both towers with the weights (1 s per GB), not of the
            visual one alone.
    """
    from nt2vr.models.pooling import read_pooling  # noqa: PLC0415  imports torch
    from nt2vr.models.text_side import read_text_side  # noqa: PLC0415  imports torch

    card, device = read_card(folder), resolve_device(device)
    with loading(folder):
        model_cfg, preprocess_cfg = read_configs(folder)
        check_towers(model_cfg, folder, CheckpointError)
        pooling = read_pooling(folder, card, model_cfg["embed_dim"])
        text_side = read_text_side(folder, card)
        if getattr(pooling, "embed_dim", 0) != getattr(text_side, "embed_dim", 0):
            raise ValueError("videos and texts are not embedded into the same spaces")
        base = whole_folder(folder, card)
        tokenizer = load_tokenizer(tokenizer_folder(folder, base), model_cfg["text_cfg"])
        shared = shared_weights(base, device)
        changed = read_tensors(folder / DIFFERENCE) if card.difference else {}
        weights = {**shared.tensors, **changed}
        model = with_weights(
            deepcopy(empty_model(json.dumps([model_cfg, preprocess_cfg]))), weights
        ).to(device)
        if any(
            name.startswith("visual.") and tensor.is_floating_point()
            for name, tensor in changed.items()
        ):
            visual, folded = "", dict[str, Any]()
        else:
            visual, folded = shared.visual_fingerprint, shared.folded
        tower = json.dumps({**model_cfg, "text_cfg": {}})
        encoder = OpenClipEncoder(model, tokenizer, card, pooling, text_side, folded.get(tower))
        encoder.shared, folded[tower] = shared, encoder.folded
        encoder.composers = read_composers(folder, encoder.embed_dim)
    matches = (visual or visual_fingerprint(weights)) == card.visual.fingerprint
    if not matches or (
        verify and text_fingerprint(weights, digest_of(tokenizer)) != card.text.fingerprint
    ):
        raise CheckpointError(
            f"{folder} holds weights that do not match its card. Write the checkpoint again."
        )
    return encoder


def read_model(folder: Path, device: str = "cpu") -> tuple[Any, Any, Card]:
    """Load the float32 open_clip model of a checkpoint folder, for training, its tokenizer and its card."""
    card = read_card(folder)
    with loading(folder):
        model_cfg, preprocess_cfg = read_configs(folder)
        check_towers(model_cfg, folder, CheckpointError)
        base = whole_folder(folder, card)
        tokenizer = load_tokenizer(tokenizer_folder(folder, base), model_cfg["text_cfg"])
        changed = read_tensors(folder / DIFFERENCE) if card.difference else {}
        model = with_weights(
            random_model(model_cfg, preprocess_cfg, "cpu"),
            {**read_tensors(base / WEIGHTS), **changed},
        )
        return model.to(resolve_device(device)), tokenizer, card


def read_configs(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    config = parse_json((folder / CONFIG).read_text(encoding="utf-8"))
    return config["model_cfg"], config.get("preprocess_cfg") or {}
