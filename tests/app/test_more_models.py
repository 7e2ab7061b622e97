"""Adding models where that is not allowed: a hidden panel can be called all the same."""

import gradio as gr
import pytest

from nt2vr.ui.more_models import MoreModels


def test_where_strangers_come_nothing_is_downloaded_and_no_file_is_read() -> None:
    panel = MoreModels(None, 4, allowed=False)  # type: ignore[arg-type]  not even looked at
    with pytest.raises(gr.Error, match="Models cannot be added here"):
        panel.on_import("/root/secret.pt", "", "", "", 8)
    with pytest.raises(gr.Error, match="Models cannot be added here"):
        panel.on_download("ViT-B-32 / openai")
