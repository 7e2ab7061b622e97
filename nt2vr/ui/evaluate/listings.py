"""Lists of the queries of archived reports, with the place where a visitor can see their clips."""

from dataclasses import dataclass

from nt2vr.errors import Nt2vrError
from nt2vr.evaluation.archive import Archive
from nt2vr.evaluation.report import Report
from nt2vr.ui.evaluate.own_clips import OwnClips
from nt2vr.ui.evaluate.query_listing import ClipSource, QueryListing
from nt2vr.ui.evaluate.query_views import marks_of
from nt2vr.ui.evaluate.report_link import ReportLink, resolved
from nt2vr.ui.library.media import Media
from nt2vr.ui.search.columns import Marked
from nt2vr.ui.web.permissions import Visitor


@dataclass(frozen=True)
class Listings:
    archive: Archive
    media: Media
    clips: OwnClips

    def of_link(self, link: ReportLink, visitor: Visitor) -> QueryListing:
        """List queries of a report, with the place of its videos as far as the visitor may see them."""
        report = self.archive.load(link.report)
        source = self._gallery_of(report) or self.clips.source(link.report, report, visitor)
        return QueryListing.of(
            report,
            link=resolved(link, report),
            remarks=self.archive.remarks(link.report),
            source=source,
        )

    def _gallery_of(self, report: Report) -> ClipSource | None:
        """Return the gallery with a report's videos; None if it was removed, or there never was one."""
        key = str(report.source.get("library", ""))
        if report.videos and not key:
            return None
        try:
            searcher = self.media.galleries.searcher(key)
        except Nt2vrError:
            return None

        video_ids = frozenset(video.video_id for video in searcher.gallery.videos)
        if not searcher.key and video_ids.isdisjoint(report.video_ids):
            return None
        return ClipSource(
            searcher.key,
            video_ids,
            lambda video_id: self.media.urls(key, searcher.video(video_id)),
        )

    def marked(self, judged: str, text: str, gallery: str) -> Marked:
        """Return the relevant clips of a report's query, "REPORT:POSITION"; none once text or gallery has changed."""
        if not judged:
            return Marked()
        report_id, _, position = judged.rpartition(":")
        try:
            report = self.archive.load(report_id)
            row = report.row(int(position))
        except (Nt2vrError, ValueError, IndexError):
            return Marked()

        is_same = row.query.text == text and report.source.get("library", "") == gallery
        return marks_of(row) if is_same else Marked()
