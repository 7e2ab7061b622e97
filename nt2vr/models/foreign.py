"""Import of checkpoints written by other code.

A `.pt`, `.pth`, `.bin` or `.safetensors` file becomes a checkpoint folder. Files are untrusted: only tensors are read,
and no code in them runs. Tensors have the names of OpenAI's or open_clip's CLIP, under any wrapper's prefix.
"""

import os
import pickle  # only for the name of an error
import re
import shutil
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nt2vr.errors import CheckpointError, ConfigError, Nt2vrError, quoted, reason_of
from nt2vr.models.architecture import Config, infer
from nt2vr.models.card import Card
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
from nt2vr.models.spawn import run_limited
from nt2vr.models.tokenizer import TOKENIZER, load_tokenizer, needs_file
from nt2vr.progress import Progress, silent

if TYPE_CHECKING:
    from torch import Tensor

SUFFIXES = (".pt", ".pth", ".bin", ".safetensors")
TOWER = re.compile(r"(?:^|(?<=\.))visual\.")  # the text before it is the wrapper's prefix
NO_WEIGHTS = ("input_resolution", "context_length", "vocab_size", "attn_mask")  # numbers in OpenAI's own files
SHARED = ("logit_scale", "logit_bias")
ACTIVATIONS = (QUICK_GELU, GELU) = ("QuickGELU", "GELU")
MAX_NESTING = 5  # of dicts in a file
MAX_FRAMES = 64
MAX_NAME = 60
MAX_HEADER_BYTES = 32 << 20  # names and shapes of tensors: 0.1 MB for a ViT-L-14
MEMORY_BYTES = 3 << 30  # of a child that imports: PyTorch and open_clip, and
MEMORY_FACTOR = 6  # times the file: its mapping, a copy as float32, and the model read back
TIMEOUT_S = 600.0
NUM_EXAMPLES = 3  # tensors named in an error message


@dataclass(frozen=True)
class Imported:
    """An imported model: its name, and a remark for the person on how it was read."""

    name: str
    remark: str


def import_checkpoint(
    file: Path,
    models: Catalog,
    name: str = "",
    architecture: str = "",
    frames: int = 8,
    activation: str = "",
    progress: Progress = silent,
) -> Imported:
    """Import a checkpoint of other code as a checkpoint folder in the catalog, in a child of limited memory and time.

    Args:
        file: the checkpoint.
        models: the catalog.
        name: name of the new model; empty takes the file's.
        architecture: one of open_clip's, or a model in the catalog; empty infers it from the tensors' shapes.
        frames: frames per video.
        activation: the one it was trained with, of ACTIVATIONS, as shapes do not reveal it; empty takes the named
            architecture's, or QuickGELU if the shapes are those of an OpenAI model, from which most were trained.
        progress: gets the stage.

    Raises:
        CheckpointError: if the file cannot be read, or lacks a tensor of the model.
        ConfigError: if name, architecture or frames are invalid.
    """
    arguments = (file, models, name, architecture, frames, activation)
    try:
        size = file.stat().st_size if file.is_file() else 0
        imported: Imported = run_limited(
            _import, *arguments, memory_bytes=MEMORY_BYTES + MEMORY_FACTOR * size, timeout_s=TIMEOUT_S,
            progress=progress,
        )  # fmt: skip
    except MemoryError:
        raise CheckpointError(f"{file.name} takes too much memory to read. Save its state_dict() alone.") from None
    except TimeoutError:
        raise CheckpointError(f"{file.name} takes longer than {TIMEOUT_S // 60:.0f} minutes to read.") from None
    except Nt2vrError:
        raise
    except Exception as error:  # where memory ends, libraries fail in many ways
        raise CheckpointError(f"{file.name} cannot be imported ({reason_of(error)}).") from error
    return imported


def _import(
    file: Path, models: Catalog, name: str, architecture: str, frames: int, activation: str, progress: Progress
) -> Imported:
    """Import in this process; see `import_checkpoint`."""
    name = checked_name(name or file.stem, models)
    if not 1 <= frames <= MAX_FRAMES:
        raise ConfigError(f"A model cannot take {frames} frames per video: choose 1 to {MAX_FRAMES}.")
    progress(0, 3, f"reading {file.name}")
    weights, outside = _clip_tensors(_read(file), file)
    progress(1, 3, "finding the architecture")
    architecture, model_cfg, preprocess_cfg = _architecture(architecture, weights, models)
    tokenizer = _tokenizer(model_cfg["text_cfg"], file, models)
    if activation:
        model_cfg = {**model_cfg, "quick_gelu": activation == QUICK_GELU}
    model = _filled(model_cfg, preprocess_cfg, weights, file)
    progress(2, 3, f"writing {name}")
    card = Card(name, objective="contrastive", base=f"imported from {file.name}", frames=frames)
    folder = new_folder(name, models)
    hidden = folder.with_name(f".{folder.name}.{os.getpid()}.unchecked")
    try:
        write_checkpoint(hidden, model, model_cfg, preprocess_cfg, card, fp16=False, tokenizer=tokenizer)
        del model, weights
        _try_out(hidden, file)
        hidden.rename(folder)
    finally:
        shutil.rmtree(hidden, ignore_errors=True)
    used = QUICK_GELU if model_cfg.get("quick_gelu") else GELU
    remark = f"Read as {architecture or 'a CLIP of its own shape (attention heads of 64)'}, with {used}."
    if outside:
        remark += f" Ignored, as not part of a CLIP: {_some(outside)}."
    return Imported(name, remark)


