"""What every request passes: Host, Origin, sizes, and the owner's link."""

import errno
import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from nt2vr.ui.web.inputs import MAX_PICTURE_MB, MB
from nt2vr.ui.web.metrics import Metrics
from nt2vr.ui.web.permissions import Permissions
from nt2vr.ui.web.request_checks import MAX_BODY_MB, RequestChecks
from tests.support.running import in_thread

TOKEN = "a-token-of-the-owner"
GATE = Permissions(TOKEN, bound_to_loopback=True)


async def hello(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse(f"hello {scope['query_string'].decode()}")(scope, receive, send)


def ask(
    method: str = "GET",
    path: str = "/",
    host: str = "127.0.0.1",
    names: tuple[str, ...] = (),
    headers: Mapping[str, str] = {},
    peer: str = "127.0.0.1",
    permissions: Permissions = GATE,
    app: ASGIApp = hello,
) -> httpx.Response:
    """Send one request through the door of an app that listens on `host`."""
    door = RequestChecks(app, permissions, host, names, max_upload_bytes=1000 * MB)

    async def send() -> httpx.Response:
        transport = httpx.ASGITransport(door, client=(peer, 1))
        async with httpx.AsyncClient(
            transport=transport, base_url="http://127.0.0.1:7860"
        ) as client:
            return await client.request(method, path, headers={"host": "127.0.0.1:7860", **headers})

    return in_thread(send())


@pytest.mark.parametrize(
    ("host", "names", "host_header", "passes"),
    [
        ("127.0.0.1", (), "localhost:7860", True),
        ("127.0.0.1", (), "[::1]:7860", True),
        ("127.0.0.1", (), "evil.example:7860", False),
        ("127.0.0.1", (), "localhost.evil.example", False),
        ("127.0.0.1", (), "10.0.0.1:7860", False),
        ("127.0.0.1", (), "", False),
        ("127.0.0.1", (), "[::1", False),
        # An address cannot be rebound.
        ("0.0.0.0", (), "10.0.0.1:7860", True),
        ("0.0.0.0", (), "evil.example", False),
        ("videos.example", (), "videos.example:7860", True),
        ("127.0.0.1", ("videos.example",), "VIDEOS.example.", True),
        ("127.0.0.1", ("videos.example",), "evil.example", False),
        ("127.0.0.1", ("*",), "evil.example", True),
    ],
)
def test_only_the_app_s_own_names_are_answered(
    host: str, names: tuple[str, ...], host_header: str, passes: bool
) -> None:
    answer = ask(host=host, names=names, headers={"host": host_header})
    assert answer.status_code == (200 if passes else 421)
    assert passes or "--allow-host" in answer.text


@pytest.mark.parametrize(
    ("origin", "names", "passes"),
    [
        (None, (), True),
        ("http://127.0.0.1:7860", (), True),
        # A proxy may add TLS.
        ("https://127.0.0.1:7860", (), True),
        # Another app of this machine.
        ("http://127.0.0.1:3000", (), False),
        ("http://localhost:7860", (), False),
        ("http://evil.example", (), False),
        ("null", (), False),
        ("http://[", (), False),
        ("http://127.0.0.1:7860.evil.example", (), False),
        # A proxy that changes Host.
        ("https://videos.example", ("videos.example",), True),
        ("https://evil.example", ("*",), False),
    ],
)
def test_pages_of_other_sites_get_and_change_nothing(
    origin: str | None, names: tuple[str, ...], passes: bool
) -> None:
    headers = {"origin": origin} if origin is not None else {}
    for method in ("GET", "POST", "PUT", "DELETE"):
        assert ask(method, names=names, headers=headers).status_code == (200 if passes else 403)
    respelt = {"host": "localhost.:7860", "origin": "http://evil.example"}
    assert ask(headers=respelt).status_code == 403


def test_only_allowed_sites_show_the_app_in_a_frame() -> None:
    assert ask().headers["content-security-policy"] == "frame-ancestors 'self'"
    assert (
        ask(headers={"host": "evil.example"}).headers["content-security-policy"]
        == "frame-ancestors 'self'"
    )
    allowed = ask(names=("videos.example", "*")).headers["content-security-policy"]
    assert allowed == "frame-ancestors 'self' videos.example:*"
    space = ask(permissions=replace(GATE, space_owner="ann")).headers["content-security-policy"]
    assert space == "frame-ancestors 'self' https://huggingface.co https://*.hf.space"


# Gradio's own routes, whose functions may be named anything.
GRADIO_PATHS = (
    "/gradio_api/api/search",
    "/gradio_api/api/match",
    "/gradio_api/run/search",
    "/gradio_api/call/search",
    "/gradio_api/api/upload",
    "/gradio_api/run/upload",
    "/videos/gradio_api/api/search",
    "/videos/gradio_api/api/match",
    "/videos/gradio_api/run/search",
    "/videos/gradio_api/call/search",
    "/videos/gradio_api/api/upload",
    "/videos/gradio_api/run/upload",
)


@pytest.mark.parametrize(
    ("path", "peer", "mb", "status"),
    [
        ("/gradio_api/upload", "10.0.0.7", MAX_PICTURE_MB, 200),
        ("/gradio_api/upload", "10.0.0.7", MAX_PICTURE_MB + 1, 413),
        ("/gradio_api/upload", "127.0.0.1", 1000, 200),
        ("/gradio_api/upload", "127.0.0.1", 1001, 413),
        ("/gradio_api/queue/join", "127.0.0.1", MAX_BODY_MB, 200),
        ("/gradio_api/queue/join", "127.0.0.1", MAX_BODY_MB + 1, 413),
        ("/api/search", "10.0.0.7", MAX_PICTURE_MB * 4 // 3, 200),
        ("/api/search", "10.0.0.7", 2 * MAX_PICTURE_MB + 1, 413),
        ("/videos/api/search", "10.0.0.7", 2 * MAX_PICTURE_MB, 200),
        ("/api/match", "10.0.0.7", MAX_PICTURE_MB * 4 // 3, 200),
        ("/api/match", "10.0.0.7", 2 * MAX_PICTURE_MB + 1, 413),
        ("/videos/gradio_api/upload", "10.0.0.7", MAX_PICTURE_MB, 200),
        *[(path, "127.0.0.1", MAX_BODY_MB + 1, 413) for path in GRADIO_PATHS],
    ],
)
def test_a_large_request_is_refused_before_it_is_read(
    path: str, peer: str, mb: int, status: int
) -> None:
    answer = ask("POST", path, peer=peer, headers={"content-length": str(mb * MB)})
    assert answer.status_code == status
    assert status == 200 or f"this one has {mb:,}" in answer.text
    without_size = ask("POST", path, peer=peer, headers={"transfer-encoding": "chunked"})
    assert without_size.status_code == 411


@pytest.mark.parametrize("method", ["GET", "HEAD"])
@pytest.mark.parametrize(
    "path",
    [
        "/gradio_api/file=https://evil.example/x.png",
        "/gradio_api/file/https://evil.example/x.png",
        "/videos/gradio_api/file=http%3A%2F%2Fevil.example/x.png",
        "/gradio_api/proxy=https://evil.hf.space/x.png",
    ],
)
def test_no_address_in_a_path_is_fetched(method: str, path: str) -> None:
    assert ask(method, path).status_code == 403
    assert ask(method, "/gradio_api/file=/data/uploads/x.png").status_code == 200


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "[::1"}, 421),
        ({"origin": "http://evil.example"}, 403),
        ({"transfer-encoding": "chunked"}, 411),
    ],
)
@pytest.mark.parametrize("path", ["/api/search", "/videos/api/search"])
def test_a_program_gets_refusals_as_json(
    path: str, headers: Mapping[str, str], status: int
) -> None:
    answer = ask("POST", path, headers=headers)
    assert answer.status_code == status
    assert list(answer.json()) == ["error"]


