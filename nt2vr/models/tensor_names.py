"""Names of a checkpoint's tensors: finds the CLIP among them, and gives its tensors open_clip's names.

It knows wrappers' prefixes, transformers' names of CLIP and SigLIP, and the files of the papers' trainers.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nt2vr.errors import CheckpointError
from nt2vr.models.card import MEAN, RAW_MEAN, SEQUENCE
from nt2vr.models.framing import CENTRES, ENDS

if TYPE_CHECKING:
    from torch import Tensor

    Weights = dict[str, Tensor]

TOWER = re.compile(r"(?:^|(?<=\.))visual\.")  # the text before it is the prefix of a model
TOKENS = "token_embedding.weight"
WRAPPERS = re.compile(r"(?:^|(?<=\.))(?:_orig_mod|_checkpoint_wrapped_module|_fsdp_wrapped_module|module)\.")
LORA = re.compile(r"(?:^|[._])lora_[A-Za-z]")
OPENAIS = ("input_resolution", "context_length", "vocab_size")  # numbers in OpenAI's own files
NO_WEIGHTS = (*OPENAIS, "attn_mask")
NUM_EXAMPLES = 3  # tensors named in an error message
HEADS = {  # of CLIP4Clip, by the first part of their tensors' names; seqTransf alone is read
    "lstm_visual": "seqLSTM",
    "cross": "tightTransf",
    "similarity_dense": "tightTransf",
    "transformerClip": SEQUENCE,
    "frame_position_embeddings": SEQUENCE,
}
POSITION_TABLE = "frame_position_embeddings.weight"

TRANSFORMERS = "text_model.embeddings.token_embedding.weight"  # marks transformers' names
PROBE = "vision_model.head.probe"  # and this one those of SigLIP
TEXT_STARTS = {
    "text_model.embeddings.token_embedding.": "token_embedding.",
    "text_model.embeddings.position_embedding.weight": "positional_embedding",
    "text_model.final_layer_norm.": "ln_final.",
    "text_model.head.": "text_projection.",
    "text_model.encoder.layers.": "transformer.resblocks.",
}
CLIP_STARTS = {
    "vision_model.embeddings.class_embedding": "visual.class_embedding",
    "vision_model.embeddings.patch_embedding.": "visual.conv1.",
    "vision_model.embeddings.position_embedding.weight": "visual.positional_embedding",
    "vision_model.pre_layrnorm.": "visual.ln_pre.",  # their spelling
    "vision_model.post_layernorm.": "visual.ln_post.",
    "vision_model.encoder.layers.": "visual.transformer.resblocks.",
    "visual_projection.weight": "visual.proj",
    "text_projection.weight": "text_projection",
}
SIGLIP_STARTS = {
    "vision_model.embeddings.patch_embedding.": "visual.trunk.patch_embed.proj.",
    "vision_model.embeddings.position_embedding.weight": "visual.trunk.pos_embed",
    "vision_model.post_layernorm.": "visual.trunk.norm.",
    "vision_model.encoder.layers.": "visual.trunk.blocks.",
    "vision_model.head.probe": "visual.trunk.attn_pool.latent",
    "vision_model.head.attention.in_proj_": "visual.trunk.attn_pool.in_proj_",
    "vision_model.head.attention.out_proj.": "visual.trunk.attn_pool.proj.",
    "vision_model.head.layernorm.": "visual.trunk.attn_pool.norm.",
    "vision_model.head.mlp.": "visual.trunk.attn_pool.mlp.",
}
BLOCK_PARTS = {  # of open_clip's transformer
    "self_attn.out_proj": "attn.out_proj",
    "self_attn.in_proj.": "attn.in_proj_",
    "layer_norm1": "ln_1",
    "layer_norm2": "ln_2",
    "mlp.fc1": "mlp.c_fc",
    "mlp.fc2": "mlp.c_proj",
}
TIMM_PARTS = {  # of timm's
    "self_attn.out_proj": "attn.proj",
    "self_attn.in_proj.": "attn.qkv.",
    "layer_norm1": "norm1",
    "layer_norm2": "norm2",
}


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
        openais: True for a file of OpenAI's own.
        transformers: True for the names of transformers.
    """

    weights: "Weights"
    outside: list[str] = field(default_factory=list)
    form: Form = Form()
    head: "Weights" = field(default_factory=dict)
    openais: bool = False
    transformers: bool = False


def find_clip(named: Mapping[tuple[str, ...], Any], top: Sequence[str], file: Path, key: str = "") -> Found:
    """Find the one CLIP in a file, under "state_dict", "model", "module.", "clip." or any other prefix.

    Args:
        named: tensors by the path of keys that leads to them.
        top: the file's keys, whether or not they lead to tensors.
        key: which of several models is meant: the start of a path, such as "state_dict_ema".
    """
    if key:
        named = {path: tensor for path, tensor in named.items() if ".".join(path).startswith(f"{key.rstrip('.')}.")}
    holders = {WRAPPERS.sub("", ".".join(path)): path[:-1] for path in named}
    tensors = {WRAPPERS.sub("", ".".join(path)): tensor for path, tensor in named.items()}
    if lora := [name for name in tensors if LORA.search(name)]:
        raise CheckpointError(
            f"{file.name} holds LoRA adapters that are not merged into the weights ({some_of(lora)}). Merge them, "
            "with merge_and_unload() of peft, and save that model's state_dict()."
        )
    tensors = _without_gmp(tensors)
    transformers = [name.removesuffix(TRANSFORMERS) for name in tensors if name.endswith(TRANSFORMERS)]
    for prefix in transformers:
        own = {name.removeprefix(prefix): tensors[name] for name in tensors if name.startswith(prefix)}
        holder = holders[f"{prefix}{TRANSFORMERS}"]
        renamed = _from_transformers(own)
        tensors = {n: t for n, t in tensors.items() if not n.startswith(prefix)}
        tensors |= {prefix + name: tensor for name, tensor in renamed.items()}
        holders |= {prefix + name: holder for name in renamed}

    prefixes = sorted({name[: match.start()] for name in tensors if (match := TOWER.search(name))})
    prefixes = [prefix for prefix in prefixes if {f"{prefix}{TOKENS}", f"{prefix}text.{TOKENS}"} & tensors.keys()]
    if not prefixes:
        what = some_of(list(tensors)) if tensors else "no tensors"
        what += f" under {key!r}; its keys are {some_of(list(top)) or 'none'}" if key else ""
        raise CheckpointError(
            f"{file.name} holds no CLIP with the names of OpenAI, open_clip or transformers (visual…, {TOKENS}), but "
            f"{what}. Choose another checkpoint."
        )
    if len(prefixes) > 1:
        places = [prefix.rstrip(".") or "top level" for prefix in prefixes]
        raise CheckpointError(
            f"{file.name} holds several models ({some_of(places)}). Name the one you want, such as --key {places[-1]}."
        )
    return _found(prefixes[0], tensors, holders, top, file, bool(transformers))


