"""Map of a gallery with an answer's clips, as template data. Independent of Gradio."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from nt2vr.media.gallery import Video
from nt2vr.search.answers import Answer, Ranking
from nt2vr.search.embedded import EmbeddedGallery
from nt2vr.search.embedding_map import Place, place_of
from nt2vr.search.strategies import Vector
from nt2vr.ui.search.column_view import short_name

MOST_DOTS = 2000  # sent to a browser
DECIMALS = 4  # of positions
GOOD, BAD, OTHER = "good", "bad", ""
Kind = Callable[[Video], str]  # GOOD, BAD or OTHER
Urls = Callable[[Video], Mapping[str, str]]
NOTHING = "This system has nothing to search for."


def map_view(
    answer: Answer, column: int, kind_of: Kind, urls: Urls, mean_text: Callable[[], Vector]
) -> dict[str, Any]:
    """Lay out a gallery as the visual tower of one column's system sees it, with its hits and its query.

    Args:
        mean_text: returns the mean embedding of texts of the system's model.
    """
    ranking = answer.rankings[column]
    view: dict[str, Any] = {
        "systems": [
            {"place": str(place), "name": short_name(each.system.name), "on": "true" if place == column else "false"}
            for place, each in enumerate(answer.rankings)
        ],
        "open": True,
        "column": column,
        "dots": [],
        "query": [],
        "note": NOTHING,
    }
    embedded, vector = ranking.gallery, ranking.vector
    if embedded is None or vector is None:
        return view
    kinds = [kind_of(video) for video in embedded.gallery.videos]
    rows = _shown(embedded, ranking, kinds)
    place = place_of(embedded.plane, vector, mean_text)
    rank_of = {hit.video_id: hit.rank for hit in ranking.hits}
    return view | {
        "dots": [_dot(embedded, row, kinds[row], rank_of, urls) for row in rows],
        "query": [round(value, DECIMALS) for value in place.position],
        "note": _note(embedded, place, len(rows), kinds),
    }


def _shown(embedded: EmbeddedGallery, ranking: Ranking, kinds: list[str]) -> list[int]:
    """Choose the clips that are drawn: the hits, right and violating ones, and an even sample of the others."""
    hits = [embedded.row_of[hit.video_id] for hit in ranking.hits if hit.video_id in embedded.row_of]
    judged = [row for row, kind in enumerate(kinds) if kind]
    first = list(dict.fromkeys([*hits, *_spread(judged, MOST_DOTS // 2)]))
    others = sorted(set(range(len(kinds))) - set(first))
    return [*_spread(others, MOST_DOTS - len(first)), *reversed(first)]  # what is drawn last lies on top


def _spread(rows: list[int], most: int) -> list[int]:
    if len(rows) <= most:
        return rows
    return [rows[place] for place in np.linspace(0, len(rows) - 1, most).astype(int)]


def _dot(embedded: EmbeddedGallery, row: int, kind: str, rank_of: Mapping[str, int], urls: Urls) -> dict[str, Any]:
    video = embedded.gallery.videos[row]
    x, y = embedded.plane.positions[row].tolist()
    return {
        "x": round(x, DECIMALS),
        "y": round(y, DECIMALS),
        "kind": kind,
        "rank": rank_of.get(video.video_id, 0),
        "id": video.video_id,
        "name": next(iter(video.captions), video.path.name),
        **urls(video),
    }


def _note(embedded: EmbeddedGallery, place: Place, num_dots: int, kinds: Collection[str]) -> str:
    share = f"{100 * embedded.plane.explained:.0f} %"
    notes = [
        f"The two directions in which the clips' embeddings differ most (PCA) hold {share} of their variance: clips "
        "that are close here may be far apart in the rest, by which systems also rank."
    ]
    if num_dots < len(kinds):
        notes.append(f"{num_dots:,} of {len(kinds):,} clips are drawn.")
    if place.gap is not None:
        notes.append(
            "Texts and clips lie apart in the model's space, so the query is placed relative to the mean text, as "
            f"clips are to the mean clip (cosine of the two: {place.gap:.2f}). Its direction counts, not its distance."
        )
    return " ".join(notes)
