"""Builds open_clip models from their configurations."""

import json
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import asdict
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.models.framing import Config
from nt2vr.models.weights import reshape_scalars, unfilled

if TYPE_CHECKING:
    from torch import Tensor

# Of a tower; the largest of open_clip's models have 64.
MAX_LAYERS = 500


def build_model(model_cfg: Config, preprocess_cfg: Config, device: str = "cpu") -> Any:
    """Build an open_clip model with random weights.

    Raises:
        ConfigError: if it cannot be built, or has more than MAX_LAYERS layers in a tower.
    """
    try:
        for tower in ("vision_cfg", "text_cfg"):
            layers = model_cfg[tower].get("layers", 0)
            num_layers = sum(layers) if isinstance(layers, list | tuple) else layers
            if num_layers > MAX_LAYERS:
                raise ConfigError(
                    f"{tower} has {num_layers:,} layers, and at most {MAX_LAYERS} are built."
                )
        return random_model(model_cfg, preprocess_cfg, device)
    except (
        AssertionError,
        AttributeError,
        LookupError,
        RuntimeError,
        TypeError,
        ValueError,
    ) as error:
        raise ConfigError(
            f"open_clip cannot build the model ({error}). Check its configuration."
        ) from error


def random_model(model_cfg: Config, preprocess_cfg: Config, device: str) -> Any:
    """Build a model as open_clip's `create_model` does, which wants files and warns without weights."""
    from open_clip import CLIP, CoCa, CustomTextCLIP  # noqa: PLC0415  the page is up before open_clip is
    from open_clip.model import set_model_preprocess_cfg  # noqa: PLC0415
    from open_clip.transform import PreprocessCfg, merge_preprocess_dict  # noqa: PLC0415

    config = deepcopy(dict(model_cfg))
    kind: Any = CustomTextCLIP if config.pop("custom_text", False) else CLIP
    if "multimodal_cfg" in config:
        kind = CoCa
    model = kind(**config).to(device)
    preprocess = merge_preprocess_dict(asdict(PreprocessCfg()), dict(preprocess_cfg))
    set_model_preprocess_cfg(model, {**preprocess, "size": model.visual.image_size})
    return model


def check_towers(model_cfg: Config, name: object, error: type[Nt2vrError] = ConfigError) -> None:
    """Raise `error` for a model without pictures, or with a text tower of Hugging Face transformers."""
    # open_clip 4 has models of sound.
    if "vision_cfg" not in model_cfg:
        raise error(f"{name} takes no pictures. Choose a model of pictures and texts.")
    if "hf_model_name" in model_cfg["text_cfg"]:
        raise error(
            f"{name} has a text tower from Hugging Face transformers. Choose a model without."
        )


def empty_model(model_cfg: Config, preprocess_cfg: Config) -> Any:
    """Build a model whose parameters take no memory, to be given weights."""
    return deepcopy(_empty_model(json.dumps([model_cfg, preprocess_cfg])))


@lru_cache(maxsize=8)
def _empty_model(configs: str) -> Any:
    from torch.random import fork_rng  # noqa: PLC0415  the page is up before torch is

    with fork_rng(devices=[]), unfilled():
        model_cfg, preprocess_cfg = json.loads(configs)
        model = random_model(model_cfg, preprocess_cfg, "cpu")
    model.load_state_dict(
        {name: tensor.to("meta") for name, tensor in model.state_dict().items()}, assign=True
    )
    return model


def with_weights(model: Any, weights: "Mapping[str, Tensor]") -> Any:
    """Give a model weights, which it does not copy, and return it."""
    state = dict(weights)
    reshape_scalars(state, model.state_dict())
    model.load_state_dict(state, assign=True)
    return model
