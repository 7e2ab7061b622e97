"""Review of one query as template data. Independent of Gradio."""

from typing import Any

from nt2vr.evaluation.reports.archive import FROM
from nt2vr.evaluation.reports.compare import first_videos
from nt2vr.evaluation.reports.reasons import reasons_of
from nt2vr.evaluation.reports.report import Row
from nt2vr.evaluation.reports.review import MAX_NOTE, MAX_TAG, Remark
from nt2vr.ui.evaluate.queries_view import Listing, asked_view, counts_text, move_view, search_link

NUM_CLIPS = 6  # per system: a dozen play at a time
TAGS = ("wrong truth", "ambiguous", "misread", "wanted part missed", "unwanted part shown", "interesting")
NOTHING = "It has nothing to search for: without its negated part, the query is empty."


def review_view(listing: Listing, refusal: str = "") -> dict[str, Any]:
    """Show the query that a link reviews, if any, with both systems' first clips; `refusal`: why it takes no notes."""
    place, link = listing.link.query, listing.link
    if place is None or not 0 <= place < len(listing.report.queries) or listing.report.is_covr:
        return {}
    row, said = listing.report.row(place), listing.remarks.get(place, Remark())
    tags = dict.fromkeys([*(each.tag for each in listing.remarks.values() if each.tag), *TAGS])
    return {
        **asked_view(row),
        **move_view(row, link.first, link.second),
        **_steps(listing, place),
        "place": place,
        "link": link.address,
        "search": _search(listing, place, row),
        **_reasons(listing, place),
        "sides": [_side(listing, place, row, system) for system in (link.first, link.second)],
        "tag": said.tag,
        "note": said.note,
        "tags": list(tags),
        "longest_tag": MAX_TAG,
        "longest_note": MAX_NOTE,
        "refusal": refusal,
    }


def _reasons(listing: Listing, place: int) -> dict[str, Any]:
    """Say by their captions why clips are relevant to a composed query, and which words removed others."""
    if (reasons := reasons_of(listing.report, place)) is None:
        return {}
    return {
        "relevant": [{"id": each, "caption": caption} for each, caption in reasons.relevant.items()],
        "removed": [
            {
                "word": each.word,
                "count": f"{each.videos:,} clip{'s' if each.videos > 1 else ''}",
                "id": each.video_id,
                "caption": each.caption,
            }
            for each in reasons.removed
        ],
    }


def _steps(listing: Listing, place: int) -> dict[str, Any]:
    """Return where a query is in the list, and the links to its neighbours and back."""
    places, back = list(listing.places), listing.link.without_query.address
    if place not in places:
        first = listing.at(places[0]).address if places else ""
        return {"where": f"not among the {len(places):,} listed", "before": "", "after": first, "back": back}
    number = places.index(place)
    return {
        "where": f"query {number + 1:,} of {len(places):,}",
        "before": listing.at(places[number - 1]).address if number else "",
        "after": listing.at(places[number + 1]).address if number + 1 < len(places) else "",
        "back": back,
    }


def _search(listing: Listing, place: int, row: Row) -> str:
    """Return the link to the query in Search, for which systems of other reports have their plain names."""
    home, link = listing.home, listing.link
    here = home is not None and any(video_id in home.video_ids for video_id in row.relevant)
    systems = dict.fromkeys(name.partition(FROM)[0] for name in (link.first, link.second))
    return search_link(
        row.query.text, list(systems), f"{link.report}:{place}" if here else "", home.key if home is not None else ""
    )


def _side(listing: Listing, place: int, row: Row, system: str) -> dict[str, Any]:
    found = first_videos(listing.report, place, system)
    name, _, origin = system.partition(FROM)
    return {
        "name": name,
        "origin": origin,
        "rank": f"{row.ranks[system]:,}",
        "said": counts_text([verdict for _, verdict in found]),
        "clips": [listing.clip(*each, number) for number, each in enumerate(found[:NUM_CLIPS], 1)],
        "note": "" if found else NOTHING,
    }
