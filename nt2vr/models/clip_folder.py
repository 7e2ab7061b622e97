"""Folders of models that take whole clips: a card, and in `model` the library's files, but never code."""

import shutil
from collections.abc import Callable
from dataclasses import replace
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

import numpy as np

from nt2vr.errors import CheckpointError, ConfigError, reason_of
from nt2vr.files import check_free, check_writable, hash_file, parse_json
from nt2vr.models.card import Card, write_card
from nt2vr.models.clip_encoder import MODEL, ST, TRANSFORMERS, ClipModel
from nt2vr.models.download import Announce
from nt2vr.models.framing import LONGEST, ClipOptions
from nt2vr.models.hub import SPARE_BYTES, check_repository, remote_files, transfer
from nt2vr.models.untrusted import run_child, unchecked_folder
from nt2vr.progress import Progress

PREFIXES = {"st": ST, "hf": TRANSFORMERS}
WEIGHTS_SUFFIX, SUFFIXES = ".safetensors", (".safetensors", ".json", ".txt", ".model", ".jinja")
MODULES = "modules.json"  # of a folder of sentence-transformers
LIBRARIES = 1 << 30  # bytes of weights whose time and memory the libraries take as well
OWN_MODULES = "sentence_transformers."  # other modules would be code from elsewhere


class Source(NamedTuple):
    """Where a model comes from, and how it is to be read."""

    name: str
    loader: str
    revision: str
    options: ClipOptions


def is_clip_model(name: str) -> bool:
    """Whether a name to download is that of a model that takes clips: "st:OWNER/NAME"."""
    return name.partition(":")[0] in PREFIXES


def download(name: str, home: Path, progress: Progress, announce: Announce, options: ClipOptions) -> None:
    """Download "st:OWNER/NAME" or "hf:OWNER/NAME", which appears in `home` once it has passed the trial."""
    prefix, _, repository = name.partition(":")
    check_repository(repository)
    wanted = [file for each, file in remote_files(repository).items() if _is_wanted(Path(each))]
    size = _size({Path(file.name): file.size for file in wanted}, repository)
    announce(f"{name}: {size >> 20:,} MB to download.")

    def bring(target: Path) -> None:
        for file in wanted:
            transfer(file, target, progress, f"downloading {file.name}")
        shutil.rmtree(target / ".cache", ignore_errors=True)

    source = Source(name, PREFIXES[prefix], wanted[0].revision, options)
    _bring(source, home, size, f"Downloading {name}", bring, progress)


def add(folder: Path, home: Path, name: str, progress: Progress, options: ClipOptions) -> None:
    """Copy a folder of sentence-transformers or transformers into `home`; it is found by its name, "st:" before it."""
    files = (path for path in folder.rglob("*") if path.is_file() and _is_wanted(path.relative_to(folder)))
    sizes = {path.relative_to(folder): path.stat().st_size for path in files}

    def bring(target: Path) -> None:
        for path in sizes:
            (target / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(folder / path, target / path)

    size, source = _size(sizes, folder.name), Source(name, loader_of(folder), "", options)
    _bring(source, home, size, f"Adding {folder.name}", bring, progress)


def loader_of(folder: Path) -> str:
    """Tell a folder of sentence-transformers from one of transformers."""
    if not (folder / MODULES).is_file() and not (folder / "config.json").is_file():
        raise CheckpointError(f"{folder} is no folder of sentence-transformers or transformers. Choose another one.")
    return ST if (folder / MODULES).is_file() else TRANSFORMERS


def _is_wanted(path: Path) -> bool:
    hidden = any(part.startswith(".") for part in path.parts)
    return path.suffix in SUFFIXES and not hidden and path.parts[0] not in ("onnx", "openvino")


def _size(files: dict[Path, int], name: str) -> int:
    if not any(path.suffix == WEIGHTS_SUFFIX for path in files):
        raise CheckpointError(f"{name} has no weights as {WEIGHTS_SUFFIX}. Choose a model that has.")
    return sum(files.values())


def _bring(
    source: Source, home: Path, size: int, doing: str, bring: Callable[[Path], None], progress: Progress
) -> None:
    """Bring the files of a model, try it out in a child, write its card, and let it appear."""
    check_writable(home)
    check_free(home, size + SPARE_BYTES, doing)
    with unchecked_folder(home) as hidden:
        bring(hidden / MODEL)
        folder = home / source.name.replace(":", "--").replace("/", "--")
        if folder.exists():
            raise CheckpointError(f"{folder} is there already. Remove the model to add it again.")
        size += LIBRARIES
        card: Card = run_child(_tried, hidden.absolute(), source, size=size, name=source.name, progress=progress)
        write_card(hidden, card)
        hidden.rename(folder)


def _tried(hidden: Path, source: Source, progress: Progress) -> Card:
    """Load a model, embed a sentence and a clip, and return its card."""
    progress(0, 0, "trying it out")
    modules, options = hidden / MODEL / MODULES, source.options
    if source.loader == ST and modules.is_file():
        kinds = [str(each.get("type", "")) for each in parse_json(modules.read_text(encoding="utf-8"))]
        if not all(kind.startswith(OWN_MODULES) for kind in kinds):
            raise CheckpointError(f"{source.name} needs code of its own, which is never run. Choose another model.")
    if source.loader == TRANSFORMERS and (options.instruction or options.dimensions):
        raise ConfigError(f"{source.name} takes neither an instruction nor a number of dimensions. Leave them out.")
    digest = blake2b(digest_size=16)
    for path in sorted(path for path in (hidden / MODEL).rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(hidden).as_posix()} {hash_file(path)}\n".encode())
    given = {"instruction": options.instruction, "dimensions": options.dimensions, "revision": source.revision}
    card = Card(
        source.name,
        objective="whole clips",
        data=f"{source.name.partition(':')[2]}, by its authors",
        visual_fingerprint=digest.hexdigest(),
        text_fingerprint=digest.hexdigest(),
        clip={"loader": source.loader, **{name: value for name, value in given.items() if value}},
    )
    model = ClipModel(hidden, card=card)
    defaults = model.backend.defaults  # which are the model's files' words, where a person has none
    height, width = options.shape or defaults["size"]
    count = options.frames or defaults["frames"]
    clip = {
        "fps": options.fps or defaults["fps"],
        "least": min(count, defaults["least"]),
        "framing": {"width": width, "resize_mode": defaults.get("resize_mode", LONGEST)},
    }
    model.card = card = replace(card, frames=count, image_size=height, clip={**card.clip, **clip})
    frames = np.zeros((1, card.frames, *card.framing.shape, 3), np.uint8)
    try:
        rows = model.encode_text(["a dog and not a cat"]), model.encode_clips(frames)
    except Exception as error:
        raise CheckpointError(f"{source.name} cannot embed a clip or a sentence ({reason_of(error)}).") from error
    if rows[0].shape != rows[1].shape or not all(np.isfinite(each).all() and each.any() for each in rows):
        raise CheckpointError(f"{source.name} embeds clips and sentences as vectors that cannot be compared.")
    return replace(card, clip={**card.clip, "dimensions": model.embed_dim})
