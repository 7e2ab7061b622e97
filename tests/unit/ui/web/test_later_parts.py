"""What a browser gets of a page at first, and what once it opens a tab."""

from collections.abc import Callable
from typing import Any

import gradio as gr
import pytest

from nt2vr.ui.web.gradio_fixes import send_parts_when_opened
from nt2vr.ui.web.later_parts import LaterParts
from tests.support.running import in_thread

Wire = Callable[[gr.Textbox, gr.Textbox], Any]


def handler(*values: Any) -> None:
    """Stand in for what an event does."""


def build(wire: Wire = lambda *_: None) -> tuple[gr.Blocks, LaterParts]:
    """Build a page of a tab that is shown first and two others; `wire` adds events of the others' boxes."""
    page: gr.Blocks
    with gr.Blocks() as page:
        later = LaterParts("one", "two")
        with gr.Tabs():
            with gr.Tab("First", id="first"):
                visible = gr.Textbox(elem_id="shown")
            with gr.Tab("One", id="one") as tab:
                mark = later.opened("one", tab, tab.select)
                with gr.Row():
                    inner = gr.Textbox("typed", elem_id="inner")
                    inner.input(handler, inner, inner)
                mark.change(handler, mark, inner, api_name="opened").success(
                    handler, None, visible, api_name="after"
                )
                visible.submit(handler, None, inner, api_name="across")
                visible.submit(handler, None, visible, api_name="beside")
            with gr.Tab("Two", id="two") as tab:
                later.opened("two", tab, tab.select)
                second_box = gr.Textbox(elem_id="other")
        page.load(handler, None, visible, api_name="loaded")
        wire(inner, second_box)
    send_parts_when_opened(page, later)
    return page, later


def first_view(page: gr.Blocks) -> tuple[set[str], set[str]]:
    """Return the ids of the boxes and the names of the events that a browser gets at first."""
    config: Any = page.get_config_file()
    first = config["page"][""]
    boxes = set()
    for block in config["components"]:
        if block["id"] in first["components"] and block["type"] == "textbox":
            boxes.add(block["props"]["elem_id"])
    events = set()
    for event in config["dependencies"]:
        if event["id"] in first["dependencies"]:
            events.add(event["api_name"])
    return boxes, {name for name in events if name}


def test_later_parts_come_without_content_and_events() -> None:
    page, _ = build()
    boxes, events = first_view(page)
    assert boxes == {"shown", "one-opened", "two-opened"}
    assert {"beside", "loaded"} <= events
    assert events.isdisjoint({"opened", "after", "across"})
    everything = {event["api_name"] for event in page.get_config_file()["dependencies"]}
    # Clients of the API see them all.
    assert {"opened", "after", "across"} <= everything


def test_an_opened_tab_sends_its_content() -> None:
    page, later = build()
    number, tab = next(iter(later.by_event.items()))
    output = in_thread(page.process_api(page.fns[number], []))
    sent: Any = output["render_config"]
    assert sent["layout"]["id"] == sent["render_id"] == tab._id
    blocks = {block["props"].get("elem_id"): block["props"] for block in sent["components"]}
    assert "inner" in blocks
    assert blocks.keys().isdisjoint({"shown", "other"})
    # A browser would not know that the box is read by an event that was not sent with it.
    assert blocks["inner"]["interactive"] is True
    events = {event["id"]: event["api_name"] for event in sent["dependencies"]}
    # A browser replaces all events of a trigger by those that are sent.
    assert {"opened", "after", "across", "beside"} <= {*events.values()}
    # The content is not asked for again.
    assert number not in events
    targets: list[list[Any]] = []
    for event in sent["dependencies"]:
        targets += event["targets"]
    assert [list(target) for target in targets].count([tab._id, "select"]) == 1


def test_other_events_send_no_tab() -> None:
    page, later = build()
    number = next(number for number, event in page.fns.items() if event.api_name == "loaded")
    assert number not in later.by_event
    output = in_thread(page.process_api(page.fns[number], []))
    assert output["render_config"] is None


@pytest.mark.parametrize(
    "wire",
    [
        lambda inner, other: inner.submit(handler, inner, other),
        lambda inner, other: inner.submit(handler, inner, None).success(handler, None, other),
    ],
)
def test_an_event_between_two_later_parts_is_refused(wire: Wire) -> None:
    page, _ = build(wire)
    with pytest.raises(ValueError):
        page.get_config_file()
