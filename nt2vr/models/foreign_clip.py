"""Finds the CLIP among the tensors of a file that other code wrote."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nt2vr.errors import CheckpointError
from nt2vr.models.card import MEAN, RAW_MEAN, SEQUENCE
from nt2vr.models.foreign_file import KeyPath
from nt2vr.models.framing import CENTRES, ENDS
from nt2vr.models.transformers_names import THEIR_TABLE, of_transformers
from nt2vr.models.weights import StateDict

# A tensor that every CLIP has.
TABLE = "token_embedding.weight"
WRAPPERS = re.compile(
    r"(?:^|(?<=\.))(?:_orig_mod|_checkpoint_wrapped_module|_fsdp_wrapped_module|module)\."
)
LORA = re.compile(r"(?:^|[._])lora_[A-Za-z]")
# Numbers in OpenAI's own files.
OPENAIS = {"input_resolution", "context_length", "vocab_size"}
# Of CLIP4Clip, by the first part of their tensors' names; seqTransf alone is read.
HEADS = {
    "lstm_visual": "seqLSTM",
    "cross": "tightTransf",
    "similarity_dense": "tightTransf",
    "transformerClip": SEQUENCE,
    "frame_position_embeddings": SEQUENCE,
}
# Tensors named in an error message.
NUM_EXAMPLES = 3


@dataclass(frozen=True)
class Form:
    """A trainer's way to make a video of frames, which its files do not say; that of CLIPs on pictures by default."""

    trainer: str = ""
    frames: int = 8
    pooling: str = MEAN
    positions: str = CENTRES


@dataclass(frozen=True)
class ForeignClip:
    """The CLIP in a file.

    Attributes:
        weights: its tensors by open_clip's names, those of the text tower without "text.".
        outside: names of the other tensors of the same state dict.
        form: how its trainer makes a video of frames.
        head: tensors of CLIP4Clip's seqTransf, by the names of `SequenceTransformer`.
        is_openais: whether it is a file of OpenAI's own.
        has_transformers_names: whether its tensors have the names of transformers.
    """

    weights: StateDict
    outside: list[str]
    form: Form
    head: StateDict
    is_openais: bool
    has_transformers_names: bool


def find_clip(
    by_path: Mapping[KeyPath, Any], keys: Sequence[str], file: Path, key: str
) -> ForeignClip:
    """Find the one CLIP in a file, under "state_dict", "model", "module.", "clip." or any other prefix.

    Args:
        by_path: tensors by the path of keys that leads to them.
        keys: of the file, whether or not they lead to tensors.
        file: named in errors.
        key: which of several models is meant: the start of a path, such as "state_dict_ema".
    """
    names = _names_under(key, by_path)
    tensors = {name: by_path[path] for path, name in names.items()}
    _check_merged(tensors, file)
    prefix, has_transformers_names = _place(tensors, keys, file, key)

    outside = _beside(prefix, names)
    form = _form(prefix, outside, keys, file)
    head = {}
    if form.pooling == SEQUENCE:
        head = {_name_in_head(name, prefix): tensors[name] for name in outside}
        outside = []

    inside = _inside(prefix, tensors)
    return ForeignClip(
        weights=_renamed(inside, has_transformers_names, file),
        outside=outside,
        form=form,
        head=head,
        is_openais=not OPENAIS.isdisjoint(inside),
        has_transformers_names=has_transformers_names,
    )


def _names_under(key: str, paths: Iterable[KeyPath]) -> dict[KeyPath, str]:
    """Name the tensors below a key, or all of them, without what wraps a model in training."""
    start = f"{key.rstrip('.')}." if key else ""
    names = {}
    for path in paths:
        name = ".".join(path)
        if name.startswith(start):
            names[path] = WRAPPERS.sub("", name)
    return names


def _inside(prefix: str, tensors: StateDict) -> StateDict:
    """Return the tensors with a prefix by their names without it."""
    names = [name for name in tensors if name.startswith(prefix)]
    return {name.removeprefix(prefix): tensors[name] for name in names}


def _beside(prefix: str, names: Mapping[KeyPath, str]) -> list[str]:
    """Return the names that stand in the same dict as those with the prefix."""
    holders = {path[:-1] for path, name in names.items() if name.startswith(prefix)}
    outside = {path: name for path, name in names.items() if not name.startswith(prefix)}
    return [name for path, name in outside.items() if path[:-1] in holders]


def _name_in_head(name: str, prefix: str) -> str:
    """Return the name in `SequenceTransformer` of a tensor of CLIP4Clip's seqTransf."""
    own_name = name.removeprefix(prefix.removesuffix("clip.")).removeprefix("transformerClip.")
    return "positions" if own_name == "frame_position_embeddings.weight" else own_name


