"""Import of checkpoints that other code has written.

A `.pt`, `.pth`, `.bin` or `.safetensors` file becomes a checkpoint folder. Only tensors are read: nothing that a file
holds is ever run. They are named as OpenAI's and open_clip's CLIP names them, under whatever a training wrapped it in.
"""

import pickle  # for the name of an error: nothing is unpickled
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nt2vr.errors import CheckpointError, ConfigError, reason_of
from nt2vr.models.architecture import Config, infer
from nt2vr.models.card import Card
from nt2vr.models.catalog import Models
from nt2vr.models.checkpoint import build_model, check_finite, check_text_tower, read_configs, write_checkpoint

if TYPE_CHECKING:
    from torch import Tensor

SUFFIXES = (".pt", ".pth", ".bin", ".safetensors")
TOWER = re.compile(r"(?:^|(?<=\.))visual\.")  # what comes before it is what the model was wrapped in
NO_WEIGHTS = ("input_resolution", "context_length", "vocab_size", "attn_mask")  # numbers in OpenAI's own files
OF_BOTH_TOWERS = ("logit_scale", "logit_bias")
ACTIVATIONS = (QUICK_GELU, GELU) = ("QuickGELU", "GELU")
MAX_NESTING = 5  # of dicts in a file
MAX_FRAMES = 64
MAX_NAME = 60
NAMED = 3  # so many tensors are named where many are wrong


@dataclass(frozen=True)
class Imported:
    """A model that was imported: its name here, and what a person should know of how it was read."""

    name: str
    remark: str


def import_checkpoint(
    file: Path,
    models: Models,
    name: str = "",
    architecture: str = "",
    frames: int = 8,
    activation: str = "",
    report: Callable[[str], None] = lambda stage: None,
) -> Imported:
    """Read a checkpoint of other code, and write it as a checkpoint folder where new models go.

    Args:
        file: see above.
        models: what is there, and where it goes.
        name: what to call it; empty takes the file's.
        architecture: of open_clip, or a model that is there; empty tells it by the tensors' shapes.
        frames: of a video that it is to see.
        activation: that it was trained with, of ACTIVATIONS, for no shape tells it; empty takes the named
            architecture's, or QuickGELU where shapes are those of one of OpenAI's models, where most began.
        report: called with what is being done.

    Raises:
        CheckpointError: if the file cannot be read, or does not hold all tensors of the model.
        ConfigError: if name, architecture or frames cannot be used.
    """
    name = checked_name(name or file.stem, models)
    if not 1 <= frames <= MAX_FRAMES:
        raise ConfigError(f"A model cannot see {frames} frames of a video here: choose 1 to {MAX_FRAMES}.")
    report(f"reading {file.name}")
    weights, outside = _clip_tensors(_read(file), file)
    report("finding the architecture")
    architecture, model_cfg, preprocess_cfg = _architecture(architecture, weights, models)
    if activation:
        model_cfg = {**model_cfg, "quick_gelu": activation == QUICK_GELU}
    model = _filled(model_cfg, preprocess_cfg, weights, file)
    report(f"writing {name}")
    card = Card(name, objective="contrastive", base=f"imported from {file.name}", frames=frames)
    folder = models.home / (re.sub(r"[^\w.-]+", "-", name).strip("-.") or "model")
    write_checkpoint(folder, model, model_cfg, preprocess_cfg, card, fp16=False)
    used = QUICK_GELU if model_cfg.get("quick_gelu") else GELU
    remark = f"Read as {architecture or 'a CLIP of its own shape (attention heads of 64)'}, with {used}."
    if outside:
        remark += f" Left out, as no part of a CLIP: {_few(outside)}."
    return Imported(name, remark)


def checked_name(name: str, models: Models) -> str:
    """Return a name that drop-downs, links and system names can hold, and that nobody else has."""
    name = " ".join(name.split())
    if not name or len(name) > MAX_NAME or "|" in name or not name.isprintable():
        raise ConfigError(
            f"A model cannot be called {name[:MAX_NAME]!r}: choose 1 to {MAX_NAME} characters without |."
        )
    if name.casefold() in {known.casefold() for known in models.names()}:
        raise ConfigError(f"There is a model {name!r} already. Give this one another name.")
    return name


def _read(file: Path) -> object:
    """Read what a file holds, if that is nothing but tensors in containers."""
    import safetensors.torch  # noqa: PLC0415  imports torch
    import torch  # noqa: PLC0415  the page is up before torch is

    if file.suffix.lower() not in SUFFIXES:
        raise CheckpointError(
            f"{file.name} is no checkpoint by its name. Choose one that ends in {', '.join(SUFFIXES)}."
        )
    if not file.is_file():
        raise CheckpointError(f"There is no file {file}. Check the path.")
    try:
        if file.suffix.lower() == ".safetensors":
            return safetensors.torch.load_file(file)
        is_zip = zipfile.is_zipfile(file)
        if is_zip and any("/code/" in member for member in zipfile.ZipFile(file).namelist()):
            raise CheckpointError(
                f"{file.name} is a TorchScript archive, which holds code, as OpenAI's own files do. Save its "
                "state_dict() and import that, or download the model by name under “More models”."
            )
        return torch.load(file, map_location="cpu", weights_only=True, mmap=is_zip)
    except CheckpointError:
        raise
    except Exception as error:  # damaged and hostile files fail in many ways: in zip, pickle, safetensors, torch
        if found := re.search(r"GLOBAL ([\w.]+)", str(error)):
            raise CheckpointError(
                f"{file.name} holds more than tensors ({found[1]}), and nothing but tensors is read from a file that "
                "may run code. Save the model's state_dict() alone, where you trust it, and import that."
            ) from None
        reason = "PyTorch did not write it" if isinstance(error, pickle.UnpicklingError) else reason_of(error)
        raise CheckpointError(f"{file.name} cannot be read ({reason}). Check that it is whole.") from error


