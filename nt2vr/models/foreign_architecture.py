"""The architecture of a checkpoint that other code wrote: named, noted beside it, or guessed by shapes."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nt2vr.errors import ConfigError, quoted
from nt2vr.models.card import CONFIG
from nt2vr.models.checkpoint import read_configs
from nt2vr.models.download import preprocessing
from nt2vr.models.foreign_clip import Found, some_of
from nt2vr.models.open_clip_model import build_model, check_towers
from nt2vr.models.options import AddOptions
from nt2vr.models.origin import ModelsHere
from nt2vr.models.tokenizer import VOCABULARY, needs_file
from nt2vr.models.weights import SCALARS, UNUSABLE, shapes_of, unfilled

if TYPE_CHECKING:
    from torch import Tensor

    Weights = dict[str, Tensor]


Config = dict[str, Any]
RUN_NAME = re.compile(r"model_(.+?)-lr_")  # in the names of open_clip's training runs
PARAMS = "params.txt"  # of such a run, beside its folder of checkpoints
CONFIG_JSON, PREPROCESSOR = "config.json", "preprocessor_config.json"  # of transformers
RESAMPLINGS = {2: "bilinear", 3: "bicubic"}  # Pillow's numbers
HEAD_WIDTH = 64  # width of attention heads in OpenAI's CLIPs; shapes do not determine it
RESNET_STRIDE = 32  # pixels per cell of a ResNet's last feature map


@dataclass(frozen=True)
class Architecture:
    """What a checkpoint is taken for, how that is known, and the folder of a model like it; a guess is said."""

    name: str
    model_cfg: Config
    preprocess_cfg: Config
    by: str = ""
    guess: bool = False
    folder: Path | None = None


def architecture_of(
    options: AddOptions, found: Found, content: object, file: Path, models: ModelsHere
) -> Architecture:
    """Return what a person named, what the files beside it say, or a guess; nothing else that is installed counts."""
    if named := options.model.strip():
        return _named(named, models)
    if not found.transformers and (file.parent / CONFIG).is_file():
        with suppress(*UNUSABLE):
            return Architecture(file.parent.name, *read_configs(file.parent), by=CONFIG)
    for by, name in _noted(content, file):  # if the tensors fit it
        architecture = _of_open_clip(name, by)
        if not fitted(architecture.model_cfg, found.weights)[2]:
            return architecture
    return _guessed(found, file)


def _named(name: str, models: ModelsHere) -> Architecture:
    import open_clip  # noqa: PLC0415  takes seconds

    if own := models.named(name):
        folder = models.folder(own)
        return Architecture(own, *read_configs(folder), folder=folder)
    if name in (theirs := open_clip.list_models()):
        return _of_open_clip(name)
    near = get_close_matches(name, [*models.names(), *theirs], 5, 0.3) or ["ViT-B-32"]
    raise ConfigError(f"Unknown model {quoted(name)}. Try {', '.join(near)}.")


def _of_open_clip(name: str, by: str = "") -> Architecture:
    """Return one of open_clip's models, with the preprocessing that all its pre-trained weights share, if they do."""
    import open_clip  # noqa: PLC0415  takes seconds

    config: Config = open_clip.get_model_config(name)
    check_towers(config, name)
    first, *others = [
        preprocessing(name, tag) for tag in open_clip.list_pretrained_tags_by_model(name)
    ] or [{}]
    return Architecture(name, config, first if all(other == first for other in others) else {}, by)


def _noted(content: object, file: Path) -> Iterator[tuple[str, str]]:
    """Yield the models that open_clip's training notes in PARAMS, and in the run's name."""
    import open_clip  # noqa: PLC0415  takes seconds

    noted = {}
    for folder in (
        file.parent.parent,
        file.parent,
    ):  # the parameters lie one folder above the checkpoints
        with suppress(OSError, ValueError):
            text = (folder / PARAMS).read_text(encoding="utf-8")[:100_000]
            told = dict(line.split(": ", 1) for line in text.splitlines() if ": " in line)
            suffix = "-quickgelu" if told.get("force_quick_gelu", "").strip() == "True" else ""
            noted[PARAMS] = (
                told.get("model", "").strip().replace("/", "-").removesuffix(suffix) + suffix
            )
    if isinstance(content, Mapping) and (match := RUN_NAME.search(str(content.get("name")))):
        noted["the run's name"] = match[1]
    yield from ((by, name) for by, name in noted.items() if name in open_clip.list_models())


