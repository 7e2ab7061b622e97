"""Starting point of a training: the model, from random weights or a base, and the losses."""

from dataclasses import dataclass
from typing import Any

import torch

from nt2vr.errors import ConfigError
from nt2vr.models.card import Card
from nt2vr.models.checkpoint import build_model, read_configs, read_model
from nt2vr.models.tokenizer import load_tokenizer
from trainer import distributed
from trainer.config import TrainConfig, deeper
from trainer.layers import deepened
from trainer.losses import WeightedLosses, losses_of
from trainer.runs.metrics import check_tensorboard

PREPROCESS: dict[str, Any] = {}  # open_clip's defaults: CLIP's mean and standard deviation


@dataclass(frozen=True)
class Start:
    """The starting model and the losses: everything that a config can be refused for.

    Attributes:
        preprocess: its preprocessing configuration in open_clip's form.
        base: card of the base; None for random weights.
    """

    losses: WeightedLosses
    device: str
    model: Any
    tokenizer: Any
    preprocess: dict[str, Any]
    base: Card | None

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
        return cls(losses, device, *load_start(config, device))


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
