"""Links into a report; its query list, and the review of one query, as template data. Independent of Gradio."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from urllib.parse import parse_qsl, urlencode

from nt2vr.errors import counted
from nt2vr.evaluation.archive import MAX_NOTE, MAX_TAG, Remark, Remarks
from nt2vr.evaluation.comparison import IMPROVED, WORSENED, first_videos, positions_by_difference
from nt2vr.evaluation.queries import KIND_NAMES
from nt2vr.evaluation.report import Report, Row
from nt2vr.search.judge import Verdict
from nt2vr.ui.search.columns import Marked
from nt2vr.ui.search.formats import short_name, system_choices
from nt2vr.ui.search.verdict_texts import MARKS
from nt2vr.ui.view import View

MAX_LINK = 4_000  # characters
PAGE = "p"  # in links; Gradio takes "page" for one of its own
# Of a value.
MAX_CHARS = 200
ONLY = "only "
ONLY_IMPROVED = f"{ONLY}{IMPROVED}"
ONLY_WORSENED = f"{ONLY}{WORSENED}"
ORDERS = (IMPROVED, WORSENED, ONLY_IMPROVED, ONLY_WORSENED)
# Any tag or note.
NOTED = "*"
# As on the page.
FILTERS = ("first", "second", "order", "kind", "cue", "tag", "find", "fails")

ANY = ""  # no filter
# Where negation is what the query is about.
FIRST_KIND = "composed"
PER_PAGE = 20
# Video ids in an unfolded row.
SOME_IDS = 24
# Of a video in words.
SOME_CAPTIONS = 4
OPENS_HERE = (
    "Click a query to review it: ← and → step through this list, and its clips open in Search."
)
OPENS_ELSEWHERE = (
    "Click a query to review it: ← and → step through this list. The built-in gallery does not have these videos. To "
    "see them, add them in the Library tab and evaluate that library. Unfold a row for the ids of the relevant ones."
)
OPENS_FILES = (
    "Click a query to review it: ← and → step through this list. Its clips are read from where they were evaluated. "
    "To open them in Search, too, add their folder in the Library tab and evaluate that library."
)
# Per system: a dozen play at a time.
NUM_CLIPS = 6
TAGS = (
    "wrong truth",
    "ambiguous",
    "misread",
    "wanted part missed",
    "unwanted part shown",
    "interesting",
)
NOTHING = "It has nothing to search for: without its negated part, the query is empty."


@dataclass(frozen=True)
class ReportLink:
    """A place in a report."""

    report: str = ""  # its id; "" for the form of a new evaluation
    first: str = ""  # a system; "" takes the first of the report
    second: str = ""  # the system to compare it with; "" takes the most telling
    order: str = IMPROVED
    kind: str | None = None  # a kind of queries, "" for all; None takes the most telling
    cue: str = ""  # a negation word, or ""
    tag: str = ""  # a tag, NOTED, or ""
    find: str = ""
    fails: str = ""  # "1" lists only queries that no system answers
    page: int = 0  # from 0
    query: int | None = None  # position of the reviewed query; None for the list alone

    @classmethod
    def read(cls, text: str) -> "ReportLink | None":
        """Read an address's parameters, or a report's id alone; None without a report. Wrong values are left out."""
        text = text[:MAX_LINK].removeprefix("?")
        if "=" in text:
            values = dict(parse_qsl(text, keep_blank_values=True))
        else:
            values = {"report": text}
        if "report" not in values:
            return None

        texts = {}
        for name in ("report", *FILTERS):
            if name in values:
                texts[name] = values[name][:MAX_CHARS]
        if texts.get("order") not in ORDERS:
            texts.pop("order", None)
        if texts.get("fails"):
            texts["fails"] = "1"
        page = _number(values.get(PAGE, "")) or 1
        return cls(**texts, page=max(0, page - 1), query=_number(values.get("query", "")))

    @property
    def address(self) -> str:
        """The link, relative to the page; what is empty is left out."""
        values = asdict(self)
        page = values.pop("page")
        if page:
            values[PAGE] = page + 1
        always = {"report"} if self.kind is None else {"report", "kind"}
        written = {}
        for name, value in values.items():
            if name in always or value not in ("", None):
                written[name] = value
        return "?" + urlencode(written)


def _number(text: str) -> int | None:
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    return None


@dataclass(frozen=True)
class Home:
    """Where a report's videos are: the key of their gallery in links, their ids, and each one's `src` and `poster`.

    A file that is not there any more has a sentence `gone` instead. Files that are in no gallery
    have no key.
    """

    key: str
    video_ids: frozenset[str]
    urls: Callable[[str], Mapping[str, str]] = field(compare=False)
    is_gallery: bool = True  # whether queries open in Search with these clips


@dataclass(frozen=True, eq=False)
class QueryListing:
    """The list of queries at one place of a report."""

    report: Report
    link: ReportLink
    remarks: Remarks
    home: Home | None  # where queries open; None if Search has no gallery with the report's videos
    places: Sequence[int]  # positions of the listed queries, in order

    @classmethod
    def of(
        cls, report: Report, link: ReportLink, remarks: Remarks, home: Home | None = None
    ) -> "QueryListing":
        """List the queries that a link asks for; raises ConfigError if the report has no such system."""
        tagged = None
        if link.tag:
            tagged = [place for place, remark in remarks.items() if link.tag in (NOTED, remark.tag)]
        is_only = link.order.startswith(ONLY)
        places = positions_by_difference(
            report,
            link.first,
            link.second,
            kind=link.kind or ANY,
            cue=link.cue,
            text=link.find,
            change=link.order.removeprefix(ONLY) if is_only else "",
            fails_everywhere=bool(link.fails),
            positions=tagged,
        )
        if link.order in (WORSENED, ONLY_WORSENED):
            places.reverse()

        page = link.page
        if link.query in places:
            page = places.index(link.query) // PER_PAGE
        last_page = max(0, (len(places) - 1) // PER_PAGE)
        return cls(
            report=report,
            link=replace(link, page=min(page, last_page)),
            remarks=remarks,
            home=home,
            places=places,
        )

    def clip(self, video_id: str, verdict: Verdict | None, rank: int) -> View:
        """Show a video: its clip where it is at hand, otherwise a caption of it, or its id."""
        captions = " · ".join(self.report.captions.get(video_id, ())[:SOME_CAPTIONS])
        urls: Mapping[str, str] = {}
        if self.home is not None and video_id in self.home.video_ids:
            urls = self.home.urls(video_id)
        return {
            "src": urls.get("src", ""),
            "poster": urls.get("poster", ""),
            "gone": urls.get("gone", ""),
            "title": captions or self.report.titles.get(video_id, video_id),
            "verdict": verdict or "",
            "mark": MARKS.get(verdict or "", ""),
            "rank": rank,
        }

    def at(self, place: int) -> ReportLink:
        """Return the link to the review of a listed query."""
        return replace(self.link, query=place, page=self.places.index(place) // PER_PAGE)

    def beside(self, place: int) -> dict[str, str]:
        """Say where a query is in the list, with the links to those before and after it."""
        count = f"{len(self.places):,}"
        if place not in self.places:
            return {"where": f"not among the {count} listed", "before": "", "after": ""}
        number = self.places.index(place)
        before = self.places[:number][-1:]
        after = self.places[number + 1 :][:1]
        return {
            "where": f"query {number + 1:,} of {count}",
            "before": self.at(before[0]).address if before else "",
            "after": self.at(after[0]).address if after else "",
        }


def resolved(link: ReportLink, report: Report) -> ReportLink:
    """Replace what a link leaves open, or gets wrong, by the most telling comparison of a report."""
    names = [result.system for result in report.results]
    kinds = [kind for _, kind in kinds_of(report)]
    first, second = report.telling_pair
    if link.first not in names:
        link = replace(link, first=first)
    if link.second not in names:
        link = replace(link, second=second)
    if link.kind not in kinds:
        link = replace(link, kind=FIRST_KIND if FIRST_KIND in kinds else ANY)
    if not report.presentation.has_review:
        link = replace(link, query=None)
    return link


def kinds_of(report: Report) -> list[tuple[str, str]]:
    """Return the report's kinds of queries as choices (label, kind)."""
    kinds = report.presentation.kinds(report)
    return [("all kinds", ANY), *((KIND_NAMES.get(kind, kind), kind) for kind in kinds)]


