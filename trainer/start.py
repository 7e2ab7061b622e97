"""What a training starts from: model, pooling, text side and losses, and the checks that refuse a config."""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from nt2vr.datasets.video_inputs import open_video_input
from nt2vr.errors import ConfigError, quoted
from nt2vr.extension import load, poolings, text_sides
from nt2vr.models.card import LEARNT, Card, read_card, read_configs
from nt2vr.models.checkpoint import read_model
from nt2vr.models.framing import Config
from nt2vr.models.open_clip_encoder import embed_dim_of
from nt2vr.models.open_clip_model import build_model
from nt2vr.models.pooling import (
    SequenceTransformer,
    extension_pooling,
    new_pooling,
    read_pooling,
)
from nt2vr.models.text_side import TextSide
from nt2vr.models.tokenizer import load_tokenizer
from nt2vr.settings import resolve_path
from trainer import distributed
from trainer.added_layers import deepened
from trainer.config import TrainConfig, deeper
from trainer.data.clips import Clips
from trainer.losses import WeightedLosses, losses_of
from trainer.runs.loggers import check_loggers

# open_clip's defaults: CLIP's mean and standard deviation.
PREPROCESS: Config = {}


@dataclass(frozen=True)
class Start:
    """The starting model and the losses: everything that a config can be refused for."""

    losses: WeightedLosses
    device: str
    model: Any
    tokenizer: Any
    preprocess: Config
    base: Card | None
    pooling: nn.Module

    @classmethod
    def of(cls, config: TrainConfig) -> "Start":
        """Check the config, seed torch's generator, and build or load the model."""
        losses = check_model(config)
        check_batch_size(config, distributed.world_size())
        torch.manual_seed(config.run.seed)
        device = "cuda" if torch.cuda.is_available() else "cpu"

        card: Card | None = None
        base = config.encoder.base_folder
        if base is None:
            preprocess = PREPROCESS
            tokenizer = load_tokenizer(None, config.encoder.model_cfg["text_cfg"])
            model = build_model(config.encoder.model_cfg, preprocess, device)
        else:
            model, tokenizer, card = read_model(base, device)
            _, preprocess = read_configs(base)
            if config.encoder.added_layers:
                base_weights = model.state_dict()
                model = build_model(config.encoder.model_cfg, preprocess, device)
                model.load_state_dict(deepened(base_weights, model.state_dict()))

        return cls(
            losses=losses,
            device=device,
            model=model,
            tokenizer=tokenizer,
            preprocess=preprocess,
            base=card,
            pooling=start_pooling(config, model, card).to(device),
        )


def check_batch_size(config: TrainConfig, num_processes: int) -> None:
    """Raise a ConfigError if batches cannot be shared evenly among so many processes."""
    batch_size = config.batches.batch_size
    if batch_size % num_processes:
        raise ConfigError(
            f"batch_size ({batch_size}) must be a multiple of the processes ({num_processes})."
        )


def check_model(config: TrainConfig) -> WeightedLosses:
    """Build a config's losses, without loading a tower.

    Raises:
        Nt2vrError: if they, the config's base or its pooling rule something out.
    """
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
            f"{base} has no text tower, so no training can start from it. Name the model it was made from."
        )

    base_input = card.capabilities.video_input
    if base_input is not None and base_input != config.video_input:
        raise ConfigError(
            f"{base} reads {base_input.kind} {quoted(base_input.name)} instead of frames. "
            f"Set {base_input.kind} to that, or name another base."
        )

    base_cfg, _ = read_configs(base)
    if deeper(base_cfg, config.encoder.added_layers) != config.encoder.model_cfg:
        raise ConfigError(
            f"{base} does not match the config's model. Leave model out to use the base's own."
        )
    check_pooling(config, card)


def check_pooling(config: TrainConfig, base: Card | None) -> None:
    """Raise a ConfigError if a config's pooling, perhaps its base's, cannot do what is configured."""
    encoder = config.encoder
    card = pooling_card(config, base)
    if base and card.pooling.head:
        _check_num_frames(config, base)
    elif encoder.keep_head:
        raise ConfigError(
            f"keep_head is true, but {encoder.base} has no {card.pooling.name} that has learned. "
            "Turn it off."
        )

    if encoder.train == "head" and card.pooling.name not in (*LEARNT, *poolings()):
        raise ConfigError(
            "train is head, but the pooling has nothing to learn. Set pooling to seqTransf."
        )

    num_frames = config.frames.num_frames
    if config.knows_order and encoder.trains_visual and config.frames.frames_per_step != num_frames:
        raise ConfigError(
            f"This pooling needs all frames. Set frames_per_step to num_frames ({num_frames})."
        )


def _check_num_frames(config: TrainConfig, base: Card) -> None:
    """Raise a ConfigError if there are more frames than the base's pooling knows the order of."""
    encoder = config.encoder
    pooling = read_pooling(resolve_path(encoder.base), base, encoder.model_cfg["embed_dim"])
    if not isinstance(pooling, SequenceTransformer):
        return
    num_frames = config.frames.num_frames
    max_frames = len(pooling.positions)
    if num_frames > max_frames:
        raise ConfigError(
            f"num_frames is {num_frames}, but the pooling of {encoder.base} orders at most "
            f"{max_frames} frames. Lower num_frames."
        )


def pooling_card(config: TrainConfig, base: Card | None) -> Card:
    """Return a card with the pooling to train, and with the base's head if it has that pooling."""
    card = base or Card(config.encoder.name)
    card = card.replace(frames=config.frames.num_frames)
    if config.frames.pooling in ("base", card.pooling.name):
        return card
    return card.replace(pooling=config.frames.pooling, head=None)


def start_pooling(config: TrainConfig, model: Any, base: Card | None) -> nn.Module:
    """Return the pooling to start from: the base's if it has the same, otherwise a new one."""
    card = pooling_card(config, base)
    embed_dim = embed_dim_of(model)
    if base and card.pooling.head:
        return read_pooling(resolve_path(config.encoder.base), base, embed_dim).train()

    width = embed_dim
    if config.video_input is not None:
        width = open_video_input(config.video_input, config.dataset.data).width
    of_extension = extension_pooling(card.pooling.name)
    if of_extension is not None:
        return of_extension.for_training(config, width)
    return new_pooling(card, model, width)


def new_text_side(config: TrainConfig, clips: Clips) -> TextSide | None:
    """Build the extension's text side that a config asks for; None for the text tower."""
    if not config.text_side:
        return None
    kind: type[TextSide] = load(text_sides()[config.text_side])
    return kind.for_training(config, clips)
