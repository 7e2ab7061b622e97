"""Checkpoint files of other code: reads tensors only, and picks the CLIP among them.

Files are untrusted: no code in them runs, and none unpacks to more than its own size. PyTorch's reader of weights
rebuilds tensors and plain containers; every other object that a trainer saved along becomes `Inert`.
"""

import pickle  # only for the name of an error
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nt2vr.errors import CheckpointError, reason_of
from nt2vr.models.card import MEAN, RAW_MEAN, SEQUENCE
from nt2vr.models.framing import CENTRES, ENDS

if TYPE_CHECKING:
    from torch import Tensor

SUFFIXES = (".pt", ".pth", ".bin", ".safetensors", ".tar")
TOWER = re.compile(r"(?:^|(?<=\.))visual\.")  # the text before it is the wrapper's prefix
NO_WEIGHTS = ("input_resolution", "context_length", "vocab_size", "attn_mask")  # numbers in OpenAI's own files
MAX_NESTING = 5  # of dicts in a file
MAX_HEADER_BYTES = 32 << 20  # names and shapes of tensors: 0.1 MB for a ViT-L-14
MAX_CLASSES = 64  # of other objects in a file; each takes one more reading of its list of tensors
NUM_EXAMPLES = 3  # tensors named in an error message
NOT_ALLOWED = re.compile(r"Unsupported global: GLOBAL (\S+) was not an allowed global")  # torch's words
WITH_ITEMS = re.compile("Can only (?:append|SETITEM)|Only persistent_load of storage")  # likewise: not passed over
HEADS = {  # of CLIP4Clip, by the first part of their tensors' names; seqTransf alone is read
    "lstm_visual": "seqLSTM",
    "cross": "tightTransf",
    "similarity_dense": "tightTransf",
    "transformerClip": SEQUENCE,
    "frame_position_embeddings": SEQUENCE,
}
POSITION_TABLE = "frame_position_embeddings.weight"


class Inert:
    """Stands for an object of a class that is not rebuilt: takes any arguments and any state, and keeps nothing."""

    __slots__ = ()

    def __new__(cls, *_: object, **__: object) -> "Inert":
        return super().__new__(cls)

    def __init__(self, *_: object, **__: object) -> None:
        """Ignore what the object was made of."""

    def __setstate__(self, state: object) -> None:
        """Ignore what the object held."""


@dataclass(frozen=True)
class Form:
    """A trainer's way to make a video of frames, which its files do not say; that of CLIPs on pictures by default."""

    trainer: str = ""
    frames: int = 8
    pooling: str = MEAN
    positions: str = CENTRES


@dataclass(frozen=True)
class Found:
    """The CLIP in a file."""

    weights: dict[str, "Tensor"]  # its tensors by OpenAI's names
    outside: list[str]  # names of the other tensors of the same state dict
    objects: list[str]  # names of what is no tensor and was not rebuilt
    form: Form
    head: dict[str, "Tensor"]  # tensors of CLIP4Clip's seqTransf, by the names of `SequenceTransformer`


def check_file(file: Path) -> None:
    """Raise a CheckpointError if there is no such file, or its suffix is not a checkpoint's."""
    if file.suffix.lower() not in SUFFIXES:
        raise CheckpointError(
            f"{file.name} does not have a checkpoint's suffix. Choose a file that ends in {', '.join(SUFFIXES)}."
        )
    if not file.is_file():
        raise CheckpointError(f"There is no file {file}. Check the path.")


def read_tensors(file: Path, header_bytes: int = MAX_HEADER_BYTES) -> object:
    """Read the tensors and plain containers of a file; what else it holds becomes `Inert`."""
    import safetensors.torch  # noqa: PLC0415  imports torch

    check_file(file)
    try:
        if file.suffix.lower() == ".safetensors":
            _check_sizes(file, header_bytes)
            return safetensors.torch.load_file(file)
        is_zip = zipfile.is_zipfile(file)
        if is_zip and any("/code/" in member for member in zipfile.ZipFile(file).namelist()):
            raise CheckpointError(
                f"{file.name} is a TorchScript archive, which holds code, as OpenAI's own files do. Save its "
                "state_dict() and import that, or download the model by name under “More models”."
            )
        _check_sizes(file, header_bytes)
        return _load(file, is_zip)
    except CheckpointError:
        raise
    except Exception as error:  # damaged and hostile files fail in many ways: in zip, pickle, safetensors, torch
        if found := re.search(r"GLOBAL ([\w.]{1,80})", str(error)):
            raise _more_than_tensors(file, found[1]) from None
        if isinstance(error, pickle.UnpicklingError) and WITH_ITEMS.search(str(error)):
            raise _more_than_tensors(file, "a dict, list or module of a class of its own") from None
        reason = "PyTorch did not write it" if isinstance(error, pickle.UnpicklingError) else reason_of(error)
        raise CheckpointError(f"{file.name} cannot be read ({reason}). Check that it is complete.") from error


