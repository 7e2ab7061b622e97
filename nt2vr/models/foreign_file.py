"""Files of weights that other code wrote: reads their tensors and plain values, and runs no code.

PyTorch's weights-only loader does the work. What else a trainer saved along becomes an `Object` that holds its state.
"""

import json
import pickle  # only for the name of an error
import re
import zipfile
from collections.abc import Iterator, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

from nt2vr.errors import CheckpointError, reason_of

SUFFIXES = (".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".tar")
IN_FOLDERS = (  # in the order in which a folder is searched
    *("model.safetensors", "pytorch_model.bin"),
    *("open_clip_model.safetensors", "open_clip_pytorch_model.bin"),
)
SHARD = re.compile(r"(.+)-(\d{5})-of-(\d{5})(\.\w+)")
MAX_HEADER_BYTES = 32 << 20  # names and shapes of tensors: 0.1 MB for a ViT-L-14
MAX_CLASSES = 64  # of other objects in a file of PyTorch before 1.6: each takes another reading
MAX_NESTING = 64  # of modules and dicts in a file
NOT_ALLOWED = re.compile(r"Unsupported global: GLOBAL (\S+) was not an allowed global")  # torch's words
WITH_ITEMS = re.compile("Can only (?:append|SETITEM)|Only persistent_load of storage")  # likewise
SCRIPT = ("constants.pkl", "/code/", "/debug_pkl", "/ts_code/")  # what makes an archive a program, in names of members
MODULE_PARTS = ("_modules", "_parameters", "_buffers")  # of a pickled module's state


class Object:
    """Stands for an object of any class: takes any arguments, and keeps its state if that has names."""

    def __new__(cls, *_: object, **__: object) -> "Object":
        return super().__new__(cls)

    def __init__(self, *_: object, **__: object) -> None:
        """Ignore what the object was made of."""
        self.state: Mapping[str, object] = {}

    def __setstate__(self, state: object) -> None:
        """Keep the attributes, such as a module's tensors."""
        self.state = state if isinstance(state, Mapping) else {}


def files_of_model(path: Path) -> list[Path]:
    """Return the files of a model's weights: the file itself, or those in a folder, parts included.

    A CheckpointError says what else it is: a missing file, one part of several, a Git LFS pointer, a web page.
    """
    if path.is_dir():
        files = _files_in(path)
    elif path.is_file() and (match := SHARD.fullmatch(path.name)) and int(match[3]) > 1:
        raise CheckpointError(f"{path.name} is one of {int(match[3])} parts of a model. Import their folder.")
    else:
        files = [path]
    for file in files:
        _check_file(file)
    return files


def _files_in(folder: Path) -> list[Path]:
    if whole := [folder / name for name in IN_FOLDERS if (folder / name).is_file()]:
        return whole[:1]
    found = sorted(file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file())
    shards: dict[tuple[str, str], list[Path]] = {}
    for file in found:
        if match := SHARD.fullmatch(file.name):
            shards.setdefault((match[4], match[3]), []).append(file)
    for (_, count), parts in sorted(shards.items(), reverse=True):  # safetensors before bin
        if len(parts) == int(count):
            return parts
        raise CheckpointError(f"{folder} has {len(parts)} of the {int(count)} parts of a model. Get the others too.")
    if len(found) != 1:
        names = ", ".join(file.name for file in found[:3]) or f"none that ends in {', '.join(SUFFIXES)}"
        raise CheckpointError(f"{folder} does not say which of its files is the model ({names}). Name the file.")
    return found


def _check_file(file: Path) -> None:
    if file.suffix.lower() not in SUFFIXES:
        raise CheckpointError(
            f"{file.name} does not have a checkpoint's suffix. Choose a file that ends in {', '.join(SUFFIXES)}."
        )
    if not file.is_file():
        raise CheckpointError(f"There is no file {file}. Check the path.")
    with file.open("rb") as content:
        start = content.read(256).lstrip().lower()
    if start.startswith(b"version https://git-lfs"):
        raise CheckpointError(
            f"{file.name} is a Git LFS pointer, not the weights. Run `git lfs pull` in its repository."
        )
    if start.startswith((b"<!doctype", b"<html", b"<head", b"<?xml")):
        raise CheckpointError(f"{file.name} is a web page, not a checkpoint. Download the file itself again.")


def read_tensors(file: Path, header_bytes: int = MAX_HEADER_BYTES) -> Any:
    """Read the tensors and plain containers of a file, with an `Object` for each other thing.

    Args:
        header_bytes: limit of everything that is no tensor. No file may unpack to more than its own size.
    """
    import safetensors.torch  # noqa: PLC0415  imports torch

    _check_file(file)
    try:
        if file.suffix.lower() == ".safetensors":
            with file.open("rb") as start:
                _check_header(file, int.from_bytes(start.read(8), "little"), header_bytes)
            return safetensors.torch.load_file(file)
        return _load(file, header_bytes)
    except CheckpointError:
        raise
    except Exception as error:  # damaged and hostile files fail in many ways: in zip, pickle, safetensors, torch
        if found := re.search(r"GLOBAL ([\w.]{1,80})", str(error)):
            raise more_than_tensors(file, found[1]) from None
        if isinstance(error, pickle.UnpicklingError) and WITH_ITEMS.search(str(error)):
            raise more_than_tensors(file, "a dict, list or module of a class of its own") from None
        reason = "PyTorch did not write it" if isinstance(error, pickle.UnpicklingError) else reason_of(error)
        raise CheckpointError(f"{file.name} cannot be read ({reason}). Check that it is complete.") from error


def _load(file: Path, header_bytes: int) -> object:
    """Load a pickle, with `Object` for all classes that PyTorch does not allow."""
    import torch  # noqa: PLC0415  the page is up before torch is

    source: Path | BytesIO = file
    objects: list[Any] = []
    if is_zip := zipfile.is_zipfile(file):
        source = _without_program(file, header_bytes)
        for name in torch.serialization.get_unsafe_globals_in_checkpoint(source):
            objects += _standing_for(name)
    while True:
        try:
            if isinstance(source, BytesIO):
                source.seek(0)
            with torch.serialization.safe_globals(objects):
                mmap = is_zip and source is file
                return torch.load(source, map_location="cpu", weights_only=True, mmap=mmap)
        except pickle.UnpicklingError as error:
            found = NOT_ALLOWED.search(str(error))
            if not found or len(objects) >= 2 * MAX_CLASSES or (Object, found[1]) in objects:
                raise
            objects += _standing_for(found[1])


def _standing_for(name: str) -> list[Any]:
    return [(Object, name), (Object, f"builtins.{name}")]  # torch's lists leave "builtins." out


def _without_program(file: Path, header_bytes: int) -> Path | BytesIO:
    """Return an archive, or of a TorchScript archive a copy of its tensors alone; refuse those that would unpack."""
    with zipfile.ZipFile(file) as archive:
        members = [each for each in archive.infolist() if not any(part in each.filename for part in SCRIPT)]
        if sum(member.file_size for member in members) > file.stat().st_size:
            raise CheckpointError(f"{file.name} holds compressed or overlapping records. PyTorch writes none.")
        pickles = (each.file_size for each in members if each.filename.endswith(".pkl"))
        _check_header(file, max(pickles, default=0), header_bytes)
        if len(members) == len(archive.infolist()):
            return file
        copy = BytesIO()
        with zipfile.ZipFile(copy, "w") as tensors:
            for member in members:
                tensors.writestr(zipfile.ZipInfo(member.filename), archive.read(member))
        copy.seek(0)
        return copy


def _check_header(file: Path, size: int, header_bytes: int) -> None:
    if size > header_bytes:
        raise CheckpointError(
            f"The list of tensors in {file.name} takes {size >> 20:,} MB, more than the {header_bytes >> 20} "
            "that a model needs."
        )


def more_than_tensors(file: Path, what: str) -> CheckpointError:
    return CheckpointError(
        f"{file.name} holds more than tensors ({what}), and untrusted files are read for tensors only. If you trust "
        "it, save the model's state_dict() alone and import that."
    )


def named_tensors(content: object) -> dict[tuple[str, ...], Any]:
    """Map the path of each tensor in nested dicts and modules to it; what occurs twice is met once."""
    import torch  # noqa: PLC0415  the page is up before torch is

    def walk(value: object, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
        if isinstance(value, torch.Tensor):
            yield path, value
        inner = value.state if isinstance(value, Object) else value
        if isinstance(inner, Mapping) and len(path) < MAX_NESTING and id(inner) not in seen:
            seen.add(id(inner))
            for key, part in inner.items():
                yield from walk(part, path if key in MODULE_PARTS else (*path, str(key)))

    seen = set[int]()
    return dict(walk(content, ()))


def read_beside(file: Path, name: str) -> dict[str, Any]:
    """Read a JSON object in a file's folder; empty if there is none."""
    try:
        found = json.loads((file.parent / name).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
