"""Files of weights that other code wrote: reads their tensors, runs no code, and finds the CLIP among them.

PyTorch's weights-only loader does the work. What else a trainer saved along becomes an `Object`
that holds its state.
"""

import pickle  # only for the name of an error
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nt2vr.errors import DAMAGED, CheckpointError, reason_of
from nt2vr.models.card import DIFFERENCE, MEAN, RAW_MEAN, SEQUENCE, WEIGHTS, read_card
from nt2vr.models.difference import whole_folder
from nt2vr.models.framing import CENTRES, ENDS
from nt2vr.models.weights import SCALARS

if TYPE_CHECKING:
    from torch import Tensor

    Weights = dict[str, Tensor]

SUFFIXES = (".pt", ".pth", ".bin", ".ckpt", ".safetensors", ".tar")
IN_FOLDERS = (  # in the order in which a folder is searched
    *("model.safetensors", "pytorch_model.bin"),
    *("open_clip_model.safetensors", "open_clip_pytorch_model.bin"),
)
PART = re.compile(r"-\d{5}-of-(\d{5})\.\w+$")
MAX_CLASSES = 128  # of other objects in a file that torch cannot list: each takes another reading
MAX_NESTING = 64  # of modules and dicts in a file
NOT_ALLOWED = re.compile(
    r"Unsupported global: GLOBAL (\S+) was not an allowed global"
)  # torch's words
REFUSED = (  # likewise, and what the file holds besides tensors
    (re.compile(r"GLOBAL ([\w.]{1,80})"), r"\1"),
    (
        re.compile("Can only (?:append|SETITEM)|Only persistent_load of storage"),
        "a collection of a class of its own",
    ),
)
SCRIPT = (
    "constants.pkl",
    "/code/",
    "/debug_pkl",
    "/ts_code/",
)  # what makes an archive a program, in names of members
MODULE_PARTS = ("_modules", "_parameters", "_buffers")  # of a pickled module's state
NO_WEIGHTS = {  # first bytes of files that are often taken for weights
    b"version https://git-lfs": "a Git LFS pointer, not the weights. Run `git lfs pull` in its repository.",
    **dict.fromkeys(
        (b"<!doctype", b"<html", b"<head", b"<?xml"),
        "a web page, not a checkpoint. Download the file itself again.",
    ),
}


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
        path = path.parent  # whose card names its base
    files = _files_in(path) if path.is_dir() else [path]
    if (
        len(files) == 1
        and (part := PART.search(files[0].name))
        and path.is_file()
        and part[1] != "00001"
    ):
        raise CheckpointError(
            f"{path.name} is one of {int(part[1])} parts of a model. Import their folder."
        )
    for file in files:
        _check_file(file)
    return files


def _files_in(folder: Path) -> list[Path]:
    found = sorted(
        file for file in folder.iterdir() if file.suffix.lower() in SUFFIXES and file.is_file()
    )
    if folder / DIFFERENCE in found:
        return [folder / DIFFERENCE, whole_folder(folder, read_card(folder)) / WEIGHTS]
    named = [folder / name for name in IN_FOLDERS if folder / name in found][:1]
    if files := named or _parts(found, folder):
        return files
    if len(found) != 1:
        names = (
            ", ".join(file.name for file in found[:3]) or f"none that ends in {', '.join(SUFFIXES)}"
        )
        raise CheckpointError(
            f"{folder} does not say which of its files is the model ({names}). Name the file."
        )
    return found


