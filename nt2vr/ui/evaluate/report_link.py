"""Links into a report: its systems, filters and page, and the query under review."""

from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import parse_qsl, urlencode

from nt2vr.evaluation.comparison import IMPROVED, WORSENED

MAX_LINK = 4_000  # characters
PAGE = "p"  # in links; Gradio takes "page" for one of its own
MAX_CHARS = 200  # of a value
ONLY_IMPROVED, ONLY_WORSENED = "only improved", "only worsened"
ORDERS = (IMPROVED, WORSENED, ONLY_IMPROVED, ONLY_WORSENED)
HARD_PAIRS = "composed/hard_pairs"  # compared first, where it was measured
NOTED = "*"  # any tag or note
FILTERS = ("first", "second", "order", "kind", "cue", "tag", "find", "fails")  # as on the page


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
    query: int | None = None  # position of the reviewed query in the report; None for the list alone

    @classmethod
    def read(cls, text: str) -> "ReportLink | None":
        """Read an address's parameters, or a report's id alone; None if they name no report.

        What is missing or wrong keeps its default.
        """
        text = text[:MAX_LINK].removeprefix("?")
        known = dict(parse_qsl(text, keep_blank_values=True)) if "=" in text else {"report": text}
        if "report" not in known:
            return None
        texts = {name: known[name][:MAX_CHARS] for name in cls.__dataclass_fields__ if name in known}
        page, query = _number(known.get(PAGE, "")), _number(texts.pop("query", ""))
        texts.pop("page", None)
        if texts.get("order") not in ORDERS:
            texts.pop("order", None)
        link = cls(**texts, page=max(0, (page or 1) - 1), query=query)
        return replace(link, fails="1" if link.fails else "")

    @property
    def address(self) -> str:
        """The link, relative to the page; what is empty is left out."""
        values: dict[str, Any] = {"report": self.report}
        values |= {name: value for name, value in asdict(self).items() if value not in ("", None)}
        values |= {} if self.kind is None else {"kind": self.kind}
        del values["page"]
        values |= {PAGE: self.page + 1} if self.page else {}
        return "?" + urlencode(values)

    @property
    def values(self) -> list[Any]:
        """The values of the page's filters, in the order of FILTERS."""
        return [bool(self.fails) if name == "fails" else getattr(self, name) or "" for name in FILTERS]


def _number(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) < 10 else None
