"""One clip enlarged: its captions, its rank in every column, and its place in its film."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from nt2vr.media.gallery import Video
from nt2vr.media.picture import PICTURE_SUFFIXES
from nt2vr.media.preview import MAX_SECONDS
from nt2vr.search.answers import Answer, Seen
from nt2vr.ui.search.formats import clock, decimal, signed, times_text
from nt2vr.ui.search.verdict_texts import MARKS

ALIKE = 2e-4  # difference of two scores that is due to rounding
SLACK_S = (
    0.5  # that a preview may be shorter than its clip before its frames are shown at wrong places
)


def detail_view(
    video: Video,
    seen: Sequence[Seen],
    verdict: str,
    urls: Mapping[str, str],
    film: Mapping[str, Any] = MappingProxyType({}),
    judged_by: str = "",
    names_paths: bool = False,
) -> dict[str, Any]:
    """Show one clip enlarged: captions, its rank and best-matching frames in every column, its place in its film.

    `film` is as `film_view` shows it, empty if the clip is no window of one; `names_paths` lets
    visitors see its path.
    """
    return {
        "id": video.video_id,
        **urls,
        "verdict": verdict,
        "mark": MARKS.get(verdict, ""),
        "by": f"by {judged_by}" if judged_by else "",
        "file": video.path.name if video.content else "",
        "path": str(video.path) if video.content and names_paths else "",
        **_place(video, film, f"{urls['src'].rpartition('/')[0]}/moment" if names_paths else ""),
        "captions": list(video.captions),
        "film": dict(film),
        "reversible": any(one.num_frames > 1 for one in seen),
        "pressed": "false",
        "seen": [
            {
                "name": one.system.name,
                "rank": f"#{one.rank}" if one.rank is not None else "–",
                "score": decimal(one.score) if one.score is not None else "",
                "frames": frame_pictures(video, one, urls),
            }
            for one in seen
        ],
    }


def backwards_view(
    view: Mapping[str, Any], seen: Sequence[Seen], scores: Sequence[float | None]
) -> dict[str, Any]:
    """Show a `detail_view` played backwards: what each score becomes (None: unknown), and who does not notice."""
    rows, blind = [], []
    for row, one, score in zip(view["seen"], seen, scores, strict=True):
        if score is None or one.score is None:
            text = "unknown"
        elif abs(score - one.score) > ALIKE:
            text = f"{decimal(score)} ({signed(score - one.score)})"
        else:
            text = "unchanged"
        rows.append({**row, "backwards": text})
        blind += [row["name"]] if text == "unchanged" else []
    told = f"{', '.join(blind)}: nothing changes, because frames are pooled without regard to their order."
    return {
        **view,
        "pressed": "true",
        "seen": rows,
        "order": told if blind else "The order of frames counts.",
    }


def _place(video: Video, film: Mapping[str, Any], link: str) -> dict[str, str]:
    """Say where in its file a clip lies, with a link to it cut out; nothing of pictures, no link if built in."""
    is_span = video.end is not None
    time = times_text(video.start, video.end) if is_span else ""
    time = f"{film['where']} of {film['length']}" if film else time
    return {"time": time, "moment": link if is_span and video.content else ""}


def frame_pictures(video: Video, seen: Seen, urls: Mapping[str, str]) -> list[dict[str, Any]]:
    """Show the best frames as stills of the clip's own video, or as pictures where its preview may end before them."""
    if video.path.suffix.lower() in PICTURE_SUFFIXES:
        return []
    is_covered = video.end is not None and video.end - video.start <= MAX_SECONDS + SLACK_S
    if not video.content or is_covered:  # of the built-in gallery, a clip plays as a whole
        return [{"src": urls["src"], "at": moment} for moment in seen.moments]
    base, count = urls["src"].rpartition("/")[0], seen.num_frames
    return [
        {"still": f"{base}/frame-{int(moment * count)}-of-{count}.jpg"} for moment in seen.moments
    ]


def film_view(answer: Answer, video: Video, windows: Iterable[Video]) -> dict[str, Any]:
    """Lay a film out as a bar from 0 to 100 %, with the moments that any system found, and the one on display.

    A clip that is no window of a film has no bar; `windows` may be all clips of the gallery.
    """
    film = [each for each in windows if video.film and each.film == video.film]
    if not film:
        return {}
    length = max(each.end or each.start for each in film) or 1.0
    found = {video.video_id, *answer.moments}

    def moment(each: Video) -> dict[str, Any]:
        left, width = (
            f"{100 * min(s / length, 1):.3f}"
            for s in (each.start, (each.end or length) - each.start)
        )
        text = times_text(each.start, each.end)
        return {
            "id": each.video_id,
            "left": left,
            "width": width,
            "text": text,
            "here": each == video,
        }

    moments = [moment(each) for each in film if each.video_id in found]
    return {
        "length": clock(length),
        "where": times_text(video.start, video.end),
        "moments": moments,
    }
