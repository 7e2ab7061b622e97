"""Finds the CLIP among the tensors of a file that other code wrote."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nt2vr.errors import CheckpointError
from nt2vr.models.card import MEAN, RAW_MEAN, SEQUENCE
from nt2vr.models.framing import CENTRES, ENDS
from nt2vr.models.transformers_names import THEIR_TABLE, of_transformers

if TYPE_CHECKING:
    from torch import Tensor

    Weights = dict[str, Tensor]

TABLE = "token_embedding.weight"  # one of every CLIP
WRAPPERS = re.compile(
    r"(?:^|(?<=\.))(?:_orig_mod|_checkpoint_wrapped_module|_fsdp_wrapped_module|module)\."
)
LORA = re.compile(r"(?:^|[._])lora_[A-Za-z]")
OPENAIS = {"input_resolution", "context_length", "vocab_size"}  # numbers in OpenAI's own files
HEADS = {  # of CLIP4Clip, by the first part of their tensors' names; seqTransf alone is read
    "lstm_visual": "seqLSTM",
    "cross": "tightTransf",
    "similarity_dense": "tightTransf",
    "transformerClip": SEQUENCE,
    "frame_position_embeddings": SEQUENCE,
}
HEAD_NAMES = {"frame_position_embeddings.weight": "positions"}


@dataclass(frozen=True)
class Form:
    """A trainer's way to make a video of frames, which its files do not say; that of CLIPs on pictures by default."""

    trainer: str = ""
    frames: int = 8
    pooling: str = MEAN
    positions: str = CENTRES


@dataclass(frozen=True)
class Found:
    """The CLIP in a file.

    Attributes:
        weights: its tensors by open_clip's names, those of the text tower without "text.".
        outside: names of the other tensors of the same state dict.
        head: tensors of CLIP4Clip's seqTransf, by the names of `SequenceTransformer`.
        openais: whether it is a file of OpenAI's own; `transformers`: whether it has the names of
            transformers.
    """

    weights: "Weights"
    outside: list[str] = field(default_factory=list)
    form: Form = Form()
    head: "Weights" = field(default_factory=dict)
    openais: bool = False
    transformers: bool = False


def find_clip(
    named: Mapping[tuple[str, ...], Any], top: Sequence[str], file: Path, key: str = ""
) -> Found:
    """Find the one CLIP in a file, under "state_dict", "model", "module.", "clip." or any other prefix.

    Args:
        named: tensors by the path of keys that leads to them.
        top: the file's keys, whether or not they lead to tensors.
        key: which of several models is meant: the start of a path, such as "state_dict_ema".
    """
    start = key and f"{key.rstrip('.')}."
    names = {
        path: WRAPPERS.sub("", name) for path in named if (name := ".".join(path)).startswith(start)
    }
    tensors = {name: named[path] for path, name in names.items()}
    _check_merged(tensors, file)
    prefix, is_transformers = _place(tensors, top, file, key)
    inside = {
        name.removeprefix(prefix): tensor
        for name, tensor in tensors.items()
        if name.startswith(prefix)
    }
    weights = _renamed(inside, is_transformers, file)
    outside = _beside(prefix, names)
    form, head = _form(prefix, outside, top, file), {}
    if form.pooling == SEQUENCE:
        own = (
            name.removeprefix(prefix.removesuffix("clip.")).removeprefix("transformerClip.")
            for name in outside
        )
        head = {
            HEAD_NAMES.get(to, to): tensors[name] for to, name in zip(own, outside, strict=True)
        }
        outside = []
    return Found(weights, outside, form, head, bool(OPENAIS & inside.keys()), is_transformers)


def _beside(prefix: str, names: Mapping[tuple[str, ...], str]) -> list[str]:
    """Return the names that stand in the same dict as those with the prefix."""
    holders = {path[:-1] for path, name in names.items() if name.startswith(prefix)}
    return [
        name for path, name in names.items() if path[:-1] in holders and not name.startswith(prefix)
    ]


def _check_merged(tensors: "Weights", file: Path) -> None:
    if lora := [name for name in tensors if LORA.search(name)]:
        raise CheckpointError(
            f"{file.name} holds LoRA adapters that are not merged into the weights ({some_of(lora)}). Merge them, "
            "with merge_and_unload() of peft, and save that model's state_dict()."
        )


