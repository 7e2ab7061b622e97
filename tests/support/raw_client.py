"""Gradio's private events over raw HTTP, as anyone can send them."""

import html
import json
import re
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import httpx

# A busy machine is slow, not wrong.
PATIENCE_S = 300.0
# The elem_id of a component, or the handler's name, and the name of the event.
Event = tuple[str, str]


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
    def events(self) -> dict[Event, dict[str, Any]]:
        """Every event that runs code of the server."""
        ids = {c["id"]: c["props"].get("elem_id") or "" for c in self.config["components"]}
        form = {}
        for dependency in self.config["dependencies"]:
            if not dependency["backend_fn"]:
                continue
            for component, name in dependency["targets"]:
                form[ids.get(component) or dependency["api_name"], name] = dependency
        return form

    @cached_property
    def dependencies(self) -> list[dict[str, Any]]:
        """Every event and endpoint that runs code of the server, whether a component triggers it or not."""
        return [
            dependency for dependency in self.config["dependencies"] if dependency["backend_fn"]
        ]

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
        inputs = {c["id"]: c["props"].get("value") for c in self.config["components"]}
        payload = {
            "data": list(values)
            if values is not None
            else [inputs[number] for number in dependency["inputs"]],
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

    def error(self, event: Event, values: Sequence[Any] | None = None, data: Any = None) -> str:
        """Send an event; return what it was refused with, or "" if it was not."""
        return refusal(self.send(event, values, data))


def refusal(message: Mapping[str, Any]) -> str:
    """Return what a message that ends an event refuses, as an error or as a sentence on the page; "" if nothing."""
    if not message.get("success", True):
        return str(message["output"]["error"])
    texts = (value for value in message["output"]["data"] if isinstance(value, str))
    alerts = (re.fullmatch('<p role="alert">(.*)</p>', value, re.DOTALL) for value in texts)
    return next((html.unescape(alert[1]) for alert in alerts if alert), "")
