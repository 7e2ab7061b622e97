"""Files of weights that other code wrote: reads their tensors, and runs no code.

PyTorch's weights-only loader does the work. What else a trainer saved along becomes an `Object`
that holds its state.
"""

import pickle
import re
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from io import BytesIO
from pathlib import Path
from typing import Any

from nt2vr.errors import DAMAGED, CheckpointError, reason_of
from nt2vr.models.card import DIFFERENCE, WEIGHTS, read_card
from nt2vr.models.difference import whole_folder

SUFFIXES = (".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".tar")
# In the order in which a folder is searched.
IN_FOLDERS = (
    "model.safetensors",
    "pytorch_model.bin",
    "open_clip_model.safetensors",
    "open_clip_pytorch_model.bin",
)
PART = re.compile(r"-\d{5}-of-(\d{5})\.\w+$")
# Of other objects in a file that torch cannot list: each takes another reading.
MAX_CLASSES = 128
# Of modules and dicts in a file.
MAX_NESTING = 64
# In torch's errors.
NOT_ALLOWED = re.compile(r"Unsupported global: GLOBAL (\S+) was not an allowed global")
# Likewise, and what the file holds besides tensors.
REFUSED = (
    (re.compile(r"GLOBAL ([\w.]{1,80})"), r"\1"),
    (
        re.compile("Can only (?:append|SETITEM)|Only persistent_load of storage"),
        "a collection of a class of its own",
    ),
)
# What makes an archive a program, in names of members.
SCRIPT = ("constants.pkl", "/code/", "/debug_pkl", "/ts_code/")
# Of a pickled module's state.
MODULE_PARTS = ("_modules", "_parameters", "_buffers")
# By the first bytes of files that are often taken for weights: what they are.
NO_WEIGHTS = {
    b"version https://git-lfs": "a Git LFS pointer, not the weights. Run `git lfs pull` in its repository.",
    **dict.fromkeys(
        (b"<!doctype", b"<html", b"<head", b"<?xml"),
        "a web page, not a checkpoint. Download the file itself again.",
    ),
}
# The keys that lead to a tensor.
KeyPath = tuple[str, ...]


class Object:
    """Stands for an object of any class: takes any arguments, and keeps its state if that has names."""

    def __new__(cls, *_: object, **__: object) -> "Object":
        return super().__new__(cls)

    def __init__(self, *_: object, **__: object) -> None:
        self.state: Mapping[str, object] = {}

    def __setstate__(self, state: object) -> None:
        self.state = state if isinstance(state, Mapping) else {}


def files_of_model(path: Path) -> list[Path]:
    """Return the files of a model's weights: the file itself, or those in a folder, parts and its base's included.

    A CheckpointError says what else it is: a missing file, one part of several, a Git LFS pointer,
    a web page.
    """
    if path.name == DIFFERENCE:
        # Its card names its base.
        path = path.parent
    files = _files_in(path) if path.is_dir() else [path]
    part = PART.search(path.name)
    if part and path.is_file() and part[1] != "00001":
        raise CheckpointError(
            f"{path.name} is one of {int(part[1])} parts of a model. Import their folder."
        )
    for file in files:
        _check_file(file)
    return files


def _files_in(folder: Path) -> list[Path]:
    files = sorted(
        file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file()
    )
    if folder / DIFFERENCE in files:
        return [folder / DIFFERENCE, whole_folder(folder, read_card(folder)) / WEIGHTS]
    for name in IN_FOLDERS:
        if folder / name in files:
            return [folder / name]
    parts = _parts(files, folder)
    if parts:
        return parts
    if len(files) != 1:
        names = ", ".join(file.name for file in files[:3])
        names = names or f"none that ends in {', '.join(SUFFIXES)}"
        raise CheckpointError(
            f"{folder} does not say which of its files is the model ({names}). Name the file."
        )
    return files


def _parts(files: list[Path], folder: Path) -> list[Path]:
    """Return the parts of a model among files, those in safetensors rather than in bin; none if it is whole."""
    counts = {}
    for file in files:
        part = PART.search(file.name)
        if part:
            counts[file] = int(part[1])
    if not counts:
        return []
    suffix = max(file.suffix for file in counts)
    parts = [file for file in counts if file.suffix == suffix]
    count = max(counts[part] for part in parts)
    if len(parts) < count:
        raise CheckpointError(
            f"{folder} has {len(parts)} of the {count} parts of a model. Get the others too."
        )
    return parts


def _check_file(file: Path) -> None:
    if file.suffix.lower() not in SUFFIXES:
        raise CheckpointError(
            f"{file.name} does not have a checkpoint's suffix. Choose a file that ends in {', '.join(SUFFIXES)}."
        )
    if not file.is_file():
        raise CheckpointError(f"There is no file {file}. Check the path.")
    with file.open("rb") as stream:
        start = stream.read(256).lstrip().lower()
    for mark, content_type in NO_WEIGHTS.items():
        if start.startswith(mark):
            raise CheckpointError(f"{file.name} is {content_type}")


def read_tensors(file: Path) -> Any:
    """Read the tensors and plain containers of a file, with an `Object` for each other thing.

    It belongs into a child of limited memory. No archive may unpack to more than its own size.
    """
    import safetensors.torch  # noqa: PLC0415  imports torch

    _check_file(file)
    try:
        if file.suffix.lower() == ".safetensors":
            return safetensors.torch.load_file(file)
        return _load(file)
    except CheckpointError:
        raise
    # Damaged and hostile files fail in many ways: in zip, pickle, safetensors, torch.
    except Exception as error:
        for pattern, content in REFUSED:
            match = pattern.search(str(error))
            if match:
                raise more_than_tensors(file, match.expand(content)) from None
        # What libraries say of broken bytes tells nobody more.
        reason = DAMAGED
        if isinstance(error, pickle.UnpicklingError):
            reason = "PyTorch did not write it"
        elif isinstance(error, OSError):
            reason = reason_of(error)
        raise CheckpointError(
            f"{file.name} cannot be read ({reason}). Check that it is complete."
        ) from error


def _load(file: Path) -> object:
    """Load a pickle, with `Object` for all classes that PyTorch does not allow, and of TorchScript its tensors."""
    import torch  # noqa: PLC0415  the page is up before torch is

    is_zip = zipfile.is_zipfile(file)
    source = _without_program(file) if is_zip else file
    stand_ins: list[Any] = []
    if is_zip:
        # TorchScript has a class of its own for each module.
        with suppress(ValueError, EOFError, pickle.UnpicklingError):
            names = torch.serialization.get_unsafe_globals_in_checkpoint(source)
            stand_ins = [(Object, name) for name in names]
    most = len(stand_ins) + MAX_CLASSES
    while True:
        if isinstance(source, BytesIO):
            source.seek(0)
        try:
            with torch.serialization.safe_globals(stand_ins):
                return torch.load(
                    source, map_location="cpu", weights_only=True, mmap=is_zip and source is file
                )
        except pickle.UnpicklingError as error:
            match = NOT_ALLOWED.search(str(error))
            if not match or len(stand_ins) > most or (Object, match[1]) in stand_ins:
                raise
            # torch's errors leave "builtins." out.
            stand_ins += [(Object, match[1]), (Object, f"builtins.{match[1]}")]


def _without_program(file: Path) -> Path | BytesIO:
    """Return an archive, or of a TorchScript archive a copy of its tensors.

    Raises:
        CheckpointError: if it would unpack to more than its size.
    """
    with zipfile.ZipFile(file) as archive:
        members = []
        for member in archive.infolist():
            if not any(part in member.filename for part in SCRIPT):
                members.append(member)
        if sum(member.file_size for member in members) > file.stat().st_size:
            raise CheckpointError(
                f"{file.name} holds compressed or overlapping records. PyTorch writes none."
            )
        if len(members) == len(archive.infolist()):
            return file
        copy = BytesIO()
        with zipfile.ZipFile(copy, "w") as tensors:
            for member in members:
                tensors.writestr(zipfile.ZipInfo(member.filename), archive.read(member))
    copy.seek(0)
    return copy


def more_than_tensors(file: Path, content: str) -> CheckpointError:
    return CheckpointError(
        f"{file.name} holds more than tensors ({content}), and untrusted files are read for tensors only. If you "
        "trust it, save the model's state_dict() alone and import that."
    )


def named_tensors(content: object) -> dict[KeyPath, Any]:
    """Map the path of each tensor in nested dicts and modules to it; what occurs twice is met once."""
    import torch  # noqa: PLC0415  the page is up before torch is

    def walk(value: object, path: KeyPath) -> Iterator[tuple[KeyPath, Any]]:
        if isinstance(value, torch.Tensor):
            yield path, value
        inner = value.state if isinstance(value, Object) else value
        if isinstance(inner, Mapping) and len(path) < MAX_NESTING and id(inner) not in seen:
            seen.add(id(inner))
            for key, part in inner.items():
                part_path = path
                if key not in MODULE_PARTS:
                    part_path = (*path, str(key))
                yield from walk(part, part_path)

    seen = set[int]()
    return dict(walk(content, ()))
