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
from nt2vr.ui.search.results import clock
from nt2vr.ui.web.permissions import Permissions

KINDS = {"poster.jpg": "image/jpeg", "preview.webm": "video/webm"}
FRAME = re.compile(r"frame-([0-9]{1,2})-of-([0-9]{1,2})\.jpg")
FRAME_SIDE = 224  # pixels
FOREVER = {
    "Cache-Control": "public, max-age=31536000, immutable"
}  # of files that are named by their content
MOMENT = "moment"  # kind of a clip cut out of its film
MAKING = (
    4  # posters and previews made at a time for those who look at clips before they are indexed
)


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

    def urls(self, gallery: str, video: Video) -> dict[str, str]:
        """Return a clip's `src` and `poster`, relative so that the app may be mounted below a path."""
        if not gallery:
            return {"src": f"clips/{video.path.name}", "poster": f"clips/{video.path.stem}.webp"}
        poster, preview = (f"media/{gallery}/{content_key(video)}/{kind}" for kind in KINDS)
        return {"src": preview, "poster": poster}

    def route(self) -> Route:
        limiter = CapacityLimiter(MAKING)

        async def serve(request: Request) -> Response:
            library, content, kind = (
                request.path_params[name] for name in ("library", "content", "kind")
            )
            if kind == MOMENT and not self.permissions.may(
                "paths", request
            ):  # it is as large as the film
                raise HTTPException(403)
            frame = FRAME.fullmatch(kind)
            if kind not in (MOMENT, *KINDS) and (frame is None or int(frame[1]) >= int(frame[2])):
                raise HTTPException(404)
            try:
                video = await to_thread.run_sync(self._clip, library, content)
                if frame:
                    place = self.decoder, video, int(frame[1]), int(frame[2]), FRAME_SIDE
                    jpeg = await to_thread.run_sync(still, *place, limiter=limiter)
                    return Response(jpeg, media_type="image/jpeg", headers=FOREVER)
                file = await to_thread.run_sync(self._file, library, video, kind, limiter=limiter)
            except (
                Nt2vrError
            ) as error:  # no such library, or a clip that cannot be decoded any more
                raise HTTPException(404, str(error)) from error
            if kind != MOMENT:
                return FileResponse(file, media_type=KINDS[kind], headers=FOREVER)
            name = f"{video.path.stem} {clock(video.start).replace(':', '.')}{file.suffix}"
            return FileResponse(
                file, filename=name, background=BackgroundTask(file.unlink, missing_ok=True)
            )

        return Route("/media/{library}/{content}/{kind}", serve, methods=["GET"])

    def _clip(self, library: str, content: str) -> Video:
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

    def _file(self, library: str, video: Video, kind: str) -> Path:
        previews = self.libraries.previews(self.galleries.key(library), self.decoder)
        if kind != MOMENT:
            return previews.poster(video) if kind == "poster.jpg" else previews.preview(video)
        if video.end is None:
            raise HTTPException(404)
        previews.folder.mkdir(parents=True, exist_ok=True)
        suffix = ".mp4" if video.path.suffix.lower() in (".mp4", ".m4v") else ".mkv"
        file = previews.folder / f".{uuid4().hex}{suffix}"  # hidden, and gone once it is sent
        try:
            self.decoder.moment(video.path, video.start, video.end, file, video.root).result()
        except Nt2vrError:
            file.unlink(missing_ok=True)
            raise
        return file


def content_key(video: Video) -> str:
    """Name a clip by its file's content, and its place in it."""
    return f"{video.decoded_content}-{round(1000 * video.start)}-{round(1000 * (video.end or 0))}"
