"""Bodies of requests: how slowly they may arrive, what uploads leave free, how many large ones are read at a time."""

import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from weakref import WeakValueDictionary

from anyio import CapacityLimiter, fail_after, move_on_after
from gradio.utils import get_upload_folder
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nt2vr.errors import BusyError
from nt2vr.files import free_bytes
from nt2vr.ui.web.uploads import MB

SPARE_BYTES = 200_000_000  # disk space that uploads leave free
GRACE_S = 10.0  # that a body may take in any case
SLOWEST = 100_000  # bytes per second that a body must arrive at, beyond GRACE_S
LARGE_AT_ONCE = 4  # concurrent requests with pictures, up to 0.8 GB of memory each; others wait unread
LARGE_PER_CLIENT = 2
LONGEST_WAIT_S = 5.0  # of a request with pictures, unread
BUSY = "Too many searches with pictures are running. Try again in a moment."


def is_upload(scope: Scope) -> bool:
    return bool(scope["path"].rstrip("/").endswith("/gradio_api/upload"))


def announced_bytes(scope: Scope) -> int:
    length = dict(scope["headers"]).get(b"content-length", b"0")
    return int(length) if length.isdigit() else 0


@dataclass
class Bodies:
    """ASGI middleware that ends a request whose body arrives too slowly, and refuses an upload without room for it."""

    app: ASGIApp  # the next ASGI app
    pending_bytes: int = 0  # announced by the uploads in flight, and not written yet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        left = size = announced_bytes(scope) if is_upload(scope) else 0
        if size and self.pending_bytes + size + SPARE_BYTES > free_bytes(Path(get_upload_folder())):
            sentence = f"The disk has no room for a file of {size / MB:,.0f} MB."
            await PlainTextResponse(sentence, 507)(scope, receive, send)
            return
        self.pending_bytes += left
        allowed_s, is_late, is_answered, is_complete = GRACE_S, False, False, False

        async def receive_in_time() -> Message:
            nonlocal left, allowed_s, is_late, is_complete
            if is_complete:  # the app waits for the client to leave
                return await receive()
            message: Message | None = None
            asked_s = time.monotonic()
            with move_on_after(allowed_s):
                message = await receive()
            if message is None:
                is_late = True
                return {"type": "http.disconnect"}
            arrived = len(message.get("body", b""))
            allowed_s += arrived / SLOWEST - (time.monotonic() - asked_s)
            is_complete = not message.get("more_body", False)
            self.pending_bytes -= min(arrived, left)
            left -= min(arrived, left)
            return message

        async def send_unless_late(message: Message) -> None:
            nonlocal is_answered
            if is_answered or not is_late:
                is_answered = True
                await send(message)

        try:
            await self.app(scope, receive_in_time, send_unless_late)
        except ClientDisconnect:
            pass  # nobody is listening, or nobody has sent
        finally:
            self.pending_bytes -= left
        if is_late and not is_answered:
            answer = PlainTextResponse("The request arrived too slowly. Send it again.", 408, {"connection": "close"})
            await answer(scope, receive, send)


@dataclass
class Slots:
    """Slots for requests with pictures, each of which may take much memory: a client has some of them, never all."""

    _all: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(LARGE_AT_ONCE))
    _by_client: WeakValueDictionary[str, CapacityLimiter] = field(default_factory=WeakValueDictionary)

    @asynccontextmanager
    async def taken(self, client: str) -> AsyncIterator[None]:
        """Wait for a slot, and hold it during the block; raises BusyError after LONGEST_WAIT_S."""
        own = self._by_client.setdefault(client, CapacityLimiter(LARGE_PER_CLIENT))
        async with AsyncExitStack() as stack:
            try:
                with fail_after(LONGEST_WAIT_S):
                    await stack.enter_async_context(own)
                    await stack.enter_async_context(self._all)
            except TimeoutError:
                raise BusyError(BUSY) from None
            yield
