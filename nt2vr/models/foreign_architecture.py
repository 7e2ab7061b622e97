"""The architecture of a checkpoint that other code wrote: named, noted beside it, or guessed by shapes."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, NamedTuple

from nt2vr.errors import ConfigError, quoted
from nt2vr.models.card import CONFIG, read_configs
from nt2vr.models.download import preprocessing
from nt2vr.models.foreign_clip import ForeignClip, some_of
from nt2vr.models.framing import Config
from nt2vr.models.open_clip_model import build_model, check_towers
from nt2vr.models.options import AddOptions
from nt2vr.models.origin import ModelsHere
from nt2vr.models.tokenizer import VOCABULARY, needs_file
from nt2vr.models.weights import UNUSABLE, StateDict, reshape_scalars, shapes_of, unfilled

# Of tensors by their names.
Shapes = Mapping[str, Sequence[int]]
# In the names of open_clip's training runs.
RUN_NAME = re.compile(r"model_(.+?)-lr_")
# Of such a run, beside its folder of checkpoints.
PARAMS = "params.txt"
MAX_PARAMS = 100_000  # characters
# Of transformers.
CONFIG_JSON = "config.json"
PREPROCESSOR = "preprocessor_config.json"
# Pillow's numbers.
RESAMPLINGS = {2: "bilinear", 3: "bicubic"}
# Width of attention heads in OpenAI's CLIPs; shapes do not determine it.
HEAD_WIDTH = 64
# Pixels per cell of a ResNet's last feature map.
RESNET_STRIDE = 32


@dataclass(frozen=True)
class Architecture:
    """What a checkpoint is taken for.

    Attributes:
        name: of the architecture, or of the model that a person named; empty for one of its own.
        model_cfg: open_clip's configuration.
        preprocess_cfg: open_clip's; empty for its defaults.
        source: how that is known, as a message says it; empty if a person says it.
        is_guess: whether shapes alone say it.
        folder: of the model that a person named.
    """

    name: str
    model_cfg: Config
    preprocess_cfg: Config
    source: str = ""
    is_guess: bool = False
    folder: Path | None = None


def architecture_of(
    options: AddOptions, clip: ForeignClip, content: object, file: Path, models: ModelsHere
) -> Architecture:
    """Return what a person named, what the files beside it say, or a guess; nothing else that is installed counts."""
    name = options.model.strip()
    if name:
        return _named(name, models)
    if not clip.has_transformers_names and (file.parent / CONFIG).is_file():
        with suppress(*UNUSABLE):
            return Architecture(file.parent.name, *read_configs(file.parent), source=CONFIG)
    for source, name in _noted(content, file):
        architecture = _of_open_clip(name, source)
        if not fitted(architecture.model_cfg, clip.weights).misfits:
            return architecture
    return _guessed(clip, file)


def _named(name: str, models: ModelsHere) -> Architecture:
    import open_clip  # noqa: PLC0415  takes seconds

    catalog_name = models.named(name)
    if catalog_name:
        folder = models.folder(catalog_name)
        return Architecture(catalog_name, *read_configs(folder), folder=folder)
    architectures = open_clip.list_models()
    if name in architectures:
        return _of_open_clip(name)
    all_names = [*models.names(), *architectures]
    similar_names = get_close_matches(name, all_names, n=5, cutoff=0.3) or ["ViT-B-32"]
    raise ConfigError(f"Unknown model {quoted(name)}. Try {', '.join(similar_names)}.")


def _of_open_clip(name: str, source: str = "") -> Architecture:
    """Return one of open_clip's models, with the preprocessing that all its pre-trained weights share, if they do."""
    import open_clip  # noqa: PLC0415  takes seconds

    config: Config = open_clip.get_model_config(name)
    check_towers(config, name)
    tags = open_clip.list_pretrained_tags_by_model(name)
    preprocess_cfgs = [preprocessing(name, tag) for tag in tags] or [{}]
    preprocess_cfg = preprocess_cfgs[0]
    # Its weights were trained with different ones.
    if any(tag_cfg != preprocess_cfg for tag_cfg in preprocess_cfgs):
        preprocess_cfg = {}
    return Architecture(name, config, preprocess_cfg, source)


def _noted(content: object, file: Path) -> Iterator[tuple[str, str]]:
    """Yield the models that open_clip's training notes in PARAMS and in the run's name, after where it does."""
    import open_clip  # noqa: PLC0415  takes seconds

    noted = {}
    # The parameters lie one folder above the checkpoints.
    for folder in (file.parent.parent, file.parent):
        with suppress(OSError, ValueError):
            noted[PARAMS] = _model_in_params(folder / PARAMS)
    if isinstance(content, Mapping):
        match = RUN_NAME.search(str(content.get("name")))
        if match:
            noted["the run's name"] = match[1]
    architectures = open_clip.list_models()
    for source, name in noted.items():
        if name in architectures:
            yield source, name


