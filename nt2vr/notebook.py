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
Points = Sequence[tuple[float, float]]  # x and y
CURVE_WIDTH, CURVE_HEIGHT, CURVE_MARGIN = 320, 120, 6  # pixels


def data_frame(rows: list[Any], columns: Sequence[str]) -> Any:
    """Return rows, mappings or tuples, as a `pandas.DataFrame` with these columns even if there are no rows."""
    import pandas  # noqa: PLC0415  slow

    return pandas.DataFrame(rows, columns=columns)


def joined(parts: Iterable[object]) -> Markup:
    return Markup("").join(parts)  # type: ignore[arg-type]  # escapes what is not Markup


def table(
    headers: Sequence[object], rows: Iterable[Sequence[object]], caption: object = ""
) -> Markup:
    def row(tag: str, cells: Iterable[object]) -> Markup:
        cell = Markup(f"<{tag} style='{_CELL}'>{{}}</{tag}>")
        return Markup("<tr>{}</tr>").format(joined(cell.format(each) for each in cells))

    above = Markup('<caption style="text-align:left;font-weight:600">{}</caption>').format(caption)
    parts = (above if caption else "", row("th", headers), joined(row("td", each) for each in rows))
    return Markup("<table>{}<thead>{}</thead><tbody>{}</tbody></table>").format(*parts)


def parts_html(sentence: str, wanted: Sequence[str], unwanted: Sequence[str]) -> Markup:
    parts = [_coloured(each, "right") for each in wanted]
    parts += [_coloured(f"not {each}", "violation") for each in unwanted]
    return Markup("<p><b>{}</b>{}</p>").format(
        sentence, joined(each for part in parts for each in (" · ", part))
    )


def _coloured(value: str, verdict: str) -> Markup:
    return Markup('<span style="color:{};font-weight:600">{}</span>').format(
        COLOURS[verdict], value
    )


def hits_html(
    system: str,
    hits: Sequence[Mapping[str, Any]],
    thumbnail: Callable[[str], bytes | None] | None,
    pictures: int,
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
        rows.append(
            (
                hit["rank"],
                picture,
                name,
                f"{hit['score']:.3f}",
                _coloured(said, verdict) if verdict else "",
            )
        )
    left = len(hits) - len(rows)
    more = Markup("<p>and {:,} more</p>").format(left) if left > 0 else ""
    return joined([table(("", "", "clip", "score", ""), rows, system), more])


def side_by_side(head: Markup, columns: Iterable[Markup]) -> Markup:
    cells = joined(
        Markup('<td style="vertical-align:top">{}</td>').format(each) for each in columns
    )
    return Markup("<div>{}<table><tbody><tr>{}</tr></tbody></table></div>").format(head, cells)


def curve(title: str, along: str, points: Points) -> Markup:
    """Draw a line through points, with its last value in the title."""
    xs = [x for x, _ in points]
    ys = [y for _, y in points]
    x_range = max(max(xs) - min(xs), 1e-9)
    y_range = max(max(ys) - min(ys), 1e-9)
    drawn = []
    for x, y in points:
        across = CURVE_MARGIN + (x - min(xs)) / x_range * (CURVE_WIDTH - 2 * CURVE_MARGIN)
        down = (
            CURVE_HEIGHT
            - CURVE_MARGIN
            - (y - min(ys)) / y_range * (CURVE_HEIGHT - 2 * CURVE_MARGIN)
        )
        drawn.append(f"{across:.1f},{down:.1f}")
    svg = Markup(
        '<svg width="{0}" height="{1}" role="img" aria-label="{2}" style="border:1px solid #8884">'
        '<polyline points="{3}" fill="none" stroke="#4f46e5" stroke-width="2"/></svg>'
    ).format(CURVE_WIDTH, CURVE_HEIGHT, title, " ".join(drawn))
    head = f"{title}: {ys[-1]:.3g}"
    ends = f"{along} {xs[0]:g} to {xs[-1]:g}, {min(ys):.3g} to {max(ys):.3g}"
    frame = '<figure style="display:inline-block;margin:4px"><figcaption>{}</figcaption>{}<div>{}</div></figure>'
    return Markup(frame).format(head, svg, ends)
