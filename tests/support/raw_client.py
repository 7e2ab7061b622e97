"""Gradio's private events over raw HTTP, as anyone can send them."""

import html
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import httpx

# A busy machine is slow, not wrong.
PATIENCE_S = 300.0
# The elem_id of a component, or the handler's name, and the name of the event.
Event = tuple[str, str]


def file_data(path: str) -> dict[str, Any]:
    """Return a file of the server as the page names it once it is uploaded."""
    return {"path": path, "meta": {"_type": "gradio.FileData"}}


@dataclass(frozen=True)
class RawClient:
    """Sends events to an app without its page.

    Attributes:
        url: of the app.
        headers: of every request.
    """

    url: str
    headers: Mapping[str, str]

    @cached_property
    def client(self) -> httpx.Client:
        """Connections that are used again: a new client per request would read the certificates each time."""
        return httpx.Client(base_url=self.url, headers=self.headers, timeout=PATIENCE_S)

    @cached_property
    def config(self) -> dict[str, Any]:
        config: dict[str, Any] = self.client.get("config").json()
        return config

    @cached_property
    def components(self) -> dict[int, dict[str, Any]]:
        """The page's components, by their numbers."""
        return {component["id"]: component for component in self.config["components"]}

    def elem_id(self, number: int) -> str | None:
        """Return the elem_id of what has a number, if that is a component with an elem_id."""
        component = self.components.get(number, {"props": {}})
        elem_id: str | None = component["props"].get("elem_id")
        return elem_id

    def component(self, elem_id: str) -> dict[str, Any] | None:
        """Return the page's component of that elem_id, if it has one."""
        for number, component in self.components.items():
            if self.elem_id(number) == elem_id:
                return component
        return None

    @cached_property
    def events(self) -> dict[Event, dict[str, Any]]:
        """Every event that runs code of the server."""
        events = {}
        for dependency in self.dependencies:
            for number, event_name in dependency["targets"]:
                elem_id = self.elem_id(number)
                target = elem_id if elem_id else dependency["api_name"]
                events[target, event_name] = dependency
        return events

    @cached_property
    def dependencies(self) -> list[dict[str, Any]]:
        """Every event and endpoint that runs code of the server, whether a component triggers it or not."""
        return [
            dependency for dependency in self.config["dependencies"] if dependency["backend_fn"]
        ]

    def values(self, dependency: Mapping[str, Any]) -> list[Any]:
        """Return the values that an event's inputs have on the page."""
        inputs = [self.components[number] for number in dependency["inputs"]]
        return [component["props"].get("value") for component in inputs]

    def upload(self, file: Path) -> str:
        """Upload a file as the page does; return its path on the server."""
        with file.open("rb") as content:
            answer = self.client.post("gradio_api/upload", files={"files": content})
        (path,) = answer.json()
        return str(path)

    def send(
        self,
        event: Event,
        values: Sequence[Any] | None = None,
        data: Any = None,
        session: str | None = None,
    ) -> dict[str, Any]:
        """Send an event, with its inputs' values from the page unless given; return the message that ends it."""
        return self.send_to(self.events[event], values, data, session)

    def send_to(
        self,
        dependency: Mapping[str, Any],
        values: Sequence[Any] | None = None,
        data: Any = None,
        session: str | None = None,
    ) -> dict[str, Any]:
        """Send an event as `send` does, of those in `dependencies`; the session is a new one unless given."""
        session = uuid.uuid4().hex if session is None else session
        event_id = self.join(dependency, values, data, session)
        return self.ends(session, [event_id])[0]

    def join(
        self,
        dependency: Mapping[str, Any],
        values: Sequence[Any] | None,
        data: Any = None,
        session: str = "",
    ) -> str:
        """Send an event and do not wait for its end; return its id."""
        if values is None:
            values = self.values(dependency)
        payload = {
            "data": list(values),
            "fn_index": dependency["id"],
            "session_hash": session,
            "event_data": data,
        }
        # httpx refuses NaN and surrogates.
        content = json.dumps(payload)
        headers = {"content-type": "application/json"}
        answer = self.client.post("gradio_api/queue/join", content=content, headers=headers)
        answer.raise_for_status()
        return str(answer.json()["event_id"])

    def ends(self, session: str, event_ids: Sequence[str]) -> list[dict[str, Any]]:
        """Wait for events of a session, and return the messages that end them: one stream has them all."""
        ends: dict[str, dict[str, Any]] = {}
        with self.client.stream(
            "GET", "gradio_api/queue/data", params={"session_hash": session}
        ) as lines:
            for line in lines.iter_lines():
                if not line.startswith("data: "):
                    continue
                message = json.loads(line.removeprefix("data: "))
                assert message["msg"] != "unexpected_error", message
                if message["msg"] == "process_completed":
                    ends[str(message["event_id"])] = message
                if ends.keys() >= set(event_ids):
                    return [ends[event_id] for event_id in event_ids]
        raise AssertionError("the app sent no answer")

    def call_as_agent(self, method: str, params: Mapping[str, Any]) -> dict[str, Any]:
        """Call a method of the MCP endpoint; return its result, empty if it was refused."""
        body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        headers = {"Accept": "application/json, text/event-stream"}
        answer = self.client.post("gradio_api/mcp/", json=body, headers=headers)
        # The answer is the last event of a stream, or JSON.
        content: dict[str, Any] = json.loads(answer.text.split("data: ")[-1])
        result: dict[str, Any] = content.get("result", {})
        return result

    def error(self, event: Event, values: Sequence[Any] | None = None, data: Any = None) -> str:
        """Send an event; return what it was refused with, or "" if it was not."""
        return refusal(self.send(event, values, data))


def refusal(message: Mapping[str, Any]) -> str:
    """Return what a message that ends an event refuses, as an error or as a sentence on the page; "" if nothing."""
    if not message.get("success", True):
        return str(message["output"]["error"])
    for value in message["output"]["data"]:
        alert = re.fullmatch('<p role="alert">(.*)</p>', str(value), re.DOTALL)
        if alert:
            return html.unescape(alert[1])
    return ""


def assert_one_sentence(error: str) -> None:
    """Check that a refusal is one short line, and not the message for faults of the app."""
    assert error
    assert "\n" not in error
    assert len(error) < 300
    assert "went wrong" not in error
