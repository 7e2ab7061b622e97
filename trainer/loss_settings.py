"""Settings of losses: the fields of a dataclass, each with a default and a help text."""

import dataclasses
from collections.abc import Mapping
from functools import cache
from typing import Any, TypeVar, get_type_hints

from pydantic import TypeAdapter, ValidationError

from nt2vr.sections import check_names, refusal

T = TypeVar("T")


def option(default: T, text: str) -> T:
    """Declare a field of a loss with its default and help text."""
    return dataclasses.field(default=default, metadata={"help": text})


def help_of(loss: type) -> dict[str, str]:
    """Return the help text of every field; fields of a loss of one's own may have none."""
    return {field.name: field.metadata.get("help", "") for field in dataclasses.fields(loss)}


def read_loss(loss: type, values: Mapping[str, Any], of: str) -> Any:
    """Build a loss; a ConfigError refuses a value that is no field of it, or not of its type or range.

    Args:
        loss: a dataclass, which may come from outside, so that its fields are checked here.
        values: values by field.
        of: says in errors whose they are: " of the loss bnl".
    """
    adapters = _adapters(loss)
    check_names(values, adapters, of)
    for name, value in values.items():
        try:
            adapters[name].validate_python(value, strict=True)
        except ValidationError as error:
            raise refusal(error, of, prefix=name) from None
    return loss(**values)


@cache
def _adapters(loss: type) -> dict[str, TypeAdapter[Any]]:
    hints = get_type_hints(loss, include_extras=True)
    return {field.name: TypeAdapter(hints[field.name]) for field in dataclasses.fields(loss)}
