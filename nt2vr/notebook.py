"""How results show themselves in notebooks: as HTML, in which all from outside is escaped, and as pandas tables."""

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

COLOURS = {"right": "#1a7f37", "violation": "#c4302b", "miss": "#9a6700"}  # of verdicts
SPOKEN = {"right": "right", "violation": "violates", "miss": "misses"}  # verdicts in words
SHOWN = 12  # hits per system
MAX_PICTURES = 48  # of an answer
MAX_PICTURE_BYTES = 30_000  # of one thumbnail; a larger one is left out
_CELL = "padding:2px 10px;text-align:left;vertical-align:top"


def data_frame(rows: list[Any], columns: Sequence[str]) -> Any:
    """Return rows, mappings or tuples, as a `pandas.DataFrame` with these columns even if there are no rows."""
    import pandas  # noqa: PLC0415  slow

    return pandas.DataFrame(rows, columns=columns)


def joined(parts: Iterable[object]) -> Markup:
    return Markup("").join(parts)  # type: ignore[arg-type]  # escapes what is not Markup


def table(headers: Sequence[object], rows: Iterable[Sequence[object]], caption: object = "") -> Markup:
    def row(tag: str, cells: Iterable[object]) -> Markup:
        cell = Markup(f"<{tag} style='{_CELL}'>{{}}</{tag}>")
        return Markup("<tr>{}</tr>").format(joined(cell.format(each) for each in cells))

    above = Markup('<caption style="text-align:left;font-weight:600">{}</caption>').format(caption)
    parts = (above if caption else "", row("th", headers), joined(row("td", each) for each in rows))
    return Markup("<table>{}<thead>{}</thead><tbody>{}</tbody></table>").format(*parts)


def parts_html(sentence: str, wanted: Sequence[str], unwanted: Sequence[str]) -> Markup:
    parts = [_coloured(each, "right") for each in wanted]
    parts += [_coloured(f"not {each}", "violation") for each in unwanted]
    return Markup("<p><b>{}</b>{}</p>").format(sentence, joined(each for part in parts for each in (" · ", part)))


def _coloured(value: str, verdict: str) -> Markup:
    return Markup('<span style="color:{};font-weight:600">{}</span>').format(COLOURS[verdict], value)


def hits_html(
    system: str, hits: Sequence[Mapping[str, Any]], thumbnail: Callable[[str], bytes | None] | None, pictures: int
) -> Markup:
    """Tabulate one system's hits, as `Hit.as_dict` gives them, the first ones with small JPEGs by `thumbnail`."""
    rows: list[tuple[object, ...]] = []
    for hit in hits[:SHOWN]:
        name, verdict, picture = hit["video_id"], hit["verdict"], ""
        jpeg = thumbnail(name) if hit["rank"] <= pictures and thumbnail else None
        if jpeg is not None and len(jpeg) <= MAX_PICTURE_BYTES:
            image = Markup('<img src="data:image/jpeg;base64,{}" alt="{}" style="height:72px">')
            picture = image.format(base64.b64encode(jpeg).decode("ascii"), name)
        said = {"right": "✓ right"}.get(verdict, SPOKEN.get(verdict, ""))
        rows.append((hit["rank"], picture, name, f"{hit['score']:.3f}", _coloured(said, verdict) if verdict else ""))
    left = len(hits) - len(rows)
    more = Markup("<p>and {:,} more</p>").format(left) if left > 0 else ""
    return joined([table(("", "", "clip", "score", ""), rows, system), more])


def side_by_side(head: Markup, columns: Iterable[Markup]) -> Markup:
    cells = joined(Markup('<td style="vertical-align:top">{}</td>').format(each) for each in columns)
    return Markup("<div>{}<table><tbody><tr>{}</tr></tbody></table></div>").format(head, cells)
