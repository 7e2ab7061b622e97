"""Input component for a reference picture."""

from pathlib import Path
from typing import Any

import gradio as gr

from nt2vr.errors import MediaError
from nt2vr.ui.web.errors import user_errors
from nt2vr.ui.web.request_checks import MAX_PICTURE_MB, MB
from nt2vr.ui.web.uploads import is_upload


def reference_picture(**options: Any) -> gr.Image:
    """Build a gr.Image that does not open its file: untrusted pictures are decoded in a child process."""
    picture = gr.Image(type="filepath", label="Reference picture", **options)
    picture.preprocess = _uploaded_path  # type: ignore[method-assign]  # a subclass would write a .pyi beside its source
    return picture


@user_errors
def _uploaded_path(payload: Any) -> str | None:
    """Return the path of an uploaded picture; one sentence refuses all others, so that no path can be tried out."""
    if payload is None:
        return None
    if payload.path is None or not is_upload(payload.path):
        raise MediaError("There is no such picture among the uploaded files. Upload it again.")
    if Path(payload.path).stat().st_size > MAX_PICTURE_MB * MB:
        raise MediaError(f"A picture may have {MAX_PICTURE_MB} MB. Send a smaller one.")
    return str(payload.path)