def _found(
    prefix: str,
    tensors: "Weights",
    holders: Mapping[str, tuple[str, ...]],
    top: Sequence[str],
    file: Path,
    transformers: bool,
) -> Found:
    import torch  # noqa: PLC0415  the page is up before torch is

    inside = {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
    inside = {name.removeprefix("text."): tensor for name, tensor in inside.items()}
    state_dicts = {holders[name] for name in tensors if name.startswith(prefix) and name in holders}
    outside = [name for name in tensors if not name.startswith(prefix) and holders.get(name) in state_dicts]
    weights = {name: tensor for name, tensor in inside.items() if name not in NO_WEIGHTS}
    if odd := [
        name for name, each in weights.items() if each.is_meta or each.is_quantized or each.layout != torch.strided
    ]:
        raise CheckpointError(f"{file.name} has weights without plain numbers ({some_of(odd)}). Save dense tensors.")
    form = _form(prefix, outside, top, file)
    head: Weights = {}
    if form.pooling == SEQUENCE:
        start = len(prefix.removesuffix("clip."))
        names = {name: name[start:].removeprefix("transformerClip.") for name in outside}
        names = {name: "positions" if own == POSITION_TABLE else own for name, own in names.items()}
        head, outside = {own: tensors[name] for name, own in names.items()}, []
    return Found(weights, outside, form, head, any(name in inside for name in OPENAIS), transformers)


def _form(prefix: str, outside: Sequence[str], top: Sequence[str], file: Path) -> Form:
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
        if not outside and top and all(name.startswith("clip.") for name in top):
            return Form("CLIP4Clip with meanP", 12, MEAN, ENDS)
    if set(top) == {"model", "optimizer", "args"} and prefix == "model.":
        return Form("CoN-CLIP's trainer")
    return Form()


def _without_gmp(tensors: "Weights") -> "Weights":
    """Merge geometric parametrisation, direction `theta` and length `r` of each row, into weights."""
    for name in [name for name in tensors if name.endswith(".theta")]:
        base = name.removesuffix("theta")
        if f"{base}r" in tensors:
            theta, length = tensors.pop(name).float(), tensors.pop(f"{base}r").float()
            tensors[f"{base}weight"] = length * theta / theta.norm(dim=1, keepdim=True).clamp_min(1e-12)
    return tensors


def _from_transformers(weights: "Weights") -> "Weights":
    """Rename the tensors of transformers' CLIPModel or SiglipModel; position ids, which are counters, are left out."""
    import torch  # noqa: PLC0415  the page is up before torch is

    siglip = PROBE in weights
    starts = TEXT_STARTS | (SIGLIP_STARTS if siglip else CLIP_STARTS)
    weights = {name: tensor for name, tensor in weights.items() if not name.endswith("position_ids")}
    for name in [name for name in weights if ".self_attn.q_proj." in name]:
        qkv = [weights.pop(name.replace(".q_proj.", f".{part}_proj."), None) for part in "qkv"]
        if (joined := [each for each in qkv if each is not None]) and len(joined) == len(qkv):
            weights[name.replace(".q_proj.", ".in_proj.")] = torch.cat(joined)
    renamed: Weights = {}
    for name, tensor in weights.items():
        parts = TIMM_PARTS if siglip and name.startswith("vision_model.") else BLOCK_PARTS
        for old, new in parts.items() if ".encoder.layers." in name else ():
            name = name.replace(f".{old}", f".{new}")
        start = next((start for start in starts if name.startswith(start)), "")
        renamed[starts.get(start, "") + name.removeprefix(start)] = tensor
    if siglip:
        renamed["visual.trunk.pos_embed"] = renamed["visual.trunk.pos_embed"][None]
        for kind in ("weight", "bias"):
            q, k, v = renamed.pop(f"visual.trunk.attn_pool.in_proj_{kind}").chunk(3)
            renamed |= {
                f"visual.trunk.attn_pool.{name}.{kind}": each for name, each in (("q", q), ("kv", torch.cat([k, v])))
            }
        return {name: tensor.reshape(()) if name.startswith("logit_") else tensor for name, tensor in renamed.items()}
    transposed = {name: renamed[name].T.contiguous() for name in ("visual.proj", "text_projection") if name in renamed}
    return renamed | transposed


def some_of(names: Sequence[str]) -> str:
    """Name the first few, and count the others."""
    more = f" and {len(names) - NUM_EXAMPLES} more" if len(names) > NUM_EXAMPLES else ""
    return ", ".join(names[:NUM_EXAMPLES]) + more
