"""What anybody may send to the plain routes: read within bounds, or refused in one sentence."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from typing import Any, cast

import httpx
import pytest
from fastapi import FastAPI
from starlette.types import Message

from nt2vr.errors import ConfigError
from nt2vr.library.galleries import Galleries
from nt2vr.media.decode import Decoder
from nt2vr.ui.web import bodies
from nt2vr.ui.web.bodies import LARGE_AT_ONCE, LARGE_PER_CLIENT
from nt2vr.ui.web.routes import MAX_SEPARATORS, build_routes, checked_request
from nt2vr.ui.web.schema import MAX_ITEMS, SearchRequest
from tests.run import in_thread

LISTS = ("systems", "references", "literal")


def routes() -> FastAPI:
    """Build the routes, without a page behind them."""
    return build_routes(cast(Galleries, None), cast(Decoder, None))


def client_of(api: FastAPI, address: str = "127.0.0.1") -> httpx.AsyncClient:
    transport = httpx.ASGITransport(api, client=(address, 1))
    return httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1")


def post(body: bytes) -> httpx.Response:
    async def send() -> httpx.Response:
        async with client_of(routes()) as client:
            return await client.post("/search", content=body, headers={"content-type": "application/json"})

    return in_thread(send())


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("item", [1, "a", {}, [], {"no such": 1}], ids=repr)
def test_a_long_list_is_refused_as_a_whole_whatever_its_items(name: str, item: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: List should have at most {MAX_ITEMS} items"):
        checked_request(SearchRequest, {name: [item] * 1_000_000})


def test_a_few_too_many_are_left_to_the_searcher_s_own_sentence() -> None:
    asked = checked_request(
        SearchRequest, {"systems": ["CLIP"] * MAX_ITEMS, "references": [{"clip": "a"}] * MAX_ITEMS}
    )
    assert len(asked.systems) == len(asked.references) == MAX_ITEMS


@pytest.mark.parametrize(
    ("body", "sentence"),
    [
        (b'{"references": [' + b"1," * 1_000_000 + b"1]}", "1,000,002 commas and brackets"),
        (b"[" + b"[]," * 1_000_000 + b"[]]", "2,000,002 commas and brackets"),
        (b'{"query": [' + b"{}," * MAX_SEPARATORS + b"{}]}", f"at most {MAX_SEPARATORS:,}"),
        (b"{" + b",".join(b'"%d": 0' % i for i in range(MAX_SEPARATORS + 1)) + b"}", f"at most {MAX_SEPARATORS:,}"),
        (b"[" * 100_000, f"at most {MAX_SEPARATORS:,}"),
        (b"[" * MAX_SEPARATORS, "Send a JSON object"),
        (b'{"a": ' * MAX_SEPARATORS, "Send a JSON object"),
        (b'{"query": ' + b"[" * 900 + b"]" * 900 + b"}", "query: Input should be a valid string"),
        (b'{"k": ' + b"9" * 1_000_000 + b"}", "Send a JSON object"),
        (b'{"k": 1e999}', "k: Input should be a valid integer"),
        (b'{"references": [' + b"1," * 4_000 + b"1]}", f"references: List should have at most {MAX_ITEMS} items"),
        ("[]".encode("utf-32"), "Send a JSON object"),
        (b"\xff\xfe\xfd", "Send a JSON object"),
        (b"\0" * 1_000_000, "Send a JSON object"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_a_body_that_would_take_many_times_its_size_gets_one_short_sentence(body: bytes, sentence: str) -> None:
    answer = post(body)
    assert answer.status_code == 400 and list(answer.json()) == ["error"]
    assert sentence in answer.json()["error"] and len(answer.json()["error"]) < 150


def test_a_large_picture_has_one_comma() -> None:
    answer = post(b'{"image": "data:image/png;base64,' + b"A" * 80_000_000 + b'"}')
    assert answer.json()["error"] == "A picture may have 50 MB. Send a smaller one."


def test_few_large_requests_are_read_at_a_time_and_small_ones_pass_them() -> None:
    async def ask() -> None:
        being_read, go_on = 0, asyncio.Event()

        async def slow() -> AsyncIterator[bytes]:
            nonlocal being_read
            being_read += 1
            await go_on.wait()
            yield b"[]"

        api, size = routes(), {"content-length": "2000000"}
        async with AsyncExitStack() as stack:
            clients = [await stack.enter_async_context(client_of(api, f"10.0.0.{n}")) for n in range(7)]
            large = [asyncio.create_task(each.post("/search", content=slow(), headers=size)) for each in clients]
            small = await clients[0].post("/search", content=b"[]")
            await asyncio.sleep(0.2)
            assert small.status_code == 400 and being_read == LARGE_AT_ONCE
            go_on.set()
            assert [answer.status_code for answer in await asyncio.gather(*large)] == [400] * 7
            assert being_read == 7

    in_thread(ask())


def test_one_client_takes_only_some_of_the_slots_and_who_waits_long_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "LONGEST_WAIT_S", 0.2)

    async def ask() -> None:
        api, size, go_on = routes(), {"content-length": "2000000"}, asyncio.Event()

        async def silent() -> AsyncIterator[bytes]:
            await go_on.wait()
            yield b"[]"

        async with client_of(api, "10.0.0.1") as first, client_of(api, "10.0.0.2") as second:
            held = [asyncio.create_task(first.post("/search", content=silent(), headers=size)) for _ in range(4)]
            await asyncio.sleep(0.1)
            assert (await second.post("/search", content=b"[]", headers=size)).status_code == 400
            done, held_still = await asyncio.wait(held, timeout=1)
            assert len(done) == len(held_still) == LARGE_PER_CLIENT
            for each in done:
                assert each.result().status_code == 503
                assert each.result().json() == {"error": bodies.BUSY}
            go_on.set()
            assert [answer.status_code for answer in await asyncio.gather(*held_still)] == [400] * 2

    in_thread(ask())


def test_who_leaves_in_the_middle_of_a_request_is_not_an_error_of_the_app(caplog: pytest.LogCaptureFixture) -> None:
    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        pass

    scope = {"type": "http", "method": "POST", "path": "/search", "query_string": b"", "headers": []}
    in_thread(build_routes(cast(Galleries, None), cast(Decoder, None))(scope, receive, send))
    assert not caplog.records
