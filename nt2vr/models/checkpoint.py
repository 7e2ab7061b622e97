"""Checkpoint folder: open_clip's own local format plus a card. Any open_clip tool can load it.

    open_clip_config.json · open_clip_model.safetensors · nt2vr.json
    and, unless the tokenizer is CLIP's: tokenizer.json · tokenizer_config.json
    and, if its pooling learns: head.safetensors; if it reads words instead of CLIP's tokens: words.safetensors; if it
    has a trained fusion: fusion.safetensors

Nothing here uses the network, and importing it does not import torch.
"""

from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict, replace
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nt2vr.errors import CheckpointError, ConfigError, Nt2vrError, reason_of
from nt2vr.files import atomic_folder, parse_json, write_json
from nt2vr.models.card import CONFIG, HEAD, WORDS, Card, configured, read_card, write_card
from nt2vr.models.device import resolve_device
from nt2vr.models.encoder import Encoder
from nt2vr.models.framing import Framing
from nt2vr.models.open_clip_encoder import OpenClipEncoder
from nt2vr.models.tokenizer import digest_of, file_digest, files_of, load_tokenizer
from nt2vr.models.weights import hash_into, loading

if TYPE_CHECKING:
    from torch import Tensor, nn

    from nt2vr.models.words import Words

WEIGHTS = "open_clip_model.safetensors"
MAX_LAYERS = 500  # of a tower; the largest of open_clip's models have 64
SCALARS = ("logit_scale", "logit_bias")  # of shape () or (1,), and no part of a fingerprint


def build_model(model_cfg: Mapping[str, Any], preprocess_cfg: Mapping[str, Any], device: str = "cpu") -> Any:
    """Build an open_clip model with random weights; a ConfigError refuses one that cannot be built, or never ends."""
    try:
        for tower in ("vision_cfg", "text_cfg"):
            layers = model_cfg[tower].get("layers", 0)
            if (count := sum(layers) if isinstance(layers, list | tuple) else layers) > MAX_LAYERS:
                raise ConfigError(f"{tower} has {count:,} layers, and at most {MAX_LAYERS} are built.")
        return _random_model(model_cfg, preprocess_cfg, device)
    except (AssertionError, AttributeError, LookupError, RuntimeError, TypeError, ValueError) as error:
        raise ConfigError(f"open_clip cannot build the model ({error}). Check its configuration.") from error


def _random_model(model_cfg: Mapping[str, Any], preprocess_cfg: Mapping[str, Any], device: str) -> Any:
    """Do as open_clip's `create_model` does, which wants files and warns that there are no weights."""
    from open_clip import CLIP, CoCa, CustomTextCLIP  # noqa: PLC0415  the page is up before open_clip is
    from open_clip.model import set_model_preprocess_cfg  # noqa: PLC0415
    from open_clip.transform import PreprocessCfg, merge_preprocess_dict  # noqa: PLC0415

    config = deepcopy(dict(model_cfg))
    kind = CustomTextCLIP if config.pop("custom_text", False) else CLIP
    model: Any = (CoCa if "multimodal_cfg" in config else kind)(**config).to(device)
    told = merge_preprocess_dict(asdict(PreprocessCfg()), dict(preprocess_cfg))
    set_model_preprocess_cfg(model, {**told, "size": model.visual.image_size})
    return model


def check_text_tower(model_cfg: Mapping[str, Any], name: object, error: type[Nt2vrError] = ConfigError) -> None:
    """Raise `error` for a model whose text tower comes from Hugging Face transformers."""
    if "hf_model_name" in model_cfg["text_cfg"]:
        raise error(f"{name} has a text tower from Hugging Face transformers. Choose a model without.")


def load_weights(model: Any, path: Path) -> None:
    """Load a weights file into a model, in any naming that open_clip knows; only tensors are unpickled."""
    import open_clip  # noqa: PLC0415  the page is up before open_clip is

    try:
        open_clip.load_checkpoint(model, str(path), weights_only=True)
    except Exception as error:  # damaged files fail in many ways: in zip, pickle, safetensors, or as missing keys
        raise CheckpointError(f"{path} cannot be loaded ({reason_of(error)}). Delete it and try again.") from error


