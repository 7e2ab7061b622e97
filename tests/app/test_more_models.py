"""Adding models where that is not allowed: a hidden panel can be called all the same."""

from unittest.mock import Mock

import gradio as gr
import pytest

from nt2vr.search.searcher import Searcher
from nt2vr.ui.more_models import MoreModels


def test_where_strangers_come_nothing_is_downloaded_and_no_file_is_read() -> None:
    panel = MoreModels(Mock(Searcher), 4, allowed=False)
    with pytest.raises(gr.Error, match="Catalog cannot be added here"):
        panel.on_import("/root/secret.pt", "", "", "", 8, [])
    with pytest.raises(gr.Error, match="Catalog cannot be added here"):
        panel.on_download("ViT-B-32 / openai", [])
