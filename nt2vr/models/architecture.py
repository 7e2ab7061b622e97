"""open_clip's configuration of a CLIP, guessed from the shapes of its tensors."""

import math
import re
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from nt2vr.errors import ConfigError

Shapes = Mapping[str, tuple[int, ...]]
Config = dict[str, Any]

HEAD_WIDTH = 64  # width of attention heads in OpenAI's CLIPs; shapes do not determine it
RESNET_STRIDE = 32  # pixels per cell of a ResNet's last feature map
UNSEEN = (
    "head_width",
    "heads",
    "hf_tokenizer_name",
    "eos_id",
)  # in no shape; of a tokenizer, the vocabulary's size is


def infer(shapes: Shapes, known: Mapping[str, Config]) -> tuple[str, Config]:
    """Guess the architecture of a CLIP: the first known one that fits, or "" and one with OpenAI's heads of 64.

    Args:
        shapes: of its tensors, by open_clip's names, those of the text tower without "text.".
        known: configurations by name, which determine the number of attention heads; SigLIP's must be among them.
    """
    is_siglip = "visual.trunk.attn_pool.latent" in shapes
    try:
        config = {} if is_siglip else _determined(shapes)
        seen = None if is_siglip else _seen(config)
        for name, each in known.items():
            if _fits(seen, each) if seen else _fits_siglip(shapes, each):
                return name, each
    except (LookupError, ValueError) as error:
        raise ConfigError(
            f"The tensors do not determine the architecture ({error} is missing or unusual). Name the model."
        ) from None
    if is_siglip:
        raise ConfigError("No SigLIP of open_clip has tensors of such shapes. Name the model.")
    return "", _with_heads(config)


def _determined(shapes: Shapes) -> Config:
    """Return the part of the configuration that shapes determine."""
    if "visual.layer1.0.conv1.weight" in shapes:
        vision: Config = {
            "image_size": _side(shapes["visual.attnpool.positional_embedding"]) * RESNET_STRIDE,
            "layers": [_count(shapes, rf"visual\.layer{stage}\.(\d+)\.") for stage in (1, 2, 3, 4)],
            "width": shapes["visual.layer1.0.conv1.weight"][0],
        }
    else:
        width, _, patch, _ = shapes["visual.conv1.weight"]
        vision = {
            "image_size": _side(shapes["visual.positional_embedding"]) * patch,
            "layers": _count(shapes, r"visual\.transformer\.resblocks\.(\d+)\."),
            "width": width,
            "patch_size": patch,
        } | _mlp(shapes, "visual.", width)
    width = shapes["ln_final.weight"][0]
    text = {
        "context_length": shapes["positional_embedding"][0],
        "vocab_size": shapes["token_embedding.weight"][0],
        "width": width,
        "layers": _count(shapes, r"transformer\.resblocks\.(\d+)\."),
    } | _mlp(shapes, "", width)
    return {"embed_dim": shapes["text_projection"][1], "vision_cfg": vision, "text_cfg": text}


def _mlp(shapes: Shapes, tower: str, width: int) -> Config:
    hidden = shapes[f"{tower}transformer.resblocks.0.mlp.c_fc.weight"][0]
    return {} if hidden == 4 * width else {"mlp_ratio": hidden / width}


def _side(positions: tuple[int, ...]) -> int:
    """Return the side of a square grid of positions, which has one more embedding for the class token."""
    cells = positions[0] - 1
    side = math.isqrt(cells)
    if side * side != cells or side == 0:
        raise ValueError("a square grid of positions")
    return side


def _count(shapes: Shapes, pattern: str) -> int:
    """Count consecutively numbered modules."""
    numbers = {int(match[1]) for name in shapes if (match := re.match(pattern, name))}
    if not numbers or len(numbers) != max(numbers) + 1:
        raise ValueError(pattern.replace("\\", "").replace(".(d+).", ""))
    return len(numbers)


def _with_heads(config: Config) -> Config:
    vision, text = config["vision_cfg"], config["text_cfg"]
    heads_of_resnet = isinstance(vision["layers"], list) and vision["width"] % 2 == 0
    for tower, width, fits in (("visual", vision["width"], heads_of_resnet), ("text", text["width"], False)):
        if width % HEAD_WIDTH and not fits:
            raise ConfigError(
                f"The tensors do not determine the number of attention heads of a {tower} tower of width {width}. "
                "Name the model."
            )
    return {**config, "text_cfg": {**text, "heads": text["width"] // HEAD_WIDTH}}


def _seen(config: Config) -> tuple[Any, ...]:
    """Return what shapes show of a CLIP's configuration, with open_clip's defaults filled in."""
    from open_clip.model import CLIPTextCfg, CLIPVisionCfg  # noqa: PLC0415  takes seconds

    vision, text = asdict(CLIPVisionCfg(**config["vision_cfg"])), asdict(CLIPTextCfg(**config["text_cfg"]))
    if isinstance(vision["layers"], list):
        vision |= {"patch_size": RESNET_STRIDE, "mlp_ratio": 0}
    vision["image_size"] //= vision["patch_size"]  # shapes do not show a remainder
    for tower in (vision, text):
        tower["mlp_ratio"] = int(tower["mlp_ratio"] * tower["width"] + 1e-6)
        for key in UNSEEN:
            tower.pop(key, None)
    if text["pool_type"] == "eos":
        text["pool_type"] = "argmax"  # of a causal tower, too
    return config["embed_dim"], vision, text


def _fits(seen: tuple[Any, ...], config: Config) -> bool:
    """Whether a configuration is of a CLIP without a tower of another class, and of the shapes seen."""
    return not {"multimodal_cfg", "custom_text"} & config.keys() and _seen(config) == seen


def _fits_siglip(shapes: Shapes, config: Config) -> bool:
    """Whether a configuration's picture size, patches and text tower are those of a SigLIP; timm's name tells two."""
    vision, text = config["vision_cfg"], config["text_cfg"]
    name = re.match(r"vit_\w+?_patch(\d+)_siglip", vision.get("timm_model_name", ""))
    side = math.isqrt(shapes["visual.trunk.pos_embed"][1])
    return bool(
        name
        and shapes["visual.trunk.patch_embed.proj.weight"][2] == int(name[1])
        and side == vision["image_size"] // int(name[1])
        and shapes["visual.trunk.pos_embed"][2] == config["embed_dim"]
        and shapes["positional_embedding"][0] == text["context_length"]
        and shapes["token_embedding.weight"] == (text["vocab_size"], text["width"])
        and _count(shapes, r"transformer\.resblocks\.(\d+)\.") == text.get("layers", 12)
    )
