"""What Gradio's clients may send to the events for programs."""

from pathlib import Path
from typing import Any

import gradio as gr
import PIL.Image
import pytest
from gradio.data_classes import ImageData
from gradio.utils import get_upload_folder

from nt2vr.errors import MediaError
from nt2vr.ui.web import inputs
from nt2vr.ui.web.api_types import SearchRequest
from nt2vr.ui.web.gradio_events import build_events
from nt2vr.ui.web.requests import Requests
from tests.support.running import in_thread

# No page is behind the events.
NOTHING: Any = None


def test_an_event_leaves_an_uploaded_picture_to_the_decoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))
    (tmp_path / "uploads").mkdir()
    uploaded = Path(get_upload_folder()) / "a.png"
    uploaded.touch()
    not_uploaded = tmp_path / "b.png"
    not_uploaded.touch()
    opened: list[Any] = []

    def opening(path: Any) -> PIL.Image.Image:
        opened.append(path)
        return PIL.Image.new("RGB", (2, 2))

    monkeypatch.setattr(PIL.Image, "open", opening)
    gr.Image(type="filepath").preprocess(ImageData(path=str(uploaded)))
    assert opened, "Gradio no longer opens it: remove unopened_picture"
    opened.clear()

    class Recorded(Requests):
        def search(self, request: SearchRequest, picture: Path | None = None) -> dict[str, Any]:
            return {"picture": picture}

    page: gr.Blocks
    with gr.Blocks() as page:
        build_events(Recorded(NOTHING, NOTHING, NOTHING, NOTHING))
    event = next(event for event in page.fns.values() if event.api_name == "search")

    handler: Any = event.fn
    sent = [
        "a dog",
        ["CLIP"],
        8,
        {"path": str(uploaded), "meta": {"_type": "gradio.FileData"}},
        0.5,
        0.5,
    ]
    read = in_thread(page.preprocess_data(event, sent, None))
    assert handler(*read) == {"picture": uploaded}
    for elsewhere in (not_uploaded, tmp_path / "none.png", tmp_path / "uploads"):
        with pytest.raises(MediaError):
            handler(*read[:3], str(elsewhere), *read[4:])
    monkeypatch.setattr(inputs, "MAX_PICTURE_MB", -1)
    with pytest.raises(MediaError, match="50 MB"):
        handler(*read)
    assert not opened
