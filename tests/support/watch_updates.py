"""What a handler of the training panel on the Search tab updates, by names."""

from typing import Any, NamedTuple

import gradio as gr

from nt2vr.ui.search.watch import Watch
from nt2vr.ui.web.inputs import Updates


class WatchUpdates(NamedTuple):
    """New values; `gr.skip()` for what stays as it is."""

    panel: Any
    timer: Any
    watched: Any
    joining_run: Any
    blocked_model: Any
    systems: Any
    ask: Any


def built(watch: Watch) -> Watch:
    """Lay a panel out on a page of its own."""
    with gr.Blocks():
        watch.build(gr.Dropdown(multiselect=True), gr.Textbox())
    return watch


def named(watch: Watch, updates: Updates) -> WatchUpdates:
    values = [updates.get(getattr(watch, name), gr.skip()) for name in WatchUpdates._fields]
    return WatchUpdates(*values)