def _load(file: Path, is_zip: bool) -> object:
    """Read a file again and again, each time with one more of its classes as `Inert`."""
    import torch  # noqa: PLC0415  the page is up before torch is

    inert: list[Any] = []
    while True:
        try:
            with torch.serialization.safe_globals(inert):
                return torch.load(file, map_location="cpu", weights_only=True, mmap=is_zip)
        except pickle.UnpicklingError as error:
            found = NOT_ALLOWED.search(str(error))
            if not found or len(inert) >= 2 * MAX_CLASSES or (Inert, found[1]) in inert:
                raise
            inert += [(Inert, found[1]), (Inert, f"builtins.{found[1]}")]  # torch's words leave "builtins." out


def _more_than_tensors(file: Path, what: str) -> CheckpointError:
    return CheckpointError(
        f"{file.name} holds more than tensors ({what}), and untrusted files are read for tensors only. If you trust "
        "it, save the model's state_dict() alone and import that."
    )


def _leaves(value: object, seen: set[int], path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], object]]:
    """Yield what nested dicts hold, with its path of keys; each dict once, as they may hold each other."""
    if not isinstance(value, Mapping):
        yield path, value
    elif len(path) < MAX_NESTING and id(value) not in seen:
        seen.add(id(value))
        for key, part in value.items():
            yield from _leaves(part, seen, (*path, str(key)))


def find_clip(content: object, file: Path) -> Found:
    """Find the one CLIP in a file, under "state_dict", "model", "module.", "clip." or any other prefix."""
    import torch  # noqa: PLC0415  the page is up before torch is

    leaves = list(_leaves(content, set()))
    objects = [".".join(path) or "all of it" for path, leaf in leaves if isinstance(leaf, Inert) or leaf is Inert]
    tensors = {".".join(path): (path[:-1], leaf) for path, leaf in leaves if isinstance(leaf, torch.Tensor)}
    prefixes = sorted({name[: match.start()] for name in tensors if (match := TOWER.search(name))})
    prefixes = [p for p in prefixes if any(f"{p}{text}token_embedding.weight" in tensors for text in ("", "text."))]
    if not prefixes and objects:
        raise _more_than_tensors(file, some_of(objects))
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
    weights = {name: tensor for name, tensor in inside.items() if name not in NO_WEIGHTS}
    if odd := [
        name for name, each in weights.items() if each.is_meta or each.is_quantized or each.layout != torch.strided
    ]:
        raise CheckpointError(f"{file.name} has weights without plain numbers ({some_of(odd)}). Save dense tensors.")
    form = _form(prefixes[0], outside, content, file)
    head: dict[str, Tensor] = {}
    if form.pooling == SEQUENCE:
        start = len(prefixes[0].removesuffix("clip."))
        names = {name: name[start:].removeprefix("transformerClip.") for name in outside}
        names = {name: "positions" if own == POSITION_TABLE else own for name, own in names.items()}
        head, outside = {own: tensors[name][1] for name, own in names.items()}, []
    return Found(weights, outside, objects, form, head)


def _form(prefix: str, outside: Sequence[str], content: object, file: Path) -> Form:
    """Recognise the trainer by its names; sources: ruc-aimc-lab/nT2VR, ArrowLuo/CLIP4Clip, jaisidhsingh/CoN-CLIP."""
    parts = prefix.rstrip(".").split(".")
    if parts[-2:] == ["clip_model", "ClipModel"]:
        return Form("nT2VR's trainer", 8, RAW_MEAN, ENDS)
    if parts[-1] == "clip":
        wrapper = prefix.removesuffix("clip.")
        first = {name.removeprefix(wrapper).split(".")[0]: name for name in outside}
        heads = [head for head in HEADS if head in first]
        if heads and HEADS[heads[0]] != SEQUENCE:
            raise CheckpointError(
                f"{file.name} is a CLIP4Clip with the head {HEADS[heads[0]]} ({first[heads[0]]}). Only its meanP and "
                "seqTransf can be imported: without the head it would be another model."
            )
        if heads:
            return Form("CLIP4Clip with seqTransf", 12, SEQUENCE, ENDS)
        if not outside and isinstance(content, Mapping) and all(str(name).startswith("clip.") for name in content):
            return Form("CLIP4Clip with meanP", 12, MEAN, ENDS)
    if isinstance(content, Mapping) and content.keys() == {"model", "optimizer", "args"} and prefix == "model.":
        return Form("CoN-CLIP's trainer")
    return Form()


def _check_sizes(file: Path, header_bytes: int) -> None:
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
    if told > header_bytes:
        raise CheckpointError(
            f"The list of tensors in {file.name} takes {told >> 20:,} MB, more than the {header_bytes >> 20} "
            "that a model needs."
        )


def some_of(names: Sequence[str]) -> str:
    """Name the first few, and count the others."""
    more = f" and {len(names) - NUM_EXAMPLES} more" if len(names) > NUM_EXAMPLES else ""
    return ", ".join(names[:NUM_EXAMPLES]) + more
