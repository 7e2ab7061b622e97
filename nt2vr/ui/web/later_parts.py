"""Parts of the page whose content a browser gets when it opens them: the first view need not wait for it."""

from collections.abc import Iterable, Iterator
from typing import Any

import gradio as gr
from gradio.blocks import BlockContext

from nt2vr.ui.theme import QUIET

# Of a page, a component, an event, or a node of the layout, as Gradio has it for browsers.
Description = dict[str, Any]


class LaterParts:
    """Tabs and accordions whose content is sent when they are opened; construct it outside of them.

    What a part does when it is opened is an event of its mark: it changes once the content is
    there.

    Attributes:
        by_event: the parts, by the event that sends their content.
        for_programs: parts that no browser shows, whose events are for other programs.
    """

    def __init__(self, *names: str) -> None:
        self._marks = {
            name: gr.Textbox(visible="hidden", elem_id=f"{name}-opened") for name in names
        }
        self.by_event: dict[int, BlockContext] = {}
        self.for_programs: list[BlockContext] = []

    def opened(self, name: str, part: BlockContext, opens: Any) -> gr.Textbox:
        """Wire a part, which an event opens, and return its mark."""
        mark = self._marks[name]
        opens(None, None, mark, js="nt2vr.ask", **QUIET)
        loads = opens(send_part, None, None, queue=False, trigger_mode="once", **QUIET)
        loads.then(None, None, mark, js="nt2vr.ask", **QUIET)
        self.by_event[loads["id"]] = part
        return mark

    @property
    def all(self) -> list[BlockContext]:
        return [*self.by_event.values(), *self.for_programs]


def send_part() -> None:
    """Do nothing but let the content of a part be sent, see `send_parts_when_opened`."""


class FirstView:
    """A page's configuration, divided into what is shown first and the content of parts.

    Raises:
        ValueError: if an event touches the content of two parts, or does so when the page is
            loaded.
    """

    def __init__(self, config: Any, parts: Iterable[BlockContext]) -> None:
        self.components = _with_interactivity(config)
        self._layout: Description = config["page"][""]["layout"]
        part_ids = {part._id for part in parts}
        nodes = _nodes(self._layout)
        self._layouts = {node["id"]: node for node in nodes if node["id"] in part_ids}
        self._part_of: dict[int, int] = {}
        for number, layout in self._layouts.items():
            # The part itself comes first.
            _, *content = _nodes(layout)
            for node in content:
                self._part_of[node["id"]] = number
        self._events = {event["id"]: event for event in config["dependencies"]}
        self._part_of_event: dict[int, int | None] = {}
        for number, event in self._events.items():
            self._part_of_event[number] = self._part_touched_by(event)

    @property
    def page(self) -> Description:
        """The first view, as Gradio describes a page."""
        components = [block["id"] for block in self.components]
        parts = self._part_of_event.items()
        return {
            "layout": self._without_content(self._layout),
            "components": [number for number in components if number not in self._part_of],
            "dependencies": [number for number, part in parts if part is None],
        }

    def content_of(self, part: BlockContext, loaded_by: int) -> Description:
        """Return a part's content, as Gradio sends what `gr.render` has built.

        Its events take the place of all that are triggered alike, so those of the first view are
        among them, except the one that has sent this.
        """
        numbers = {number for number, owner in self._part_of_event.items() if owner == part._id}
        events = self._events
        triggers = _triggers(events[loaded_by])
        for number in numbers:
            triggers |= _triggers(events[number])
        for number, event in events.items():
            is_alike = not triggers.isdisjoint(_triggers(event))
            is_after = event["trigger_after"] in numbers
            if number != loaded_by and (is_alike or is_after):
                numbers.add(number)
        return {
            "render_id": part._id,
            "layout": self._layouts[part._id],
            "components": self._components_of(part),
            "dependencies": [event for number, event in events.items() if number in numbers],
        }

    def _components_of(self, part: BlockContext) -> list[Description]:
        """Return a part and what is in it; an accordion comes open, since it was opened just now."""
        components = []
        for block in self.components:
            number = block["id"]
            if number == part._id and "open" in block["props"]:
                block = {**block, "props": {**block["props"], "open": True}}
            if part._id in (number, self._part_of.get(number)):
                components.append(block)
        return components

    def _without_content(self, node: Description) -> Description:
        if "children" not in node:
            return dict(node)
        children = [] if node["id"] in self._layouts else node["children"]
        return {**node, "children": [self._without_content(child) for child in children]}

    def _part_touched_by(self, event: Description) -> int | None:
        """Return the part whose content an event, or one that it follows, has to do with."""
        targets = event["targets"]
        touched = {number for number, _ in targets}
        touched.update(event["inputs"], event["outputs"], event["show_progress_on"] or ())
        parts = {self._part_of.get(number) for number in touched}
        parts.add(self._part_of_event.get(event["trigger_after"]))
        parts.discard(None)
        if not parts:
            return None
        is_on_load = any(name == "load" for _, name in targets)
        if is_on_load or len(parts) > 1:
            raise ValueError(f"Event {event['api_name']} needs content that may not be there.")
        return parts.pop()


def _with_interactivity(config: Description) -> list[Description]:
    """Return a page's components, each of which says whether it can be written to.

    Where none says so, a browser decides by all events of the page, as is done here.
    """
    inputs = set()
    outputs = set()
    for event in config["dependencies"]:
        inputs.update(event["inputs"])
        outputs.update(event["outputs"])
    components = []
    for block in config["components"]:
        number = block["id"]
        props = block["props"]
        if props.get("interactive") is None:
            is_free = number not in outputs and not props.get("value")
            props = {**props, "interactive": number in inputs or is_free}
        components.append({**block, "props": props})
    return components


def _nodes(layout: Description) -> Iterator[Description]:
    """Yield a node of a page's layout, and all below it."""
    yield layout
    for child in layout.get("children", ()):
        yield from _nodes(child)


def _triggers(event: Description) -> set[tuple[int, str]]:
    """Return what triggers an event directly, not after another one."""
    return {(number, name) for number, name in event["targets"] if number is not None}
