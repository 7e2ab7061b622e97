"""Import of checkpoints written by other code.

A `.pt`, `.pth`, `.bin`, `.tar` or `.safetensors` file becomes a checkpoint folder. Files are untrusted: only tensors
are read, and no code in them runs. Tensors have the names of OpenAI's or open_clip's CLIP, under any wrapper's prefix.
"""

import re
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import numpy as np

from nt2vr.errors import CheckpointError, ConfigError, Nt2vrError, quoted, reason_of
from nt2vr.files import check_free
from nt2vr.models.architecture import HEAD_WIDTH, Config, infer
from nt2vr.models.card import SEQUENCE, Card
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import (
    build_model,
    check_finite,
    check_text_tower,
    read_checkpoint,
    read_configs,
    write_checkpoint,
)
from nt2vr.models.downloads import preprocessing
from nt2vr.models.foreign_file import check_file, find_clip, read_tensors, some_of
from nt2vr.models.open_clip_encoder import embed_dim_of
from nt2vr.models.spawn import run_limited
from nt2vr.models.tokenizer import TOKENIZER, load_tokenizer, needs_file
from nt2vr.models.weights import UNUSABLE
from nt2vr.progress import Progress, silent

if TYPE_CHECKING:
    from torch import Tensor, nn

SHARED = ("logit_scale", "logit_bias")
ACTIVATIONS = (QUICK_GELU, GELU) = ("QuickGELU", "GELU")
MAX_FRAMES = 64
MAX_NAME = 60
MEMORY_BYTES = 3 << 30  # of a child that imports: PyTorch and open_clip, and
MEMORY_FACTOR = 6  # times the file: its mapping, a copy as float32, and the model read back
TIMEOUT_S = 600.0
UNCHECKED = ".unchecked"  # suffix of the hidden folder in which a model is written and tried out
LEFTOVER_S = 3600.0  # such a folder that is older than any import can be is left from an app that was killed


@dataclass(frozen=True)
class ImportOptions:
    """Facts about a checkpoint that its tensors do not tell.

    Attributes:
        name: of the new model; empty takes the file's.
        architecture: one of open_clip's, or a model in the catalog; empty infers it from the tensors' shapes.
        frames: per video; None takes the recognised trainer's, or 8.
        activation: the one it was trained with, of ACTIVATIONS; empty takes the named architecture's, or QuickGELU if
            the shapes are those of an OpenAI model, from which most were trained.
        pooling: of frame embeddings, MEAN or RAW_MEAN; empty takes the recognised trainer's, or MEAN.
        positions: of frames in a video, of POSITIONS; empty takes the recognised trainer's, or CENTRES.
    """

    name: str = ""
    architecture: str = ""
    frames: int | None = None
    activation: str = ""
    pooling: str = ""
    positions: str = ""


DEFAULTS = ImportOptions()


@dataclass(frozen=True)
class Imported:
    """An imported model: its name, and a remark for the person on how it was read."""

    name: str
    remark: str


def import_checkpoint(
    file: Path, models: Catalog, options: ImportOptions = DEFAULTS, progress: Progress = silent
) -> Imported:
    """Import a checkpoint of other code into the catalog, as a folder, in a child of limited memory and time."""
    hidden = models.home / f".{uuid4().hex}{UNCHECKED}"
    _remove_leftovers(models.home)
    name = _checked(file, models, options)  # here, as the child takes seconds to import torch
    try:
        size = file.stat().st_size
        check_free(models.home, 2 * size, f"Importing {file.name}")  # it may be in half precision
        memory_bytes = MEMORY_BYTES + MEMORY_FACTOR * size
        limits: dict[str, Any] = {"memory_bytes": memory_bytes, "timeout_s": TIMEOUT_S, "progress": progress}
        imported: Imported = run_limited(_import, file, models, hidden, replace(options, name=name), **limits)
    except MemoryError:
        raise CheckpointError(f"{file.name} takes too much memory to read. Save its state_dict() alone.") from None
    except TimeoutError:
        raise CheckpointError(f"{file.name} takes longer than {TIMEOUT_S // 60:.0f} minutes to read.") from None
    except Nt2vrError:
        raise
    except Exception as error:  # where memory ends, libraries fail in many ways
        raise CheckpointError(f"{file.name} cannot be imported ({reason_of(error)}).") from error
    finally:
        shutil.rmtree(hidden, ignore_errors=True)  # of a child that was killed
    return imported


def _remove_leftovers(home: Path) -> None:
    for hidden in home.glob(f".*{UNCHECKED}*"):
        with suppress(FileNotFoundError):  # its import has just ended
            if time.time() - hidden.stat().st_mtime > LEFTOVER_S:
                shutil.rmtree(hidden, ignore_errors=True)


