"""HTML for notebooks: tables and pictures in one element, everything from outside escaped."""

import base64
from collections.abc import Iterable, Sequence
from html import escape

COLOURS = {"right": "#1a7f37", "violation": "#c4302b", "miss": "#9a6700"}  # of verdicts
SPOKEN = {"right": "right", "violation": "violates", "miss": "misses"}  # verdicts in words
MAX_PICTURE_BYTES = 30_000  # of one thumbnail; a larger one is left out
_CELL = "padding:2px 10px;text-align:left;vertical-align:top"


class Markup(str):
    """HTML that is not escaped again."""


def text(value: object) -> Markup:
    """Escape outside text; markup stays."""
    return value if isinstance(value, Markup) else Markup(escape(str(value)))


def joined(parts: Iterable[object]) -> Markup:
    """Put escaped parts one after the other."""
    return Markup("".join(map(text, parts)))


def coloured(value: object, colour: str) -> Markup:
    return Markup(f'<span style="color:{colour};font-weight:600">{text(value)}</span>')


def verdict(name: str | None) -> Markup:
    """Return a verdict in its colour; nothing for none."""
    return coloured("✓ right" if name == "right" else SPOKEN[name], COLOURS[name]) if name else Markup("")


def table(headers: Sequence[object], rows: Iterable[Sequence[object]], caption: object = "") -> Markup:
    """Lay out a table."""
    head = _row("th", headers)
    body = "".join(_row("td", row) for row in rows)
    above = f'<caption style="text-align:left;font-weight:600">{text(caption)}</caption>' if caption else ""
    return Markup(f"<table>{above}<thead>{head}</thead><tbody>{body}</tbody></table>")


def _row(tag: str, cells: Iterable[object]) -> str:
    return f"<tr>{''.join(f'<{tag} style={_CELL!r}>{text(each)}</{tag}>' for each in cells)}</tr>"


def picture(jpeg: bytes | None, alt: str) -> Markup:
    """Return a JPEG as an image with its content as a data URI; nothing without one, or for one that is too large."""
    if jpeg is None or len(jpeg) > MAX_PICTURE_BYTES:
        return Markup("")
    content = base64.b64encode(jpeg).decode("ascii")
    return Markup(f'<img src="data:image/jpeg;base64,{content}" alt="{escape(alt)}" style="height:72px">')


def parts_html(sentence: str, wanted: Sequence[str], unwanted: Sequence[str]) -> Markup:
    """Show a query with its parts."""
    parts = [coloured(each, COLOURS["right"]) for each in wanted]
    parts += [coloured(f"not {each}", COLOURS["violation"]) for each in unwanted]
    listed = joined(each for part in parts for each in (" · ", part))
    return Markup(f"<p><b>{text(sentence)}</b>{listed}</p>")
