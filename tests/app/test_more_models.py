"""Adding models where that is not allowed: events of a hidden panel can still be called."""

from typing import cast

import gradio as gr
import pytest

from nt2vr.search.searcher import Searcher
from nt2vr.ui.more_models import MoreModels


def test_strangers_can_neither_download_models_nor_have_files_read() -> None:
    panel = MoreModels(cast(Searcher, None), 4, allowed=False)
    with pytest.raises(gr.Error, match="Models cannot be added here"):
        panel.on_import("/root/secret.pt", "", "", "", 8)
    with pytest.raises(gr.Error, match="Models cannot be added here"):
        panel.on_download("ViT-B-32 / openai")
