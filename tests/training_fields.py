"""docs/training-fields.md, generated from the descriptions of a training's fields.

python -m tests.training_fields --write
"""

import argparse
import inspect
import json
from collections.abc import Iterator, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, get_args, get_origin, get_type_hints

from tests.paths import ROOT
from trainer.config import FusionSettings, TrainConfig, WordSettings, help_of
from trainer.losses import LOSSES, Weight

PAGE = ROOT / "docs" / "training-fields.md"
TYPES = {bool: "true or false", int: "whole number", float: "number", str: "text"}
INTRODUCTION = """# Fields of a training

Every field of a run's `config.json`, for `nt2vr train --set KEY=VALUE` and the [Train tab](training.md). Values are
JSON; parts of a value have a dotted key: `--set losses.distill.alpha=.8`.

*Generated from `trainer/config.py` and `trainer/losses/` by `python -m tests.training_fields --write`.*
"""


def reference() -> str:
    """Return the page: the fields of a config, of its settings for words and fusions, and of each loss."""
    parts = [INTRODUCTION, _table(TrainConfig)]
    parts += ["## `words`\n", _table(WordSettings, "words.")]
    parts += ["## `fusion`\n", _table(FusionSettings, "fusion.")]
    parts.append(f"## `losses`\n\nEach loss has a `weight`: {help_of(Weight)['weight']}.\n")
    for name, loss in LOSSES.items():
        purpose = (inspect.getdoc(loss) or "").partition("\n")[0]
        parts.append(f"### `{name}`\n\n{purpose}\n")
        if fields(loss):
            parts.append(_table(loss, f"losses.{name}."))
    return "\n".join(parts)


def _table(kind: type[Any], prefix: str = "") -> str:
    lines = ["| field | values | default | |", "|:--|:--|:--|:--|"]
    lines += [f"| {' | '.join(cells)} |" for cells in _rows(kind, prefix)]
    return "\n".join(lines) + "\n"


def _rows(kind: type[Any], prefix: str) -> Iterator[tuple[str, str, str, str]]:
    hints = get_type_hints(kind)
    for field in fields(kind):
        description = field.metadata.get("help", "")
        yield f"`{prefix}{field.name}`", _values(hints[field.name]), _default(field), _cell(description)


def _values(hint: Any) -> str:
    """Name what a field may be: its choices, or its type."""
    if choices := _choices(hint):
        return ", ".join(f"`{choice}`" for choice in choices)
    if get_origin(hint) is Mapping or hint is Mapping:
        return "mapping"
    return TYPES.get(hint, "mapping" if get_origin(hint) else str(hint))


def _choices(hint: Any) -> tuple[str, ...]:
    return tuple(choice for choice in get_args(hint) if isinstance(choice, str))


def _default(field: Field[Any]) -> str:
    default = field.default
    if field.default_factory is not MISSING:
        default = field.default_factory()
    if isinstance(default, Mapping):
        default = dict(default)
    return f"`{json.dumps(default)}`" if default not in ("", {}) else "empty"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.training_fields", description=__doc__)
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    if parser.parse_args().write:
        PAGE.write_text(reference(), encoding="utf-8")
