"""The table of losses in the form: each with its weight and its settings."""

import inspect
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import fields
from typing import Any, get_args, get_type_hints

from nt2vr.errors import ConfigError
from nt2vr.ui.train.fields import Field, FieldValues
from nt2vr.ui.view import View


def loss_fields() -> dict[str, tuple[str, list[Field]]]:
    """Return each loss's one-line description, its weight and its own fields."""
    from trainer.loss_settings import help_of  # noqa: PLC0415
    from trainer.losses import LOSSES, Weight  # noqa: PLC0415  imports torch

    weight = Field("weight", 1.0, Weight.model_fields["weight"].description or "")
    described = {}
    for name, kind in LOSSES.items():
        purpose = (inspect.getdoc(kind) or "").partition("\n")[0]
        settings = _settings(kind, help_of(kind))
        described[name] = (purpose, [weight, *settings])
    return described


def _settings(kind: type, help_texts: Mapping[str, str]) -> Iterator[Field]:
    hints = get_type_hints(kind)
    for setting in fields(kind):
        name = setting.name
        arguments = get_args(hints[name])
        choices = tuple(choice for choice in arguments if isinstance(choice, str))
        yield Field(name, setting.default, help_texts[name], choices)


def losses_view(losses: Mapping[str, FieldValues]) -> View:
    """Return the table of all losses, with those of a config selected and filled in, of which it may have none."""
    rows = []
    for name, (purpose, settings) in loss_fields().items():
        values = losses.get(name, {})
        cells = [_cell(field, values.get(field.key, field.default)) for field in settings]
        rows.append({"name": name, "help": purpose, "is_on": name in losses, "fields": cells})
    return {"losses": rows, "has_none": not losses}


def _cell(field: Field, value: Any) -> View:
    """Return one input of the table: a switch, a choice or a number."""
    cell = {"key": field.key, "label": field.key.replace("_", " "), "help": field.help}
    if isinstance(field.default, bool):
        return {**cell, "switch": True, "is_on": value}
    if field.choices:
        return {**cell, "choice": True, "value": value, "choices": list(field.choices)}
    if isinstance(value, int | float):
        value = f"{value:g}"
    return {**cell, "number": True, "value": value}


def read_losses(table: View) -> dict[str, FieldValues]:
    """Return the selected losses in config form; invalid numbers pass through for `build_losses` to reject."""
    losses: dict[str, FieldValues] = {}
    try:
        for row in table.get("losses", ()):
            if row["is_on"]:
                losses[row["name"]] = {cell["key"]: _value_of(cell) for cell in row["fields"]}
    except (TypeError, LookupError, AttributeError) as error:
        raise ConfigError("The table of losses cannot be read. Reload the page.") from error
    return losses


def _value_of(cell: View) -> Any:
    if "switch" in cell:
        return bool(cell["is_on"])
    value = cell["value"]
    if "number" in cell:
        with suppress(TypeError, ValueError):
            value = float(value)
    return value