def new_folder(name: str, models: Catalog) -> Path:
    """Return the folder that a new model is to have.

    Raises:
        CheckpointError: if there is one already.
    """
    folder = models.home / (re.sub(r"[^\w.-]+", "-", name).strip("-.") or "model")
    if folder.exists():
        raise CheckpointError(f"{folder} already exists. Choose another name or delete it.")
    return folder


def _try_out(folder: Path, file: Path) -> None:
    """Encode a sentence and a frame: shapes that fit do not make a model that works."""
    encoder = read_checkpoint(folder)
    try:
        text = encoder.encode_text(["a dog and not a cat"])
        picture = encoder.encode_frames(np.zeros((1, encoder.image_size, encoder.image_size, 3), np.uint8))
    except Exception as error:
        raise CheckpointError(
            f"{file.name} cannot encode a sentence or a picture ({reason_of(error)}), so it is no usable CLIP."
        ) from error
    if not (np.isfinite(text).all() and np.isfinite(picture).all()):
        raise CheckpointError(f"{file.name} encodes a sentence or a picture as values that are not finite.")


def _check_sizes(file: Path) -> None:
    """Refuse a file that would unpack to more than its own size, or is mostly no tensors, before it is loaded."""
    size, told = file.stat().st_size, 0
    if file.suffix.lower() == ".safetensors":
        with file.open("rb") as start:
            told = int.from_bytes(start.read(8), "little")
    elif zipfile.is_zipfile(file):
        with zipfile.ZipFile(file) as archive:
            members = archive.infolist()
        if sum(member.file_size for member in members) > size:
            raise CheckpointError(f"{file.name} holds compressed or overlapping records. PyTorch writes none.")
        told = max((m.file_size for m in members if m.filename.endswith(".pkl")), default=0)
    if told > MAX_HEADER_BYTES:
        raise CheckpointError(
            f"The list of tensors in {file.name} takes {told >> 20:,} MB, more than the {MAX_HEADER_BYTES >> 20} "
            "that a model needs."
        )