def _checked(file: Path, models: Catalog, options: ImportOptions) -> str:
    """Return the new model's name, if it is free and there is such a file to import in such a way."""
    if options.frames is not None and not 1 <= options.frames <= MAX_FRAMES:
        raise ConfigError(f"A model cannot take {options.frames} frames per video: choose 1 to {MAX_FRAMES}.")
    name = checked_name(options.name or file.stem, models)
    check_file(file)
    return name


def _import(file: Path, models: Catalog, hidden: Path, options: ImportOptions, progress: Progress) -> Imported:
    """Import in this process, under `options.name`; see `import_checkpoint`."""
    name = options.name
    progress(0, 3, f"reading {file.name}")
    found = find_clip(read_tensors(file), file)
    weights, form = found.weights, found.form
    progress(1, 3, "finding the architecture")
    architecture, model_cfg, preprocess_cfg = _architecture(options.architecture, weights, models)
    tokenizer = _tokenizer(model_cfg["text_cfg"], file, models)
    if options.activation:
        model_cfg = {**model_cfg, "quick_gelu": options.activation == QUICK_GELU}
    model = _filled(model_cfg, preprocess_cfg, weights, file)
    progress(2, 3, f"writing {name}")
    origin = f"imported from {file.name}"
    card = Card(name, objective="contrastive", base=origin, frames=options.frames or form.frames)
    card = replace(card, pooling=options.pooling or form.pooling, positions=options.positions or form.positions)
    outside = [*found.outside, *(() if card.pooling == SEQUENCE else found.head)]
    pooling = _head(card, found.head, embed_dim_of(model), file) if card.pooling == SEQUENCE else None
    folder = new_folder(name, models)
    unchecked = hidden / folder.name
    try:
        write_checkpoint(unchecked, model, model_cfg, preprocess_cfg, card, False, tokenizer, pooling)
        weights.clear()
        del model
        _try_out(unchecked, file)
        unchecked.rename(folder)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)  # here too, as a child may outlive its parent
    used = QUICK_GELU if model_cfg.get("quick_gelu") else GELU
    remark = f"Read as {architecture or 'a CLIP of its own shape (attention heads of 64)'}, with {used}."
    if form.trainer:
        remark += f" Recognised as a file of {form.trainer}: {card.frames} frames, {card.pooling}, {card.positions}."
    if outside:
        remark += f" Ignored, as not part of a CLIP: {some_of(outside)}."
    if found.objects:
        remark += f" Ignored, as neither tensors nor plain values: {some_of(found.objects)}."
    return Imported(name, remark)