def menus_of(listing: QueryListing) -> dict[str, list[tuple[str, str]]]:
    """Return the choices (label, value) of filters by their names; each has the value that the link names."""
    report = listing.report
    link = listing.link
    remarks = listing.remarks.values()
    systems = system_choices([result.system for result in report.results])
    cues = []
    for query in report.queries:
        if link.kind in (ANY, query.kind):
            cues.append(query.cue)
    menus = {
        "first": systems,
        "second": systems,
        "kind": kinds_of(report),
        "cue": [("all cues", ANY), *_counted(cues)],
        "tag": [("all queries", ANY), *_counted(remark.tag for remark in remarks)],
    }
    if remarks:
        menus["tag"].insert(1, (f"any tag or note ({len(remarks):,})", NOTED))
    return {name: _with_value(choices, getattr(link, name)) for name, choices in menus.items()}


def _with_value(choices: list[tuple[str, str]], value: str) -> list[tuple[str, str]]:
    """Return choices that have a value, which a link may name although no query has it."""
    values = [choice for _, choice in choices]
    if value in values:
        return choices
    return [*choices, (value, value)]


def _counted(values: Iterable[str]) -> list[tuple[str, str]]:
    """Return values as choices, the most frequent first."""
    counts = Counter(sorted(filter(None, values)))
    return [(f"{value} ({count:,})", value) for value, count in counts.most_common()]


