"""The review of one query of a report, as template data."""

from collections.abc import Sequence
from dataclasses import replace

from nt2vr.evaluation.archive import MAX_NOTE, MAX_TAG
from nt2vr.evaluation.report import Row
from nt2vr.ui.evaluate.query_listing import QueryListing
from nt2vr.ui.evaluate.query_views import query_view, search_link, system_view
from nt2vr.ui.view import View

# Of each of two systems: a dozen play at a time.
CLIPS_PER_SYSTEM = 6
TAGS = (
    "wrong truth",
    "ambiguous",
    "misread",
    "wanted part missed",
    "unwanted part shown",
    "interesting",
)


def review_view(listing: QueryListing, refusal: str = "") -> View:
    """Show the query under review, if any, with links to its neighbours in the list.

    Args:
        refusal: why this visitor may write no notes; "" if they may.
    """
    position = listing.reviewed
    if position is None:
        return {}

    row = listing.report.row(position)
    link = listing.link
    systems = (link.first, link.second)
    sides = []
    for system in systems:
        sides.append(system_view(listing, position, row, system, CLIPS_PER_SYSTEM))
    tags = [remark.tag for remark in listing.remarks.values() if remark.tag]
    return {
        **query_view(listing, position, row),
        **listing.neighbours(position),
        "back": replace(link, query=None).address,
        "link": link.address,
        "search": _review_search(listing, row, systems),
        "sides": sides,
        "tags": list(dict.fromkeys([*tags, *TAGS])),
        "longest_tag": MAX_TAG,
        "longest_note": MAX_NOTE,
        "refusal": refusal,
    }


def _review_search(listing: QueryListing, row: Row, systems: Sequence[str]) -> str:
    """Return the link to the query under review in Search, where its relevant clips are marked if they are there."""
    source = listing.source
    judged = ""
    if source is not None and source.is_gallery and not source.video_ids.isdisjoint(row.relevant):
        judged = f"{listing.link.report}:{listing.link.query}"
    return search_link(
        row.query.text,
        systems=list(dict.fromkeys(systems)),
        judged=judged,
        gallery=source.key if source else "",
    )
