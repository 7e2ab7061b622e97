"""Input for a reference picture."""

from typing import Any

import gradio as gr


def reference_picture(**options: Any) -> gr.Image:
    """Build a gr.Image that does not open its file: untrusted pictures are decoded in a child process."""
    picture = gr.Image(type="filepath", label="Reference picture", **options)
    picture.preprocess = _uploaded_path  # type: ignore[method-assign]  # a subclass would write a .pyi beside its source
    return picture


def _uploaded_path(payload: Any) -> str | None:
    if payload is None:
        return None
    if payload.path is None:
        raise gr.Error("Send the picture as a file.", print_exception=False)
    return str(payload.path)
