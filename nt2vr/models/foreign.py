"""Import of checkpoints that other code wrote, which are untrusted: a child of limited memory reads tensors alone."""

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nt2vr.errors import CheckpointError, ConfigError, quoted, reason_of
from nt2vr.models.card import CARD, CONFIG, IMPORTED, SEQUENCE, Card, read_card
from nt2vr.models.checkpoint import (
    build_model,
    check_towers,
    read_checkpoint,
    read_configs,
    write_checkpoint,
)
from nt2vr.models.download import preprocessing
from nt2vr.models.foreign_file import (
    Found,
    Object,
    files_of_model,
    find_clip,
    more_than_tensors,
    named_tensors,
    read_tensors,
    some_of,
)
from nt2vr.models.open_clip_encoder import embed_dim_of
from nt2vr.models.options import GELU, QUICK_GELU, AddOptions
from nt2vr.models.origin import Built, ModelsHere, Origin
from nt2vr.models.tokenizer import TOKENIZER, VOCABULARY, load_tokenizer, needs_file
from nt2vr.models.weights import SCALARS, UNUSABLE, check_finite, shapes_of, unfilled
from nt2vr.progress import Progress

if TYPE_CHECKING:
    from torch import Tensor, nn

    Weights = dict[str, Tensor]

Config = dict[str, Any]
CHECKPOINT_OPTIONS = ("model", "key", "frames", "activation", "pooling", "positions")
RUN_NAME = re.compile(r"model_(.+?)-lr_")  # in the names of open_clip's training runs
PARAMS = "params.txt"  # of such a run, beside its folder of checkpoints
CONFIG_JSON, PREPROCESSOR = "config.json", "preprocessor_config.json"  # of transformers
RESAMPLINGS = {2: "bilinear", 3: "bicubic"}  # Pillow's numbers
HEAD_WIDTH = 64  # width of attention heads in OpenAI's CLIPs; shapes do not determine it
RESNET_STRIDE = 32  # pixels per cell of a ResNet's last feature map


@dataclass(frozen=True)
class _Architecture:
    """What a checkpoint is taken for, how that is known, and the folder of a model like it; a guess is said."""

    name: str
    model_cfg: Config
    preprocess_cfg: Config
    by: str = ""
    guess: bool = False
    folder: Path | None = None


