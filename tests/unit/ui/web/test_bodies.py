"""How bodies arrive: too slowly, broken off, or many at once; and what they leave on the disk."""

import asyncio
import os
import shutil
import threading
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.types import Message, Receive, Scope, Send

from nt2vr.media.stored import DAY_S
from nt2vr.ui.web import bodies
from nt2vr.ui.web.bodies import Bodies
from nt2vr.ui.web.uploads import MB, sweep_uploads
from tests.run import in_thread

Sender = Callable[[], Awaitable[Message]]


async def read_all(scope: Scope, receive: Receive, send: Send) -> None:
    content = await Request(scope, receive).body()
    await PlainTextResponse(f"{len(content)} bytes")(scope, receive, send)


def scope_of(size: int, path: str = "/gradio_api/upload") -> dict[str, Any]:
    headers = [(b"content-length", str(size).encode())]
    return {"type": "http", "method": "POST", "path": path, "headers": headers, "query_string": b""}


def chunk(size: int, more: bool = True) -> Message:
    return {"type": "http.request", "body": b"x" * size, "more_body": more}


async def answer_of(app: Bodies, size: int, receive: Sender, path: str = "/gradio_api/upload") -> list[Message]:
    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    await app(scope_of(size, path), receive, send)
    return sent


@pytest.mark.parametrize("path", ["/gradio_api/upload", "/api/search", "/gradio_api/queue/join"])
def test_a_body_that_is_announced_and_never_sent_ends_after_a_while(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bodies, "GRACE_S", 0.2)

    async def silence() -> Message:
        await asyncio.sleep(60)
        return chunk(1)

    started = time.monotonic()
    start, body = in_thread(answer_of(Bodies(read_all), 40 * MB, silence, path))
    assert start["status"] == 408 and b"too slowly" in body["body"]
    assert (b"connection", b"close") in start["headers"]
    assert time.monotonic() - started < 5


def test_what_has_arrived_buys_time_and_a_trickle_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bodies, "GRACE_S", 0.3)

    async def ask(each: int) -> tuple[int, float]:
        count = 0

        async def receive() -> Message:
            nonlocal count
            count += 1
            await asyncio.sleep(0.1)
            return chunk(each, count < 10)

        started = time.monotonic()
        sent = await answer_of(Bodies(read_all), 10 * each, receive)
        return sent[0]["status"], time.monotonic() - started

    assert in_thread(ask(50_000))[0] == 200  # 500 KB/s, for three times as long as the grace
    status, took_s = in_thread(ask(10))
    assert status == 408 and took_s < 0.9


def test_the_space_of_uploads_in_flight_is_reserved_until_it_is_written(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Twelve uploads at once, each of which would fit alone."""
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=300 * MB))

    async def ask() -> None:
        app, go_on = Bodies(read_all), asyncio.Event()

        async def receive() -> Message:
            await go_on.wait()
            return chunk(30 * MB, more=False)

        asked = [asyncio.create_task(answer_of(app, 30 * MB, receive)) for _ in range(12)]
        await asyncio.sleep(0.1)
        assert app.pending_bytes == 90 * MB  # of 100 MB
        go_on.set()
        statuses = [sent[0]["status"] for sent in await asyncio.gather(*asked)]
        assert sorted(statuses) == [200] * 3 + [507] * 9
        assert app.pending_bytes == 0

    in_thread(ask())


def test_an_upload_that_is_broken_off_gives_its_reservation_back_quietly() -> None:
    async def ask() -> None:
        app, messages = Bodies(read_all), [chunk(10), {"type": "http.disconnect"}]

        async def receive() -> Message:
            return messages.pop(0)

        assert await answer_of(app, 1000, receive) == []
        assert app.pending_bytes == 0

    in_thread(ask())


def test_old_uploads_are_swept_while_the_app_runs_files_and_folders_alike(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "a.png").touch()
    for name in ("tmpabc", "folder", "new"):
        (tmp_path / name).touch()
    threading.Thread(target=sweep_uploads, args=(tmp_path, 0.05), daemon=True).start()
    time.sleep(0.2)
    assert len(list(tmp_path.iterdir())) == 3
    old_s = time.time() - 3 * DAY_S
    for name in ("tmpabc", "folder"):
        os.utime(tmp_path / name, (old_s, old_s))
    until_s = time.monotonic() + 10
    while len(list(tmp_path.iterdir())) > 1 and time.monotonic() < until_s:
        time.sleep(0.05)
    assert [path.name for path in tmp_path.iterdir()] == ["new"]
