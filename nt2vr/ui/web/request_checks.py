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
from urllib.parse import urlsplit

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

# Methods that change nothing.
SAFE = ("GET", "HEAD", "OPTIONS")
# Of requests without files: the largest, a completed form, has a few KB.
MAX_BODY_MB = 1
# Allowance for the form around an uploaded file.
FORM_BYTES = 1 << 16
YEAR_S = 365 * 24 * 3600
# Disk space and inodes that uploads leave free.
SPARE_BYTES = 200_000_000
SPARE_FILES = 2_000
# No file can be opened: there are no descriptors, or the disk is read-only.
NO_ROOM = (errno.EMFILE, errno.ENFILE, errno.EROFS)
# Sites that show a Space in a frame.
OF_SPACES = ("https://huggingface.co", "https://*.hf.space")


@dataclass(frozen=True)
class RequestChecks:
    """ASGI middleware that refuses a request or passes it on.

    Attributes:
        app: the next ASGI app.
        permissions: decide who may upload large files, and verify the owner's token.
        host: address that the app listens on.
        host_names: further host names to accept; "*" accepts any.
        max_upload_bytes: limit for visitors who may import.
    """

    app: ASGIApp
    permissions: Permissions
    host: str
    host_names: Collection[str]
    max_upload_bytes: int

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
        # Gradio's routes raise at odd requests, each a traceback in the owner's log.
        except Exception as error:
            path = quoted(scope["path"])
            logger.warning("%s %s failed: %s", request.method, path, quoted(repr(error)))
            if not started:
                await _answer_to(error, request)(scope, receive, framed)

    @property
    def _may_frame(self) -> str:
        """Who may show the app in a frame.

        In an invisible one of another site, two clicks would delete a library.
        """
        ancestors = ["'self'"]
        ancestors += [f"{name}:*" for name in self.host_names if name != "*"]
        if self.permissions.space_owner:
            ancestors += OF_SPACES
        return f"frame-ancestors {' '.join(ancestors)}"

    def _refuse_address(self, request: Request) -> Response | None:
        """Refuse foreign host names (DNS rebinding), other sites' pages, and paths with a URL."""
        host = request.headers.get("host", "")
        name = _host_of(f"//{host}")
        if not self._is_ours(name):
            sentence = (
                f"This app does not answer to the name {quoted(name or host)}. If it should, start "
                "it with --allow-host and that name."
            )
            return _refusal(request, sentence, 421)
        # The origin of a GET counts, too: Gradio lets pages of any origin read it under many a
        # name of this host.
        origin = request.headers.get("origin")
        if origin is not None and not self._is_own_page(origin, host):
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

    def _is_own_page(self, origin: str, host: str) -> bool:
        # An Origin has no path.
        if origin.lower().partition("//")[2] == host.lower():
            return True
        origin_name = _host_of(origin)
        return any(origin_name == name.lower() for name in self.host_names)

    def _is_ours(self, name: str) -> bool:
        own_names = {own_name.lower() for own_name in (self.host, *self.host_names)}
        if is_loopback(name) or "*" in own_names or name in own_names:
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
        length = request.headers.get("content-length", "0")
        size = int(length) if length.isdigit() else 0
        limit = self._limit(request)
        is_upload = _is_upload(request)
        if size > limit + FORM_BYTES:
            subject = "A file" if is_upload else "A request"
            limit_mb = f"{limit / MB:,.0f}"
            size_mb = f"{size / MB:,.1f}".removesuffix(".0")
            sentence = f"{subject} may have {limit_mb} MB here; this one has {size_mb}."
            return _refusal(request, sentence, 413)
        if is_upload and not _has_room(size):
            return _refusal(request, f"The disk has no room for a file of {size_text(size)}.", 507)
        return None

    def _limit(self, request: Request) -> int:
        """Return the size that the body of a request may have, in bytes."""
        if _is_upload(request):
            if self.permissions.may("import", request):
                return self.max_upload_bytes
            return MAX_PICTURE_MB * MB
        path = request.scope["path"]
        # Gradio may have routes of these names.
        takes_picture = path.endswith(("/api/search", "/api/match")) and "/gradio_api/" not in path
        if takes_picture:
            # A picture as a data URL is larger than its file.
            return 2 * MAX_PICTURE_MB * MB
        return MAX_BODY_MB * MB

    def _let_owner_in(self, request: Request) -> Response | None:
        """Exchange the token in the owner's link for a cookie, and redirect to the address without it."""
        token = request.query_params.get("token")
        is_page = request.method == "GET" and "text/html" in request.headers.get("accept", "")
        if token is None or not is_page:
            return None
        if not self.permissions.is_token(token):
            return PlainTextResponse(
                "This token is not the app's. Open the link that it printed at its start.", 403
            )
        rest = request.url.remove_query_params("token").query
        answer = RedirectResponse(URL(f"?{rest}" if rest else "."), 303)
        answer.set_cookie(
            self.permissions.cookie,
            token,
            max_age=YEAR_S,
            httponly=True,
            samesite="lax",
            secure=request.headers.get("x-forwarded-proto", request.url.scheme) == "https",
        )
        return answer


def _answer_to(error: Exception, request: Request) -> Response:
    if isinstance(error, OSError) and (is_disk_full(error) or error.errno in NO_ROOM):
        sentence = f"The server has no room for this now ({error.strerror}). Try again later."
        return _refusal(request, sentence, 507)
    return _refusal(request, "The request was refused: it cannot be read.", 400)


def _has_room(num_bytes: int) -> bool:
    folder = Path(get_upload_folder())
    has_space = num_bytes + SPARE_BYTES <= free_bytes(folder)
    return has_space and has_free_files(folder, SPARE_FILES)


def _refusal(request: Request, sentence: str, status: int) -> Response:
    """Refuse as the route would: JSON under /api/, plain text for browsers."""
    # request.url raises on a malformed Host.
    if "/api/" in request.scope["path"]:
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
