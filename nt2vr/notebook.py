"""HTML and pandas tables for results in notebooks; what comes from outside is escaped."""

import base64
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from markupsafe import Markup

# Colours and words for verdicts.
COLOURS = {"right": "#1a7f37", "violation": "#c4302b", "miss": "#9a6700"}
SPOKEN = {"right": "right", "violation": "violates", "miss": "misses"}
# Hits per system.
SHOWN = 12
# Pictures of an answer.
MAX_PICTURES = 48
# Of a thumbnail; a larger one is left out.
MAX_PICTURE_BYTES = 30_000
CELL_STYLE = "padding:2px 10px;text-align:left;vertical-align:top"
# Values of x and y.
Points = Sequence[tuple[float, float]]
# Pixels.
CURVE_WIDTH = 320
CURVE_HEIGHT = 120
CURVE_MARGIN = 6


def data_frame(rows: list[Any], columns: Sequence[str]) -> Any:
    """Return rows, mappings or tuples, as a `pandas.DataFrame`; without rows, it has the columns."""
    import pandas  # noqa: PLC0415  slow

    return pandas.DataFrame(rows, columns=columns)


def joined(parts: Iterable[object]) -> Markup:
    """Join parts, and escape those that are not Markup."""
    return Markup("").join(parts)  # type: ignore[arg-type]


def table(
    headers: Sequence[object], rows: Iterable[Sequence[object]], caption: object = ""
) -> Markup:
    title = Markup("")
    if caption:
        template = Markup('<caption style="text-align:left;font-weight:600">{}</caption>')
        title = template.format(caption)
    head = _table_row("th", headers)
    body = joined(_table_row("td", cells) for cells in rows)
    return Markup("<table>{}<thead>{}</thead><tbody>{}</tbody></table>").format(title, head, body)


def _table_row(tag: str, cells: Iterable[object]) -> Markup:
    template = Markup(f"<{tag} style='{CELL_STYLE}'>{{}}</{tag}>")
    return Markup("<tr>{}</tr>").format(joined(map(template.format, cells)))


def parts_html(sentence: str, wanted: Sequence[str], unwanted: Sequence[str]) -> Markup:
    """Show a query, and after it what is wanted and what is not."""
    html = [Markup("<b>{}</b>").format(sentence)]
    html += [_coloured(part, "right") for part in wanted]
    html += [_coloured(f"not {part}", "violation") for part in unwanted]
    return Markup("<p>{}</p>").format(Markup(" · ").join(html))


def _coloured(text: str, verdict: str) -> Markup:
    return Markup('<span style="color:{};font-weight:600">{}</span>').format(COLOURS[verdict], text)


def hits_html(
    system: str,
    hits: Sequence[Mapping[str, Any]],
    thumbnail: Callable[[str], bytes | None] | None,
    pictures: int,
) -> Markup:
    """Tabulate the hits of one system.

    Args:
        system: its name.
        hits: as `Hit.as_dict` returns them.
        thumbnail: returns a small JPEG of a clip, if there is one.
        pictures: number of hits that are shown with it, from the first.
    """
    rows: list[tuple[object, ...]] = []
    for hit in hits[:SHOWN]:
        rank = hit["rank"]
        video_id = hit["video_id"]
        picture = ""
        if thumbnail is not None and rank <= pictures:
            picture = _picture(video_id, thumbnail(video_id))
        rows.append((rank, picture, video_id, f"{hit['score']:.3f}", _verdict(hit["verdict"])))
    hits_table = table(("", "", "clip", "score", ""), rows, system)
    num_unlisted = len(hits) - len(rows)
    if num_unlisted:
        hits_table += Markup("<p>and {:,} more</p>").format(num_unlisted)
    return hits_table


def _picture(name: str, jpeg: bytes | None) -> str:
    if jpeg is None or len(jpeg) > MAX_PICTURE_BYTES:
        return ""
    content = base64.b64encode(jpeg).decode("ascii")
    image = Markup('<img src="data:image/jpeg;base64,{}" alt="{}" style="height:72px">')
    return image.format(content, name)


def _verdict(verdict: str | None) -> str:
    if not verdict:
        return ""
    word = "✓ right" if verdict == "right" else SPOKEN[verdict]
    return _coloured(word, verdict)


def side_by_side(head: Markup, columns: Iterable[Markup]) -> Markup:
    template = Markup('<td style="vertical-align:top">{}</td>')
    cells = joined(map(template.format, columns))
    return Markup("<div>{}<table><tbody><tr>{}</tr></tbody></table></div>").format(head, cells)


def curve(title: str, along: str, points: Points) -> Markup:
    """Draw a line through points, with its last value in the title."""
    xs, ys = zip(*points, strict=True)
    across = _pixels(xs, CURVE_WIDTH)
    up = _pixels(ys, CURVE_HEIGHT)
    line = [f"{x:.1f},{CURVE_HEIGHT - y:.1f}" for x, y in zip(across, up, strict=True)]
    svg = Markup(
        '<svg width="{0}" height="{1}" role="img" aria-label="{2}" style="border:1px solid #8884">'
        '<polyline points="{3}" fill="none" stroke="#4f46e5" stroke-width="2"/></svg>'
    ).format(CURVE_WIDTH, CURVE_HEIGHT, title, " ".join(line))
    figure = Markup(
        '<figure style="display:inline-block;margin:4px"><figcaption>{}</figcaption>{}'
        "<div>{}</div></figure>"
    )
    ends = f"{along} {xs[0]:g} to {xs[-1]:g}"
    extremes = f"{min(ys):.3g} to {max(ys):.3g}"
    return figure.format(f"{title}: {ys[-1]:.3g}", svg, f"{ends}, {extremes}")


def _pixels(values: Sequence[float], size: int) -> list[float]:
    """Scale values to the pixels of a picture, without its margins."""
    smallest = min(values)
    value_range = max(max(values) - smallest, 1e-9)
    inner_size = size - 2 * CURVE_MARGIN
    shares = [(value - smallest) / value_range for value in values]
    return [CURVE_MARGIN + share * inner_size for share in shares]
