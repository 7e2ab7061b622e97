"""Values of events, checked: anyone can send anything to any event."""

from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import gradio as gr

from nt2vr.errors import ConfigError

OpensQueries = Callable[[Any, Callable[..., Mapping[str, str]]], None]  # opens an event's link in the Search tab
Updates = dict[Any, Any]  # component -> its new value; the others stay as they are
T = TypeVar("T", str, int)


def event_value(event: gr.EventData, name: str, kind: type[T]) -> T:
    """Return a value from a template's event; a ConfigError if it has none of that name and type."""
    value = event._data.get(name) if isinstance(event._data, dict) else None
    if type(value) is not kind:
        raise ConfigError(f"The request was refused: its event has no {name}.")
    return value