def test_an_upload_larger_than_the_disk_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=300 * MB))
    sizes: dict[str, Any] = {
        str(mb): ask("POST", "/gradio_api/upload", headers={"content-length": str(mb * MB)})
        for mb in (90, 110)
    }
    assert {mb: answer.status_code for mb, answer in sizes.items()} == {"90": 200, "110": 507}
    assert sizes["110"].text == "The disk has no room for a file of 110 MB."
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=MB))
    small = ask("POST", "/gradio_api/upload", headers={"content-length": "68000"})
    assert small.text == "The disk has no room for a file of 68 KB."


def test_an_upload_without_inodes_or_descriptors_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def full(scope: Scope, receive: Receive, send: Send) -> None:
        raise OSError(errno.EMFILE, "Too many open files")

    assert ask("POST", "/gradio_api/upload", app=full).status_code == 507
    monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=1e12))
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_files=10_000, f_favail=1_999))
    assert ask("POST", "/gradio_api/upload").status_code == 507


@pytest.mark.parametrize("path", ["*", "example.com:443", "//"])
def test_an_odd_request_line_is_one_line_of_the_log(
    path: str, caplog: pytest.LogCaptureFixture
) -> None:
    async def odd(scope: Scope, receive: Receive, send: Send) -> None:
        await hello({**scope, "path": path}, receive, send)

    galleries: Any = SimpleNamespace(live=SimpleNamespace(loaded=()))
    measured = Metrics(galleries, GATE, lambda: 0).measured(odd)
    assert ask("OPTIONS", app=measured).status_code == 200
    assert len(caplog.records) <= 1


PAGE = {"accept": "text/html,application/xhtml+xml"}


def test_the_owners_link_sets_a_cookie() -> None:
    answer = ask(path=f"/?q=a+dog&token={TOKEN}&k=4", headers=PAGE)
    assert (answer.status_code, answer.headers["location"]) == (303, "?q=a+dog&k=4")
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"{GATE.cookie}={TOKEN};")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie
    assert ask(path=f"/?token={TOKEN}", headers=PAGE).headers["location"] == "."
    secure = ask(path=f"/?token={TOKEN}", headers={**PAGE, "x-forwarded-proto": "https"})
    assert "Secure" in secure.headers["set-cookie"]
    guessed = ask(path="/?token=guess", headers=PAGE)
    assert (guessed.status_code, "set-cookie" in guessed.headers) == (403, False)


@pytest.mark.parametrize(
    ("method", "path", "passes"),
    [
        ("POST", "/gradio_api/mcp/", True),
        ("POST", "/gradio_api/mcp", True),
        ("POST", "/below/gradio_api/mcp/", True),
        ("GET", "/gradio_api/mcp/", False),
        ("DELETE", "/gradio_api/mcp/", False),
        ("GET", "/gradio_api/mcp/sse", False),
        ("GET", "/gradio_api/mcp/schema", False),
        ("POST", "/gradio_api/mcp/messages/", False),
        ("GET", "/gradio_api/mcp/</script><script>alert(1)</script>/gradio_api/mcp", False),
    ],
)
def test_agents_can_post_and_nothing_else(method: str, path: str, passes: bool) -> None:
    answer = ask(method, path, headers={"content-length": "0"} if passes else {})
    assert answer.status_code == (200 if passes else 405)
    assert passes or "script" not in answer.text
