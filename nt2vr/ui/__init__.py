"""The Gradio page: per tab a layout, handlers and template data. No search or model logic."""

import inspect
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def quickly_imported() -> Iterator[None]:
    """Import Gradio a second faster within the block: it does not compare its sources with the stubs for editors.

    Gradio has no setting for that, but skips a component whose source `inspect` does not find.
    """
    get_file = inspect.getfile

    def get_file_outside_gradio(thing: Any) -> str:
        if isinstance(thing, type) and thing.__module__.startswith("gradio"):
            raise OSError
        return get_file(thing)

    inspect.getfile = get_file_outside_gradio  # type: ignore[assignment]
    try:
        yield
    finally:
        inspect.getfile = get_file