def _model_in_params(file: Path) -> str:
    lines = file.read_text(encoding="utf-8")[:MAX_PARAMS].splitlines()
    params = dict(line.split(": ", 1) for line in lines if ": " in line)
    name = params.get("model", "").strip().replace("/", "-")
    if params.get("force_quick_gelu", "").strip() == "True":
        return name.removesuffix("-quickgelu") + "-quickgelu"
    return name


def _guessed(clip: ForeignClip, file: Path) -> Architecture:
    """Guess by shapes; the papers' trainers, like OpenAI, use QuickGELU."""
    import open_clip  # noqa: PLC0415  takes seconds

    configs = {name: open_clip.get_model_config(name) for name in open_clip.list_models()}
    name, config = infer(clip.weights, configs)
    num_tokens = config["text_cfg"].get("vocab_size", VOCABULARY)
    if num_tokens < VOCABULARY and not needs_file(config["text_cfg"]):
        raise ConfigError(
            f"{file.name} knows {num_tokens:,} tokens, fewer than CLIP's, so its tokenizer is unknown. Name the model "
            "that it started from: --model."
        )
    if clip.has_transformers_names:
        return _of_transformers(name, config, file)
    if clip.is_openais or clip.form.trainer:
        return Architecture(name, {**config, "quick_gelu": True}, {}, source="its shapes")
    architecture = _of_open_clip(name) if name else Architecture(name, config, {})
    return replace(architecture, is_guess=True)


def _of_transformers(name: str, config: Config, file: Path) -> Architecture:
    """Complete a configuration by what transformers' files say; what they leave out are its defaults."""
    their_config = _read_dict(file.parent / CONFIG_JSON)
    their_preprocessor = _read_dict(file.parent / PREPROCESSOR)
    is_siglip = "timm_model_name" in config["vision_cfg"]
    preprocess = {}
    if is_siglip:
        preprocess = {"resize_mode": "squash", "mean": [0.5] * 3, "std": [0.5] * 3}
    elif their_config:
        config = _completed(config, their_config)

    if their_preprocessor.get("image_mean") and their_preprocessor.get("image_std"):
        preprocess |= {
            "mean": their_preprocessor["image_mean"],
            "std": their_preprocessor["image_std"],
        }
    interpolation = RESAMPLINGS.get(their_preprocessor.get("resample", 0))
    if interpolation:
        preprocess["interpolation"] = interpolation
    if their_config:
        return Architecture(name, config, preprocess, source=CONFIG_JSON)
    return Architecture(name, config, preprocess, is_guess=not is_siglip)


def _read_dict(file: Path) -> Config:
    with suppress(OSError, ValueError, TypeError, RecursionError):
        return dict(json.loads(file.read_text(encoding="utf-8")))
    return {}


def _completed(config: Config, their_config: Config) -> Config:
    """Return open_clip's configuration with what transformers' one of a CLIP says, and no shape."""
    their_vision = dict(their_config.get("vision_config") or {})
    their_text = dict(their_config.get("text_config") or {})
    num_heads = int(their_vision.get("num_attention_heads", 12))
    head_width = config["vision_cfg"]["width"] // num_heads
    text_heads = int(their_text.get("num_attention_heads", 8))
    activation = their_vision.get("hidden_act", "quick_gelu")
    return {
        **config,
        "vision_cfg": {**config["vision_cfg"], "head_width": head_width},
        "text_cfg": {**config["text_cfg"], "heads": text_heads},
        "quick_gelu": activation == "quick_gelu",
    }


class FittedModel(NamedTuple):
    """A model without memory, and weights that are compared with it.

    Attributes:
        weights: by the model's own names.
        misfits: in what they do not fit it; empty if they do.
    """

    model: Any
    weights: StateDict
    misfits: str


def fitted(
    model_cfg: Config, weights: StateDict, preprocess_cfg: Config | None = None
) -> FittedModel:
    import torch  # noqa: PLC0415  the page is up before torch is

    with torch.device("meta"), unfilled():
        model = build_model(model_cfg, preprocess_cfg or {}, "meta")
    expected: StateDict = model.state_dict()
    renamed = {}
    # Embeddings do not depend on these counters, and some files lack them.
    for name in expected:
        if name.endswith("num_batches_tracked"):
            renamed[name] = torch.zeros((), dtype=torch.long)
    renamed |= _with_text_prefix(weights, expected)
    reshape_scalars(renamed, expected)
    return FittedModel(model, renamed, _misfits(expected, renamed))


def _with_text_prefix(weights: StateDict, expected: StateDict) -> StateDict:
    """Put the text tower's tensors under "text.", if the model has that tower there."""
    if "text.token_embedding.weight" not in expected:
        return weights
    # The decoder of a CoCa, too, is beside the text tower.
    beside_text = {name.split(".")[0] for name in expected} - {"text"}
    renamed = {}
    for name, tensor in weights.items():
        if name.split(".")[0] not in beside_text:
            name = f"text.{name}"
        renamed[name] = tensor
    return renamed


