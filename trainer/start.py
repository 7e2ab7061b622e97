"""What a training starts from: model, pooling and losses, and the checks that refuse a config."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from nt2vr.datasets.video_inputs import open_video_input
from nt2vr.errors import ConfigError, quoted
from nt2vr.extension import poolings
from nt2vr.models.card import LEARNT, Card, read_card
from nt2vr.models.checkpoint import build_model, read_configs, read_model
from nt2vr.models.open_clip_encoder import (
    embed_dim_of,
)
from nt2vr.models.pooling import (
    SequenceTransformer,
    extension_pooling,
    new_pooling,
    read_pooling,
)
from nt2vr.models.tokenizer import load_tokenizer
from nt2vr.settings import resolve_path
from trainer import distributed
from trainer.added_layers import deepened
from trainer.config import TrainConfig, deeper
from trainer.losses import WeightedLosses, losses_of
from trainer.runs.loggers import check_loggers

PREPROCESS: dict[str, Any] = {}  # open_clip's defaults: CLIP's mean and standard deviation


@dataclass(frozen=True)
class Start:
    """The starting model and the losses: everything that a config can be refused for."""

    losses: WeightedLosses
    device: str
    model: Any
    tokenizer: Any
    preprocess: dict[str, Any]
    base: Card | None
    pooling: nn.Module

    @classmethod
    def of(cls, config: TrainConfig) -> "Start":
        """Check the config, seed torch's generator, and build or load the model."""
        losses = check_model(config)
        if config.batches.batch_size % (count := distributed.world_size()):
            batch_size = config.batches.batch_size
            raise ConfigError(
                f"batch_size ({batch_size}) must be a multiple of the processes ({count})."
            )
        torch.manual_seed(config.run.seed)
        device = "cuda" if torch.cuda.is_available() else "cpu"
        base = config.encoder.base_folder
        if base is None:
            tokenizer, preprocess, card = (
                load_tokenizer(None, config.encoder.model_cfg["text_cfg"]),
                PREPROCESS,
                None,
            )
            model = build_model(config.encoder.model_cfg, preprocess, device)
        else:
            model, tokenizer, card = read_model(base, device)
            preprocess = read_configs(base)[1]
            if config.encoder.added_layers:
                weights = model.state_dict()
                model = build_model(config.encoder.model_cfg, preprocess, device)
                model.load_state_dict(deepened(weights, model.state_dict()))
        pooling = start_pooling(config, model, card).to(device)
        return cls(losses, device, model, tokenizer, preprocess, card, pooling)


def check_model(config: TrainConfig) -> WeightedLosses:
    """Build a config's losses; raise an Nt2vrError for what they, its base or its pooling rule out. Load no tower."""
    losses = losses_of(config)
    check_loggers(config)
    _check_base(config)
    for name, loss_input in losses.named_inputs():
        loss_input.check_base(config, name)
    return losses


def _check_base(config: TrainConfig) -> None:
    """Raise an Nt2vrError for what a config's base, or its pooling, rules out."""
    base = config.encoder.base_folder
    if base is None:
        check_pooling(config, None)
        return
    card = read_card(base)
    if not card.capabilities.has_text_tower:
        raise ConfigError(
            f"{base} has no text tower, and no training starts from that. Name what it was made of."
        )
    base_input = card.capabilities.video_input
    if base_input is not None and base_input != config.video_input:
        raise ConfigError(
            f"{base} reads {base_input.kind} {quoted(base_input.name)} instead of frames. Set {base_input.kind} to "
            "that, or name another base."
        )
    if deeper(read_configs(base)[0], config.encoder.added_layers) != config.encoder.model_cfg:
        raise ConfigError(
            f"{base} does not match the config's model. Leave model out to use the base's own."
        )
    check_pooling(config, card)


def check_pooling(config: TrainConfig, base: Card | None) -> None:
    """Raise a ConfigError if a config's pooling, perhaps its base's, cannot do what its other fields ask for."""
    encoder = config.encoder
    num_frames = config.frames.num_frames
    card = pooling_card(config, base)
    if base and card.pooling.head:
        pooling = read_pooling(resolve_path(encoder.base), base, encoder.model_cfg["embed_dim"])
        if isinstance(pooling, SequenceTransformer) and len(pooling.positions) < num_frames:
            most = (
                f"{len(pooling.positions)} frames, the most that {encoder.base} knows the order of"
            )
            raise ConfigError(f"num_frames is {num_frames}, more than {most}. Lower it.")
    elif encoder.keep_head:
        raise ConfigError(
            f"keep_head is true, but {encoder.base} has no {card.pooling.name} that has learned. Turn it off."
        )
    if encoder.train == "head" and card.pooling.name not in (*LEARNT, *poolings()):
        raise ConfigError(
            "train is head, but the pooling has nothing to learn. Set pooling to seqTransf."
        )
    if config.knows_order and encoder.trains_visual and config.frames.frames_per_step != num_frames:
        raise ConfigError(
            f"This pooling needs all frames. Set frames_per_step to num_frames ({num_frames})."
        )


def pooling_card(config: TrainConfig, base: Card | None) -> Card:
    """Return a card with the pooling to train; its head is the base's, if that has the same pooling."""
    card = (base or Card(config.encoder.name)).replace(frames=config.frames.num_frames)
    if config.frames.pooling in ("base", card.pooling.name):
        return card
    return card.replace(pooling=config.frames.pooling, head=None)


def start_pooling(config: TrainConfig, model: Any, base: Card | None) -> nn.Module:
    """Return the pooling to start from: the base's if it has the same, otherwise a new one."""
    card = pooling_card(config, base)
    if base and card.pooling.head:
        return read_pooling(resolve_path(config.encoder.base), base, embed_dim_of(model)).train()
    width = embed_dim_of(model)
    if config.video_input is not None:
        width = open_video_input(config.video_input, config.dataset.data).width
    of_extension = extension_pooling(card.pooling.name)
    if of_extension is not None:
        return of_extension.for_training(config, width)
    return new_pooling(card, model, width)
