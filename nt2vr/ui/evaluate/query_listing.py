"""The queries of a report that a link asks for, and the choices of the filters."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace

from nt2vr.evaluation.archive import Remark, Remarks
from nt2vr.evaluation.comparison import WORSENED, positions_by_difference
from nt2vr.evaluation.report import Report
from nt2vr.search.judge import Verdict
from nt2vr.ui.evaluate.report_link import (
    ANY,
    CHANGES,
    NOTED,
    ONLY_WORSENED,
    ReportLink,
    kinds_of,
)
from nt2vr.ui.search.formats import system_choices
from nt2vr.ui.search.verdict_texts import MARKS
from nt2vr.ui.view import Choices, View

PER_PAGE = 20
# Captions of a video that is shown in words.
MAX_CAPTIONS = 4


@dataclass(frozen=True, eq=False)
class ClipSource:
    """Where the clips of a report can be seen.

    Attributes:
        key: of their gallery in links; "" for the built-in one, and for files that are in none.
        video_ids: the clips that are there.
        urls: returns a clip's `src` and `poster`, or for a file that is not there any more a
            sentence `missing`.
        is_gallery: whether queries open in Search with these clips.
    """

    key: str
    video_ids: frozenset[str]
    urls: Callable[[str], View]
    is_gallery: bool = True


@dataclass(frozen=True, eq=False)
class QueryListing:
    """The list of queries at one place of a report.

    Attributes:
        source: None if the report's clips can be seen nowhere.
        positions: of the listed queries in the report, in the list's order.
    """

    report: Report
    link: ReportLink
    remarks: Remarks
    source: ClipSource | None
    positions: Sequence[int]

    @classmethod
    def of(
        cls, report: Report, link: ReportLink, remarks: Remarks, source: ClipSource | None = None
    ) -> "QueryListing":
        """List the queries that a link asks for; raises ConfigError if the report has no such system."""
        tagged = None
        if link.tag:
            tagged = [
                position for position, remark in remarks.items() if link.tag in (NOTED, remark.tag)
            ]
        positions = positions_by_difference(
            report,
            link.first,
            link.second,
            kind=link.kind or ANY,
            cue=link.cue,
            text=link.find,
            change=CHANGES.get(link.order, ""),
            fails_everywhere=bool(link.fails),
            positions=tagged,
        )
        if link.order in (WORSENED, ONLY_WORSENED):
            positions.reverse()

        page = link.page
        if link.query in positions:
            page = positions.index(link.query) // PER_PAGE
        last_page = max(0, (len(positions) - 1) // PER_PAGE)
        return cls(
            report=report,
            link=replace(link, page=min(page, last_page)),
            remarks=remarks,
            source=source,
            positions=positions,
        )

    @property
    def address(self) -> str:
        """The link to the list, without the query under review."""
        return replace(self.link, query=None).address

    def clip(self, video_id: str, verdict: Verdict | None, rank: int) -> View:
        """Show a video: its clip where it is at hand, otherwise a caption of it, or its id."""
        captions = " · ".join(self.report.captions.get(video_id, ())[:MAX_CAPTIONS])
        urls = {"src": "", "poster": "", "missing": ""}
        if self.source is not None and video_id in self.source.video_ids:
            urls |= self.source.urls(video_id)
        return {
            **urls,
            "title": captions or self.report.titles.get(video_id, video_id),
            "verdict": verdict or "",
            "mark": MARKS.get(verdict or "", ""),
            "rank": rank,
        }

    def review_address(self, position: int) -> str:
        """Return the link to the review of a listed query."""
        page = self.positions.index(position) // PER_PAGE
        return replace(self.link, query=position, page=page).address

    def neighbours(self, position: int) -> View:
        """Say where a query is in the list, with the links to those before and after it."""
        count = f"{len(self.positions):,}"
        if position not in self.positions:
            return {"position_text": f"not among the {count} listed", "previous": "", "next": ""}
        number = self.positions.index(position)
        previous = self.positions[:number][-1:]
        following = self.positions[number + 1 :][:1]
        return {
            "position_text": f"query {number + 1:,} of {count}",
            "previous": self.review_address(previous[0]) if previous else "",
            "next": self.review_address(following[0]) if following else "",
        }


def menus_of(listing: QueryListing) -> dict[str, Choices]:
    """Return the choices (label, value) of filters by their names; each has the value that the link names."""
    report = listing.report
    systems = system_choices(list(report.specs))
    menus = {
        "first": systems,
        "second": systems,
        "kind": kinds_of(report),
        "cue": _cue_choices(report, listing.link.kind),
        "tag": _tag_choices(listing.remarks.values()),
    }
    for name, choices in menus.items():
        value = getattr(listing.link, name)
        # A link may name a value although no query has it.
        if value not in [choice for _, choice in choices]:
            menus[name] = [*choices, (value, value)]
    return menus


def _cue_choices(report: Report, kind: str | None) -> Choices:
    cues = [query.cue for query in report.queries if kind in (ANY, query.kind)]
    return [("all cues", ANY), *_counted(cues)]


def _tag_choices(remarks: Collection[Remark]) -> Choices:
    choices = [("all queries", ANY)]
    if remarks:
        choices.append((f"any tag or note ({len(remarks):,})", NOTED))
    return choices + _counted(remark.tag for remark in remarks)


def _counted(values: Iterable[str]) -> Choices:
    """Return values as choices, the most frequent first."""
    counts = Counter(sorted(filter(None, values)))
    return [(f"{value} ({count:,})", value) for value, count in counts.most_common()]
