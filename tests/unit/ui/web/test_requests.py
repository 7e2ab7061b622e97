"""What anybody may send to the plain routes: read within bounds, or refused in one sentence."""

import asyncio
import threading
from pathlib import Path
from typing import Any

import gradio as gr
import httpx
import PIL.Image
import pytest
from fastapi import FastAPI
from gradio.data_classes import ImageData
from gradio.utils import get_upload_folder
from starlette.types import Message

import nt2vr
from nt2vr.errors import ConfigError, MediaError
from nt2vr.search.answers import Answer, Hit, Moment, Ranking
from nt2vr.ui.web import inputs
from nt2vr.ui.web.requests import (
    MAX_ITEMS,
    Requests,
    SearchAnswer,
    SearchRequest,
    build_events,
    build_routes,
    checked_request,
)
from tests.run import in_thread

NOTHING: Any = None  # no page is behind the routes
LISTS = ("systems", "references", "literal")


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


@pytest.mark.parametrize("name", LISTS)
@pytest.mark.parametrize("item", [1, "a", {}, [], {"no such": 1}], ids=repr)
def test_a_long_list_is_refused_as_a_whole_whatever_its_items(name: str, item: Any) -> None:
    with pytest.raises(ConfigError, match=f"^{name}: List should have at most {MAX_ITEMS} items"):
        checked_request(SearchRequest, {name: [item] * 1_000_000})
    few: Any = {"systems": ["CLIP"] * MAX_ITEMS, "references": [{"clip": "a"}] * MAX_ITEMS}
    asked = checked_request(
        SearchRequest, few
    )  # a few too many are left to the searcher's own sentence
    assert len(asked.systems) == len(asked.references) == MAX_ITEMS


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
def test_a_body_that_would_take_many_times_its_size_gets_one_short_sentence(
    body: bytes, sentence: str
) -> None:
    answer = post(body)
    assert answer.status_code == 400 and list(answer.json()) == ["error"]
    assert sentence in answer.json()["error"] and len(answer.json()["error"]) < 150


def test_a_picture_that_is_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nt2vr.ui.web.requests.MAX_PICTURE_MB", 1)
    answer = post(b'{"image": "data:image/png;base64,' + b"A" * 1_600_000 + b'"}')
    assert answer.json()["error"] == "A picture may have 50 MB. Send a smaller one."


def test_an_event_takes_a_picture_that_was_uploaded_and_leaves_it_to_the_decoder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))
    (tmp_path / "uploads").mkdir()
    uploaded, other = Path(get_upload_folder()) / "a.png", tmp_path / "b.png"
    uploaded.touch()
    other.touch()
    opened: list[Any] = []

    def opening(path: Any) -> PIL.Image.Image:
        opened.append(path)
        return PIL.Image.new("RGB", (2, 2))

    monkeypatch.setattr(PIL.Image, "open", opening)
    gr.Image(type="filepath").preprocess(ImageData(path=str(uploaded)))
    assert opened, "Gradio no longer opens it: remove unopened_picture"
    opened.clear()

    class Asked(Requests):
        def search(self, asked: SearchRequest, picture: Path | None = None) -> dict[str, Any]:
            return {"picture": picture}

    page: gr.Blocks
    with gr.Blocks() as page:
        build_events(Asked(NOTHING, NOTHING, NOTHING, NOTHING))
    event = next(event for event in page.fns.values() if event.api_name == "search")

    handler: Any = event.fn
    sent = [
        "a dog",
        ["CLIP"],
        8,
        {"path": str(uploaded), "meta": {"_type": "gradio.FileData"}},
        0.5,
        0.5,
    ]
    read = in_thread(page.preprocess_data(event, sent, None))
    assert handler(*read) == {"picture": uploaded}
    for elsewhere in (other, tmp_path / "none.png", tmp_path / "uploads"):
        with pytest.raises(MediaError, match="no such picture among the uploaded files"):
            handler(*read[:3], str(elsewhere), *read[4:])
    monkeypatch.setattr(inputs, "MAX_PICTURE_MB", -1)
    with pytest.raises(MediaError, match="A picture may have 50 MB"):
        handler(*read)
    assert not opened


def test_a_text_does_not_wait_for_pictures_that_take_long() -> None:
    answered = threading.Event()

    class Slow(Requests):
        def search(self, asked: SearchRequest, picture: Path | None = None) -> dict[str, Any]:
            return {"waited": asked.image is not None and not answered.wait(60)}

    api = build_routes(Slow(NOTHING, NOTHING, NOTHING, NOTHING))

    async def ask() -> list[httpx.Response]:
        async with client_of(api) as client:
            pictures = [
                asyncio.create_task(client.post("/search", json={"image": "data:"}))
                for _ in range(20)
            ]
            await asyncio.sleep(0)  # they are sent
            text = await client.post("/search", json={"query": "a dog"})
            answered.set()
            return [text, *await asyncio.gather(*pictures)]

    assert [answer.json() for answer in in_thread(ask())] == [{"waited": False}] * 21


def test_who_leaves_in_the_middle_of_a_request_is_not_an_error_of_the_app(
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
    if isinstance(document, dict):
        own = [document["$ref"]] if "$ref" in document else []
        return own + [found for value in document.values() for found in references_in(value)]
    return (
        [found for value in document for found in references_in(value)]
        if isinstance(document, list)
        else []
    )


def test_every_reference_leads_somewhere() -> None:
    document = routes().openapi()
    assert document == routes().openapi()
    found = references_in(document)
    assert "#/components/schemas/ReferenceRequest" in found
    for reference in found:
        place: Any = document
        for part in reference.removeprefix("#/").split("/"):
            place = place[part]


def test_answers_are_as_described() -> None:
    system = nt2vr.System("CLIP")
    window = Moment("film#1", 0.0, None, 0.5)
    hits = (Hit("a", 1, 0.5, "right"), Hit("film#1", 2, 0.4, None, "film", (window,)))
    query = nt2vr.understand("le chien n'est pas sur la table")
    plain = Ranking(system, hits[:1])
    full = Ranking(system, hits, read_as={"hound": "dog"}, epoch=3, missing=2)
    for answer in (Answer(query, (plain,)), Answer(query, (plain, full), "captions", "library")):
        data = answer.as_dict()
        assert SearchAnswer.model_validate(data, strict=True).model_dump(exclude_unset=True) == data