def _guessed(found: Found, file: Path) -> Architecture:
    """Guess by shapes; the papers' trainers, like OpenAI, use QuickGELU."""
    import open_clip  # noqa: PLC0415  takes seconds

    known = {name: open_clip.get_model_config(name) for name in open_clip.list_models()}
    name, config = infer(found.weights, known)
    tokens = config["text_cfg"].get("vocab_size", VOCABULARY)
    if tokens < VOCABULARY and not needs_file(config["text_cfg"]):
        raise ConfigError(
            f"{file.name} knows {tokens:,} tokens, fewer than CLIP's, so its tokenizer is unknown. Name the model "
            "that it started from: --model."
        )
    if found.transformers:
        return _of_transformers(name, config, file)
    if found.openais or found.form.trainer:
        return Architecture(name, {**config, "quick_gelu": True}, {}, "its shapes")
    return replace(_of_open_clip(name) if name else Architecture(name, config, {}), guess=True)


def _of_transformers(name: str, config: Config, file: Path) -> Architecture:
    """Complete a configuration by what transformers' files say; what they leave out are its defaults."""
    beside = dict[str, Config]()
    for each in (CONFIG_JSON, PREPROCESSOR):
        with suppress(OSError, ValueError, TypeError, RecursionError):
            beside[each] = dict(json.loads((file.parent / each).read_text(encoding="utf-8")))
    told, pictures = beside.get(CONFIG_JSON), beside.get(PREPROCESSOR, {})
    preprocess: Config = {}
    if siglip := "timm_model_name" in config["vision_cfg"]:
        preprocess = {"resize_mode": "squash", "mean": [0.5] * 3, "std": [0.5] * 3}
    elif told:
        vision, text = (dict(told.get(f"{side}_config") or {}) for side in ("vision", "text"))
        heads, width = int(vision.get("num_attention_heads", 12)), config["vision_cfg"]["width"]
        config["vision_cfg"]["head_width"] = width // heads
        config["text_cfg"]["heads"] = int(text.get("num_attention_heads", 8))
        config["quick_gelu"] = vision.get("hidden_act", "quick_gelu") == "quick_gelu"
    if all(map(pictures.get, ("image_mean", "image_std"))):
        preprocess |= {"mean": pictures["image_mean"], "std": pictures["image_std"]}
    if how := RESAMPLINGS.get(pictures.get("resample", 0)):
        preprocess["interpolation"] = how
    return Architecture(
        name, config, preprocess, CONFIG_JSON if told else "", guess=not told and not siglip
    )


def fitted(
    model_cfg: Config, weights: "Weights", preprocess_cfg: Config | None = None
) -> tuple[Any, "Weights", str]:
    """Return a model without memory, weights by its own names, and in what they do not fit it."""
    import torch  # noqa: PLC0415  the page is up before torch is

    with torch.device("meta"), unfilled():
        model = build_model(model_cfg, preprocess_cfg or {}, "meta")
    expected: Weights = model.state_dict()
    if "text.token_embedding.weight" in expected:
        beside = {name.split(".")[0] for name in expected} - {"text"}  # CoCa has a decoder, too
        weights = {
            name if name.split(".")[0] in beside else f"text.{name}": each
            for name, each in weights.items()
        }
    counters = {
        name: torch.zeros((), dtype=torch.long)
        for name in expected
        if name.endswith("num_batches_tracked")
    }
    weights = {**counters, **weights}  # embeddings do not depend on them, and some files lack them
    for name in {*SCALARS} & expected.keys() & weights.keys():
        weights[name] = weights[name].reshape(expected[name].shape)
    return model, weights, _misfits(expected, weights)


def _misfits(expected: "Weights", weights: "Weights") -> str:
    shared = expected.keys() & weights.keys()
    wrong = {
        "missing": expected.keys() - weights.keys(),
        "unexpected": weights.keys() - expected.keys(),
        "of a different shape": {
            name for name in shared if weights[name].shape != expected[name].shape
        },
    }
    return "; ".join(f"{how}: {some_of(sorted(names))}" for how, names in wrong.items() if names)


