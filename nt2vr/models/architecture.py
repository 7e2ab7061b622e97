"""open_clip's configuration of a CLIP, guessed from the shapes of its tensors. Needs no torch."""

import math
import re
from collections.abc import Mapping
from typing import Any

from nt2vr.errors import ConfigError

Shapes = Mapping[str, tuple[int, ...]]
Config = dict[str, Any]

HEAD_WIDTH = 64  # width of attention heads in OpenAI's CLIPs; shapes do not determine it
RESNET_STRIDE = 32  # pixels per cell of a ResNet's last feature map
PLAIN = {  # keys that shapes determine; configurations with more are other kinds of models
    "vision_cfg": {"image_size", "layers", "patch_size", "width", "head_width", "mlp_ratio"},
    "text_cfg": {"context_length", "vocab_size", "width", "heads", "layers"},
}
TOKENS = {"hf_tokenizer_name", "pool_type", "eos_id"}  # of a tokenizer not CLIP's, told by its vocabulary's size


def infer(shapes: Shapes, known: Mapping[str, Config]) -> tuple[str, Config]:
    """Guess the architecture of a CLIP: the first known one that fits, or "" and one with OpenAI's heads of 64.

    Args:
        shapes: of its tensors, by open_clip's names, those of the text tower without "text.".
        known: configurations by name, which determine the number of attention heads; SigLIP's must be among them.
    """
    is_siglip = "visual.trunk.attn_pool.latent" in shapes
    try:
        if is_siglip:
            return next((name, config) for name, config in known.items() if _fits_siglip(shapes, config))
        config = _determined(shapes)
    except StopIteration:
        raise ConfigError("No SigLIP of open_clip has tensors of such shapes. Name the model.") from None
    except (LookupError, ValueError) as error:
        raise ConfigError(
            f"The tensors do not determine the architecture ({error} is missing or unusual). Name the model."
        ) from None
    for name, candidate in known.items():
        if _plain(candidate) and _comparable(candidate) == _comparable(config):
            return name, candidate
    vision, text = config["vision_cfg"], config["text_cfg"]
    for tower, width in (("visual", vision["width"]), ("text", text["width"])):
        if width % HEAD_WIDTH and not (tower == "visual" and isinstance(vision["layers"], list) and width % 2 == 0):
            raise ConfigError(
                f"The tensors do not determine the number of attention heads of a {tower} tower of width {width}. "
                "Name the model."
            )
    text["heads"] = text["width"] // HEAD_WIDTH
    return "", config


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


def _plain(config: Config) -> bool:
    return (
        all(keys >= set(config.get(tower, {})) - TOKENS for tower, keys in PLAIN.items())
        and not {"multimodal_cfg", "custom_text"} & config.keys()
    )


def _comparable(config: Config) -> tuple[object, ...]:
    """Return the values of a configuration that shapes determine, with open_clip's defaults filled in."""
    vision, text = config["vision_cfg"], config["text_cfg"]
    patch = None if isinstance(vision.get("layers"), list) else vision.get("patch_size", 16)
    return (
        config["embed_dim"],
        vision.get("image_size", 224) // (patch or RESNET_STRIDE),  # shapes do not show a remainder
        vision.get("layers", 12),
        vision.get("width", 768),
        patch,
        int(vision.get("mlp_ratio", 4.0) * vision.get("width", 768) + 1e-6) if patch else None,
        *(
            text.get(key, default)
            for key, default in (
                *(("context_length", 77), ("vocab_size", 49408), ("width", 512), ("layers", 12)),
                ("mlp_ratio", 4.0),
            )
        ),
    )


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
