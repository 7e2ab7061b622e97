"""The checkpoint folder: open_clip's own local format plus a card, so that any tool that knows open_clip can load it.

    open_clip_config.json · open_clip_model.safetensors · nt2vr.json

Nothing here uses the network, and importing it does not import torch.
"""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from nt2vr.errors import CheckpointError, ConfigError, Nt2vrError, reason_of
from nt2vr.files import write_json
from nt2vr.models.card import CARD, Card, read_card
from nt2vr.models.encoder import Encoder
from nt2vr.models.open_clip_encoder import OpenClipEncoder

if TYPE_CHECKING:
    from torch import Tensor

CONFIG, WEIGHTS = "open_clip_config.json", "open_clip_model.safetensors"


def build_model(
    model_cfg: Mapping[str, Any], preprocess_cfg: Mapping[str, Any], device: str = "cpu"
) -> tuple[Any, Any]:
    """Build an open_clip model with random weights, and its tokenizer.

    Raises:
        ConfigError: if open_clip knows no such model.
    """
    with TemporaryDirectory() as folder:
        write_json(Path(folder) / CONFIG, {"model_cfg": model_cfg, "preprocess_cfg": preprocess_cfg}, indent=2)
        try:
            return _load(Path(folder), device)
        except (AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
            raise ConfigError(f"open_clip cannot build the model ({error}). Check its configuration.") from error


def _load(folder: Path, device: str) -> tuple[Any, Any]:
    import open_clip  # noqa: PLC0415  the page is up before open_clip is

    name = f"local-dir:{folder}"
    return open_clip.create_model(name, device=device), open_clip.get_tokenizer(name)


def check_text_tower(model_cfg: Mapping[str, Any], name: object, error: type[Nt2vrError] = ConfigError) -> None:
    """Refuse, with `error`, a model whose text tower or tokenizer open_clip takes from Hugging Face transformers."""
    if {"hf_model_name", "hf_tokenizer_name"} & set(model_cfg["text_cfg"]):
        raise error(f"{name} has a text tower of Hugging Face transformers. Choose one of open_clip's own.")


def load_weights(model: Any, path: Path) -> None:
    """Load a weights file of any naming that open_clip knows into a model; nothing in it is unpickled but tensors."""
    import open_clip  # noqa: PLC0415  the page is up before open_clip is

    try:
        open_clip.load_checkpoint(model, str(path), weights_only=True)
    except Exception as error:  # damaged files fail in many ways: in zip, pickle, safetensors, or as missing keys
        raise CheckpointError(f"{path} cannot be loaded ({reason_of(error)}). Delete it and try again.") from error


def fingerprints(weights: Mapping[str, "Tensor"]) -> tuple[str, str]:
    """Hash the visual and the text tower of a state dict, by the values their tensors have in float32.

    What no embedding depends on (temperature, counters) is left out.
    """
    towers = blake2b(digest_size=16), blake2b(digest_size=16)
    for name, tensor in sorted(weights.items()):
        if tensor.is_floating_point() and name not in ("logit_scale", "logit_bias"):
            tower = towers[0 if name.startswith("visual.") else 1]
            tower.update(f"{name} {tuple(tensor.shape)}".encode())
            tower.update(tensor.detach().float().cpu().contiguous().numpy().tobytes())
    return towers[0].hexdigest(), towers[1].hexdigest()


def write_checkpoint(
    folder: Path,
    model: Any,
    model_cfg: Mapping[str, Any],
    preprocess_cfg: Mapping[str, Any],
    card: Card,
    fp16: bool = True,
) -> Card:
    """Write a checkpoint folder: under another name first, so that a folder that exists is whole.

    Returns:
        The card as written, with date and fingerprints.

    Raises:
        CheckpointError: if the folder is there already, or a weight is not finite.
    """
    from safetensors.torch import save_file  # noqa: PLC0415  imports torch

    if folder.exists():
        raise CheckpointError(f"{folder} is there already. Choose another name or delete it.")
    weights = {name: tensor.detach().cpu().contiguous() for name, tensor in model.state_dict().items()}
    if fp16:
        weights = {name: w.half() if w.is_floating_point() else w for name, w in weights.items()}
    check_finite(weights, folder)
    visual, text = fingerprints(weights)
    created = datetime.now(UTC).isoformat(timespec="seconds")
    size: int | tuple[int, int] = model.visual.preprocess_cfg["size"]
    card = replace(
        card,
        image_size=size if isinstance(size, int) else size[0],
        created=created,
        visual_fingerprint=visual,
        text_fingerprint=text,
    )
    partial = folder.with_name(f".{folder.name}.{os.getpid()}.partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    write_json(partial / CONFIG, {"model_cfg": model_cfg, "preprocess_cfg": preprocess_cfg}, indent=2)
    write_json(partial / CARD, asdict(card), indent=2)
    save_file(weights, partial / WEIGHTS)
    (partial / WEIGHTS).chmod(0o644)  # others may read it, as they may the rest; safetensors would keep it private
    partial.rename(folder)
    return card


def read_checkpoint(
    folder: Path, device: str = "cpu", verify: bool = False, like: Encoder | None = None
) -> OpenClipEncoder:
    """Load a checkpoint folder as an encoder.

    Args:
        folder: see above.
        device: where the model goes.
        verify: also compare the fingerprints with the weights (1 s a GB).
        like: a running model; if its configuration is the same, only weights are read, and an equal visual tower is
            shared with it. The visual tower's fingerprint is verified in any case.

    Raises:
        CheckpointError: in one sentence, if the folder is not whole, not ours, or its weights are not finite.
    """
    card = read_card(folder)
    with _as_checkpoint_error(folder):
        config = _read_config(folder)
        if isinstance(like, OpenClipEncoder) and like.config == config:
            weights = _read_weights(folder)
            encoder = like.with_weights(weights, card)
        else:
            model, tokenizer, card = read_model(folder, device)
            weights = model.state_dict()
            encoder = OpenClipEncoder(model, tokenizer, card, config)
    if not _is_of(card, weights, encoder, verify, like):
        raise CheckpointError(f"The weights in {folder} are not those its card speaks of. Write the checkpoint again.")
    return encoder


def _is_of(
    card: Card, weights: Mapping[str, "Tensor"], encoder: OpenClipEncoder, verify: bool, like: Encoder | None
) -> bool:
    """Whether a card's fingerprints are those of the weights, as far as that is asked for."""
    if verify:
        return fingerprints(weights) == (card.visual_fingerprint, card.text_fingerprint)
    if like is None:
        return True
    if isinstance(like, OpenClipEncoder) and encoder.shares_visual_tower(like):
        return card.visual_fingerprint == like.visual_fingerprint
    visual = {name: tensor for name, tensor in weights.items() if name.startswith("visual.")}
    return card.visual_fingerprint == fingerprints(visual)[0]


def read_configs(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the model's and the preprocessing's configuration of a checkpoint folder that can be loaded."""
    config = _read_config(folder)
    return config["model_cfg"], config["preprocess_cfg"]


def read_model(folder: Path, device: str = "cpu") -> tuple[Any, Any, Card]:
    """Load the open_clip model of a checkpoint folder, its tokenizer and its card, in float32, with no network.

    Raises:
        CheckpointError: as `read_checkpoint`.
    """
    card = read_card(folder)
    with _as_checkpoint_error(folder):
        check_text_tower(_read_config(folder)["model_cfg"], folder, CheckpointError)
        if not (folder / WEIGHTS).is_file():
            raise CheckpointError(f"{folder} has no {WEIGHTS}. Choose a checkpoint that is whole.")
        model, tokenizer = _load(folder, device)
    check_finite(model.state_dict(), folder)
    return model, tokenizer, card


def _read_weights(folder: Path) -> dict[str, "Tensor"]:
    """Read weights as they are named in the file, in float32."""
    from safetensors.torch import load_file  # noqa: PLC0415  imports torch

    weights = load_file(folder / WEIGHTS)
    check_finite(weights, folder)
    return {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in weights.items()}


def _read_config(folder: Path) -> dict[str, Any]:
    config: dict[str, Any] = json.loads((folder / CONFIG).read_text(encoding="utf-8"))
    return config


@contextmanager
def _as_checkpoint_error(folder: Path) -> Iterator[None]:
    """Say in one sentence what a damaged or foreign folder fails with, in JSON, safetensors or open_clip."""
    from safetensors import SafetensorError  # noqa: PLC0415  imports torch

    try:
        yield
    except (OSError, SafetensorError, ArithmeticError, AssertionError, AttributeError, LookupError, RuntimeError,
            TypeError, ValueError) as error:  # fmt: skip
        raise CheckpointError(f"{folder} cannot be loaded ({reason_of(error)}). Choose another checkpoint.") from error


def check_finite(weights: Mapping[str, "Tensor"], source: Path) -> None:
    """Refuse weights that are not all finite numbers; `source` is where they come from, or go to.

    Raises:
        CheckpointError: naming the first that is not.
    """
    for name, tensor in weights.items():
        if not tensor.isfinite().all():
            raise CheckpointError(f"A weight of {source} is not a number ({name}). Choose an earlier checkpoint.")