def queries_view(listing: QueryListing) -> View:
    link = listing.link
    places = listing.places
    alone = replace(link, query=None)
    last = max(0, (len(places) - 1) // PER_PAGE)
    on_page = places[link.page * PER_PAGE : (link.page + 1) * PER_PAGE]
    return {
        "first": link.first,
        "second": link.second,
        "names": [short_name(link.first), short_name(link.second)],
        "link": alone.address,  # the list is the same for all reviews of its page
        "count": f"{len(places):,} of {counted(len(listing.report.queries), 'query', 'queries')}",
        "opens": _opens_text(listing),
        "where": f"page {link.page + 1:,} of {last + 1:,}",
        "before": replace(alone, page=link.page - 1).address if link.page > 0 else "",
        "after": replace(alone, page=link.page + 1).address if link.page < last else "",
        "rows": [_row_view(listing, place) for place in on_page],
    }


def _opens_text(listing: QueryListing) -> str:
    if listing.report.presentation.opens:
        return listing.report.presentation.opens
    if listing.home is None:
        return OPENS_ELSEWHERE
    if listing.home.is_gallery:
        return OPENS_HERE
    return OPENS_FILES


def _row_view(listing: QueryListing, place: int) -> View:
    row = listing.report.row(place)
    sides = []
    for system in (listing.link.first, listing.link.second):
        sides.append(_side(listing, place, row, system, num_clips=1))
    captions = []
    for video_id, texts in list(row.captions.items())[:SOME_IDS]:
        captions.append({"video": video_id, "text": " · ".join(texts[:SOME_CAPTIONS])})
    num_more = len(row.relevant) - SOME_IDS
    return {
        **_query(listing, place, row),
        "link": listing.at(place).address,
        "search": search_link(row.query.text, row.search_systems) if row.search_systems else "",
        "sides": sides,
        "right": row.heading,
        "ids": list(row.relevant[:SOME_IDS]),
        "more": f"and {num_more:,} more" if num_more > 0 else "",
        "captions": captions,
        "ranks": [
            {"system": short_name(system), "rank": f"{rank:,}"}
            for system, rank in row.ranks.items()
        ],
    }


def _query(listing: QueryListing, place: int, row: Row) -> View:
    """Show a query with its tag and note, and by how many ranks the second system is better (▲) or worse (▼)."""
    query = row.query
    remark = listing.remarks.get(place, Remark())
    better = row.ranks[listing.link.first] - row.ranks[listing.link.second]
    # Whose video is wrong.
    if query.kind == "negated":
        better = -better
    move = "="
    if better > 0:
        move = f"▲{better:,}"
    elif better < 0:
        move = f"▼{-better:,}"
    return {
        "place": place,
        "text": query.text,
        "kind": KIND_NAMES.get(query.kind, query.kind),
        "wanted": query.wanted or "",
        "unwanted": list(query.unwanted),
        "move": move,
        "good": better > 0,
        "bad": better < 0,
        "tag": remark.tag,
        "note": remark.note,
    }


def _side(listing: QueryListing, place: int, row: Row, system: str, num_clips: int) -> View:
    """Show what one system found: rank, first clips, and the verdicts of the first page, also as a sentence."""
    first = first_videos(listing.report, place, system)
    verdicts = [verdict for _, verdict in first]
    clips = []
    for rank, (video_id, verdict) in enumerate(first[:num_clips], 1):
        clips.append(listing.clip(video_id, verdict, rank))
    return {
        "name": short_name(system),
        "rank": f"{row.ranks[system]:,}",
        "said": _verdicts_text(verdicts),
        "dots": [{"verdict": verdict or "other"} for verdict in verdicts],
        "clips": clips,
        "note": "" if first else NOTHING,
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
    if row.query.kind == "negated":
        legend = "the clip of the original caption: it no longer matches and should rank lower"
    else:
        legend = f"relevant in the evaluation ({counted(len(row.relevant), 'clip')})"
    return Marked(frozenset(row.relevant), legend)


def search_link(text: str, systems: Sequence[str], judged: str = "", gallery: str = "") -> str:
    """Return the relative link to a query in Search; `judged` names the report's query whose clips are marked."""
    optional = {name: value for name, value in (("gallery", gallery), ("judged", judged)) if value}
    return "?" + urlencode({"q": text, "systems": "|".join(systems), **optional})


def review_view(listing: QueryListing, refusal: str = "") -> View:
    """Show the query that a link reviews, if any, with links to its neighbours; `refusal`: why it takes no notes."""
    report = listing.report
    link = listing.link
    place = link.query
    if place is None or not 0 <= place < len(report.queries) or not report.presentation.has_review:
        return {}

    row = report.row(place)
    systems = (link.first, link.second)
    tags = []
    for remark in listing.remarks.values():
        if remark.tag:
            tags.append(remark.tag)
    return {
        **_query(listing, place, row),
        **listing.beside(place),
        "back": replace(link, query=None).address,
        "link": link.address,
        "search": _review_search(listing, row, systems),
        "sides": [_side(listing, place, row, system, num_clips=NUM_CLIPS) for system in systems],
        "tags": list(dict.fromkeys([*tags, *TAGS])),
        "longest_tag": MAX_TAG,
        "longest_note": MAX_NOTE,
        "refusal": refusal,
    }


def _review_search(listing: QueryListing, row: Row, systems: Sequence[str]) -> str:
    """Return the link to the query under review in Search, where its relevant clips are marked if they are there."""
    home = listing.home
    is_there = home is not None and home.is_gallery and not home.video_ids.isdisjoint(row.relevant)
    judged = ""
    if is_there:
        judged = f"{listing.link.report}:{listing.link.query}"
    gallery = home.key if home else ""
    return search_link(
        row.query.text, systems=list(dict.fromkeys(systems)), judged=judged, gallery=gallery
    )
