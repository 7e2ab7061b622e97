"""Every event of the page, sent what its components never send: one sentence each, and no traceback in the log."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.app.raw import Event, RawClient
from tests.conftest import RunningApp

STRANGER = {"X-Forwarded-For": "203.0.113.7"}
BAD: dict[str, Any] = {"nested lists": [[["a"]]], "not a number": float("nan"), "a lone surrogate": "\ud800"}
ALIKE = ("evaluate-", "search-button", "query", "wanted", "unwanted", "systems", "k", "alpha")


def different_events(client: RawClient) -> Iterator[Event]:
    """One event per handler: that of several is sent once."""
    seen = set()
    for event, dependency in client.events.items():
        handler = dependency["api_name"].rstrip("_0123456789") if event[0].startswith(ALIKE) else event
        if handler not in seen and event != ("evaluate-start", "click"):  # whose values would do
            seen.add(handler)
            yield event


@pytest.mark.slow
@pytest.mark.parametrize("which", BAD)
def test_a_wrong_value_is_refused_in_a_sentence(running_app: RunningApp, which: str) -> None:
    client = RawClient(running_app.url, STRANGER)
    props = {c["id"]: c["props"] for c in client.config["components"]}
    for event in different_events(client):
        defaults = [props[number].get("value") for number in client.events[event]["inputs"]]
        for place in range(min(len(defaults), 11)):
            check(client.error(event, [*defaults[:place], BAD[which], *defaults[place + 1 :]]), event)
        check(client.error(event, defaults, data=BAD[which]), event)
    log = running_app.log.read_text()
    assert "Traceback" not in log, log[-3000:]


def test_too_few_values_are_refused_in_a_sentence(running_app: RunningApp) -> None:
    client = RawClient(running_app.url, STRANGER)
    for event in different_events(client):
        check(client.error(event, []), event)
    log = running_app.log.read_text()
    assert "Traceback" not in log, log[-3000:]


def check(error: str, event: Event) -> None:
    assert "\n" not in error and len(error) < 400, event
    assert error != "None" and "Something went wrong" not in error, event
