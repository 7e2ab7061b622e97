"""The review of one query of a report, as template data."""

from nt2vr.evaluation.archive import MAX_NOTE, MAX_TAG
from nt2vr.evaluation.report import Row
from nt2vr.ui.evaluate.query_listing import QueryListing
from nt2vr.ui.evaluate.query_views import query_view, search_link
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
    link = listing.link
    if link.query is None:
        return {}

    row = listing.report.row(link.query)
    tags = [remark.tag for remark in listing.remarks.values() if remark.tag]
    return {
        **query_view(listing, link.query, row, CLIPS_PER_SYSTEM),
        **listing.neighbours(link.query),
        "back": listing.address,
        "link": link.address,
        "search": _review_search(listing, row),
        "tags": list(dict.fromkeys([*tags, *TAGS])),
        "longest_tag": MAX_TAG,
        "longest_note": MAX_NOTE,
        "refusal": refusal,
    }


def _review_search(listing: QueryListing, row: Row) -> str:
    """Return the link to the query under review in Search, where its relevant clips are marked if they are there."""
    source = listing.source
    link = listing.link
    judged = ""
    if source is not None and source.is_gallery and not source.video_ids.isdisjoint(row.relevant):
        judged = f"{link.report}:{link.query}"
    return search_link(
        row.query.text,
        systems=list(dict.fromkeys((link.first, link.second))),
        judged=judged,
        gallery=source.key if source else "",
    )