@dataclass(frozen=True, kw_only=True)
class ForeignCheckpoint(Origin):
    """A file or folder of weights that other code wrote."""

    path: Path
    files: tuple[Path, ...]
    models: ModelsHere
    options: AddOptions

    @classmethod
    def of(cls, path: Path, options: AddOptions, models: ModelsHere) -> "ForeignCheckpoint":
        """Look at a file or folder without torch, which takes seconds; a CheckpointError says what it is instead."""
        options.check_used(CHECKPOINT_OPTIONS, path.name)
        files = tuple(files_of_model(path))
        size = sum(file.stat().st_size for file in files)
        return cls(
            title=path.name,
            doing=f"Importing {path.name}",
            disk_bytes=2 * size,  # it may be in half precision
            path=path,
            files=files,
            models=models,
            options=options,
        )

    def default_name(self, hidden: Path) -> str:
        return self.path.name if self.path.is_dir() else self.path.stem

    def weight_bytes(self, hidden: Path) -> int:
        return sum(file.stat().st_size for file in self.files)

    def build(self, hidden: Path, name: str, progress: Progress) -> Built:
        file = self.files[0]
        progress(0, 0, f"reading {file.name}")
        content = self._read()
        top = [str(key) for key in content] if isinstance(content, Mapping) else []
        clip = find_clip(named_tensors(content), top, file, self.options.key)

        progress(0, 0, "finding the architecture")
        architecture = _architecture(self.options, clip, content, file, self.models)
        model_cfg, preprocess_cfg = architecture.model_cfg, architecture.preprocess_cfg
        if self.options.activation:
            model_cfg["quick_gelu"] = self.options.activation == QUICK_GELU
        tokenizer = _tokenizer(architecture, self.files)
        model = _filled(model_cfg, preprocess_cfg, clip.weights, file)

        progress(0, 0, f"writing {name}")
        card, pooling = self._card(name, clip, embed_dim_of(model))
        write_checkpoint(hidden, model, model_cfg, preprocess_cfg, card, False, tokenizer, pooling)
        remark = _remark(architecture, clip, card, self.options)

        # Both would stay in memory while the model is tried out.
        clip.weights.clear()
        del model
        return Built(read_checkpoint(hidden), remark, architecture.guess)

    def _read(self) -> Any:
        """Return the content of the file, or of all parts in one."""
        content, *others = [read_tensors(file) for file in self.files]
        if isinstance(content, Object) and not content.state:
            raise more_than_tensors(self.files[0], "an object instead of a dict")
        if others:  # parts, or the base of what differs from it, which replaces its tensors
            content = {key: value for part in (*others, content) for key, value in part.items()}
        return content

    def _card(self, name: str, clip: Found, width: int) -> "tuple[Card, nn.Module | None]":
        """Return the card, with what the trainer does unless a person says otherwise, and the head, if any."""
        options, form = self.options, clip.form
        card = Card(
            name,
            objective="contrastive",
            base=_base_of(self.files[0]),
            frames=options.frames or form.frames,
            pooling=options.pooling or form.pooling,
            positions=options.positions or form.positions,
        )
        if (
            card.pooling.name != SEQUENCE
        ):  # of CLIP4Clip, with a head of attention per 64 of its width
            return card, None

        from nt2vr.models.pooling import filled_pooling  # noqa: PLC0415  imports torch

        head = {name: tensor.float() for name, tensor in clip.head.items()}
        try:
            card = card.replace(head={"heads": max(1, width // HEAD_WIDTH)})
            return card, filled_pooling(card, head, width)
        except (LookupError, ValueError, RuntimeError) as error:
            raise CheckpointError(
                f"The head of {self.files[0].name} cannot be used ({reason_of(error)})."
            ) from error


def _base_of(file: Path) -> str:
    """Return what a checkpoint was trained from as the card beside it says, or that it is imported."""
    if (file.parent / CARD).is_file():
        with suppress(CheckpointError):
            card = read_card(file.parent)
            if card.base:
                return card.base
    return f"{IMPORTED}{file.name}"


def _remark(architecture: _Architecture, found: Found, card: Card, options: AddOptions) -> str:
    """Say how a checkpoint was read, and of a guess that it is one."""
    used, other = (
        (QUICK_GELU, GELU) if architecture.model_cfg.get("quick_gelu") else (GELU, QUICK_GELU)
    )
    name = architecture.name or f"a CLIP of its own shape (attention heads of {HEAD_WIDTH})"
    remark = f"Read as {name}{architecture.by and ' by '}{architecture.by}, with {used}."
    if architecture.guess:
        switch = "--activation" if options.activation else f"--activation {other}"
        remark = f"A guess from the tensors' shapes: {name}, with {used}. If that is wrong, remove the model and "
        remark += f"add it with --model or {switch}."
    if found.form.trainer:
        how = f"{card.framing.frames} frames, {card.pooling.name}, {card.framing.positions}"
        remark += f" Recognised as a file of {found.form.trainer}: {how}."
    outside = found.outside if card.pooling.name == SEQUENCE else [*found.outside, *found.head]
    return f"{remark} Ignored, as not part of a CLIP: {some_of(outside)}." if outside else remark


def _architecture(
    options: AddOptions, found: Found, content: object, file: Path, models: ModelsHere
) -> _Architecture:
    """Return what a person named, what the files beside it say, or a guess; nothing else that is installed counts."""
    if named := options.model.strip():
        return _named(named, models)
    if not found.transformers and (file.parent / CONFIG).is_file():
        with suppress(*UNUSABLE):
            return _Architecture(file.parent.name, *read_configs(file.parent), by=CONFIG)
    for by, name in _noted(content, file):  # if the tensors fit it
        architecture = _of_open_clip(name, by)
        if not _fitted(architecture.model_cfg, found.weights)[2]:
            return architecture
    return _guessed(found, file)


def _named(name: str, models: ModelsHere) -> _Architecture:
    import open_clip  # noqa: PLC0415  takes seconds

    if own := models.named(name):
        folder = models.folder(own)
        return _Architecture(own, *read_configs(folder), folder=folder)
    if name in (theirs := open_clip.list_models()):
        return _of_open_clip(name)
    near = get_close_matches(name, [*models.names(), *theirs], 5, 0.3) or ["ViT-B-32"]
    raise ConfigError(f"Unknown model {quoted(name)}. Try {', '.join(near)}.")


def _of_open_clip(name: str, by: str = "") -> _Architecture:
    """Return one of open_clip's models, with the preprocessing that all its pre-trained weights share, if they do."""
    import open_clip  # noqa: PLC0415  takes seconds

    config: Config = open_clip.get_model_config(name)
    check_towers(config, name)
    first, *others = [
        preprocessing(name, tag) for tag in open_clip.list_pretrained_tags_by_model(name)
    ] or [{}]
    return _Architecture(name, config, first if all(other == first for other in others) else {}, by)


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


def _guessed(found: Found, file: Path) -> _Architecture:
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
        return _Architecture(name, {**config, "quick_gelu": True}, {}, "its shapes")
    return replace(_of_open_clip(name) if name else _Architecture(name, config, {}), guess=True)


def _of_transformers(name: str, config: Config, file: Path) -> _Architecture:
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
    return _Architecture(
        name, config, preprocess, CONFIG_JSON if told else "", guess=not told and not siglip
    )


def _tokenizer(architecture: _Architecture, files: Sequence[Path]) -> Any:
    """Read the tokenizer of a text tower: open_clip's own, next to a file, or of the model that a person named."""
    text_cfg = architecture.model_cfg["text_cfg"]
    folder = next(
        (each.parent for each in files if (each.parent / TOKENIZER).is_file()), architecture.folder
    )
    if folder is None and needs_file(text_cfg):
        name = quoted(text_cfg["hf_tokenizer_name"])
        raise ConfigError(
            f"The model needs the tokenizer {name}. Put its {TOKENIZER} next to {files[0].name}, or name a model here "
            "that has it: --model."
        )
    return load_tokenizer(folder, text_cfg)


def _filled(model_cfg: Config, preprocess_cfg: Config, weights: "Weights", file: Path) -> Any:
    """Build the model with the weights: first without memory, to compare shapes."""
    import torch  # noqa: PLC0415  the page is up before torch is

    model, weights, misfits = _fitted(model_cfg, weights, preprocess_cfg)
    if misfits:
        raise CheckpointError(f"{file.name} does not fit the model ({misfits}). Name another one.")
    supported = (torch.float16, torch.float32, torch.int64)
    weights = {
        name: (t if t.dtype in supported else t.float()).clone() for name, t in weights.items()
    }
    check_finite(weights, file)
    model.load_state_dict(weights, assign=True)
    return model


def _fitted(
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
            if _is_similar(config, shapes) and not _fitted(config, weights)[2]:
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