def _head(card: Card, weights: Mapping[str, "Tensor"], width: int, file: Path) -> "nn.Module":
    """Build CLIP4Clip's seqTransf, which has a head of attention per 64 of its width."""
    from nt2vr.models.pooling import filled_pooling  # noqa: PLC0415  imports torch

    try:
        head = {"heads": max(1, width // HEAD_WIDTH)}
        return filled_pooling(replace(card, head=head), {name: each.float() for name, each in weights.items()}, width)
    except (LookupError, ValueError, RuntimeError) as error:
        raise CheckpointError(f"The head of {file.name} cannot be used ({reason_of(error)}).") from error


def new_folder(name: str, models: Catalog) -> Path:
    folder = models.home / (re.sub(r"[^\w.-]+", "-", name).strip("-.") or "model")
    if folder.exists():
        raise CheckpointError(f"{folder} already exists. Choose another name or delete it.")
    return folder


def _try_out(folder: Path, file: Path) -> None:
    """Encode a sentence and a frame: shapes that fit do not make a model that works."""
    encoder = read_checkpoint(folder)
    try:
        text = encoder.encode_text(["a dog and not a cat"])
        picture = encoder.pool(
            encoder.encode_frames(np.zeros((1, encoder.image_size, encoder.image_size, 3), np.uint8))
        )
    except Exception as error:
        raise CheckpointError(
            f"{file.name} cannot encode a sentence or a picture ({reason_of(error)}), so it is no usable CLIP."
        ) from error
    if not (np.isfinite(text).all() and np.isfinite(picture).all()):
        raise CheckpointError(f"{file.name} encodes a sentence or a picture as values that are not finite.")


def checked_name(name: str, models: Catalog) -> str:
    """Return a unique name that fits into drop-downs, links and system names."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or "|" in name or not name.isprintable():
        raise ConfigError(f"A model cannot be named {name[:MAX_NAME]!r}: choose 1 to {MAX_NAME} characters without |.")
    if models.named(name):
        raise ConfigError(f"There is already a model {quoted(name)}. Choose another name.")
    return name


def _architecture(named: str, weights: Mapping[str, "Tensor"], models: Catalog) -> tuple[str, Config, Config]:
    """Return the name, model and preprocessing configuration that a person named or the shapes imply."""
    import open_clip  # noqa: PLC0415  takes seconds

    theirs = open_clip.list_models()
    if own := models.named(named):
        return own, *read_configs(models.folder(own))
    if named.strip():
        if named.strip() not in theirs:
            near = get_close_matches(named.strip(), [*models.names(), *theirs], 5, 0.3) or ["ViT-B-32"]
            raise ConfigError(f"Unknown architecture {quoted(named.strip())}. Try {', '.join(near)}.")
        config: Config = open_clip.get_model_config(named.strip())
        check_text_tower(config, named)
        return named.strip(), config, _usual_preprocessing(named.strip())
    own_configs: dict[str, tuple[Config, Config]] = {}
    for name, entry in models.entries().items():
        with suppress(*UNUSABLE):  # a broken folder
            if entry.kind == "model":
                own_configs[name] = read_configs(entry.folders[0])
    known = {name: model_cfg for name, (model_cfg, _) in own_configs.items()}
    known |= {name: open_clip.get_model_config(name) for name in theirs if name not in known}
    found, config = infer({name: tuple(tensor.shape) for name, tensor in weights.items()}, known)
    if found in own_configs:
        return found, *own_configs[found]
    return found, {**config, "quick_gelu": found in open_clip.list_openai_models()}, {}


def _usual_preprocessing(architecture: str) -> Config:
    """Return the preprocessing that all pre-trained models of an architecture share; open_clip's default otherwise."""
    import open_clip  # noqa: PLC0415  takes seconds

    tags = open_clip.list_pretrained_tags_by_model(architecture)
    first, *others = [preprocessing(architecture, tag) for tag in tags] or [{}]
    return first if all(other == first for other in others) else {}


def _tokenizer(text_cfg: Config, file: Path, models: Catalog) -> Any:
    """Find the tokenizer of a text tower: open_clip's own, next to the file, or in a model with the same one."""
    if not needs_file(text_cfg):
        return None
    folders = [file.parent, *(folder for entry in models.entries().values() for folder in entry.folders[:1])]
    for folder in folders:
        if (folder / TOKENIZER).is_file() and (folder == file.parent or _names_tokenizer(folder, text_cfg)):
            return load_tokenizer(folder, text_cfg)
    name = text_cfg["hf_tokenizer_name"]
    raise ConfigError(
        f"The model needs the tokenizer {quoted(name)}. Put its {TOKENIZER} next to {file.name}, or download a model "
        "with the same tokenizer first."
    )


def _names_tokenizer(folder: Path, text_cfg: Config) -> bool:
    with suppress(*UNUSABLE):  # a broken folder
        return bool(read_configs(folder)[0]["text_cfg"].get("hf_tokenizer_name") == text_cfg["hf_tokenizer_name"])
    return False


def _filled(model_cfg: Config, preprocess_cfg: Config, weights: Mapping[str, "Tensor"], file: Path) -> Any:
    """Build the model with the weights: first without memory, to compare shapes."""
    import torch  # noqa: PLC0415  the page is up before torch is

    with torch.device("meta"):
        model = build_model(model_cfg, preprocess_cfg, "meta")
    expected: dict[str, Tensor] = model.state_dict()
    if "text.token_embedding.weight" in expected:
        elsewhere = ("visual.", *SHARED)
        weights = {name if name.startswith(elsewhere) else f"text.{name}": tensor for name, tensor in weights.items()}
    counters = {name: torch.zeros((), dtype=torch.long) for name in expected if name.endswith("num_batches_tracked")}
    weights = {**counters, **weights}  # embeddings do not depend on them, and some files lack them
    wrong = {
        "missing": [name for name in expected if name not in weights],
        "unexpected": [name for name in weights if name not in expected],
        "of a different shape": [
            n for n, tensor in weights.items() if n in expected and tensor.shape != expected[n].shape
        ],
    }
    if any(wrong.values()):
        reasons = "; ".join(f"{how}: {some_of(names)}" for how, names in wrong.items() if names)
        raise CheckpointError(f"{file.name} does not fit the architecture ({reasons}). Name another one.")
    supported = (torch.float16, torch.float32, torch.int64)
    weights = {name: (t if t.dtype in supported else t.float()).clone() for name, t in weights.items()}
    check_finite(weights, file)
    model.load_state_dict(weights, assign=True)
    return model
