"""The list of a report's queries, as template data."""

from collections.abc import Sequence
from dataclasses import replace
from urllib.parse import urlencode

from nt2vr.errors import counted
from nt2vr.evaluation.archive import Remark
from nt2vr.evaluation.comparison import first_videos
from nt2vr.evaluation.queries import KIND_NAMES
from nt2vr.evaluation.report import Row
from nt2vr.search.judge import Verdict
from nt2vr.ui.evaluate.query_listing import MAX_CAPTIONS, PER_PAGE, QueryListing
from nt2vr.ui.search.columns import Marked
from nt2vr.ui.search.formats import short_name
from nt2vr.ui.view import View

# Ids of videos in an unfolded row.
MAX_IDS = 24
HINT_OF_GALLERY = (
    "Click a query to review it: ← and → step through this list, and its clips open in Search."
)
HINT_WITHOUT_CLIPS = (
    "Click a query to review it: ← and → step through this list. The built-in gallery does not have these videos. To "
    "see them, add them in the Library tab and evaluate that library. Unfold a row for the ids of the relevant ones."
)
HINT_OF_FILES = (
    "Click a query to review it: ← and → step through this list. Its clips are read from where they were evaluated. "
    "To open them in Search, too, add their folder in the Library tab and evaluate that library."
)
NOTHING_TO_SEARCH = "It has nothing to search for: without its negated part, the query is empty."


def queries_view(listing: QueryListing) -> View:
    link = listing.link
    positions = listing.positions
    alone = replace(link, query=None)
    last = max(0, (len(positions) - 1) // PER_PAGE)
    on_page = positions[link.page * PER_PAGE : (link.page + 1) * PER_PAGE]
    return {
        "first": link.first,
        "second": link.second,
        "names": [short_name(link.first), short_name(link.second)],
        # The list is the same for all reviews of its page.
        "link": listing.address,
        "count": f"{len(positions):,} of {counted(len(listing.report.queries), 'query', 'queries')}",
        "hint": _click_hint(listing),
        "page_text": f"page {link.page + 1:,} of {last + 1:,}",
        "previous": replace(alone, page=link.page - 1).address if link.page > 0 else "",
        "next": replace(alone, page=link.page + 1).address if link.page < last else "",
        "rows": [_row_view(listing, position) for position in on_page],
    }


def _click_hint(listing: QueryListing) -> str:
    if listing.report.presentation.opens:
        return listing.report.presentation.opens
    if listing.source is None:
        return HINT_WITHOUT_CLIPS
    if listing.source.is_gallery:
        return HINT_OF_GALLERY
    return HINT_OF_FILES


def _row_view(listing: QueryListing, position: int) -> View:
    row = listing.report.row(position)
    captions = [
        {"video": video_id, "text": " · ".join(texts[:MAX_CAPTIONS])}
        for video_id, texts in list(row.captions.items())[:MAX_IDS]
    ]
    num_more = len(row.relevant) - MAX_IDS
    return {
        **query_view(listing, position, row, num_clips=1),
        "link": listing.review_address(position),
        "search": search_link(row.query.text, row.search_systems) if row.search_systems else "",
        "relevant": row.heading,
        "ids": list(row.relevant[:MAX_IDS]),
        "more": f"and {num_more:,} more" if num_more > 0 else "",
        "captions": captions,
        "ranks": [
            {"system": short_name(system), "rank": f"{rank:,}"}
            for system, rank in row.ranks.items()
        ],
    }


def query_view(listing: QueryListing, position: int, row: Row, num_clips: int) -> View:
    """Show a query with its tag and note, and what the two systems found.

    Say also by how many ranks the second system is better (▲) or worse (▼).

    Args:
        num_clips: to show of each system.
    """
    query = row.query
    first = listing.link.first
    second = listing.link.second
    remark = listing.remarks.get(position, Remark())
    ranks_gained = row.ranks[first] - row.ranks[second]
    # Whose video is wrong.
    if query.kind == "negated":
        ranks_gained = -ranks_gained
    sign = "▲" if ranks_gained > 0 else "▼"
    return {
        "position": position,
        "text": query.text,
        "kind": KIND_NAMES.get(query.kind, query.kind),
        "wanted": query.wanted or "",
        "unwanted": list(query.unwanted),
        "movement": f"{sign}{abs(ranks_gained):,}" if ranks_gained else "=",
        "is_better": ranks_gained > 0,
        "is_worse": ranks_gained < 0,
        "tag": remark.tag,
        "note": remark.note,
        "sides": [
            _system_view(listing, position, row, system, num_clips) for system in (first, second)
        ],
    }


def _system_view(
    listing: QueryListing, position: int, row: Row, system: str, num_clips: int
) -> View:
    """Show what one system found: rank, first clips, and the verdicts of the first page, also as a sentence."""
    videos = first_videos(listing.report, position, system)
    verdicts = [verdict for _, verdict in videos]
    clips = [listing.clip(*video, rank) for rank, video in enumerate(videos[:num_clips], 1)]
    return {
        "name": short_name(system),
        "rank": f"{row.ranks[system]:,}",
        "verdicts_text": _verdicts_text(verdicts),
        "dots": [{"verdict": verdict or "other"} for verdict in verdicts],
        "clips": clips,
        "notice": "" if videos else NOTHING_TO_SEARCH,
    }


def _verdicts_text(verdicts: Sequence[Verdict | None]) -> str:
    """Count the clips of the first page that are right, and those that show what is unwanted."""
    if not verdicts:
        return ""
    text = f"{verdicts.count('right')} of the first {len(verdicts)} relevant"
    wrong = verdicts.count("violation")
    if wrong:
        verb = "shows" if wrong == 1 else "show"
        text += f", {wrong} {verb} what is unwanted"
    return text


def marks_of(row: Row) -> Marked:
    """Return the clips that Search marks for a query, with their legend."""
    legend = f"relevant in the evaluation ({counted(len(row.relevant), 'clip')})"
    if row.query.kind == "negated":
        legend = "the clip of the original caption: it no longer matches and should rank lower"
    return Marked(frozenset(row.relevant), legend)


def search_link(text: str, systems: Sequence[str], judged: str = "", gallery: str = "") -> str:
    """Return the relative link to a query in Search; `judged` names the report's query whose clips are marked."""
    values = {"q": text, "systems": "|".join(systems)}
    if gallery:
        values["gallery"] = gallery
    if judged:
        values["judged"] = judged
    return "?" + urlencode(values)
