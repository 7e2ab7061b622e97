"""Checkpoint files of other code: reads tensors only, and picks the CLIP among them.

Files are untrusted: no code in them runs, and none unpacks to more than its own size.
"""

import pickle  # only for the name of an error
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nt2vr.errors import CheckpointError, reason_of

if TYPE_CHECKING:
    from torch import Tensor

SUFFIXES = (".pt", ".pth", ".bin", ".safetensors")
TOWER = re.compile(r"(?:^|(?<=\.))visual\.")  # the text before it is the wrapper's prefix
NO_WEIGHTS = ("input_resolution", "context_length", "vocab_size", "attn_mask")  # numbers in OpenAI's own files
MAX_NESTING = 5  # of dicts in a file
MAX_HEADER_BYTES = 32 << 20  # names and shapes of tensors: 0.1 MB for a ViT-L-14
NUM_EXAMPLES = 3  # tensors named in an error message


def read_tensors(file: Path) -> object:
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
        if found := re.search(r"GLOBAL ([\w.]{1,80})", str(error)):
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


def clip_tensors(content: object, file: Path) -> tuple[dict[str, "Tensor"], list[str]]:
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
            f"{some_of(list(tensors)) if tensors else 'no tensors'}. Choose another checkpoint."
        )
    if len(prefixes) > 1:
        places = some_of([prefix.rstrip(".") or "top level" for prefix in prefixes])
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


def some_of(names: Sequence[str]) -> str:
    """Name the first few, and count the others."""
    more = f" and {len(names) - NUM_EXAMPLES} more" if len(names) > NUM_EXAMPLES else ""
    return ", ".join(names[:NUM_EXAMPLES]) + more