def fingerprints(weights: Mapping[str, "Tensor"], tokenizer: str = "") -> tuple[str, str]:
    """Hash the visual and the text tower of a state dict, by their values in float32.

    Tensors that embeddings do not depend on (temperature, counters) are left out. The text tower includes the
    tokenizer's `digest_of`.
    """
    visual, text = blake2b(digest_size=16), blake2b(digest_size=16)
    known = {n: t for n, t in weights.items() if t.is_floating_point() and n not in SCALARS}
    hash_into(visual, {name: tensor for name, tensor in known.items() if name.startswith("visual.")})
    hash_into(text, {name: tensor for name, tensor in known.items() if not name.startswith("visual.")})
    text.update(tokenizer.encode())
    return visual.hexdigest(), text.hexdigest()


def identified(card: Card, model: Any, tokenizer: Any, weights: Mapping[str, "Tensor"] | None = None) -> Card:
    """Return the card with a model's frame size and fingerprints; `weights` are those stored, in half precision."""
    visual, text = fingerprints(weights or model.state_dict(), digest_of(tokenizer))
    card = replace(card, image_size=Framing.of(model.visual.preprocess_cfg).size)
    return replace(card, visual_fingerprint=visual, text_fingerprint=text)


def write_checkpoint(
    folder: Path,
    model: Any,
    model_cfg: Mapping[str, Any],
    preprocess_cfg: Mapping[str, Any],
    card: Card,
    fp16: bool = True,
    tokenizer: Any = None,
    pooling: "nn.Module | None" = None,
    words: "Words | None" = None,
) -> Card:
    """Write a checkpoint folder, atomically; return the card as written, with date and fingerprints.

    Args:
        tokenizer: the model's; may be left out if it is CLIP's own.
        pooling: of frame embeddings; may be left out if it has no weights.
        words: text side instead of the text tower.
    """
    from safetensors.torch import save_file  # noqa: PLC0415  imports torch

    from nt2vr.models.pooling import fixed_pooling, head_of  # noqa: PLC0415  imports torch
    from nt2vr.models.words import words_card  # noqa: PLC0415  imports torch

    if folder.exists():
        raise CheckpointError(f"{folder} already exists. Choose another name or delete it.")
    files = files_of(tokenizer, model_cfg["text_cfg"])
    pooling = fixed_pooling(card) if pooling is None else pooling
    weights, head = (_stored(each.state_dict(), fp16, folder) for each in (model, pooling))
    of_words = _stored(words.state_dict(), fp16, folder) if words else {}
    card = replace(card, words=words_card(words, of_words))
    card = replace(card, head=head_of(pooling, head), created=datetime.now(UTC).isoformat(timespec="seconds"))
    card = configured(identified(card, model, tokenizer, weights), model_cfg, preprocess_cfg)
    with atomic_folder(folder) as partial:
        write_json(partial / CONFIG, {"model_cfg": model_cfg, "preprocess_cfg": preprocess_cfg}, indent=2)
        write_card(partial, card)
        for name, content in files.items():
            (partial / name).write_bytes(content)
        for name, tensors in {WEIGHTS: weights, HEAD: head, WORDS: of_words}.items():
            if tensors:
                save_file(tensors, partial / name, words.metadata if words and name == WORDS else None)
                (partial / name).chmod(0o644)  # readable for others like the rest; safetensors writes 0600
    return card


def _stored(weights: Mapping[str, "Tensor"], fp16: bool, folder: Path) -> dict[str, "Tensor"]:
    """Return weights as a checkpoint has them, or raise a CheckpointError for those that are not finite."""
    stored = {name: tensor.detach().cpu().contiguous() for name, tensor in weights.items()}
    if fp16:
        stored = {name: tensor.half() if tensor.is_floating_point() else tensor for name, tensor in stored.items()}
    check_finite(stored, folder)
    return stored