def infer(weights: "Weights", known: Mapping[str, Config]) -> tuple[str, Config]:
    """Guess the architecture of a CLIP: the first known one that fits, or "" and one with OpenAI's heads of 64.

    Args:
        weights: its tensors by open_clip's names, those of the text tower without "text."; their
            shapes count.
        known: configurations by name, which determine what no shape shows, such as the number of
            attention heads.
    """
    shapes = shapes_of(weights)
    for name, config in known.items():
        with suppress(ConfigError):  # open_clip 4 lists models that cannot be built here
            if _is_similar(config, shapes) and not fitted(config, weights)[2]:
                return name, config
    try:
        config = _determined(shapes)
    except (LookupError, ValueError) as error:
        raise ConfigError(
            f"The tensors do not determine the architecture ({error} is missing or unusual). Name the model."
        ) from None
    vision, text = config["vision_cfg"], config["text_cfg"]
    is_even_resnet = isinstance(vision["layers"], list) and vision["width"] % 2 == 0
    for tower, width, fits in (
        ("visual", vision["width"], is_even_resnet),
        ("text", text["width"], False),
    ):
        if width % HEAD_WIDTH and not fits:
            raise ConfigError(
                f"The tensors do not determine the number of attention heads of a {tower} tower of width {width}. "
                "Name the model."
            )
    return "", config


def _is_similar(config: Config, shapes: Mapping[str, Sequence[int]]) -> bool:
    """Whether a model may be worth the second that building it takes, by its kind, its tokens and its dimensions."""
    text = {"vocab_size": VOCABULARY, "width": 512, **config.get("text_cfg", {})}
    return (
        "hf_model_name" not in text
        and "vision_cfg" in config  # others are of sound
        and ("timm_model_name" in config["vision_cfg"])
        == any(name.startswith("visual.trunk.") for name in shapes)
        and (text["vocab_size"], text["width"]) == shapes.get("token_embedding.weight")
        and shapes.get("text_projection", [config["embed_dim"]])[-1] == config["embed_dim"]
    )


def _determined(shapes: Mapping[str, Sequence[int]]) -> Config:
    """Return a configuration of what shapes determine, with heads of HEAD_WIDTH."""

    def side(
        tower: str,
    ) -> int:  # of a square grid of positions, which has one more for the class token
        cells = shapes[f"visual.{tower}positional_embedding"][0] - 1
        if math.isqrt(cells) ** 2 != cells:
            raise ValueError("a square grid of positions")
        return math.isqrt(cells)

    def depth(modules: str) -> int:
        return len(
            {
                name.removeprefix(modules).split(".")[0]
                for name in shapes
                if name.startswith(modules)
            }
        )

    def mlp(tower: str, width: int) -> Config:
        hidden = shapes[f"{tower}transformer.resblocks.0.mlp.c_fc.weight"][0]
        return {} if hidden == 4 * width else {"mlp_ratio": hidden / width}

    if "visual.layer1.0.conv1.weight" in shapes:
        vision: Config = {
            "image_size": side("attnpool.") * RESNET_STRIDE,
            "layers": [depth(f"visual.layer{stage}.") for stage in (1, 2, 3, 4)],
            "width": shapes["visual.layer1.0.conv1.weight"][0],
        }
    else:
        width, _, patch, _ = shapes["visual.conv1.weight"]
        layers = depth("visual.transformer.resblocks.")
        vision = {
            "image_size": side("") * patch,
            "layers": layers,
            "width": width,
            "patch_size": patch,
        }
        vision |= mlp("visual.", width)
    width = shapes["ln_final.weight"][0]
    text = {
        "context_length": shapes["positional_embedding"][0],
        "vocab_size": shapes["token_embedding.weight"][0],
        "width": width,
        "heads": width // HEAD_WIDTH,
        "layers": depth("transformer.resblocks."),
    }
    return {
        "embed_dim": shapes["text_projection"][1],
        "vision_cfg": vision,
        "text_cfg": text | mlp("", width),
    }
