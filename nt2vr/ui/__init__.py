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
    find = inspect.getfile

    def found(thing: Any) -> str:
        if isinstance(thing, type) and thing.__module__.startswith("gradio"):
            raise OSError
        return find(thing)

    inspect.getfile = found  # type: ignore[assignment]
    try:
        yield
    finally:
        inspect.getfile = find