def _check_merged(tensors: StateDict, file: Path) -> None:
    adapters = [name for name in tensors if LORA.search(name)]
    if adapters:
        raise CheckpointError(
            f"{file.name} holds LoRA adapters that are not merged into the weights ({some_of(adapters)}). Merge them, "
            "with merge_and_unload() of peft, and save that model's state_dict()."
        )


def _place(tensors: StateDict, keys: Sequence[str], file: Path, key: str) -> tuple[str, bool]:
    """Return the prefix of the one CLIP, and whether its names are transformers'."""
    theirs = [name for name in tensors if name.endswith(THEIR_TABLE)]
    places = {name.removesuffix(THEIR_TABLE): True for name in theirs}
    for name in tensors:
        if name.endswith(TABLE):
            prefix = name.removesuffix(TABLE).removesuffix("text.")
            if any(tensor_name.startswith(f"{prefix}visual.") for tensor_name in tensors):
                places[prefix] = False
    if len(places) == 1:
        return places.popitem()

    if places:
        prefixes = [prefix.rstrip(".") or "top level" for prefix in sorted(places)]
        raise CheckpointError(
            f"{file.name} holds several models ({some_of(prefixes)}). Name the one you want, such as --key "
            f"{prefixes[-1]}."
        )
    content = some_of(list(tensors)) if tensors else "no tensors"
    if key:
        content += f" under {key!r}; its keys are {some_of(keys) or 'none'}"
    raise CheckpointError(
        f"{file.name} holds no CLIP with the names of OpenAI, open_clip or transformers (visual…, {TABLE}), but "
        f"{content}. Choose another checkpoint."
    )


def _form(prefix: str, outside: Sequence[str], keys: Sequence[str], file: Path) -> Form:
    """Recognise the trainer by its names; sources: ruc-aimc-lab/nT2VR, ArrowLuo/CLIP4Clip, jaisidhsingh/CoN-CLIP."""
    if prefix.endswith("clip_model.ClipModel."):
        return Form("nT2VR's trainer", 8, RAW_MEAN, ENDS)
    if prefix == "model." and set(keys) == {"model", "optimizer", "args"}:
        return Form("CoN-CLIP's trainer")
    if not f".{prefix}".endswith(".clip."):
        return Form()

    heads = set()
    for name in outside:
        part = name.removeprefix(prefix.removesuffix("clip.")).split(".")[0]
        if part in HEADS:
            heads.add(HEADS[part])
    unread = heads - {SEQUENCE}
    if unread:
        raise CheckpointError(
            f"{file.name} is a CLIP4Clip with the head {unread.pop()}. Only its meanP and seqTransf can be imported: "
            "without the head it would be another model."
        )
    if heads:
        return Form("CLIP4Clip with seqTransf", 12, SEQUENCE, ENDS)
    if keys and not outside and all(key.startswith("clip.") for key in keys):
        return Form("CLIP4Clip with meanP", 12, MEAN, ENDS)
    return Form()


def _renamed(inside: StateDict, has_transformers_names: bool, file: Path) -> StateDict:
    """Give a CLIP's tensors open_clip's names, those of the text tower without "text."."""
    import torch  # noqa: PLC0415  the page is up before torch is

    for name, tensor in inside.items():
        if tensor.is_meta or tensor.is_quantized or tensor.layout != torch.strided:
            raise CheckpointError(
                f"{file.name} has weights without plain numbers ({name}). Save dense tensors."
            )
    no_weights = {*OPENAIS, "attn_mask"}
    weights = {name: tensor for name, tensor in inside.items() if name not in no_weights}
    _undo_geometric_parametrisation(weights)
    if has_transformers_names:
        weights = of_transformers(weights)
    return {name.removeprefix("text."): tensor for name, tensor in weights.items()}


def _undo_geometric_parametrisation(weights: StateDict) -> None:
    for name in [name for name in weights if name.endswith(".theta")]:
        base = name.removesuffix("theta")
        if f"{base}r" in weights:
            theta = weights.pop(name).float()
            length = weights.pop(f"{base}r").float()
            theta_length = theta.norm(dim=1, keepdim=True).clamp_min(1e-12)
            weights[f"{base}weight"] = length * theta / theta_length


def some_of(names: Sequence[str]) -> str:
    text = ", ".join(names[:NUM_EXAMPLES])
    if len(names) > NUM_EXAMPLES:
        text += f" and {len(names) - NUM_EXAMPLES} more"
    return text
