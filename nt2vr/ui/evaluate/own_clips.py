"""Clips of reports on a folder of one's own, read from where they were evaluated.

A report names any file of this machine, so only those who may name paths see its clips.
"""

from dataclasses import replace
from pathlib import Path

from anyio import CapacityLimiter, to_thread
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from nt2vr.errors import Nt2vrError
from nt2vr.evaluation.report import Report
from nt2vr.library.previews import Previews
from nt2vr.media.limits import LIMITS, evict
from nt2vr.services import Services
from nt2vr.ui.evaluate.query_listing import ClipSource
from nt2vr.ui.library.media import MEDIA_TYPES, POSTER, PREVIEW
from nt2vr.ui.view import View
from nt2vr.ui.web.permissions import Permissions, Visitor

# No proxy may hand them to somebody else.
HEADERS = {"Cache-Control": "private, max-age=60"}
# Posters and previews made at a time.
MAKING = 4
# Files served between two looks at how much is stored.
EVICT_EVERY = 100
ROUTE = "evaluated"


class OwnClips:
    """Posters and previews of the clips of reports, which are made when they are looked at."""

    def __init__(self, services: Services, permissions: Permissions) -> None:
        self._archive = services.evaluations.archive
        self._cache = services.cache
        self._permissions = permissions
        folder = services.settings.data_dir / "evaluation" / "previews"
        self._previews = Previews(folder, services.decoder)
        self._served = 0

    def source(self, report_id: str, report: Report, visitor: Visitor) -> ClipSource | None:
        """Return where the clips of a report can be seen; None if nowhere, or not by this visitor."""
        if not report.videos or not self._permissions.may("paths", visitor):
            return None
        rows = {video.video_id: row for row, video in enumerate(report.videos)}

        def urls(video_id: str) -> View:
            row = rows[video_id]
            path = report.videos[row].path
            if not path.is_file():
                return {"missing": f"The file is no longer there: {path.name}"}
            clip = f"{ROUTE}/{report_id}/{row}"
            return {"src": f"{clip}/{PREVIEW}", "poster": f"{clip}/{POSTER}"}

        return ClipSource(key="", video_ids=frozenset(rows), urls=urls, is_gallery=False)

    def route(self) -> Route:
        """Return the route of posters and previews: /evaluated/REPORT/ROW/KIND."""
        limiter = CapacityLimiter(MAKING)

        async def serve(request: Request) -> Response:
            if not self._permissions.may("paths", request):
                raise HTTPException(403)
            kind = request.path_params["kind"]
            if kind not in MEDIA_TYPES:
                raise HTTPException(404)
            report_id = request.path_params["report"]
            row = request.path_params["row"]
            try:
                file = await to_thread.run_sync(self._file, report_id, row, kind, limiter=limiter)
            except Nt2vrError as error:
                # No such report, or a file that is gone or cannot be decoded any more.
                raise HTTPException(404, str(error)) from error
            return FileResponse(file, media_type=MEDIA_TYPES[kind], headers=HEADERS)

        return Route(f"/{ROUTE}/{{report}}/{{row:int}}/{{kind}}", serve, methods=["GET"])

    def _file(self, report_id: str, row: int, kind: str) -> Path:
        videos = self._archive.load(report_id).videos
        if row >= len(videos):
            raise HTTPException(404)
        video = videos[row]
        # Previews are found by the file's content.
        hashed = replace(video, content=self._cache.content_hash(video.path))
        file = self._previews.preview(hashed, Path(kind).suffix)

        self._served += 1
        if self._served % EVICT_EVERY == 0:
            other_files = (path for path in self._previews.folder.glob("??/*") if path != file)
            evict(other_files, LIMITS["report previews"])
        return file
