"""Starting point of a training: the model, from random weights or a base, and the losses."""

from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import nn

from nt2vr.datasets.features import features_size
from nt2vr.errors import ConfigError
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import build_model, read_configs, read_model
from nt2vr.models.open_clip_encoder import embed_dim_of
from nt2vr.models.pooling import SequenceTransformer, new_pooling, read_pooling
from nt2vr.models.tokenizer import load_tokenizer
from trainer import distributed
from trainer.config import TrainConfig, deeper
from trainer.layers import deepened
from trainer.losses import WeightedLosses, losses_of
from trainer.runs.metrics import check_tensorboard
from trainer.words import WordSettings

PREPROCESS: dict[str, Any] = {}  # open_clip's defaults: CLIP's mean and standard deviation


@dataclass(frozen=True)
class Start:
    """The starting model and the losses: everything that a config can be refused for; `base` is None without one."""

    losses: WeightedLosses
    device: str
    model: Any
    tokenizer: Any
    preprocess: dict[str, Any]
    base: Card | None
    pooling: nn.Module

    @classmethod
    def of(cls, config: TrainConfig) -> "Start":
        """Seed torch's generator, build the losses, and build or load the model."""
        torch.manual_seed(config.seed)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        losses = losses_of(config)
        check_tensorboard(config)
        if config.batch_size % distributed.world_size():
            raise ConfigError(
                f"batch_size ({config.batch_size}) must be a multiple of the number of processes "
                f"({distributed.world_size()})."
            )
        model, tokenizer, preprocess, base = load_start(config, device)
        return cls(losses, device, model, tokenizer, preprocess, base, start_pooling(config, model, base).to(device))


def load_start(config: TrainConfig, device: str) -> tuple[Any, Any, dict[str, Any], Card | None]:
    """Return the starting model, its tokenizer, its preprocessing configuration, and the base's card, if any."""
    base = config.base_folder
    if base is None:
        tokenizer = load_tokenizer(None, config.model_cfg["text_cfg"])
        return build_model(config.model_cfg, PREPROCESS, device), tokenizer, PREPROCESS, None
    model, tokenizer, card = read_model(base, device)
    model_cfg, preprocess = read_configs(base)
    if deeper(model_cfg, config.added_layers) != config.model_cfg:
        raise ConfigError(f"{base} does not match the config's model. Leave model out to use the base's own.")
    if config.added_layers:
        weights = model.state_dict()
        model = build_model(config.model_cfg, preprocess, device)
        model.load_state_dict(deepened(weights, model.state_dict()))
    return model, tokenizer, preprocess, card


def start_pooling(config: TrainConfig, model: Any, base: Card | None) -> nn.Module:
    """Return the pooling to start from: the base's if it has the same, otherwise a new one."""
    if base and base.words:
        raise ConfigError(
            f"{config.base} reads words, and no training starts from that. Name the model it was made of."
        )
    settings = WordSettings.of(config.words)
    spaces = (settings.size, settings.number) if settings else ()
    card = replace(base or Card(config.name), frames=config.num_frames)
    if config.pooling not in ("base", card.pooling):
        card = replace(card, pooling=config.pooling, head={})
    if card.head and base and config.base_folder:
        pooling = read_pooling(config.base_folder, base, embed_dim_of(model)).train()
        if isinstance(pooling, SequenceTransformer) and len(pooling.positions) < config.num_frames:
            most = f"{len(pooling.positions)} frames, the most that {config.base} knows the order of"
            raise ConfigError(f"num_frames is {config.num_frames}, more than {most}. Lower it.")
    else:
        width = features_size(config.data, config.features) if config.features else embed_dim_of(model)
        pooling = new_pooling(card, model, width, *spaces)
        if config.keep_head:
            raise ConfigError(
                f"keep_head is true, but {config.base} has no {card.pooling} that has learned. Set it to false."
            )
    if config.train == "head" and not any(True for _ in pooling.parameters()):
        raise ConfigError(f"train is head, but {card.pooling} has nothing to learn. Set pooling to seqTransf.")
    ordered = isinstance(pooling, SequenceTransformer) and config.trains_visual
    if ordered and config.frames_per_step != config.num_frames:
        raise ConfigError(f"{card.pooling} needs all frames. Set frames_per_step to num_frames ({config.num_frames}).")
    if "order" in config.losses and (config.trains_visual or not isinstance(pooling, SequenceTransformer)):
        raise ConfigError(
            "The loss order needs a frozen visual tower and a pooling that learns the order of frames. Set train to "
            "text and pooling to unit_seqTransf."
        )
    return pooling
