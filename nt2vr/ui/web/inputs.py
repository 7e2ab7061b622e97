"""Validation of event inputs, before any handler. Anyone can send anything to any event."""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import gradio as gr

from nt2vr.errors import MAX_QUOTED, ConfigError, reason_of

OpensQueries = Callable[[Any, Callable[..., Mapping[str, str]]], None]  # opens the link that an event names in Search


def check_inputs(page: gr.Blocks) -> None:
    """Have a page refuse values that its components could not have sent, in one sentence and without a traceback."""
    preprocess = page.preprocess_data

    async def checked(block_fn: Any, inputs: list[Any], *args: Any, **options: Any) -> list[Any]:
        try:
            json.dumps(inputs, ensure_ascii=False).encode()
            values = await preprocess(block_fn, inputs, *args, **options)
            return [_checked(block, value) for block, value in zip(block_fn.inputs, values, strict=True)]
        except UnicodeEncodeError:
            reason = "it has a character that is not valid Unicode"
        except gr.Error as error:
            if not error.print_exception:  # it is one of ours
                raise
            reason = str(error.message)
        except Exception as error:  # Gradio and pydantic raise many kinds
            reason = reason_of(error)
        raise gr.Error(f"The request was refused: {reason[:MAX_QUOTED]}", print_exception=False)

    page.preprocess_data = checked  # type: ignore[method-assign]


T = TypeVar("T", str, int)


def event_value(event: gr.EventData, name: str, kind: type[T]) -> T:
    """Return a value that an event of a template brings.

    Raises:
        ConfigError: if it brings none of that name and kind.
    """
    value = event._data.get(name) if isinstance(event._data, dict) else None
    if type(value) is not kind:
        raise ConfigError(f"The request was refused: its event has no {name}.")
    return value


def _checked(block: Any, value: Any) -> Any:
    """Return a component's value; a text that is null is empty."""
    if isinstance(block, gr.Textbox):
        return value if value is not None else ""
    if isinstance(block, gr.Number | gr.Slider):
        ok = isinstance(value, int | float) and math.isfinite(value)
    elif isinstance(block, gr.Dropdown):
        ok = isinstance(value, list | None) if block.multiselect else not isinstance(value, list | None)
    elif isinstance(block, gr.Radio):
        ok = isinstance(value, str)
    elif isinstance(block, gr.BrowserState):
        ok = value is None or isinstance(value, str)
    elif isinstance(block, gr.HTML):
        ok = isinstance(value, dict)
    else:
        ok = True
    if not ok:
        raise ValueError(f"a {block.get_block_name()} cannot have the value {value!r}")
    return value
