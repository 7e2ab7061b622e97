"""docs/training-fields.md, generated from the descriptions of a training's fields.

python -m tests.support.training_fields --write
"""

import argparse
import dataclasses
import inspect
import json
from collections.abc import Iterator, Mapping
from typing import Any, get_args, get_origin, get_type_hints

from nt2vr.papers.covr.settings import FusionSettings
from nt2vr.papers.sea.settings import WordSettings
from nt2vr.sections import Section
from tests.support.paths import ROOT
from trainer.config import SECTIONS
from trainer.loss_settings import help_of
from trainer.losses import LOSSES, Weight

PAGE = ROOT / "docs" / "training-fields.md"
TYPES = {bool: "true or false", int: "whole number", float: "number", str: "text"}
INTRODUCTION = """# Fields of a training

Every field of a run's `config.json`, for `nt2vr train --set KEY=VALUE` and the [Train tab](training.md). Values are
JSON; parts of a value have a dotted key: `--set losses.distill.alpha=.8`. Fields are grouped by subject here; a key
does not include the name of its group.

*Generated from `trainer/config/` and `trainer/losses/` by `python -m tests.support.training_fields --write`.*
"""
# Name, type, default and description.
Row = tuple[str, Any, Any, str]


def reference() -> str:
    """Return the page: the fields of a config, of its settings for words and fusions, and of each loss."""
    parts = [INTRODUCTION]
    for name, section in SECTIONS.items():
        parts.append(f"## {name.capitalize()}\n\n{inspect.getdoc(section)}\n")
        parts.append(_table(_rows_of_section(section)))
    parts += ["## `words`\n", _table(_rows_of_section(WordSettings), "words.")]
    parts += ["## `fusion`\n", _table(_rows_of_section(FusionSettings), "fusion.")]
    weight = Weight.model_fields["weight"].description
    parts.append(f"## `losses`\n\nEach loss has a `weight`: {weight}.\n")
    for name, loss in LOSSES.items():
        purpose = (inspect.getdoc(loss) or "").partition("\n")[0]
        parts.append(f"### `{name}`\n\n{purpose}\n")
        if dataclasses.fields(loss):
            parts.append(_table(_rows_of_loss(loss), f"losses.{name}."))
    return "\n".join(parts)


def _rows_of_section(section: type[Section]) -> Iterator[Row]:
    for name, field in section.model_fields.items():
        yield name, field.annotation, field.default, field.description or ""


def _rows_of_loss(loss: type[Any]) -> Iterator[Row]:
    hints = get_type_hints(loss)
    helps = help_of(loss)
    for field in dataclasses.fields(loss):
        yield field.name, hints[field.name], field.default, helps[field.name]


def _table(rows: Iterator[Row], prefix: str = "") -> str:
    lines = ["| field | values | default | |", "|:--|:--|:--|:--|"]
    for name, kind, default, description in rows:
        cells = (f"`{prefix}{name}`", _values(kind), _default(default), _cell(description))
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def _values(kind: Any) -> str:
    """Name what a field may be: its choices, or its type."""
    choices = _choices(kind)
    if choices:
        return ", ".join(f"`{choice}`" for choice in choices)
    if kind in TYPES:
        return TYPES[kind]
    # The other types with parameters are mappings.
    if get_origin(kind) or kind is Mapping:
        return "mapping"
    return str(kind)


def _choices(kind: Any) -> tuple[str, ...]:
    return tuple(choice for choice in get_args(kind) if isinstance(choice, str))


def _default(default: Any) -> str:
    if default in ("", {}):
        return "empty"
    return f"`{json.dumps(default)}`"


def _cell(text: str) -> str:
    return text.replace("|", "\\|").replace("*", "\\*")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        prog="python -m tests.support.training_fields", description=__doc__
    )
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.name}")
    if parser.parse_args().write:
        PAGE.write_text(reference(), encoding="utf-8")