def _parts(found: list[Path], folder: Path) -> list[Path]:
    """Return the parts of a model among files, those in safetensors rather than in bin; none if it is whole."""
    counts = {file: int(part[1]) for file in found if (part := PART.search(file.name))}
    parts = [file for file in counts if file.suffix == max(each.suffix for each in counts)]
    if len(parts) < (count := max((counts[part] for part in parts), default=0)):
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
    with file.open("rb") as content:
        start = content.read(256).lstrip().lower()
    if what := next((what for mark, what in NO_WEIGHTS.items() if start.startswith(mark)), ""):
        raise CheckpointError(f"{file.name} is {what}")


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
    except (
        Exception
    ) as error:  # damaged and hostile files fail in many ways: in zip, pickle, safetensors, torch
        for words, what in REFUSED:
            if found := words.search(str(error)):
                raise more_than_tensors(file, found.expand(what)) from None
        reason = DAMAGED  # what libraries say of broken bytes tells nobody more
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
    if is_zip:  # TorchScript has a class of its own for each module
        with suppress(ValueError, EOFError, pickle.UnpicklingError):
            stand_ins = [
                (Object, name)
                for name in torch.serialization.get_unsafe_globals_in_checkpoint(source)
            ]
    listed = len(stand_ins)
    while True:
        if isinstance(source, BytesIO):
            source.seek(0)
        try:
            with torch.serialization.safe_globals(stand_ins):
                return torch.load(
                    source, map_location="cpu", weights_only=True, mmap=is_zip and source is file
                )
        except pickle.UnpicklingError as error:
            found = NOT_ALLOWED.search(str(error))
            if (
                not found
                or len(stand_ins) > listed + MAX_CLASSES
                or (Object, found[1]) in stand_ins
            ):
                raise
            stand_ins += [
                (Object, found[1]),
                (Object, f"builtins.{found[1]}"),
            ]  # torch's errors leave "builtins." out


def _without_program(file: Path) -> Path | BytesIO:
    """Return an archive, or of a TorchScript archive a copy of its tensors; refuse one that would unpack."""
    with zipfile.ZipFile(file) as archive:
        members = [
            each for each in archive.infolist() if not any(part in each.filename for part in SCRIPT)
        ]
        if sum(member.file_size for member in members) > file.stat().st_size:
            raise CheckpointError(
                f"{file.name} holds compressed or overlapping records. PyTorch writes none."
            )
        if len(members) == len(archive.infolist()):
            return file
        with zipfile.ZipFile(copy := BytesIO(), "w") as tensors:
            for member in members:
                tensors.writestr(zipfile.ZipInfo(member.filename), archive.read(member))
    copy.seek(0)
    return copy


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


TABLE, THEIR_TABLE = (
    "token_embedding.weight",
    "text_model.embeddings.token_embedding.weight",
)  # one of every CLIP
WRAPPERS = re.compile(
    r"(?:^|(?<=\.))(?:_orig_mod|_checkpoint_wrapped_module|_fsdp_wrapped_module|module)\."
)
LORA = re.compile(r"(?:^|[._])lora_[A-Za-z]")
OPENAIS = {"input_resolution", "context_length", "vocab_size"}  # numbers in OpenAI's own files
NUM_EXAMPLES = 3  # tensors named in an error message
HEADS = {  # of CLIP4Clip, by the first part of their tensors' names; seqTransf alone is read
    "lstm_visual": "seqLSTM",
    "cross": "tightTransf",
    "similarity_dense": "tightTransf",
    "transformerClip": SEQUENCE,
    "frame_position_embeddings": SEQUENCE,
}
HEAD_NAMES = {"frame_position_embeddings.weight": "positions"}

