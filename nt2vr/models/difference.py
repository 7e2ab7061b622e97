"""Checkpoints stored as their difference from a base: a whole model, which has all tensors that did not change.

A base is known by its fingerprint. It is looked for next to the checkpoint, among the shipped
models, and in `models` of every folder above the checkpoint, such as a run's data folder.
"""

from collections.abc import Iterable, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakValueDictionary

from nt2vr.errors import CheckpointError, quoted
from nt2vr.extension import composers, text_sides
from nt2vr.files import atomic_folder, stamp
from nt2vr.models.card import (
    CARD,
    CONFIG,
    DIFFERENCE,
    HEAD,
    WEIGHTS,
    Card,
    DifferenceSection,
    extension_file,
    read_as_base,
    read_card,
    write_card,
)
from nt2vr.models.tokenizer import TOKENIZER, TOKENIZER_CONFIG
from nt2vr.models.weights import SCALARS, check_finite, save_tensors, visual_fingerprint
from nt2vr.settings import ASSETS

if TYPE_CHECKING:
    from torch import Tensor

# Of the bytes: a checkpoint that shares less with its base is stored whole.
LEAST_SHARED = 0.1


class SharedWeights:
    """Float32 tensors on a device, in memory once for all models that need them.

    Attributes:
        folded: what encoders made of the visual tower, by its configuration.
    """

    def __init__(self, tensors: "dict[str, Tensor]") -> None:
        self.tensors = tensors
        self.folded: dict[str, Any] = {}

    @cached_property
    def visual_fingerprint(self) -> str:
        return visual_fingerprint(self.tensors)


# Kept alive by encoders.
_shared: WeakValueDictionary[tuple[object, ...], SharedWeights] = WeakValueDictionary()
_reading = Lock()


def shared_weights(folder: Path, device: str) -> SharedWeights:
    """Read the weights of a whole model for use without changing them; once as long as a model uses them."""
    key = folder.absolute(), device, *stamp(folder / WEIGHTS)
    with _reading:
        weights = _shared.get(key)
        if weights is None:
            tensors = read_tensors(folder / WEIGHTS)
            weights = SharedWeights({name: tensor.to(device) for name, tensor in tensors.items()})
            _shared[key] = weights
    return weights


def read_tensors(file: Path) -> "dict[str, Tensor]":
    """Read the tensors of a checkpoint's file, in float32 and finite; those stored so are mapped, not copied."""
    from safetensors.torch import load_file  # noqa: PLC0415  imports torch

    weights: dict[str, Tensor] = load_file(file)
    check_finite(weights, file.parent)
    for name, tensor in weights.items():
        if tensor.is_floating_point():
            weights[name] = tensor.float()
    return weights


def whole_folder(folder: Path, card: Card) -> Path:
    """Return the folder of a checkpoint's base, or its own if it is whole; a CheckpointError names a missing one."""
    if not card.difference:
        if not (folder / WEIGHTS).is_file():
            raise CheckpointError(f"{folder} has no {WEIGHTS}. Choose a complete checkpoint.")
        return folder

    base, is_name_known = find_base(folder, card.difference)
    if base is None:
        problem = "whose weights have changed" if is_name_known else "which is not here"
        name = quoted(card.difference.model)
        raise CheckpointError(
            f"{folder} holds only what differs from the model {name}, {problem}. Add {name} again."
        )
    return base


def find_base(folder: Path, difference: DifferenceSection) -> tuple[Path | None, bool]:
    """Find the base of a checkpoint in `folder`, and tell whether any model has its name."""
    parents = folder.absolute().parents
    above = [parent / "models" for parent in parents]
    is_name_known = False
    for place in dict.fromkeys([parents[0], ASSETS / "models", *above]):
        for card_file in sorted(place.glob(f"[!.]*/{CARD}")):
            model_folder = card_file.parent
            # Not every file of that name is a card.
            with suppress(OSError, ValueError, AttributeError):
                model = read_as_base(model_folder)
                if not (model_folder / WEIGHTS).is_file():
                    continue
                if model.fingerprint == difference.fingerprint:
                    return model_folder, True
                if model.model == difference.model:
                    is_name_known = True
    return None, is_name_known


def tokenizer_folder(folder: Path, base: Path) -> Path:
    return folder if (folder / TOKENIZER).is_file() else base


class WeightDifference(NamedTuple):
    """A checkpoint in two parts."""

    # Folder of the whole model.
    base: Path
    # About it, for the card.
    entry: DifferenceSection
    # Tensors that its base does not have.
    changed: "dict[str, Tensor]"
    # All tensors; those that did not change are as the base has them.
    weights: "dict[str, Tensor]"


def difference_from(
    start: Path, folder: Path, trained: "Mapping[str, Tensor]", stored: "Mapping[str, Tensor]"
) -> WeightDifference | None:
    """Compare weights, as `trained` and as `stored`, with the base of the checkpoint that training started from.

    Return None if a checkpoint in `folder` would not find that base, or share little with it.
    """
    base = whole_folder(start, read_card(start))
    entry = read_card(base).as_base
    if find_base(folder, entry)[0] is None:
        return None

    of_base = read_tensors(base / WEIGHTS)
    same = {}
    for name, tensor in trained.items():
        # The fingerprint of a base says nothing of SCALARS, which are small.
        if name in SCALARS or name not in of_base or not tensor.is_floating_point():
            continue
        if of_base[name].equal(tensor.detach().float().cpu()):
            same[name] = of_base[name]

    same_bytes = sum(stored[name].nbytes for name in same)
    if same_bytes < LEAST_SHARED * sum(tensor.nbytes for tensor in stored.values()):
        return None
    changed = {name: tensor for name, tensor in stored.items() if name not in same}
    return WeightDifference(base, entry, changed, weights={**stored, **same})


def export_checkpoint(folder: Path, target: Path) -> None:
    """Write a checkpoint as a whole model, which open_clip loads by itself; atomically."""
    from safetensors.torch import load_file  # noqa: PLC0415  imports torch

    card = read_card(folder)
    if card.capabilities.given_queries_only:
        raise CheckpointError(f"{card.name} has only embeddings from a file. Choose another model.")
    if target.exists():
        raise CheckpointError(f"{target} already exists. Choose another name or delete it.")

    base = whole_folder(folder, card)
    with atomic_folder(target) as partial:
        of_extensions = map(extension_file, (*text_sides(), *composers()))
        _copy_files((CONFIG, HEAD, *of_extensions), folder, partial)
        _copy_files((TOKENIZER, TOKENIZER_CONFIG), tokenizer_folder(folder, base), partial)
        changed = load_file(folder / DIFFERENCE) if card.difference else {}
        save_tensors({**load_file(base / WEIGHTS), **changed}, partial / WEIGHTS)
        write_card(partial, card.replace(difference=None))


def _copy_files(names: Iterable[str], source: Path, target: Path) -> None:
    """Copy those files that are there."""
    for name in names:
        if (source / name).is_file():
            (target / name).write_bytes((source / name).read_bytes())
