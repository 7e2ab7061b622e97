"""Links to places in a report, as addresses have them."""

from dataclasses import asdict, dataclass, replace
from urllib.parse import parse_qsl, urlencode

from nt2vr.evaluation.comparison import IMPROVED, WORSENED
from nt2vr.evaluation.queries import KIND_NAMES
from nt2vr.evaluation.report import Report
from nt2vr.ui.view import Choices

# Characters of a link, and of one of its values.
MAX_LINK = 4_000
MAX_CHARS = 200
# The page of the list, in links; Gradio takes "page" for one of its own.
PAGE = "p"
# The filters, in their order on the page.
FILTERS = ("first", "second", "order", "kind", "cue", "tag", "find", "fails")
ONLY_WORSENED = f"only {WORSENED}"
# Orders of the queries that have changed so, and of no others.
CHANGES = {f"only {IMPROVED}": IMPROVED, ONLY_WORSENED: WORSENED}
ORDERS = (IMPROVED, WORSENED, *CHANGES)
# Any tag or note.
NOTED = "*"
# A filter that lets all queries through.
ANY = ""
# The kind that is listed first, since negation is what its queries are about.
FIRST_KIND = "composed"


@dataclass(frozen=True)
class ReportLink:
    """A place in a report.

    Attributes:
        report: its id; "" for the form of a new evaluation.
        first: a system; "" takes the first of the report.
        second: the system to compare it with; "" takes the most telling.
        order: one of `ORDERS`.
        kind: of queries; `ANY` for all, None takes the most telling.
        cue: a negation word, or `ANY`.
        tag: a tag, `NOTED`, or `ANY`.
        find: words of the query.
        fails: "1" lists only queries that no system answers.
        page: of the list, from 0.
        query: position of the reviewed query; None for the list alone.
    """

    report: str = ""
    first: str = ""
    second: str = ""
    order: str = IMPROVED
    kind: str | None = None
    cue: str = ANY
    tag: str = ANY
    find: str = ""
    fails: str = ""
    page: int = 0
    query: int | None = None

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
        written = {}
        for name, value in values.items():
            if value == "" and name not in ("report", "kind"):
                continue
            if value is not None:
                written[name] = value
        return "?" + urlencode(written)


def _number(text: str) -> int | None:
    if text.isascii() and text.isdigit() and len(text) < 10:
        return int(text)
    return None


def resolved(link: ReportLink, report: Report) -> ReportLink:
    """Replace what a link leaves open, or gets wrong, by the most telling comparison of a report."""
    kinds = [kind for _, kind in kinds_of(report)]
    first, second = report.telling_pair
    if link.first not in report.specs:
        link = replace(link, first=first)
    if link.second not in report.specs:
        link = replace(link, second=second)
    if link.kind not in kinds:
        link = replace(link, kind=FIRST_KIND if FIRST_KIND in kinds else ANY)
    has_query = link.query in range(len(report.queries))
    if not (has_query and report.presentation.has_review):
        link = replace(link, query=None)
    return link


def kinds_of(report: Report) -> Choices:
    """Return the report's kinds of queries as choices (label, kind)."""
    kinds = report.presentation.kinds(report)
    return [("all kinds", ANY), *((KIND_NAMES.get(kind, kind), kind) for kind in kinds)]
