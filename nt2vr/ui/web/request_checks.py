"""Checks of every request before its route: Host, Origin, path and size; and the owner's link.

They see addresses and sizes only. What a visitor may do is decided by permissions, in the handlers.
"""

import errno
import logging
import socket
from collections.abc import Collection
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import urlencode, urlsplit

from gradio.utils import get_upload_folder
from starlette.datastructures import URL, MutableHeaders
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nt2vr.errors import quoted
from nt2vr.files import free_bytes, has_free_files, is_disk_full, size_text
from nt2vr.settings import is_loopback
from nt2vr.ui.web.gradio_fixes import is_odd_mcp_request
from nt2vr.ui.web.inputs import MAX_PICTURE_MB, MB
from nt2vr.ui.web.permissions import IN_SCOPE, Permissions

logger = logging.getLogger(__name__)

SAFE = ("GET", "HEAD", "OPTIONS")  # methods that change nothing
MAX_BODY_MB = 1  # of requests without files: the largest, a completed form, has a few KB
FORM_BYTES = 1 << 16  # allowance for the form around an uploaded file
YEAR_S = 365 * 24 * 3600
SPARE_BYTES, SPARE_FILES = 200_000_000, 2_000  # disk space and inodes that uploads leave free
NO_ROOM = (
    errno.EMFILE,
    errno.ENFILE,
    errno.EROFS,
)  # for a file: no descriptors, or a read-only disk
OF_SPACES = ("https://huggingface.co", "https://*.hf.space")  # which show a Space in a frame


@dataclass(frozen=True)
class RequestChecks:
    """ASGI middleware that refuses a request or passes it on."""

    app: ASGIApp  # the next ASGI app
    permissions: Permissions  # decide who may upload large files, and verify the owner's token
    host: str  # address that the app listens on
    host_names: Collection[str]  # further host names to accept; "*" accepts any
    max_upload_bytes: int  # limit for visitors who may import

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        request = Request(scope, receive)
        answer = (
            self._refuse_address(request)
            or self._refuse_size(request)
            or self._let_owner_in(request)
        )
        started = False

        async def framed(message: Message) -> None:
            nonlocal started
            started = True
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).append("Content-Security-Policy", self._may_frame)
            await send(message)

        try:
            await (answer or self.app)({**scope, IN_SCOPE: self.permissions}, receive, framed)
        except (
            Exception
        ) as error:  # Gradio's routes raise at odd requests, each a traceback in the owner's log
            logger.warning(
                "%s %s failed: %s", request.method, quoted(scope["path"]), quoted(repr(error))
            )
            if not started:
                sentence, status = "The request was refused: it cannot be read.", 400
                if isinstance(error, OSError) and (is_disk_full(error) or error.errno in NO_ROOM):
                    sentence, status = (
                        f"The server has no room for this now ({error.strerror}). Try again later.",
                        507,
                    )
                await _refusal(request, sentence, status)(scope, receive, framed)

    @property
    def _may_frame(self) -> str:
        """Who may show the app in a frame: in another site's, invisible, two clicks would delete a library."""
        names = [f"{name}:*" for name in self.host_names if name != "*"]
        return " ".join(
            ["frame-ancestors 'self'", *names, *(OF_SPACES if self.permissions.space_owner else ())]
        )

    def _refuse_address(self, request: Request) -> Response | None:
        """Refuse foreign host names (DNS rebinding), other sites' pages, and paths with a URL."""
        asked = request.headers.get("host", "")
        name = _host_of(f"//{asked}")
        if not self._is_ours(name):
            return _refusal(
                request,
                f"This app does not answer to the name {quoted(name or asked)}. If it should, start it with "
                "--allow-host and that name.",
                421,
            )
        origin = request.headers.get("origin")
        if (
            origin is not None
        ):  # of a GET, too: Gradio lets pages of any origin read it under many a name of this host
            same = origin.lower().partition("//")[2] == asked.lower()  # an Origin has no path
            if not same and all(_host_of(origin) != each.lower() for each in self.host_names):
                return _refusal(request, "Pages of other sites may not use this app.", 403)
        if "://" in request.scope["path"]:
            # Gradio would fetch file=https://… and serve it from the app's own origin, so that a
            # script in it would act with the rights of whoever follows the link.
            return _refusal(request, "Addresses are not opened here.", 403)
        if is_odd_mcp_request(request.scope):
            return _refusal(
                request, "Agents send POST requests to /gradio_api/mcp/; this is another.", 405
            )
        return None

    def _is_ours(self, name: str) -> bool:
        if is_loopback(name) or not {"*", name}.isdisjoint(
            map(str.lower, [self.host, *self.host_names])
        ):
            return True
        try:
            return not is_loopback(self.host) and bool(ip_address(name))
        except ValueError:
            return name == socket.gethostname().lower()

    def _refuse_size(self, request: Request) -> Response | None:
        """Refuse a body that is too large before reading any of it."""
        if request.method in SAFE:
            return None
        if "transfer-encoding" in request.headers:
            return _refusal(request, "Send the size of the request (Content-Length).", 411)
        length, is_upload = request.headers.get("content-length", "0"), _is_upload(request)
        size, limit = int(length) if length.isdigit() else 0, self._limit(request)
        if size > limit + FORM_BYTES:
            what, has = (
                "A file" if is_upload else "A request",
                f"{size / MB:,.1f}".removesuffix(".0"),
            )
            return _refusal(
                request, f"{what} may have {limit / MB:,.0f} MB here; this one has {has}.", 413
            )
        if is_upload:
            folder = Path(get_upload_folder())
            if size + SPARE_BYTES > free_bytes(folder) or not has_free_files(folder, SPARE_FILES):
                return _refusal(
                    request, f"The disk has no room for a file of {size_text(size)}.", 507
                )
        return None

    def _limit(self, request: Request) -> int:
        path = request.scope["path"]
        if _is_upload(request):
            return (
                self.max_upload_bytes
                if self.permissions.may("import", request)
                else MAX_PICTURE_MB * MB
            )
        is_ours = (
            path.endswith(("/api/search", "/api/match")) and "/gradio_api/" not in path
        )  # Gradio may have such
        return 2 * MAX_PICTURE_MB * MB if is_ours else MAX_BODY_MB * MB  # a picture as a data URL

    def _let_owner_in(self, request: Request) -> Response | None:
        """Exchange the token in the owner's link for a cookie, and redirect to the address without it."""
        token = request.query_params.get("token")
        if (
            token is None
            or request.method != "GET"
            or "text/html" not in request.headers.get("accept", "")
        ):
            return None
        if not self.permissions.is_token(token):
            return PlainTextResponse(
                "This token is not the app's. Open the link that it printed at its start.", 403
            )
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


def _refusal(request: Request, sentence: str, status: int) -> Response:
    """Refuse as the route would: JSON under /api/, plain text for browsers."""
    if "/api/" in request.scope["path"]:  # request.url raises on a malformed Host
        return JSONResponse({"error": sentence}, status)
    return PlainTextResponse(sentence, status)


def _is_upload(request: Request) -> bool:
    return str(request.scope["path"]).rstrip("/").endswith("/gradio_api/upload")


def _host_of(address: str) -> str:
    """Return the host in an address, in lower case and without its port; empty if it has none."""
    try:
        return (urlsplit(address).hostname or "").rstrip(".")
    except ValueError:
        return ""
