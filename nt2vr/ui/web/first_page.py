"""When models are loaded: once the first browser shows its page, since both need all of the processor."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

PATIENCE_S = 5.0
POLL_S = 0.05


@dataclass
class FirstPage:
    """Waits until the first page is shown, which then asks for its answer, and thereby for models.

    Attributes:
        has_begun: says whether something has asked for a model already.
        patience_s: how long to wait without a browser, and for a page that asks for nothing.
    """

    has_begun: Callable[[], bool]
    patience_s: float = PATIENCE_S
    # When a browser asked for the page.
    _requested_s: float | None = field(default=None, init=False)

    def noting(self, app: ASGIApp) -> ASGIApp:
        """Return an app whose first page is noted."""

        async def noted(scope: Scope, receive: Receive, send: Send) -> None:
            if self._requested_s is None and scope["type"] == "http" and _is_page(scope):
                self._requested_s = time.monotonic()
            await app(scope, receive, send)

        return noted

    def wait(self) -> None:
        """Return when something asks for a model, otherwise after some seconds without a page."""
        start_s = time.monotonic()
        while not self.has_begun():
            if time.monotonic() > (self._requested_s or start_s) + self.patience_s:
                return
            time.sleep(POLL_S)


def _is_page(scope: Scope) -> bool:
    path = str(scope["path"])
    return path.endswith("/") and "text/html" in Headers(scope=scope).get("accept", "")
