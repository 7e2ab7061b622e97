"""Checks of every request: Host, Origin, path and size, and the owner's link.

It knows addresses and bytes, not what a request is for; that is the permissions's and the handlers'.
"""

import socket
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qsl, urlencode, urlsplit

from fastapi.exception_handlers import request_validation_exception_handler
from fastapi.exceptions import RequestValidationError
from gradio.utils import get_upload_folder
from starlette.datastructures import URL
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Receive, Scope, Send

from nt2vr.errors import quoted
from nt2vr.files import free_bytes
from nt2vr.settings import is_loopback
from nt2vr.ui.web.permissions import Permissions

SAFE = ("GET", "HEAD", "OPTIONS")  # methods that change nothing
MAX_PICTURE_MB = 50
MAX_BODY_MB = 1  # of any other request: the largest, a filled-in form, has a few KB
FORM_BYTES = 1 << 16  # around the file in an upload
SPARE_BYTES = 200_000_000  # that uploads leave free on the disk
MB = 1_000_000
YEAR_S = 365 * 24 * 3600


@dataclass(frozen=True)
class RequestChecks:
    """ASGI middleware that refuses a request, or passes it on to the app.

    Attributes:
        app: the app behind it.
        permissions: says who may upload large files, and knows the owner's token.
        host: address that the app listens on.
        host_names: further names of the app; "*" is any.
        max_upload_bytes: of those who may import.
    """

    app: ASGIApp
    permissions: Permissions
    host: str
    host_names: Collection[str]
    max_upload_bytes: int

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        answer = (
            self._refuse_address(request)
            or _refuse_to_fetch(request)
            or self._refuse_size(request)
            or self._let_owner_in(request)
        )
        await (answer or self.app)(_without_page(scope), receive, send)

    def _refuse_address(self, request: Request) -> Response | None:
        """Refuse names that are not the app's (DNS rebinding), and changes asked for by other sites' pages."""
        asked = request.headers.get("host", "")
        name = _name_of(f"//{asked}")
        if not self._is_ours(name):
            return _refusal(
                request,
                f"This app does not answer to the name {quoted(name or asked)}. If it should, start it with "
                "--allow-host and that name.",
                421,
            )
        origin = request.headers.get("origin")
        if origin is None or request.method in SAFE:
            return None
        same = origin.lower().partition("//")[2] == asked.lower()  # an origin has no path
        if same or any(_name_of(origin) == each.lower() for each in self.host_names):
            return None
        return _refusal(request, "Pages of other sites may not change anything in this app.", 403)

    def _is_ours(self, name: str) -> bool:
        if is_loopback(name) or name == self.host.lower():
            return True
        if any(each in ("*", name) for each in map(str.lower, self.host_names)):
            return True
        return not is_loopback(self.host) and (_is_address(name) or name == socket.gethostname().lower())

    def _refuse_size(self, request: Request) -> Response | None:
        """Refuse what is too large, or does not fit on the disk, before a byte of it is read."""
        if request.method in SAFE:
            return None
        if "transfer-encoding" in request.headers:
            return _refusal(request, "Send the size of the request (Content-Length).", 411)
        length = request.headers.get("content-length", "0")
        size = int(length) if length.isdecimal() else 0
        path = request.scope["path"]
        is_upload = path.endswith("/gradio_api/upload")
        limit = MAX_BODY_MB * MB
        if is_upload:
            imports = self.permissions.may("import", request)
            limit = self.max_upload_bytes if imports else MAX_PICTURE_MB * MB
        elif path.endswith("/api/search") and "/gradio_api/" not in path:  # not Gradio's own route
            limit = 2 * MAX_PICTURE_MB * MB  # as a data URL
        if size > limit + FORM_BYTES:
            what = "A file" if is_upload else "A request"
            has = f"{size / MB:,.1f}".removesuffix(".0")
            sentence = f"{what} may have {limit / MB:,.0f} MB here; this one has {has}."
            return _refusal(request, sentence, 413)
        if is_upload and size + SPARE_BYTES > free_bytes(Path(get_upload_folder())):
            return _refusal(request, f"The disk has no room for a file of {size / MB:,.0f} MB.", 507)
        return None

    def _let_owner_in(self, request: Request) -> Response | None:
        """Turn the token of the owner's link into a cookie, so that it does not stay in the address."""
        token = request.query_params.get("token")
        if token is None or request.method != "GET" or "text/html" not in request.headers.get("accept", ""):
            return None
        if not self.permissions.is_token(token):
            return PlainTextResponse("This token is not the app's. Open the link that it printed at its start.", 403)
        rest = [(key, value) for key, value in request.query_params.multi_items() if key != "token"]
        answer = RedirectResponse(URL(f"?{urlencode(rest)}" if rest else "."), 303)
        answer.set_cookie(
            self.permissions.cookie,
            token,
            max_age=YEAR_S,
            httponly=True,
            samesite="lax",
            secure=request.headers.get("x-forwarded-proto", request.url.scheme) == "https",
        )
        return answer


async def refuse_unreadable(request: Request, error: Exception) -> Response:
    """Answer a body that a route cannot read; FastAPI's own answer fails at NaN, which it would repeat."""
    assert isinstance(error, RequestValidationError)
    try:
        return await request_validation_exception_handler(request, error)
    except ValueError:
        return _refusal(request, "The request has NaN or Infinity, which JSON does not know.", 422)


def _refuse_to_fetch(request: Request) -> Response | None:
    """Refuse a path that names an address, as in file=https://…: Gradio would fetch it and answer as if it were ours.

    Whoever made the address could so have scripts run as part of the app, with the rights of whom they lure there.
    """
    if "://" not in request.scope["path"]:
        return None
    return _refusal(request, "Addresses are not opened here.", 403)


def _refusal(request: Request, sentence: str, status: int) -> Response:
    """Say no in the form that the route answers in: to programs as its other errors, to browsers as plain text."""
    if "/api/" in request.scope["path"]:  # not request.url, which fails at a malformed Host
        return JSONResponse({"error": sentence}, status)
    return PlainTextResponse(sentence, status)


def _name_of(address: str) -> str:
    """Return the host in an address, in lower case and without the port; empty if there is none."""
    try:
        return (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return ""


def _is_address(name: str) -> bool:
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _without_page(scope: Scope) -> Scope:
    """Drop the parameter that names one of an app's pages: Gradio fails at names it does not know, and here is one."""
    asked = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True, encoding="latin-1")
    if all(name != "page" for name, _ in asked):
        return scope
    kept = urlencode([(name, value) for name, value in asked if name != "page"], encoding="latin-1")
    return {**scope, "query_string": kept.encode("ascii")}
