"""Tabs whose content a browser gets when it opens them, so that the first view need not wait for it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import gradio as gr

from nt2vr.ui.theme import QUIET


class LaterTabs:
    """Tabs whose content is sent when they are opened; construct it where their marks may be laid out.

    What a tab does when it is opened is an event of its mark: it changes once the content is there.
    """

    def __init__(self, *ids: str) -> None:
        self._marks = {
            tab_id: gr.Textbox(visible="hidden", elem_id=f"{tab_id}-opened") for tab_id in ids
        }
        self.by_event: dict[int, gr.Tab] = {}  # by the event that sends their content

    def opened(self, tab: gr.Tab) -> gr.Textbox:
        """Wire a tab, and return its mark."""
        mark = self._marks[str(tab.id)]
        tab.select(None, None, mark, js="nt2vr.ask", **QUIET)
        loads = tab.select(send_tab, None, None, queue=False, trigger_mode="once", **QUIET)
        loads.then(None, None, mark, js="nt2vr.ask", **QUIET)
        self.by_event[loads["id"]] = tab
        return mark


def send_tab() -> None:
    """Do nothing but let the content of a tab be sent, see `send_tabs_when_opened`."""


class FirstView:
    """A page's configuration, divided into what is shown first and the content of tabs.

    Raises:
        ValueError: if an event touches the content of two tabs, or does so when the page is loaded.
    """

    def __init__(self, config: Mapping[str, Any], tabs: Iterable[gr.Tab]) -> None:
        self._config = config
        self.components = _with_interactivity(config)
        page = config["page"][""]
        self._layouts = {
            node["id"]: node
            for node in _nodes(page["layout"])
            if node["id"] in {tab._id for tab in tabs}
        }
        self._tab_of = {
            node["id"]: number
            for number, layout in self._layouts.items()
            for child in layout.get("children", ())
            for node in _nodes(child)
        }
        self._events = {event["id"]: event for event in config["dependencies"]}
        self._tab_of_event: dict[int, int] = {}
        for number, event in self._events.items():
            if (tab := self._tab_touched_by(event)) is not None:
                self._tab_of_event[number] = tab

    @property
    def page(self) -> dict[str, Any]:
        """The first view, as Gradio describes a page."""
        components = [block["id"] for block in self.components]
        return {
            "layout": self._without_content(self._config["page"][""]["layout"]),
            "components": [number for number in components if number not in self._tab_of],
            "dependencies": [number for number in self._events if number not in self._tab_of_event],
        }

    def content_of(self, tab: gr.Tab, loaded_by: int) -> dict[str, Any]:
        """Return a tab's content, as Gradio sends what `gr.render` has built.

        Its events take the place of all that are triggered alike, so those of the first view are
        among them, except the one that has sent this.
        """
        numbers = {number for number, owner in self._tab_of_event.items() if owner == tab._id}
        triggers = {(tab._id, "select")}
        for number in numbers:
            triggers.update(_triggers(self._events[number]))
        for number, event in self._events.items():
            is_alike = not triggers.isdisjoint(_triggers(event))
            if number != loaded_by and (is_alike or event.get("trigger_after") in numbers):
                numbers.add(number)
        return {
            "render_id": tab._id,
            "layout": self._layouts[tab._id],
            "components": [
                block
                for block in self.components
                if block["id"] == tab._id or self._tab_of.get(block["id"]) == tab._id
            ],
            "dependencies": [event for number, event in self._events.items() if number in numbers],
        }

    def _without_content(self, node: Mapping[str, Any]) -> dict[str, Any]:
        if "children" not in node:
            return dict(node)
        children = [] if node["id"] in self._layouts else node["children"]
        return {**node, "children": [self._without_content(child) for child in children]}

    def _tab_touched_by(self, event: Mapping[str, Any]) -> int | None:
        """Return the tab whose content an event, or one that it follows, has to do with."""
        touched = {number for number, _ in event["targets"]}
        touched.update(event["inputs"], event["outputs"], event["show_progress_on"] or ())
        tabs = {self._tab_of[number] for number in touched if number in self._tab_of}
        before = event.get("trigger_after")
        if before in self._tab_of_event:
            tabs.add(self._tab_of_event[before])
        if not tabs:
            return None
        if len(tabs) > 1 or any(name == "load" for _, name in event["targets"]):
            raise ValueError(f"Event {event['api_name']} needs more than one tab's content.")
        tab: int = tabs.pop()
        return tab


def _with_interactivity(config: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return a page's components, each of which says whether it can be written to.

    Where none says so, a browser decides by all events of the page, as is done here.
    """
    inputs = {number for event in config["dependencies"] for number in event["inputs"]}
    outputs = {number for event in config["dependencies"] for number in event["outputs"]}
    components = []
    for block in config["components"]:
        props = block["props"]
        if props.get("interactive") is None:
            is_free = block["id"] not in outputs and not props.get("value")
            props = {**props, "interactive": block["id"] in inputs or is_free}
        components.append({**block, "props": props})
    return components


def _nodes(layout: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """Yield a node of a page's layout, and all below it."""
    yield layout
    for child in layout.get("children", ()):
        yield from _nodes(child)


def _triggers(event: Mapping[str, Any]) -> set[tuple[int, str]]:
    """Return what triggers an event directly, not after another one."""
    return {(number, name) for number, name in event["targets"] if number is not None}
