"""Agents over MCP, by the official client: what strangers and the owner are offered, and hostile arguments."""

import json
import shutil
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import httpx
import pytest

from tests.conftest import STRANGER, RunningApp
from tests.support.app_calls import post_api, token_of
from tests.support.running import in_thread
from tests.support.tiny_models import write_tiny

pytest.importorskip("mcp", reason="needs the MCP package, nt2vr[mcp]")

from mcp import ClientSession
from mcp.client.streamable_http import streamable_http_client

from nt2vr.models.card import WEIGHTS

# Importing the client takes ten seconds.
pytestmark = pytest.mark.slow

# A tool's name and its arguments.
Call = tuple[str, Mapping[str, Any]]
TOOLS = {"search", "understand", "list_systems", "list_galleries"}


class Conversation(NamedTuple):
    """What an agent was offered, and the answers to its calls, in their order."""

    tools: set[str]
    answers: list[Any]


async def content_of(client: ClientSession, tool: str, arguments: Mapping[str, Any]) -> Any:
    """Call a tool; return the JSON of its answer, or the text of its error."""
    answer = await client.call_tool(tool, dict(arguments))
    content: Any = answer.content[0]
    return content.text if answer.isError else json.loads(content.text)


async def converse(app: RunningApp, calls: Sequence[Call], token: str) -> Conversation:
    headers = dict(STRANGER)
    if token:
        headers["Authorization"] = f"Bearer {token}"
    url = f"{app.url}gradio_api/mcp/"
    async with (
        httpx.AsyncClient(headers=headers, timeout=300) as http,
        streamable_http_client(url, http_client=http) as (incoming, outgoing, _),
        ClientSession(incoming, outgoing) as client,
    ):
        started = await client.initialize()
        assert started.capabilities.resources is None
        assert started.capabilities.prompts is None
        tools = (await client.list_tools()).tools
        assert all(tool.description for tool in tools)
        answers = [await content_of(client, tool, arguments) for tool, arguments in calls]
    return Conversation({tool.name for tool in tools}, answers)


def ask(app: RunningApp, *calls: Call, token: str = "") -> Conversation:
    """Connect, list the tools, and make the calls, as the owner if with a token."""
    return in_thread(converse(app, calls, token))


def test_a_stranger_searches_as_over_http(running_app: RunningApp) -> None:
    query = {"query": "a dog and not a cat", "systems": ["CLIP-neg"], "k": 3}

    tools, (answer, parts, systems, galleries) = ask(
        running_app,
        ("search", query),
        ("understand", {"query": "a dog and not a cat"}),
        ("list_systems", {}),
        ("list_galleries", {}),
    )

    assert tools == TOOLS
    assert answer == post_api(running_app, "search", query).json()
    assert parts == {"wanted": ["a dog"], "unwanted": ["a cat"], "notice": ""}
    assert {"CLIP", "CLIP-neg boolean"} <= set(systems)
    assert galleries == [{"name": "built-in", "id": "built-in", "num_clips": 549}]


def test_the_owner_has_the_same_tools_and_no_paths(running_app: RunningApp) -> None:
    folder = running_app.data / "models" / "damaged"
    write_tiny(folder, "damaged")
    (folder / WEIGHTS).write_bytes(b"no weights")
    search = ("search", {"query": "a dog", "systems": ["damaged"]})

    (for_stranger,) = ask(running_app, search).answers
    tools, (for_owner,) = ask(running_app, search, token=token_of(running_app))

    shutil.rmtree(folder)
    assert tools == TOOLS
    assert for_owner == for_stranger
    assert for_owner.startswith("damaged cannot be loaded")
    assert str(running_app.data) not in for_owner


# A tool, its arguments, and a part of the sentence with which it refuses them.
HOSTILE: list[tuple[str, dict[str, Any], str]] = [
    ("evaluate", {"data": "gallery", "systems": ["CLIP"]}, "Unknown tool"),
    ("agent_search", {"query": "a dog"}, "Unknown tool"),
    ("search", {}, "'query' is a required property"),
    ("search", {"query": "a" * 5000}, "The query has 5,000 characters"),
    ("search", {"query": "a dog", "k": 10**9}, "choose 1 to 100"),
    ("search", {"query": "a dog", "k": True}, "is not of type 'integer'"),
    ("search", {"query": "a dog", "systems": ["CLIP"] * 50_000}, "at most 100 items"),
    ("search", {"query": "a dog", "gallery": "../../etc"}, "There is no library '../../etc'"),
    ("search", {"query": "a dog", "image": "/etc/passwd"}, "`image` is not a valid"),
    (
        "search",
        {"query": {"path": "/etc/passwd", "meta": {"_type": "gradio.FileData"}}},
        "is not of type 'string'",
    ),
    ("understand", {"query": "a" * 5000}, "The query has 5,000 characters"),
]


@pytest.mark.parametrize("is_owner", [False, True])
def test_hostile_arguments_are_refused_in_a_sentence(
    running_app: RunningApp, is_owner: bool
) -> None:
    calls = [(tool, arguments) for tool, arguments, _ in HOSTILE]
    token = token_of(running_app) if is_owner else ""

    errors = ask(running_app, *calls, token=token).answers

    for (tool, _, sentence), error in zip(HOSTILE, errors, strict=True):
        assert sentence in error, tool


# Methods of the protocol for which the app has no answer.
UNANSWERED = (
    "resources/read",
    "resources/list",
    "prompts/get",
    "prompts/list",
    "logging/setLevel",
    "completion/complete",
    "nope",
)


def malformed_bodies() -> list[str]:
    """Return bodies that are no messages, and messages with methods that have no answer."""
    bodies = ["", "nope", "[" * 50_000, "[1]"]
    params = {"name": "list_galleries", "uri": "file:///etc/passwd"}
    for method in UNANSWERED:
        message = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
        bodies.append(json.dumps(message))
    return bodies


def test_malformed_messages_are_refused_and_none_fills_the_log(running_app: RunningApp) -> None:
    url = f"{running_app.url}gradio_api/mcp/"
    headers = {
        "accept": "application/json, text/event-stream",
        "content-type": "application/json",
    }

    for body in malformed_bodies():
        answer = httpx.post(url, content=body, headers=headers, timeout=60)
        assert '"error"' in answer.text, body[:80]
        assert '"result"' not in answer.text, body[:80]

    assert httpx.get(url).status_code == 405
    assert ask(running_app).tools == TOOLS
