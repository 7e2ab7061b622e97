"""Import of checkpoints that other code wrote, which are untrusted: a child of limited memory reads tensors alone."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nt2vr.errors import CheckpointError, ConfigError, quoted, reason_of
from nt2vr.models.card import CARD, IMPORTED, SEQUENCE, Card, read_card
from nt2vr.models.checkpoint import (
    read_checkpoint,
    write_checkpoint,
)
from nt2vr.models.foreign_architecture import (
    HEAD_WIDTH,
    Architecture,
    Config,
    architecture_of,
    fitted,
)
from nt2vr.models.foreign_clip import Found, find_clip, some_of
from nt2vr.models.foreign_file import (
    Object,
    files_of_model,
    more_than_tensors,
    named_tensors,
    read_tensors,
)
from nt2vr.models.open_clip_encoder import embed_dim_of
from nt2vr.models.options import GELU, QUICK_GELU, AddOptions
from nt2vr.models.origin import Built, ModelsHere, Origin
from nt2vr.models.tokenizer import TOKENIZER, load_tokenizer, needs_file
from nt2vr.models.weights import check_finite
from nt2vr.progress import Progress

if TYPE_CHECKING:
    from torch import Tensor, nn

    Weights = dict[str, Tensor]

CHECKPOINT_OPTIONS = ("model", "key", "frames", "activation", "pooling", "positions")


@dataclass(frozen=True, kw_only=True)
class ForeignCheckpoint(Origin):
    """A file or folder of weights that other code wrote."""

    path: Path
    files: tuple[Path, ...]
    models: ModelsHere
    options: AddOptions

    @classmethod
    def of(cls, path: Path, options: AddOptions, models: ModelsHere) -> "ForeignCheckpoint":
        """Look at a file or folder without torch, which takes seconds; a CheckpointError says what it is instead."""
        options.check_used(CHECKPOINT_OPTIONS, path.name)
        files = tuple(files_of_model(path))
        size = sum(file.stat().st_size for file in files)
        return cls(
            title=path.name,
            doing=f"Importing {path.name}",
            disk_bytes=2 * size,  # it may be in half precision
            path=path,
            files=files,
            models=models,
            options=options,
        )

    def default_name(self, hidden: Path) -> str:
        return self.path.name if self.path.is_dir() else self.path.stem

    def weight_bytes(self, hidden: Path) -> int:
        return sum(file.stat().st_size for file in self.files)

    def build(self, hidden: Path, name: str, progress: Progress) -> Built:
        file = self.files[0]
        progress(0, 0, f"reading {file.name}")
        content = self._read()
        top = [str(key) for key in content] if isinstance(content, Mapping) else []
        clip = find_clip(named_tensors(content), top, file, self.options.key)

        progress(0, 0, "finding the architecture")
        architecture = architecture_of(self.options, clip, content, file, self.models)
        model_cfg, preprocess_cfg = architecture.model_cfg, architecture.preprocess_cfg
        if self.options.activation:
            model_cfg["quick_gelu"] = self.options.activation == QUICK_GELU
        tokenizer = _tokenizer(architecture, self.files)
        model = _filled(model_cfg, preprocess_cfg, clip.weights, file)

        progress(0, 0, f"writing {name}")
        card, pooling = self._card(name, clip, embed_dim_of(model))
        write_checkpoint(hidden, model, model_cfg, preprocess_cfg, card, False, tokenizer, pooling)
        remark = _remark(architecture, clip, card, self.options)

        # Both would stay in memory while the model is tried out.
        clip.weights.clear()
        del model
        return Built(read_checkpoint(hidden), remark, architecture.guess)

    def _read(self) -> Any:
        """Return the content of the file, or of all parts in one."""
        content, *others = [read_tensors(file) for file in self.files]
        if isinstance(content, Object) and not content.state:
            raise more_than_tensors(self.files[0], "an object instead of a dict")
        if others:  # parts, or the base of what differs from it, which replaces its tensors
            content = {key: value for part in (*others, content) for key, value in part.items()}
        return content

    def _card(self, name: str, clip: Found, width: int) -> "tuple[Card, nn.Module | None]":
        """Return the card, with what the trainer does unless a person says otherwise, and the head, if any."""
        options, form = self.options, clip.form
        card = Card(
            name,
            objective="contrastive",
            base=_base_of(self.files[0]),
            frames=options.frames or form.frames,
            pooling=options.pooling or form.pooling,
            positions=options.positions or form.positions,
        )
        if (
            card.pooling.name != SEQUENCE
        ):  # of CLIP4Clip, with a head of attention per 64 of its width
            return card, None

        from nt2vr.models.pooling import filled_pooling  # noqa: PLC0415  imports torch

        head = {name: tensor.float() for name, tensor in clip.head.items()}
        try:
            card = card.replace(head={"heads": max(1, width // HEAD_WIDTH)})
            return card, filled_pooling(card, head, width)
        except (LookupError, ValueError, RuntimeError) as error:
            raise CheckpointError(
                f"The head of {self.files[0].name} cannot be used ({reason_of(error)})."
            ) from error


def _base_of(file: Path) -> str:
    """Return what a checkpoint was trained from as the card beside it says, or that it is imported."""
    if (file.parent / CARD).is_file():
        with suppress(CheckpointError):
            card = read_card(file.parent)
            if card.base:
                return card.base
    return f"{IMPORTED}{file.name}"


def _remark(architecture: Architecture, found: Found, card: Card, options: AddOptions) -> str:
    """Say how a checkpoint was read, and of a guess that it is one."""
    used, other = (
        (QUICK_GELU, GELU) if architecture.model_cfg.get("quick_gelu") else (GELU, QUICK_GELU)
    )
    name = architecture.name or f"a CLIP of its own shape (attention heads of {HEAD_WIDTH})"
    remark = f"Read as {name}{architecture.by and ' by '}{architecture.by}, with {used}."
    if architecture.guess:
        switch = "--activation" if options.activation else f"--activation {other}"
        remark = f"A guess from the tensors' shapes: {name}, with {used}. If that is wrong, remove the model and "
        remark += f"add it with --model or {switch}."
    if found.form.trainer:
        how = f"{card.framing.frames} frames, {card.pooling.name}, {card.framing.positions}"
        remark += f" Recognised as a file of {found.form.trainer}: {how}."
    outside = found.outside if card.pooling.name == SEQUENCE else [*found.outside, *found.head]
    return f"{remark} Ignored, as not part of a CLIP: {some_of(outside)}." if outside else remark


def _tokenizer(architecture: Architecture, files: Sequence[Path]) -> Any:
    """Read the tokenizer of a text tower: open_clip's own, next to a file, or of the model that a person named."""
    text_cfg = architecture.model_cfg["text_cfg"]
    folder = next(
        (each.parent for each in files if (each.parent / TOKENIZER).is_file()), architecture.folder
    )
    if folder is None and needs_file(text_cfg):
        name = quoted(text_cfg["hf_tokenizer_name"])
        raise ConfigError(
            f"The model needs the tokenizer {name}. Put its {TOKENIZER} next to {files[0].name}, or name a model here "
            "that has it: --model."
        )
    return load_tokenizer(folder, text_cfg)


def _filled(model_cfg: Config, preprocess_cfg: Config, weights: "Weights", file: Path) -> Any:
    """Build the model with the weights: first without memory, to compare shapes."""
    import torch  # noqa: PLC0415  the page is up before torch is

    model, weights, misfits = fitted(model_cfg, weights, preprocess_cfg)
    if misfits:
        raise CheckpointError(f"{file.name} does not fit the model ({misfits}). Name another one.")
    supported = (torch.float16, torch.float32, torch.int64)
    weights = {
        name: (t if t.dtype in supported else t.float()).clone() for name, t in weights.items()
    }
    check_finite(weights, file)
    model.load_state_dict(weights, assign=True)
    return model
