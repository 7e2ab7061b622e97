"""The Evaluate tab while an evaluation ends."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import gradio as gr

from nt2vr.evaluation.archive import Archive
from nt2vr.library.libraries import Libraries
from nt2vr.progress import Job
from nt2vr.search.strategies import System
from nt2vr.ui.evaluate.form_panel import DEFAULT_SYSTEMS
from nt2vr.ui.evaluate.tab import EvaluateTab
from nt2vr.ui.web.permissions import Permissions
from tests.support.tab_updates import one_of
from tests.support.word_encoder import report_of

# A request by nobody in particular.
NOBODY: Any = None
NO_REQUESTS: Any = None


class EndingEvaluations:
    """An evaluation that ends once its job has been read."""

    def __init__(self, archive: Archive) -> None:
        self.archive = archive
        self._report_id = archive.add(report_of(System("words")))
        self._is_read = False

    @property
    def job(self) -> Job[str]:
        if self._is_read:
            return Job(1, "words", state="finished", result=self._report_id)
        self._is_read = True
        return Job(1, "words", state="running")


def test_an_evaluation_that_ends_during_an_update_is_polled_again(tmp_path: Path) -> None:
    searcher = SimpleNamespace(
        system_names=lambda *_, **__: ["CLIP", *DEFAULT_SYSTEMS],
        models=SimpleNamespace(names=lambda: ["CLIP", *DEFAULT_SYSTEMS]),
        gallery=SimpleNamespace(videos=()),
    )
    evaluations = EndingEvaluations(Archive(tmp_path / "reports"))
    services: Any = SimpleNamespace(
        evaluations=evaluations, galleries=SimpleNamespace(built_in=searcher)
    )
    media: Any = SimpleNamespace(libraries=Libraries(tmp_path / "libraries"))
    permissions = Permissions("a-token-of-the-owner", {})
    own_clips: Any = SimpleNamespace(urls=lambda *_: {})
    tab = EvaluateTab(services, NO_REQUESTS, media, own_clips, permissions)
    with gr.Blocks() as page:
        event = gr.Button().click
        with gr.Tabs() as tabs, gr.Tab("Evaluate"):
            tab.build(gr.Textbox(), gr.Textbox(), lambda *_: None, page, tabs, event)

    updates = tab.on_poll("", None, NOBODY)
    assert one_of(updates, gr.Timer).active
    seen = one_of(updates, gr.State)
    assert seen.is_under_way
