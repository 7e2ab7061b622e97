"""Checkpoints stored as their difference from a base: a whole model, which has all tensors that did not change.

A base is known by its fingerprint. It is looked for next to the checkpoint, among the shipped
models, and in `models` of every folder above the checkpoint, such as a run's data folder.
"""

from collections.abc import Mapping
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
from nt2vr.models.weights import SCALARS, check_finite, visual_fingerprint
from nt2vr.settings import ASSETS

if TYPE_CHECKING:
    from torch import Tensor

LEAST_SHARED = 0.1  # of the bytes: a checkpoint that shares less with its base is stored whole


class SharedWeights:
    """The float32 tensors of a whole model on a device, in memory once for all models that stand on it.

    Attributes:
        folded: what encoders made of their visual towers, by the configurations of these.
    """

    def __init__(self, tensors: "dict[str, Tensor]") -> None:
        self.tensors = tensors
        self.folded: dict[str, Any] = {}

    @cached_property
    def visual_fingerprint(self) -> str:
        return visual_fingerprint(self.tensors)


_shared: WeakValueDictionary[tuple[object, ...], SharedWeights] = (
    WeakValueDictionary()
)  # kept alive by encoders
_reading = Lock()


def shared_weights(folder: Path, device: str) -> SharedWeights:
    """Read the weights of a whole model for use without changing them; once as long as a model uses them."""
    key = folder.absolute(), device, *stamp(folder / WEIGHTS)
    with _reading:
        if (found := _shared.get(key)) is None:
            tensors = {
                name: tensor.to(device) for name, tensor in read_tensors(folder / WEIGHTS).items()
            }
            found = _shared[key] = SharedWeights(tensors)
    return found


def read_tensors(file: Path) -> "dict[str, Tensor]":
    """Read the tensors of a checkpoint's file, in float32 and finite; those stored so are mapped, not copied."""
    from safetensors.torch import load_file  # noqa: PLC0415  imports torch

    weights = load_file(file)
    check_finite(weights, file.parent)
    return {
        name: tensor.float() if tensor.is_floating_point() else tensor
        for name, tensor in weights.items()
    }


def whole_folder(folder: Path, card: Card) -> Path:
    """Return the folder of a checkpoint's base, or its own if it is whole; a CheckpointError names a missing one."""
    if not card.difference:
        if not (folder / WEIGHTS).is_file():
            raise CheckpointError(f"{folder} has no {WEIGHTS}. Choose a complete checkpoint.")
        return folder
    found, is_known = find_base(folder, card.difference)
    if found is None:
        problem = "whose weights have changed" if is_known else "which is not here"
        name = quoted(card.difference.model)
        raise CheckpointError(
            f"{folder} holds only what differs from the model {name}, {problem}. Add {name} again."
        )
    return found


def find_base(folder: Path, difference: DifferenceSection) -> tuple[Path | None, bool]:
    """Find the base of a checkpoint in `folder`, and tell whether any model has its name."""
    above = folder.absolute().parents
    places = dict.fromkeys([above[0], ASSETS / "models", *(each / "models" for each in above)])
    is_known = False
    for file in (file for place in places for file in sorted(place.glob(f"[!.]*/{CARD}"))):
        with suppress(OSError, ValueError, AttributeError):  # no card, and no model either
            model = read_as_base(file.parent)
            if (file.parent / WEIGHTS).is_file():
                if model.fingerprint == difference.fingerprint:
                    return file.parent, True
                is_known |= model.model == difference.model
    return None, is_known


def tokenizer_folder(folder: Path, base: Path) -> Path:
    return folder if (folder / TOKENIZER).is_file() else base


class WeightDifference(NamedTuple):
    """A checkpoint in two parts."""

    base: Path  # folder of the whole model
    entry: DifferenceSection  # about it, for the card
    changed: "dict[str, Tensor]"  # those that its base does not have
    weights: "dict[str, Tensor]"  # all; those that did not change are as the base has them


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
    before = read_tensors(base / WEIGHTS)
    compared = before.keys() - {*SCALARS}  # which are no part of the fingerprint, and small
    floats = {
        name: each
        for name, each in trained.items()
        if name in compared and each.is_floating_point()
    }
    same = {
        name: before[name]
        for name, each in floats.items()
        if before[name].equal(each.detach().float().cpu())
    }
    if sum(stored[name].nbytes for name in same) < LEAST_SHARED * sum(
        tensor.nbytes for tensor in stored.values()
    ):
        return None
    changed = {name: tensor for name, tensor in stored.items() if name not in same}
    return WeightDifference(base, entry, changed, {**stored, **same})


def export_checkpoint(folder: Path, target: Path) -> None:
    """Write a checkpoint as a whole model, which open_clip loads by itself; atomically."""
    from safetensors.torch import load_file, save_file  # noqa: PLC0415  imports torch

    card = read_card(folder)
    if card.capabilities.given_queries_only:
        raise CheckpointError(
            f"{card.name} is embeddings from a file, and no model. Choose another one."
        )
    if target.exists():
        raise CheckpointError(f"{target} already exists. Choose another name or delete it.")
    base = whole_folder(folder, card)
    with atomic_folder(target) as partial:
        of_extensions = map(extension_file, (*text_sides(), *composers()))
        places = dict.fromkeys((CONFIG, HEAD, *of_extensions), folder)
        places |= dict.fromkeys((TOKENIZER, TOKENIZER_CONFIG), tokenizer_folder(folder, base))
        for file in (place / name for name, place in places.items()):
            if file.is_file():
                (partial / file.name).write_bytes(file.read_bytes())
        changed = load_file(folder / DIFFERENCE) if card.difference else {}
        save_file({**load_file(base / WEIGHTS), **changed}, partial / WEIGHTS)
        (partial / WEIGHTS).chmod(
            0o644
        )  # readable for others like the rest; safetensors writes 0600
        write_card(partial, card.replace(difference=None))