# Names of transformers' models in open_clip's; each rule is applied to all names, one after the
# other.
PROBE = "vision_model.head.probe"  # marks SigLIP
TEXT_RULES = (
    (r"^text_model\.embeddings\.token_embedding", "token_embedding"),
    (r"^text_model\.embeddings\.position_embedding\.weight", "positional_embedding"),
    (r"^text_model\.final_layer_norm", "ln_final"),
    (r"^text_model\.head", "text_projection"),
    (r"^text_model\.encoder\.layers", "transformer.resblocks"),
)
BLOCK_RULES = (  # of open_clip's transformer
    (r"self_attn\.in_proj\.", "attn.in_proj_"),
    (r"self_attn\.out_proj", "attn.out_proj"),
    (r"layer_norm([12])", r"ln_\1"),
    (r"(resblocks.*)mlp\.fc1", r"\1mlp.c_fc"),
    (r"(resblocks.*)mlp\.fc2", r"\1mlp.c_proj"),
)
CLIP_RULES = (
    (r"^vision_model\.embeddings\.class_embedding", "visual.class_embedding"),
    (r"^vision_model\.embeddings\.patch_embedding", "visual.conv1"),
    (r"^vision_model\.embeddings\.position_embedding\.weight", "visual.positional_embedding"),
    (r"^vision_model\.pre_layrnorm", "visual.ln_pre"),  # their spelling
    (r"^vision_model\.post_layernorm", "visual.ln_post"),
    (r"^vision_model\.encoder\.layers", "visual.transformer.resblocks"),
    (r"^visual_projection\.weight", "visual.proj"),
    (r"^text_projection\.weight", "text_projection"),
    *BLOCK_RULES,
)
SIGLIP_RULES = (
    (r"^vision_model\.embeddings\.patch_embedding", "visual.trunk.patch_embed.proj"),
    (r"^vision_model\.embeddings\.position_embedding\.weight", "visual.trunk.pos_embed"),
    (r"^vision_model\.post_layernorm", "visual.trunk.norm"),
    (r"^vision_model\.encoder\.layers", "visual.trunk.blocks"),
    (r"(trunk\.blocks.*)self_attn\.in_proj", r"\1attn.qkv"),  # timm's names of a block
    (r"(trunk\.blocks.*)self_attn\.out_proj", r"\1attn.proj"),
    (r"(trunk\.blocks.*)layer_norm", r"\1norm"),
    (r"^vision_model\.head\.probe", "visual.trunk.attn_pool.latent"),
    (r"^vision_model\.head\.attention\.out_proj", "visual.trunk.attn_pool.proj"),
    (r"^vision_model\.head\.attention", "visual.trunk.attn_pool"),
    (r"^vision_model\.head\.layernorm", "visual.trunk.attn_pool.norm"),
    (r"^vision_model\.head", "visual.trunk.attn_pool"),
    *BLOCK_RULES,
)


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
    weights = _of_transformers(weights) if is_transformers else weights
    return {name.removeprefix("text."): tensor for name, tensor in weights.items()}


def _undo_geometric_parametrisation(weights: "Weights") -> None:
    for name in [name for name in weights if name.endswith(".theta")]:
        base = name.removesuffix("theta")
        if f"{base}r" in weights:
            theta, length = weights.pop(name).float(), weights.pop(f"{base}r").float()
            weights[f"{base}weight"] = (
                length * theta / theta.norm(dim=1, keepdim=True).clamp_min(1e-12)
            )


def _of_transformers(weights: "Weights") -> "Weights":
    """Rename the tensors of transformers' CLIPModel or SiglipModel; position ids, which are counters, are left out."""
    import torch  # noqa: PLC0415  the page is up before torch is

    siglip = PROBE in weights
    renamed: Weights = {}
    for name, tensor in weights.items():
        if ".q_proj." in name:
            tensor = torch.cat(
                [weights[name.replace(".q_proj.", f".{part}_proj.")] for part in "qkv"]
            )
        elif name.endswith("position_ids") or ".k_proj." in name or ".v_proj." in name:
            continue
        name = name.replace(".q_proj.", ".in_proj.")
        for old, new in (*TEXT_RULES, *(SIGLIP_RULES if siglip else CLIP_RULES)):
            name = re.sub(old, new, name)
        renamed[name] = tensor
    if not siglip:  # projections are linear layers there, and matrices here
        projections = {"visual.proj", "text_projection"} & renamed.keys()
        return renamed | {name: renamed[name].T.contiguous() for name in projections}
    for kind in ("weight", "bias"):  # timm has the query of the pooling's attention apart
        q, k, v = renamed.pop(f"visual.trunk.attn_pool.in_proj_{kind}").chunk(3)
        renamed[f"visual.trunk.attn_pool.q.{kind}"] = q
        renamed[f"visual.trunk.attn_pool.kv.{kind}"] = torch.cat([k, v])
    renamed["visual.trunk.pos_embed"] = renamed["visual.trunk.pos_embed"][None]
    return renamed | {name: renamed[name].reshape(()) for name in SCALARS if name in renamed}


def some_of(names: Sequence[str]) -> str:
    more = f" and {len(names) - NUM_EXAMPLES} more" if len(names) > NUM_EXAMPLES else ""
    return ", ".join(names[:NUM_EXAMPLES]) + more
