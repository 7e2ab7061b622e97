"""Gradio's own scripts and styles, compressed once and served from memory.

A browser with an empty cache asks for some 60 of them before it shows anything. Gradio reads and
compresses each anew, which takes 2 to 9 ms of the processor; this takes .3. Their names contain a
hash of their content, so a browser that has them need not ask again.
"""

import mimetypes
from dataclasses import dataclass, field
from pathlib import Path

import brotli  # type: ignore[import-untyped]
from anyio import to_thread
from gradio.route_utils import BUILD_PATH_LIB
from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Mount
from starlette.types import Receive, Scope, Send

from nt2vr.ui.library.media import FOREVER

# Of brotli, as Gradio has it: 6 takes three times as long for 5 % less.
QUALITY = 4
# Bytes that are worth compressing.
SMALLEST = 400
COMPRESSED = {".js", ".css", ".svg"}


@dataclass
class GradioFiles:
    """ASGI app that serves the files of one folder, in which no file is ever changed."""

    folder: Path = Path(BUILD_PATH_LIB)
    _responses: dict[tuple[str, bool], Response] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._names = {path.name for path in self.folder.iterdir() if path.is_file()}

    def route(self) -> Mount:
        """Return the route that takes the place of Gradio's."""
        return Mount("/assets", self)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = scope["path"].rpartition("/")[2]
        if scope["method"] not in ("GET", "HEAD") or name not in self._names:
            await PlainTextResponse("Not Found", 404)(scope, receive, send)
            return

        takes_brotli = "br" in Headers(scope=scope).get("accept-encoding", "")
        key = (name, takes_brotli)
        if key not in self._responses:
            self._responses[key] = await to_thread.run_sync(self._read, name, takes_brotli)
        await self._responses[key](scope, receive, send)

    def _read(self, name: str, takes_brotli: bool) -> Response:
        path = self.folder / name
        content = path.read_bytes()
        headers = {**FOREVER, "Vary": "Accept-Encoding"}
        if takes_brotli and path.suffix in COMPRESSED and len(content) >= SMALLEST:
            content = brotli.compress(content, mode=brotli.MODE_TEXT, quality=QUALITY)
            headers["Content-Encoding"] = "br"
        media_type = mimetypes.guess_type(name)[0] or "application/octet-stream"
        if path.suffix == ".js":
            # Whatever the machine's registry says.
            media_type = "text/javascript"
        return Response(content, media_type=media_type, headers=headers)
