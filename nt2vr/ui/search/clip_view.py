"""One clip enlarged: its captions, its rank in every column, and where in its long video it is."""

from collections.abc import Iterable, Sequence

from nt2vr.media.gallery import Video
from nt2vr.media.picture import PICTURE_SUFFIXES
from nt2vr.media.preview import MAX_SECONDS
from nt2vr.search.answers import Answer, ClipScore
from nt2vr.ui.search.formats import clock, decimal, score_text, signed, times_text
from nt2vr.ui.view import View, Views

# Largest difference of two scores that is due to rounding.
ALIKE = 2e-4
UNCHANGED = "unchanged"
# A clip that is longer than its preview by more would have frames shown at wrong times.
LONGEST_S = MAX_SECONDS + 0.5


def detail_view(
    video: Video,
    clip_scores: Sequence[ClipScore],
    verdict: str,
    urls: View,
    timeline: View,
    judged_by: str = "",
    names_paths: bool = False,
) -> View:
    """Show one clip enlarged: captions, its rank and best-matching frames in every column, where it is in its video.

    Args:
        timeline: as `timeline_view` shows it; empty if the clip is not a window of one.
        names_paths: whether the visitor may see its path.
    """
    is_file = bool(video.content)
    is_moment = video.end is not None
    time = times_text(video.start, video.end) if is_moment else ""
    if timeline:
        time = f"{timeline['times']} of {timeline['length']}"
    names_file = names_paths and is_file
    systems = []
    for clip_score in clip_scores:
        frames = frame_pictures(video, clip_score.best_frames, clip_score.num_frames, urls)
        systems.append(
            {
                "name": clip_score.system.name,
                "rank": "–" if clip_score.rank is None else f"#{clip_score.rank}",
                "score": score_text(clip_score.score),
                "frames": frames,
            }
        )
    return {
        "id": video.video_id,
        **urls,
        "verdict": verdict,
        "judged_by": f"by {judged_by}" if judged_by else "",
        "file": video.path.name if is_file else "",
        "path": str(video.path) if names_file else "",
        "time": time,
        "moment_link": f"{_folder(urls)}/moment" if names_file and is_moment else "",
        "captions": video.captions,
        "timeline": timeline,
        "reversible": any(clip_score.num_frames > 1 for clip_score in clip_scores),
        "pressed": "false",
        "systems": systems,
    }


def _folder(urls: View) -> str:
    """Return the address below which all pictures of a clip are."""
    return str(urls["src"]).rpartition("/")[0]


def backwards_view(
    view: View,
    clip_scores: Sequence[ClipScore],
    backwards_scores: Sequence[float | None],
) -> View:
    """Show a `detail_view` played backwards: each system's new score, and the systems whose score stays.

    Args:
        backwards_scores: one per system; None where it is unknown.
    """
    systems = []
    for system, forwards, backwards in zip(
        view["systems"], clip_scores, backwards_scores, strict=True
    ):
        systems.append({**system, "backwards": _backwards_text(forwards.score, backwards)})
    unchanged = [system["name"] for system in systems if system["backwards"] == UNCHANGED]
    order_notice = "The order of frames counts."
    if unchanged:
        reason = "nothing changes, because frames are pooled without regard to their order."
        order_notice = f"{', '.join(unchanged)}: {reason}"
    return {**view, "pressed": "true", "systems": systems, "order_notice": order_notice}


def _backwards_text(forwards: float | None, backwards: float | None) -> str:
    """Write a score of reversed frames, with its difference from the usual one."""
    if backwards is None or forwards is None:
        return "unknown"
    if abs(backwards - forwards) > ALIKE:
        return f"{decimal(backwards)} ({signed(backwards - forwards)})"
    return UNCHANGED


def frame_pictures(video: Video, positions: Sequence[float], num_frames: int, urls: View) -> Views:
    """Show frames as stills of the clip's own video, or as pictures where its preview may end before them.

    A picture has none.

    Args:
        positions: of the frames in the clip, 0 to 1.
        num_frames: frames that the model saw.
    """
    if video.path.suffix.lower() in PICTURE_SUFFIXES:
        return []
    # In the built-in gallery, a clip plays as a whole.
    is_built_in = not video.content
    is_short = video.end is not None and video.end - video.start <= LONGEST_S
    if is_built_in or is_short:
        return [{"src": urls["src"], "position": position} for position in positions]
    address = f"{_folder(urls)}/frame-{{}}-of-{num_frames}.jpg"
    return [{"still": address.format(int(position * num_frames))} for position in positions]


def timeline_view(answer: Answer, video: Video, clips: Iterable[Video]) -> View:
    """Lay a long video out as a bar from 0 to 100 %, with the moments that any system found, and the one on display.

    A clip that is not a window of one has no bar.

    Args:
        clips: all of the gallery.
    """
    if not video.long_video:
        return {}
    windows = [clip for clip in clips if clip.long_video == video.long_video]
    length = max(window.end or window.start for window in windows) or 1.0
    on_bar = {video.video_id, *answer.moments}
    moments = []
    for window in windows:
        if window.video_id in on_bar:
            duration = (window.end or length) - window.start
            moments.append(
                {
                    "id": window.video_id,
                    "left": _percent(window.start, length),
                    "width": _percent(duration, length),
                    "text": times_text(window.start, window.end),
                    "is_open": window == video,
                }
            )
    return {
        "length": clock(length),
        "times": times_text(video.start, video.end),
        "moments": moments,
    }


def _percent(seconds: float, length: float) -> str:
    return f"{100 * min(seconds / length, 1):.3f}"
