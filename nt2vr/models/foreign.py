"""Import of checkpoints that other code wrote, which are untrusted: a child of limited memory reads tensors alone."""

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
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
    architecture_of,
    fitted,
)
from nt2vr.models.foreign_clip import ForeignClip, find_clip, some_of
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
from nt2vr.models.weights import StateDict, check_finite
from nt2vr.progress import Progress

if TYPE_CHECKING:
    from torch import nn

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
        num_bytes = sum(file.stat().st_size for file in files)
        return cls(
            title=path.name,
            doing=f"Importing {path.name}",
            # It may be in half precision.
            disk_bytes=2 * num_bytes,
            num_bytes=num_bytes,
            path=path,
            files=files,
            models=models,
            options=options,
        )

    def default_name(self, hidden: Path) -> str:
        return self.path.name if self.path.is_dir() else self.path.stem

    def build(self, hidden: Path, name: str, progress: Progress) -> Built:
        remark, is_guess = self._convert(hidden, name, progress)
        # The weights that were read are out of memory again, which the child has little of.
        return Built(read_checkpoint(hidden), remark, is_guess)

    def _convert(self, hidden: Path, name: str, progress: Progress) -> tuple[str, bool]:
        """Write a checkpoint folder; return how the file was read, and whether that is a guess."""
        file = self.files[0]
        progress(0, 0, f"reading {file.name}")
        content = self._read()
        keys = [str(key) for key in content] if isinstance(content, Mapping) else []
        clip = find_clip(named_tensors(content), keys, file, self.options.key)

        progress(0, 0, "finding the architecture")
        architecture = architecture_of(self.options, clip, content, file, self.models)
        if self.options.activation:
            has_quick_gelu = self.options.activation == QUICK_GELU
            model_cfg = {**architecture.model_cfg, "quick_gelu": has_quick_gelu}
            architecture = replace(architecture, model_cfg=model_cfg)
        tokenizer = _tokenizer(architecture, self.files)
        model = _filled(architecture, clip.weights, file)

        progress(0, 0, f"writing {name}")
        card, pooling = self._card(name, clip, embed_dim_of(model))
        write_checkpoint(
            hidden,
            model,
            architecture.model_cfg,
            architecture.preprocess_cfg,
            card,
            fp16=False,
            tokenizer=tokenizer,
            pooling=pooling,
        )
        return _remark(architecture, clip, card, self.options), architecture.is_guess

    def _read(self) -> Any:
        """Return the content of the file, or of all parts in one."""
        content, *others = [read_tensors(file) for file in self.files]
        if isinstance(content, Object) and not content.state:
            raise more_than_tensors(self.files[0], "an object instead of a dict")
        if not others:
            return content
        # The others are parts; or the base of the first, whose tensors replace the base's.
        merged = {}
        for part in (*others, content):
            merged.update(part.items())
        return merged

    def _card(self, name: str, clip: ForeignClip, width: int) -> "tuple[Card, nn.Module | None]":
        """Return the card, with what the trainer does unless a person says otherwise, and the head, if any."""
        options = self.options
        form = clip.form
        card = Card(
            name,
            objective="contrastive",
            base=_base_of(self.files[0]),
            frames=options.frames or form.frames,
            pooling=options.pooling or form.pooling,
            positions=options.positions or form.positions,
        )
        if card.pooling.name != SEQUENCE:
            return card, None

        from nt2vr.models.pooling import filled_pooling  # noqa: PLC0415  imports torch

        head = {name: tensor.float() for name, tensor in clip.head.items()}
        try:
            # CLIP4Clip has a head of attention per 64 of the width.
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


def _remark(architecture: Architecture, clip: ForeignClip, card: Card, options: AddOptions) -> str:
    """Say how a checkpoint was read, and of a guess that it is one."""
    is_quick = architecture.model_cfg.get("quick_gelu")
    activation = QUICK_GELU if is_quick else GELU
    name = architecture.name or f"a CLIP of its own shape (attention heads of {HEAD_WIDTH})"
    if architecture.is_guess:
        switch = "--activation"
        if not options.activation:
            other_activation = GELU if is_quick else QUICK_GELU
            switch = f"--activation {other_activation}"
        remark = (
            f"A guess from the tensors' shapes: {name}, with {activation}. If that is wrong, remove the model and "
            f"add it with --model or {switch}."
        )
    else:
        source = f" by {architecture.source}" if architecture.source else ""
        remark = f"Read as {name}{source}, with {activation}."

    if clip.form.trainer:
        framing = card.framing
        remark += (
            f" Recognised as a file of {clip.form.trainer}: {framing.frames} frames, {card.pooling.name}, "
            f"{framing.positions}."
        )
    ignored = list(clip.outside)
    if card.pooling.name != SEQUENCE:
        ignored += clip.head
    if ignored:
        remark += f" Ignored, as not part of a CLIP: {some_of(ignored)}."
    return remark


def _tokenizer(architecture: Architecture, files: Sequence[Path]) -> Any:
    """Read the tokenizer of a text tower: open_clip's own, next to a file, or of the model that a person named."""
    text_cfg = architecture.model_cfg["text_cfg"]
    folders = (file.parent for file in files if (file.parent / TOKENIZER).is_file())
    folder = next(folders, architecture.folder)
    if folder is None and needs_file(text_cfg):
        name = quoted(text_cfg["hf_tokenizer_name"])
        raise ConfigError(
            f"The model needs the tokenizer {name}. Put its {TOKENIZER} next to {files[0].name}, or name a model here "
            "that has it: --model."
        )
    return load_tokenizer(folder, text_cfg)


def _filled(architecture: Architecture, weights: StateDict, file: Path) -> Any:
    """Build the model with the weights: first without memory, to compare shapes."""
    import torch  # noqa: PLC0415  the page is up before torch is

    model, weights, misfits = fitted(architecture.model_cfg, weights, architecture.preprocess_cfg)
    if misfits:
        raise CheckpointError(f"{file.name} does not fit the model ({misfits}). Name another one.")
    copies = {}
    for name, tensor in weights.items():
        if tensor.dtype not in (torch.float16, torch.float32, torch.int64):
            tensor = tensor.float()
        copies[name] = tensor.clone()
    check_finite(copies, file)
    model.load_state_dict(copies, assign=True)
    return model
