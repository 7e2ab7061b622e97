"""Every event of the page, sent what its components never send: one sentence each."""

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

import httpx
import pytest

from tests.app.raw import Event, RawClient, refusal
from tests.conftest import STRANGER, RunningApp

BAD: dict[str, Any] = {"nested lists": [[["a"]]], "not a number": float("nan"), "a lone surrogate": "\ud800"}
SEARCH, FIND = ("search-button", "click"), ("pretrained", "input")
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


@pytest.mark.parametrize("step", [8, pytest.param(1, marks=pytest.mark.slow)], ids=["some events", "all events"])
def test_too_few_values_are_refused_in_a_sentence(running_app: RunningApp, step: int) -> None:
    client = RawClient(running_app.url, STRANGER)
    for event in islice(different_events(client), 0, None, step):
        check(client.error(event, []), event)


@pytest.mark.parametrize("body", ["NaN", "[-Infinity]", "", "[]", '{"data": 1'])
def test_a_body_of_another_form_is_refused(running_app: RunningApp, body: str) -> None:
    answer = httpx.post(f"{running_app.url}gradio_api/queue/join", content=body, headers=STRANGER)
    assert answer.status_code == 422


def check(error: str, event: Event) -> None:
    assert "\n" not in error and len(error) < 400, event
    assert error != "None" and "Something went wrong" not in error, event


def searched(client: RawClient, **values: str) -> dict[str, Any]:
    """Search on the page with some hidden values; return the message that ends it."""
    props = {c["id"]: c["props"] for c in client.config["components"]}
    inputs = [props[number] for number in client.events[SEARCH]["inputs"]]
    sent = [{**each["value"], **values} if each.get("elem_id") == "state" else each.get("value") for each in inputs]
    return client.send(SEARCH, sent)


@pytest.mark.parametrize(
    ("parts", "sentence"),
    [
        ("a dog|" + "a," * 4_900, "The query has 4,900 unwanted parts; name at most 200."),
        ("a " * 4_900 + "|cat", "The query has 9,799 characters; shorten it to at most 2,000"),
    ],
    ids=["unwanted parts", "wanted words"],
)
def test_parts_that_are_long_or_many_are_refused(running_app: RunningApp, parts: str, sentence: str) -> None:
    message = searched(RawClient(running_app.url, STRANGER), parts=parts)
    assert sentence in refusal(message)


def test_an_answer_is_not_many_times_as_long_as_what_was_asked(running_app: RunningApp) -> None:
    client = RawClient(running_app.url, STRANGER)
    usual = len(json.dumps(searched(client)))
    parts = "a " * 900 + "|" + ", ".join(["b" * 35] * 200)
    assert len(json.dumps(searched(client, parts=parts))) < usual + 20 * len(parts)
    message = searched(client, literal="x|" * 50_000)
    (columns,) = (value for value in message["output"]["data"] if isinstance(value, dict) and "key" in value)
    assert len(columns["key"]) == 32


def test_only_the_start_of_a_long_text_is_sought_in_the_names_of_models(running_app: RunningApp) -> None:
    message = RawClient(running_app.url, STRANGER).send(FIND, ["vit " * 225_000 + "no such model"])
    assert message["success"] and message["output"]["data"][0]["found"]