def read_checkpoint(
    folder: Path, device: str = "cpu", verify: bool = False, like: Encoder | None = None
) -> OpenClipEncoder:
    """Load a checkpoint folder as an encoder.

    Args:
        verify: also compare the fingerprints with the weights (1 s per GB).
        like: a loaded model; if configuration and tokenizer are equal, only weights are read, and an equal visual
            tower is shared with it. The visual fingerprint is verified in any case.
    """
    from nt2vr.models.fusion import read_fusion  # noqa: PLC0415  imports torch
    from nt2vr.models.pooling import read_pooling  # noqa: PLC0415  imports torch
    from nt2vr.models.words import read_words  # noqa: PLC0415  imports torch

    card = read_card(folder)
    with loading(folder):
        config = _read_config(folder)
        pooling = read_pooling(folder, card, config["model_cfg"]["embed_dim"])
        words = read_words(folder, card)
        if getattr(pooling, "embed_dim", 0) != (words.embed_dim if words else 0):
            raise ValueError("videos and texts are not embedded into the same spaces")
        weights = read_weights(folder)
        parts = config, file_digest(folder, config["model_cfg"]["text_cfg"])
        if isinstance(like, OpenClipEncoder) and (like.config, like.tokenizer_digest) == parts:
            encoder = like.with_weights(weights, card, pooling, words)
        else:
            model, tokenizer = _built(folder, config, weights, device)
            encoder = OpenClipEncoder(model, tokenizer, card, config, pooling=pooling, words=words)
    own = card.visual_fingerprint, card.text_fingerprint
    if verify:
        matches = fingerprints(weights, encoder.tokenizer_digest) == own
    elif isinstance(like, OpenClipEncoder) and encoder.shares_visual_tower(like):
        matches = like.visual_fingerprint == own[0]
    else:
        matches = like is None or fingerprints(weights)[0] == own[0]
    if not matches:
        raise CheckpointError(f"{folder} holds weights that do not match its card. Write the checkpoint again.")
    encoder.fusion = read_fusion(folder, encoder.embed_dim)
    return encoder


def read_model(folder: Path, device: str = "cpu") -> tuple[Any, Any, Card]:
    """Load the float32 open_clip model of a checkpoint folder, its tokenizer and its card, without network."""
    card = read_card(folder)
    with loading(folder):
        return *_built(folder, _read_config(folder), read_weights(folder), device), card


def read_weights(folder: Path) -> dict[str, "Tensor"]:
    """Read the tensors of a checkpoint folder, in float32 and finite; those stored so are mapped, not copied."""
    from safetensors.torch import load_file  # noqa: PLC0415  imports torch

    if not (folder / WEIGHTS).is_file():
        raise CheckpointError(f"{folder} has no {WEIGHTS}. Choose a complete checkpoint.")
    weights = load_file(folder / WEIGHTS)
    check_finite(weights, folder)
    return {name: tensor.float() if tensor.is_floating_point() else tensor for name, tensor in weights.items()}


def _built(folder: Path, config: Mapping[str, Any], weights: Mapping[str, "Tensor"], device: str) -> tuple[Any, Any]:
    """Build the model of a folder's configuration with its weights; return it with its tokenizer."""
    model_cfg, preprocess_cfg = _configs(config)
    check_text_tower(model_cfg, folder, CheckpointError)
    tokenizer = load_tokenizer(folder, model_cfg["text_cfg"])
    model = _random_model(model_cfg, preprocess_cfg, "cpu")
    own = model.state_dict()
    scalars = {name: weights[name].reshape(own[name].shape) for name in SCALARS if name in own and name in weights}
    model.load_state_dict({**weights, **scalars}, assign=True)
    return model.to(resolve_device(device)), tokenizer


def read_configs(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read the model and preprocessing configurations of a valid checkpoint folder."""
    return _configs(_read_config(folder))


def _configs(config: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    return config["model_cfg"], config.get("preprocess_cfg") or {}


def _read_config(folder: Path) -> dict[str, Any]:
    config: dict[str, Any] = parse_json((folder / CONFIG).read_text(encoding="utf-8"))
    return config


def check_finite(weights: Mapping[str, "Tensor"], source: Path) -> None:
    """Refuse weights that are not finite; `source` is the file or folder they are read from or written to."""
    for name, tensor in weights.items():
        if not tensor.isfinite().all():
            raise CheckpointError(f"A weight in {source} is not finite ({name}). Choose an earlier checkpoint.")
