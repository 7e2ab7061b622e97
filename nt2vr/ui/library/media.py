"""URLs of clips' posters and previews, and the route that serves those of libraries.

A URL names a library and a clip's content. It is looked up among the library's clips and never
becomes a path, so nothing but posters and previews can be asked for.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from uuid import uuid4
from weakref import WeakKeyDictionary

from anyio import CapacityLimiter, to_thread
from starlette.background import BackgroundTask
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from nt2vr.errors import Nt2vrError
from nt2vr.library.galleries import Galleries
from nt2vr.library.libraries import Libraries
from nt2vr.media.clip_frames import still
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Video
from nt2vr.search.searcher import Searcher
from nt2vr.ui.search.formats import clock
from nt2vr.ui.view import View
from nt2vr.ui.web.permissions import Permissions

POSTER = "poster.jpg"
PREVIEW = "preview.webm"
MEDIA_TYPES = {POSTER: "image/jpeg", PREVIEW: "video/webm"}
# A clip cut out of its file, at full size.
MOMENT = "moment"
# One of so many frames, which are spread over the clip.
FRAME = re.compile(r"frame-([0-9]{1,2})-of-([0-9]{1,2})\.jpg")
# Pixels on a side of such a frame, which is square.
FRAME_SIDE = 224
# Headers of files that are named by their content.
FOREVER = {"Cache-Control": "public, max-age=31536000, immutable"}
# Files made at a time for those who look at clips before they are indexed.
MAKING = 4


@dataclass
class Media:
    """URLs and files of clips."""

    galleries: Galleries
    libraries: Libraries
    decoder: Decoder
    permissions: Permissions
    _by_content: WeakKeyDictionary[Searcher, Mapping[str, Video]] = field(
        default_factory=WeakKeyDictionary
    )
    _lock: Lock = field(default_factory=Lock)
    _limiter: CapacityLimiter = field(default_factory=lambda: CapacityLimiter(MAKING))

    def urls(self, gallery: str, video: Video) -> View:
        """Return a clip's `src` and `poster`.

        They are relative, so that the app may be mounted below a path.
        """
        if not gallery:
            file = video.path
            return {"src": f"clips/{file.name}", "poster": f"clips/{file.stem}.webp"}
        folder = f"media/{gallery}/{content_key(video)}"
        return {"src": f"{folder}/{PREVIEW}", "poster": f"{folder}/{POSTER}"}

    def route(self) -> Route:
        return Route("/media/{library}/{content}/{kind}", self._serve, methods=["GET"])

    async def _serve(self, request: Request) -> Response:
        library = request.path_params["library"]
        content = request.path_params["content"]
        kind = request.path_params["kind"]
        # A moment is as large as its file.
        if kind == MOMENT and not self.permissions.may("paths", request):
            raise HTTPException(403)
        try:
            video = await to_thread.run_sync(self._clip, library, content)
            return await to_thread.run_sync(
                self._answer, library, video, kind, limiter=self._limiter
            )
        # There is no such library, or the clip cannot be decoded any more.
        except Nt2vrError as error:
            raise HTTPException(404, str(error)) from error

    def _clip(self, library: str, content: str) -> Video:
        """Return the clip of a library that has a `content_key`."""
        searcher = self.galleries.searcher(library)
        with self._lock:
            if searcher not in self._by_content:
                self._by_content[searcher] = {
                    content_key(video): video for video in searcher.gallery.videos
                }
            video = self._by_content[searcher].get(content)
        if video is None:
            raise HTTPException(404)
        return video

    def _answer(self, library: str, video: Video, kind: str) -> Response:
        """Send a file of a clip, which is made first if it is missing."""
        frame = FRAME.fullmatch(kind)
        if frame is not None:
            number, num_frames = map(int, frame.groups())
            if number >= num_frames:
                raise HTTPException(404)
            jpeg = still(self.decoder, video, number, count=num_frames, side=FRAME_SIDE)
            return Response(jpeg, media_type="image/jpeg", headers=FOREVER)

        previews = self.libraries.previews(self.galleries.key(library), self.decoder)
        if kind == MOMENT:
            return self._send_moment(video, previews.folder)
        if kind not in MEDIA_TYPES:
            raise HTTPException(404)
        file = previews.preview(video, Path(kind).suffix)
        return FileResponse(file, media_type=MEDIA_TYPES[kind], headers=FOREVER)

    def _send_moment(self, video: Video, folder: Path) -> Response:
        """Send a clip cut out of its file; the folder has it, hidden, until it is sent."""
        if video.end is None:
            raise HTTPException(404)
        folder.mkdir(parents=True, exist_ok=True)
        is_mp4 = video.path.suffix.lower() in (".mp4", ".m4v")
        suffix = ".mp4" if is_mp4 else ".mkv"
        file = folder / f".{uuid4().hex}{suffix}"
        try:
            self.decoder.moment(video.path, video.start, video.end, file, video.root).result()
        except Nt2vrError:
            file.unlink(missing_ok=True)
            raise

        start = clock(video.start).replace(":", ".")
        return FileResponse(
            file,
            filename=f"{video.path.stem} {start}{suffix}",
            background=BackgroundTask(file.unlink, missing_ok=True),
        )


def content_key(video: Video) -> str:
    """Name a clip by the content of its file, and where in the file it starts and ends."""
    start_ms = round(1000 * video.start)
    end_ms = round(1000 * (video.end or 0))
    return f"{video.decoded_content}-{start_ms}-{end_ms}"