def _flat(value: object, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], "Tensor"]]:
    """Yield the tensors of nested dicts with the keys that lead to them."""
    import torch  # noqa: PLC0415  the page is up before torch is

    if isinstance(value, torch.Tensor):
        yield path, value
    elif isinstance(value, Mapping) and len(path) < MAX_NESTING:
        for key, part in value.items():
            yield from _flat(part, (*path, str(key)))


def _clip_tensors(content: object, file: Path) -> tuple[dict[str, "Tensor"], list[str]]:
    """Find the one CLIP in a file, wherever it is: under "state_dict", "model", "module.", "clip." or others.

    Returns:
        Its tensors by OpenAI's names, and the names of others that stand beside it in the same state dict.
    """
    tensors = {".".join(path): (path[:-1], tensor) for path, tensor in _flat(content)}
    wrappings = sorted({name[: match.start()] for name in tensors if (match := TOWER.search(name))})
    wrappings = [w for w in wrappings if any(f"{w}{text}token_embedding.weight" in tensors for text in ("", "text."))]
    if not wrappings:
        raise CheckpointError(
            f"{file.name} holds no CLIP with OpenAI's or open_clip's names (visual…, token_embedding.weight), but "
            f"{_few(list(tensors)) if tensors else 'no tensors'}. Choose another checkpoint."
        )
    if len(wrappings) > 1:
        places = _few([wrapping.rstrip(".") or "one at the top" for wrapping in wrappings])
        raise CheckpointError(f"{file.name} holds several models ({places}). Save the one that you want alone.")
    inside: dict[str, Tensor] = {}
    outside: list[str] = []
    state_dicts = {holder for name, (holder, _) in tensors.items() if name.startswith(wrappings[0])}
    for name, (holder, tensor) in tensors.items():
        if name.startswith(wrappings[0]):
            inside[name.removeprefix(wrappings[0]).removeprefix("text.")] = tensor
        elif holder in state_dicts:
            outside.append(name)
    return {name: tensor for name, tensor in inside.items() if name not in NO_WEIGHTS}, outside


def _architecture(named: str, weights: Mapping[str, "Tensor"], models: Models) -> tuple[str, Config, Config]:
    """Return name and configurations (of the model, of its preprocessing) that a person named or the shapes tell."""
    import open_clip  # noqa: PLC0415  takes seconds

    theirs = open_clip.list_models()
    ours = {name.casefold(): name for name in models.names()}
    if own := ours.get(named.strip().casefold()):
        return own, *read_configs(models.find(own).folders[0])
    if named.strip():
        if named.strip() not in theirs:
            near = get_close_matches(named.strip(), [*ours.values(), *theirs], 5, 0.3) or ["ViT-B-32"]
            raise ConfigError(f"There is no architecture {named.strip()!r}. Try {', '.join(near)}.")
        config: Config = open_clip.get_model_config(named.strip())
        check_text_tower(config, named)
        return named.strip(), config, {}
    own_configs = {name: read_configs(models.find(name).folders[0]) for name in models.kept()}
    known = {name: model_cfg for name, (model_cfg, _) in own_configs.items()}
    known |= {name: open_clip.get_model_config(name) for name in theirs if name not in known}
    found, config = infer({name: tuple(tensor.shape) for name, tensor in weights.items()}, known)
    if found in own_configs:
        return found, *own_configs[found]
    return found, {**config, "quick_gelu": found in open_clip.list_openai_models()}, {}


def _filled(model_cfg: Config, preprocess_cfg: Config, weights: Mapping[str, "Tensor"], file: Path) -> Any:
    """Return the model with the weights; it is built without memory of its own, so that shapes are compared first."""
    import torch  # noqa: PLC0415  the page is up before torch is

    with torch.device("meta"):
        model, _ = build_model(model_cfg, preprocess_cfg, "meta")
    expected: dict[str, Tensor] = model.state_dict()
    if "text.token_embedding.weight" in expected:
        apart = ("visual.", *OF_BOTH_TOWERS)
        weights = {name if name.startswith(apart) else f"text.{name}": tensor for name, tensor in weights.items()}
    counters = {name: torch.zeros((), dtype=torch.long) for name in expected if name.endswith("num_batches_tracked")}
    weights = {**counters, **weights}  # no embedding depends on them, and not every file has them
    wrong = {
        "missing": [name for name in expected if name not in weights],
        "unexpected": [name for name in weights if name not in expected],
        "of another shape": [
            n for n, tensor in weights.items() if n in expected and tensor.shape != expected[n].shape
        ],
    }
    if any(wrong.values()):
        reasons = "; ".join(f"{what}: {_few(names)}" for what, names in wrong.items() if names)
        raise CheckpointError(f"{file.name} does not fit its architecture ({reasons}). Name another architecture.")
    kept = (torch.float16, torch.float32, torch.int64)
    weights = {name: (t if t.dtype in kept else t.float()).clone() for name, t in weights.items()}
    check_finite(weights, file)
    model.load_state_dict(weights, assign=True)
    return model


def _few(names: Sequence[str]) -> str:
    """Name some of many."""
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(names[:NAMED]) + more