def _misfits(expected: StateDict, weights: StateDict) -> str:
    common_names = expected.keys() & weights.keys()
    names_by_problem = {
        "missing": expected.keys() - weights.keys(),
        "unexpected": weights.keys() - expected.keys(),
        "of a different shape": {
            name for name in common_names if weights[name].shape != expected[name].shape
        },
    }
    return "; ".join(
        f"{problem}: {some_of(sorted(names))}"
        for problem, names in names_by_problem.items()
        if names
    )


def infer(weights: StateDict, configs: Mapping[str, Config]) -> tuple[str, Config]:
    """Guess the architecture of a CLIP: the first one given that fits, or "" and one with OpenAI's heads of 64.

    Args:
        weights: its tensors by open_clip's names, those of the text tower without "text."; their
            shapes count.
        configs: configurations by name, which determine what no shape shows, such as the number of
            attention heads.
    """
    shapes = shapes_of(weights)
    for name, config in configs.items():
        # open_clip 4 lists models that cannot be built here.
        with suppress(ConfigError):
            if _is_similar(config, shapes) and not fitted(config, weights).misfits:
                return name, config
    try:
        config = _determined(shapes)
    except (LookupError, ValueError) as error:
        raise ConfigError(
            f"The tensors do not determine the architecture ({error} is missing or unusual). Name the model."
        ) from None
    vision = config["vision_cfg"]
    is_even_resnet = isinstance(vision["layers"], list) and vision["width"] % 2 == 0
    if not is_even_resnet:
        _check_heads("visual", vision["width"])
    _check_heads("text", config["text_cfg"]["width"])
    return "", config


def _check_heads(tower: str, width: int) -> None:
    if width % HEAD_WIDTH:
        raise ConfigError(
            f"The tensors do not determine the number of attention heads of a {tower} tower of width {width}. "
            "Name the model."
        )


def _is_similar(config: Config, shapes: Shapes) -> bool:
    """Whether a model may be worth the second that building it takes, by its kind, its tokens and its dimensions."""
    text = {"vocab_size": VOCABULARY, "width": 512, **config.get("text_cfg", {})}
    # Models without pictures are of sound.
    if "hf_model_name" in text or "vision_cfg" not in config:
        return False
    is_timm = "timm_model_name" in config["vision_cfg"]
    if is_timm != any(name.startswith("visual.trunk.") for name in shapes):
        return False
    if (text["vocab_size"], text["width"]) != shapes.get("token_embedding.weight"):
        return False
    projection = shapes.get("text_projection")
    return projection is None or projection[-1] == config["embed_dim"]


def _determined(shapes: Shapes) -> Config:
    """Return a configuration of what shapes determine, with heads of HEAD_WIDTH."""
    vision = _vision_of(shapes)
    width = shapes["ln_final.weight"][0]
    text = {
        "context_length": shapes["positional_embedding"][0],
        "vocab_size": shapes["token_embedding.weight"][0],
        "width": width,
        "heads": width // HEAD_WIDTH,
        "layers": _depth(shapes, "transformer.resblocks."),
    }
    return {
        "embed_dim": shapes["text_projection"][1],
        "vision_cfg": vision,
        "text_cfg": {**text, **_mlp_ratio(shapes, "", width)},
    }


def _vision_of(shapes: Shapes) -> Config:
    if "visual.layer1.0.conv1.weight" in shapes:
        side = _grid_side(shapes["visual.attnpool.positional_embedding"][0])
        return {
            "image_size": side * RESNET_STRIDE,
            "layers": [_depth(shapes, f"visual.layer{stage}.") for stage in (1, 2, 3, 4)],
            "width": shapes["visual.layer1.0.conv1.weight"][0],
        }
    width, _, patch, _ = shapes["visual.conv1.weight"]
    return {
        "image_size": _grid_side(shapes["visual.positional_embedding"][0]) * patch,
        "layers": _depth(shapes, "visual.transformer.resblocks."),
        "width": width,
        "patch_size": patch,
        **_mlp_ratio(shapes, "visual.", width),
    }


def _grid_side(num_positions: int) -> int:
    """Return the side of a square grid of positions, which has one more for the class token."""
    side = math.isqrt(num_positions - 1)
    if side**2 != num_positions - 1:
        raise ValueError("a square grid of positions")
    return side


def _depth(shapes: Shapes, modules: str) -> int:
    """Return how many modules have names that begin so."""
    names = (name.removeprefix(modules) for name in shapes if name.startswith(modules))
    return len({name.split(".")[0] for name in names})


def _mlp_ratio(shapes: Shapes, tower: str, width: int) -> Config:
    """Return the setting of a tower whose MLPs are not of open_clip's default width."""
    hidden = shapes[f"{tower}transformer.resblocks.0.mlp.c_fc.weight"][0]
    return {} if hidden == 4 * width else {"mlp_ratio": hidden / width}
