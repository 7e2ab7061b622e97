"""One enlarged clip as template data, with its place in its film. Independent of Gradio."""

from collections.abc import Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from nt2vr.media.gallery import Video
from nt2vr.media.picture import PICTURE_SUFFIXES
from nt2vr.media.preview import MAX_SECONDS
from nt2vr.notebook import SPOKEN
from nt2vr.search.answers import Answer, Seen

MARKS = {**SPOKEN, "right": "✓"}
ALIKE = 2e-4  # difference of two scores that is due to rounding
SLACK_S = 0.5  # that a preview may be shorter than its clip before its frames are shown at wrong places


def times_text(start: float, end: float | None) -> str:
    """Write where a window lies in its film: 1:05–1:15."""
    return f"{clock(start)}–{clock(end) if end is not None else 'end'}"


def clock(seconds: float) -> str:
    """Write a time as players do: 0:05, 12:30, 1:02:03."""
    hours, rest = divmod(round(seconds), 3600)
    minutes, seconds = divmod(rest, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


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

    `film` is as `film_view` shows it, empty if the clip is no window of one; `names_paths` lets visitors see its path.
    """
    return {
        "id": video.video_id,
        **urls,
        "verdict": verdict,
        "mark": MARKS.get(verdict, ""),
        "by": f"by {judged_by}" if judged_by else "",
        "file": (str(video.path) if names_paths else video.path.name) if urls.get("poster") else "",
        "time": _time(video, film),
        "captions": list(video.captions),
        "film": dict(film),
        "reversible": any(one.num_frames > 1 for one in seen),
        "pressed": "false",
        "seen": [
            {
                "name": one.system.name,
                "rank": f"#{one.rank}" if one.rank is not None else "–",
                "score": f"{one.score:.3f}" if one.score is not None else "",
                "frames": frame_pictures(video, one, urls),
            }
            for one in seen
        ],
    }


def backwards_view(view: Mapping[str, Any], seen: Sequence[Seen], scores: Sequence[float | None]) -> dict[str, Any]:
    """Show a `detail_view` played backwards: what each score becomes (None: unknown), and who does not notice."""
    rows, blind = [], []
    for row, one, score in zip(view["seen"], seen, scores, strict=True):
        change = None if score is None or one.score is None else score - one.score
        text = "unknown" if change is None else f"{score:.3f} ({change:+.3f})" if abs(change) > ALIKE else "unchanged"
        rows.append({**row, "backwards": text})
        blind += [row["name"]] if text == "unchanged" else []
    told = f"{', '.join(blind)}: nothing changes, as frames are pooled without regard to their order, like a mean."
    return {**view, "pressed": "true", "seen": rows, "order": told if blind else "The order of frames counts."}


def _time(video: Video, film: Mapping[str, Any]) -> str:
    """Say where in its file a clip lies; empty for a picture, or where that is not known."""
    if film:
        return f"{film['where']} of {film['length']}"
    return times_text(video.start, video.end) if video.end is not None else ""


def frame_pictures(video: Video, seen: Seen, urls: Mapping[str, str]) -> list[dict[str, Any]]:
    """Show the best frames as stills of the clip's own video, or as pictures where its preview may end before them."""
    if video.path.suffix.lower() in PICTURE_SUFFIXES:
        return []
    is_covered = video.end is not None and video.end - video.start <= MAX_SECONDS + SLACK_S
    if not urls.get("poster") or is_covered:
        return [{"src": urls["src"], "at": moment} for moment in seen.moments]
    base, count = urls["src"].rpartition("/")[0], seen.num_frames
    return [{"still": f"{base}/frame-{int(moment * count)}-of-{count}.jpg"} for moment in seen.moments]


def film_view(answer: Answer, video: Video, windows: Iterable[Video]) -> dict[str, Any]:
    """Lay a film out as a bar from 0 to 100 %, with the moments that any system found, and the one on display.

    A clip that is no window of a film has no bar; `windows` may be all clips of the gallery.
    """
    film = [each for each in windows if video.film and each.film == video.film]
    if not film:
        return {}
    length = max(each.end or each.start for each in film) or 1.0
    found = {m.video_id for r in answer.rankings for hit in r.hits for m in hit.moments} | {video.video_id}

    def percent(seconds: float) -> str:
        return f"{100 * min(seconds / length, 1):.3f}"

    return {
        "length": clock(length),
        "where": times_text(video.start, video.end),
        "moments": [
            {
                "id": each.video_id,
                "left": percent(each.start),
                "width": percent((each.end or length) - each.start),
                "text": times_text(each.start, each.end),
                "here": each.video_id == video.video_id,
            }
            for each in film
            if each.video_id in found
        ],
    }
