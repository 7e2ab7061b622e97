"""What anybody may send to the plain routes: read within bounds, or refused in one sentence."""

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import Any, cast

import httpx
import pytest

from nt2vr.errors import ConfigError
from nt2vr.ui.routes import MAX_ITEMS, MAX_SEPARATORS, build_routes, checked_request
from nt2vr.ui.search_tab import SearchTab

LISTS = ("systems", "references", "literal")


def post(body: bytes) -> httpx.Response:
    """Search by way of a route without a page behind it."""
    transport = httpx.ASGITransport(build_routes(cast(SearchTab, None)))

    async def send() -> httpx.Response:
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as client:
            return await client.post("/search", content=body, headers={"content-type": "application/json"})

    with ThreadPoolExecutor(1) as thread:  # browser tests leave a running loop in this one
        return thread.submit(asyncio.run, send()).result()


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("item", [1, "a", {}, [], {"no such": 1}], ids=repr)
def test_a_long_list_is_refused_as_a_whole_whatever_its_items(name: str, item: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: List should have at most {MAX_ITEMS} items"):
        checked_request({name: [item] * 1_000_000})


def test_a_few_too_many_are_left_to_the_searcher_s_own_sentence() -> None:
    asked = checked_request({"systems": ["CLIP"] * MAX_ITEMS, "references": [{"clip": "a"}] * MAX_ITEMS})
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