def checked_name(name: str, models: Catalog) -> str:
    """Return a unique name that fits into drop-downs, links and system names."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or "|" in name or not name.isprintable():
        raise ConfigError(f"A model cannot be named {name[:MAX_NAME]!r}: choose 1 to {MAX_NAME} characters without |.")
    if name.casefold() in {known.casefold() for known in models.names()}:
        raise ConfigError(f"There is already a model {quoted(name)}. Choose another name.")
    return name


def _read(file: Path) -> object:
    """Read a file that holds nothing but tensors in containers."""
    import safetensors.torch  # noqa: PLC0415  imports torch
    import torch  # noqa: PLC0415  the page is up before torch is

    if file.suffix.lower() not in SUFFIXES:
        raise CheckpointError(
            f"{file.name} does not have a checkpoint's suffix. Choose a file that ends in {', '.join(SUFFIXES)}."
        )
    if not file.is_file():
        raise CheckpointError(f"There is no file {file}. Check the path.")
    try:
        if file.suffix.lower() == ".safetensors":
            _check_sizes(file)
            return safetensors.torch.load_file(file)
        is_zip = zipfile.is_zipfile(file)
        if is_zip and any("/code/" in member for member in zipfile.ZipFile(file).namelist()):
            raise CheckpointError(
                f"{file.name} is a TorchScript archive, which holds code, as OpenAI's own files do. Save its "
                "state_dict() and import that, or download the model by name under “More models”."
            )
        _check_sizes(file)
        return torch.load(file, map_location="cpu", weights_only=True, mmap=is_zip)
    except CheckpointError:
        raise
    except Exception as error:  # damaged and hostile files fail in many ways: in zip, pickle, safetensors, torch
        if found := re.search(r"GLOBAL ([\w.]+)", str(error)):
            raise CheckpointError(
                f"{file.name} holds more than tensors ({found[1]}), and untrusted files are read for tensors only. "
                "If you trust it, save the model's state_dict() alone and import that."
            ) from None
        reason = "PyTorch did not write it" if isinstance(error, pickle.UnpicklingError) else reason_of(error)
        raise CheckpointError(f"{file.name} cannot be read ({reason}). Check that it is complete.") from error


def _flat(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], "Tensor"]]:
    """Yield the tensors of nested dicts with their paths of keys."""
    import torch  # noqa: PLC0415  the page is up before torch is

    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, Mapping) and len(path) < MAX_NESTING:
        for key, part in value.items():
            yield from _flat(part, (*path, str(key)))


def _clip_tensors(content: object, file: Path) -> tuple[dict[str, "Tensor"], list[str]]:
    """Find the one CLIP in a file, under "state_dict", "model", "module.", "clip." or any other prefix.

    Returns:
        Its tensors by OpenAI's names, and the names of the other tensors of the same state dict.
    """
    tensors = {".".join(path): (path[:-1], tensor) for path, tensor in _flat(content)}
    prefixes = sorted({name[: match.start()] for name in tensors if (match := TOWER.search(name))})
    prefixes = [p for p in prefixes if any(f"{p}{text}token_embedding.weight" in tensors for text in ("", "text."))]
    if not prefixes:
        raise CheckpointError(
            f"{file.name} holds no CLIP with OpenAI's or open_clip's names (visual…, token_embedding.weight), but "
            f"{_some(list(tensors)) if tensors else 'no tensors'}. Choose another checkpoint."
        )
    if len(prefixes) > 1:
        places = _some([prefix.rstrip(".") or "top level" for prefix in prefixes])
        raise CheckpointError(f"{file.name} holds several models ({places}). Save only the one you want.")
    inside: dict[str, Tensor] = {}
    outside: list[str] = []
    state_dicts = {holder for name, (holder, _) in tensors.items() if name.startswith(prefixes[0])}
    for name, (holder, tensor) in tensors.items():
        if name.startswith(prefixes[0]):
            inside[name.removeprefix(prefixes[0]).removeprefix("text.")] = tensor
        elif holder in state_dicts:
            outside.append(name)
    return {name: tensor for name, tensor in inside.items() if name not in NO_WEIGHTS}, outside


def _architecture(named: str, weights: Mapping[str, "Tensor"], models: Catalog) -> tuple[str, Config, Config]:
    """Return the name, model and preprocessing configuration that a person named or the shapes imply."""
    import open_clip  # noqa: PLC0415  takes seconds

    theirs = open_clip.list_models()
    ours = {name.casefold(): name for name in models.names()}
    if own := ours.get(named.strip().casefold()):
        return own, *read_configs(models.find(own).folders[0])
    if named.strip():
        if named.strip() not in theirs:
            near = get_close_matches(named.strip(), [*ours.values(), *theirs], 5, 0.3) or ["ViT-B-32"]
            raise ConfigError(f"Unknown architecture {quoted(named.strip())}. Try {', '.join(near)}.")
        config: Config = open_clip.get_model_config(named.strip())
        check_text_tower(config, named)
        return named.strip(), config, _usual_preprocessing(named.strip())
    entries = models.entries().items()
    own_configs = {name: read_configs(entry.folders[0]) for name, entry in entries if entry.kind == "model"}
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
    folders = [file.parent, *(entry.folders[0] for entry in models.entries().values())]
    for folder in folders:
        if (folder / TOKENIZER).is_file() and (folder == file.parent or _names_tokenizer(folder, text_cfg)):
            return load_tokenizer(folder, text_cfg)
    name = text_cfg["hf_tokenizer_name"]
    raise ConfigError(
        f"The model needs the tokenizer {quoted(name)}. Put its {TOKENIZER} next to {file.name}, or download a model "
        "with the same tokenizer first."
    )


def _names_tokenizer(folder: Path, text_cfg: Config) -> bool:
    found: Any = read_configs(folder)[0]["text_cfg"].get("hf_tokenizer_name")
    return bool(found == text_cfg["hf_tokenizer_name"])


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
        reasons = "; ".join(f"{how}: {_some(names)}" for how, names in wrong.items() if names)
        raise CheckpointError(f"{file.name} does not fit the architecture ({reasons}). Name another one.")
    supported = (torch.float16, torch.float32, torch.int64)
    weights = {name: (t if t.dtype in supported else t.float()).clone() for name, t in weights.items()}
    check_finite(weights, file)
    model.load_state_dict(weights, assign=True)
    return model


def _some(names: Sequence[str]) -> str:
    """Name the first few, and count the others."""
    more = f" and {len(names) - NUM_EXAMPLES} more" if len(names) > NUM_EXAMPLES else ""
    return ", ".join(names[:NUM_EXAMPLES]) + more
