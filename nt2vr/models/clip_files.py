"""What the files of a model of sentence-transformers or transformers may ask of these libraries.

Both build what JSON files describe: classes by their names, layers by their number, kernels from
the Hub.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from nt2vr.errors import CheckpointError, quoted
from nt2vr.models.open_clip_model import MAX_LAYERS

# The largest models have some 20 modules per layer.
MAX_MODULES = 100 * MAX_LAYERS
# num_hidden_layers, n_layer, depth, num_blocks.
LAYERS = re.compile(r"(^|_)(layers?|depths?|n?blocks)$")
# Of sentence-transformers: file and class. Each only builds layers of torch, or a model of
# transformers.
MODULE_CLASSES = {
    "transformer": "Transformer",
    "pooling": "Pooling",
    "normalize": "Normalize",
    "dense": "Dense",
    "dropout": "Dropout",
    "layer_norm": "LayerNorm",
    "clip_model": "CLIPModel",
    "router": "Router",
}
MODULE_FOLDERS = ("models", "base.modules", "sentence_transformer.modules")


def _allowed_classes() -> frozenset[str]:
    """Return the classes by each of the modules in which a version of the library has them."""
    allowed = set()
    for folder in MODULE_FOLDERS:
        module = f"sentence_transformers.{folder}"
        for file, name in MODULE_CLASSES.items():
            allowed |= {f"{module}.{name}", f"{module}.{file}.{name}"}
    return frozenset(allowed)


ALLOWED_CLASSES = _allowed_classes()
ACTIVATION = re.compile(r"torch\.nn\.modules\.(activation|linear)\.[A-Z]\w*")
# In which any word may be a key.
VOCABULARIES = ("tokenizer.json", "vocab.json", "added_tokens.json")
# Ends of keys.
ATTENTION = ("attn_implementation", "experts_implementation")
OWN_ATTENTION = (
    "eager",
    "sdpa",
    "flex_attention",
    "flash_attention_2",
    "flash_attention_3",
    "grouped_mm",
)


def check_model_files(folder: Path, name: str) -> None:
    """Raise a CheckpointError if a JSON file of a model asks for anything but layers of the libraries' own."""
    for path in sorted(folder.rglob("*.json")):
        if path.name in VOCABULARIES:
            continue
        try:
            content = json.loads(path.read_text(encoding="utf-8"))
        except (ValueError, RecursionError) as error:
            raise CheckpointError(
                f"{path.name} of {name} cannot be read. Choose another model."
            ) from error
        if path.name == "modules.json":
            _check_modules(content, name)
        _check_values(content, name)


def _check_modules(content: Any, name: str) -> None:
    """Check a list of modules, each with a class and the folder of its files."""
    if not isinstance(content, list) or not all(isinstance(module, dict) for module in content):
        raise CheckpointError(
            f"modules.json of {name} is not a list of modules. Choose another model."
        )
    for module in content:
        _check_class(module.get("type"), name)
        place = str(module.get("path", ""))
        if Path(place).is_absolute() or ".." in Path(place).parts:
            raise CheckpointError(
                f"{name} has a module outside its folder ({quoted(place)}). Choose another model."
            )


def _check_class(class_name: Any, name: str) -> None:
    if class_name not in ALLOWED_CLASSES:
        raise CheckpointError(
            f"{name} names {quoted(class_name)}. It needs code of its own, which is never run. Choose another model."
        )


def _check_values(content: Any, name: str) -> None:
    """Check the values of a configuration, however deep they lie in it."""
    waiting = [content]
    while waiting:
        value = waiting.pop()
        if isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, dict):
            waiting.extend(value.values())
            for key, entry in value.items():
                _check_entry(key, entry, name)


def _check_entry(key: str, value: Any, name: str) -> None:
    if LAYERS.search(key) and (count := _number_of(value)) > MAX_LAYERS:
        raise CheckpointError(
            f"{name} has {count:,} layers ({key}), and at most {MAX_LAYERS} are built."
        )

    # Of a router.
    if key == "types" and isinstance(value, dict):
        for class_name in value.values():
            _check_class(class_name, name)

    if (
        key == "activation_function"
        and isinstance(value, str)
        and "." in value
        and not ACTIVATION.fullmatch(value)
    ):
        raise CheckpointError(
            f"{name} names the function {quoted(value)}, which is never run. Choose another model."
        )

    if key.removesuffix("_internal").endswith(ATTENTION):
        kinds = value.values() if isinstance(value, dict) else [value]
        for kind in kinds:
            if kind is not None and kind not in OWN_ATTENTION:
                raise CheckpointError(
                    f"{name} wants code of attention from elsewhere ({quoted(kind)}), never run here."
                )


def _number_of(value: Any) -> int:
    """Return a number of layers, of all stages together; 0 if it is none."""
    stages = value if isinstance(value, list) else [value]
    return sum(
        int(number)
        for number in stages
        if isinstance(number, int | float) and abs(number) < float("inf")
    )


@contextmanager
def limited_layers(name: str) -> Iterator[None]:
    """Refuse, within the block, a model of more layers than any has, whatever its configuration calls them."""
    from torch.nn.modules.module import (  # noqa: PLC0415  the page is up before torch is
        register_module_module_registration_hook,
    )

    count = 0

    def on_module(*_: object) -> None:
        nonlocal count
        count += 1
        if count > MAX_MODULES:
            raise CheckpointError(
                f"{name} has over {MAX_MODULES:,} parts: more than {MAX_LAYERS} layers are not built."
            )

    hook = register_module_module_registration_hook(on_module)
    try:
        yield
    finally:
        hook.remove()
