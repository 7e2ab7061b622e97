"""Rankings in notebooks: as HTML, with a thumbnail per clip, and as rows of a table. Hits are plain data."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nt2vr.notebook.html import Markup, joined, picture, table, verdict

SHOWN = 12  # hits per system
MAX_PICTURES = 48  # of an answer
COLUMNS = ("system", "rank", "video_id", "score", "verdict", "start", "end")


@dataclass(frozen=True)
class ShownRanking:
    """One system's hits, as `Hit.as_dict` gives them, and what returns a small JPEG of a clip."""

    system: str
    hits: Sequence[Mapping[str, Any]]
    thumbnail: Callable[[str], bytes | None] | None

    def html(self, pictures: int = SHOWN) -> Markup:
        """Show the first hits, with at most this many pictures."""
        rows = [self._cells(hit, hit["rank"] <= pictures) for hit in self.hits[:SHOWN]]
        left = len(self.hits) - len(rows)
        more = Markup(f"<p>and {left:,} more</p>") if left > 0 else ""
        return joined([table(("", "", "clip", "score", ""), rows, self.system), more])

    def _cells(self, hit: Mapping[str, Any], has_picture: bool) -> tuple[object, ...]:
        name = hit["video_id"]
        jpeg = self.thumbnail(name) if has_picture and self.thumbnail else None
        return hit["rank"], picture(jpeg, name), name, f"{hit['score']:.3f}", verdict(hit["verdict"])

    def rows(self) -> list[dict[str, Any]]:
        """Return one row per hit."""
        return [{"system": self.system, **{name: hit.get(name) for name in COLUMNS[1:]}} for hit in self.hits]


def side_by_side(head: Markup, rankings: Sequence[ShownRanking]) -> Markup:
    """Show several systems side by side."""
    pictures = min(SHOWN, MAX_PICTURES // max(1, len(rankings)))
    columns = joined(Markup(f'<td style="vertical-align:top">{each.html(pictures)}</td>') for each in rankings)
    return Markup(f"<div>{head}<table><tbody><tr>{columns}</tr></tbody></table></div>")