def _place(tensors: "Weights", top: Sequence[str], file: Path, key: str) -> tuple[str, bool]:
    """Return the prefix of the one CLIP, and whether its names are transformers'."""
    places = {
        name.removesuffix(THEIR_TABLE): True for name in tensors if name.endswith(THEIR_TABLE)
    }
    for name in tensors:
        prefix = name.removesuffix(TABLE).removesuffix("text.")
        if name.endswith(TABLE) and any(other.startswith(f"{prefix}visual.") for other in tensors):
            places[prefix] = False
    if not places:
        what = some_of(list(tensors)) if tensors else "no tensors"
        what += f" under {key!r}; its keys are {some_of(top) or 'none'}" if key else ""
        raise CheckpointError(
            f"{file.name} holds no CLIP with the names of OpenAI, open_clip or transformers (visual…, {TABLE}), but "
            f"{what}. Choose another checkpoint."
        )
    if len(places) > 1:
        keys = [prefix.rstrip(".") or "top level" for prefix in sorted(places)]
        raise CheckpointError(
            f"{file.name} holds several models ({some_of(keys)}). Name the one you want, such as --key {keys[-1]}."
        )
    return places.popitem()


def _form(prefix: str, outside: Sequence[str], top: Sequence[str], file: Path) -> Form:
    """Recognise the trainer by its names; sources: ruc-aimc-lab/nT2VR, ArrowLuo/CLIP4Clip, jaisidhsingh/CoN-CLIP."""
    if prefix.endswith("clip_model.ClipModel."):
        return Form("nT2VR's trainer", 8, RAW_MEAN, ENDS)
    if prefix == "model." and set(top) == {"model", "optimizer", "args"}:
        return Form("CoN-CLIP's trainer")
    if not f".{prefix}".endswith(".clip."):
        return Form()
    parts = (name.removeprefix(prefix.removesuffix("clip.")).split(".")[0] for name in outside)
    heads = {HEADS[part] for part in parts if part in HEADS}
    if other := heads - {SEQUENCE}:
        raise CheckpointError(
            f"{file.name} is a CLIP4Clip with the head {other.pop()}. Only its meanP and seqTransf can be imported: "
            "without the head it would be another model."
        )
    if heads:
        return Form("CLIP4Clip with seqTransf", 12, SEQUENCE, ENDS)
    if top and not outside and all(name.startswith("clip.") for name in top):
        return Form("CLIP4Clip with meanP", 12, MEAN, ENDS)
    return Form()


def _renamed(inside: "Weights", is_transformers: bool, file: Path) -> "Weights":
    """Give a CLIP's tensors open_clip's names, those of the text tower without "text."."""
    import torch  # noqa: PLC0415  the page is up before torch is

    for name, tensor in inside.items():
        if tensor.is_meta or tensor.is_quantized or tensor.layout != torch.strided:
            raise CheckpointError(
                f"{file.name} has weights without plain numbers ({name}). Save dense tensors."
            )
    weights = {
        name: tensor for name, tensor in inside.items() if name not in {*OPENAIS, "attn_mask"}
    }
    _undo_geometric_parametrisation(weights)
    weights = of_transformers(weights) if is_transformers else weights
    return {name.removeprefix("text."): tensor for name, tensor in weights.items()}


def _undo_geometric_parametrisation(weights: "Weights") -> None:
    for name in [name for name in weights if name.endswith(".theta")]:
        base = name.removesuffix("theta")
        if f"{base}r" in weights:
            theta, length = weights.pop(name).float(), weights.pop(f"{base}r").float()
            weights[f"{base}weight"] = (
                length * theta / theta.norm(dim=1, keepdim=True).clamp_min(1e-12)
            )


NUM_EXAMPLES = 3  # tensors named in an error message


def some_of(names: Sequence[str]) -> str:
    more = f" and {len(names) - NUM_EXAMPLES} more" if len(names) > NUM_EXAMPLES else ""
    return ", ".join(names[:NUM_EXAMPLES]) + more
