"""What anybody may send to the plain routes: read within bounds, or refused in one sentence."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import Message

from nt2vr.ui.web.api_types import MAX_ITEMS, SearchRequest
from nt2vr.ui.web.http_routes import build_routes
from nt2vr.ui.web.requests import Requests
from tests.support.running import in_thread

# No page is behind the routes.
NOTHING: Any = None


def routes() -> FastAPI:
    """Build the routes, without a page behind them."""
    return build_routes(Requests(NOTHING, NOTHING, NOTHING, NOTHING))


def client_of(api: FastAPI, address: str = "127.0.0.1") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(api, client=(address, 1))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


def post(body: bytes) -> httpx.Response:
    async def send() -> httpx.Response:
        async with client_of(routes()) as client:
            return await client.post(
                "/search", content=body, headers={"content-type": "application/json"}
            )

    return in_thread(send())


def test_head_is_answered_as_get_without_a_body() -> None:
    async def answers(path: str) -> tuple[httpx.Response, httpx.Response]:
        async with client_of(routes()) as client:
            return await client.get(path), await client.head(path)

    for path in ("/docs", "/openapi.json", "/search", "/nothing"):
        by_get, by_head = in_thread(answers(path))
        assert by_head.status_code == by_get.status_code
        assert by_head.headers["content-type"] == by_get.headers["content-type"]
        assert by_head.headers["content-length"] == by_get.headers["content-length"]
        assert by_get.content
        assert not by_head.content


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b"[" * 100_000, "Send a JSON object"),
        (b'{"query": ' + b"[" * 900 + b"]" * 900 + b"}", "query: Input should be a valid string"),
        (b'{"k": ' + b"9" * 1_000_000 + b"}", "Send a JSON object"),
        (b'{"k": 1e999}', "k: Input should be a valid integer"),
        (
            b'{"references": [' + b"1," * 4_000 + b"1]}",
            f"references: List should have at most {MAX_ITEMS} items",
        ),
        ("[]".encode("utf-32"), "Send a JSON object"),
        (b"\xff\xfe\xfd", "Send a JSON object"),
        (b"\0" * 1_000_000, "Send a JSON object"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_hostile_body_is_refused_in_one_short_sentence(body: bytes, sentence: str) -> None:
    answer = post(body)
    assert answer.status_code == 400
    assert list(answer.json()) == ["error"]
    assert sentence in answer.json()["error"]
    assert len(answer.json()["error"]) < 150


def test_a_picture_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nt2vr.ui.web.requests.MAX_PICTURE_MB", 1)
    answer = post(b'{"image": "data:image/png;base64,' + b"A" * 1_600_000 + b'"}')
    assert answer.json()["error"] == "A picture may have 50 MB. Send a smaller one."


def test_a_text_does_not_wait_for_pictures_that_take_long() -> None:
    answered = threading.Event()

    class Slow(Requests):
        def search(self, request: SearchRequest, picture: Path | None = None) -> dict[str, Any]:
            return {"waited": request.image is not None and not answered.wait(60)}

    api = build_routes(Slow(NOTHING, NOTHING, NOTHING, NOTHING))

    async def ask() -> list[httpx.Response]:
        async with client_of(api) as client:
            pictures = [
                asyncio.create_task(client.post("/search", json={"image": "data:"}))
                for _ in range(20)
            ]
            # Now they are sent.
            await asyncio.sleep(0)
            text = await client.post("/search", json={"query": "a dog"})
            answered.set()
            return [text, *await asyncio.gather(*pictures)]

    assert [answer.json() for answer in in_thread(ask())] == [{"waited": False}] * 21


def test_a_client_that_leaves_early_causes_no_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        pass

    scope = {
        "type": "http",
        "method": "POST",
        "path": "/search",
        "query_string": b"",
        "headers": [],
    }
    in_thread(routes()(scope, receive, send))
    assert not caplog.records


def references_in(document: Any) -> list[str]:
    """List the references in a JSON document, however deep they are."""
    references = []
    parts = document if isinstance(document, list) else []
    if isinstance(document, dict):
        parts = list(document.values())
        if "$ref" in document:
            references.append(document["$ref"])
    for part in parts:
        references += references_in(part)
    return references


def test_every_reference_leads_somewhere() -> None:
    document = routes().openapi()
    assert document == routes().openapi()
    references = references_in(document)
    assert "#/components/schemas/ReferenceRequest" in references
    for reference in references:
        place: Any = document
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]
