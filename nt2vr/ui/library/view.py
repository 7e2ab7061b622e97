"""Libraries as template data. Independent of Gradio."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from nt2vr.errors import counted
from nt2vr.library.changes import shares_text
from nt2vr.library.move import Moved
from nt2vr.library.source import LibraryInfo, Skipped, Source
from nt2vr.library.update import IndexJob
from nt2vr.media.gallery import Video
from nt2vr.progress import percent_text
from nt2vr.ui.job_view import job_view, state_text
from nt2vr.ui.library.indexing import job_word
from nt2vr.ui.search.results import clock
from nt2vr.ui.web.permissions import without_paths

KIND_NAMES = {
    "uploads": "uploaded files",
    "folder": "folder",
    "manifest": "manifest",
    "dataset": "dataset",
}
POSTERS = 24
MOMENTS = 12  # of a film
MOST_SKIPPED = 200  # rows of the table
MOST_MISSING = 20  # names after a move
GONE = "Its files are not there now. What is indexed can still be searched."


def list_view(
    infos: Sequence[LibraryInfo], jobs: Mapping[str, IndexJob], chosen: str
) -> dict[str, Any]:
    """List the libraries with the state of each, the open one marked."""
    rows = []
    for info in infos:
        job = jobs.get(info.id)
        state, word, share = "interrupted", "not indexed" if info.available else "unavailable", "0"
        if job is not None and (job.is_under_way or (job.models and job.state != "finished")):
            state, word, share = (
                job.state,
                state_text(job, job_word(job)),
                percent_text(job.done, job.total),
            )
        elif info.available and info.num_clips:
            state, word, share = "finished", "ready", "100"
        about = f"{counted(info.num_clips, 'clip')} · {KIND_NAMES[info.source.kind]}"
        row = {"id": info.id, "name": info.name, "about": about, "chosen": info.id == chosen}
        rows.append({**row, "state": state, "word": word, "share": share})
    return {"libraries": rows}


def info_view(info: LibraryInfo, job: IndexJob | None, names_paths: bool) -> dict[str, Any]:
    """Show a library; `names_paths` says whether the visitor may know where it lies on this machine."""
    source = info.source
    tell = str if names_paths else partial(_within, source.within or source.path)
    facts = {
        "Made from": _origin(source, names_paths),
        "Files": f"{info.num_files + info.num_copies:,}{shares_text(info.num_copies)}",
        "Clips": f"{info.num_clips:,}"
        + (f", in windows of {source.window_s:g} s" if source.window_s else ""),
        "Duration": clock(info.seconds),
        "Skipped": f"{info.num_skipped:,}",
        "Captions": "yes" if info.has_captions else "none",
    }
    return {
        "id": info.id,
        "name": info.name,
        "facts": [{"name": name, "value": value} for name, value in facts.items()],
        "unavailable": "" if info.available else GONE,
        "remark": _remark(job),
        "job": job_view(job, job_word(job), tell),
    }


def _remark(job: IndexJob | None) -> str:
    """Say what the last update or move has changed, if anything."""
    if job is None or job.result is None:
        return ""
    if isinstance(job.result, Moved):
        return _moved_text(job.result)
    changes = [f"{len(files):,} {words}" for words, files in job.result.changes.by_kind.items()]
    return f"The last update: {', '.join(changes)}." if changes else ""


def _moved_text(moved: Moved) -> str:
    changes = ", ".join(f"{len(files):,} {words}" for words, files in moved.by_kind.items())
    share = f"{moved.num_recognised:,} of {counted(moved.num_files, 'file')}"
    text = f"Found {share} in the new folder" + (f" ({changes})." if changes else ".")
    if not moved.missing:
        return text

    names = ", ".join(moved.missing[:MOST_MISSING])
    rest = len(moved.missing) - MOST_MISSING
    more = f" and {rest:,} more" if rest > 0 else ""
    them = "it" if len(moved.missing) == 1 else "them"
    return f"{text} Missing: {names}{more}. The next update removes {them} from the library."


def _within(folder: Path, text: str) -> str:
    """Tell a message with its paths relative to a library's folder."""
    return without_paths(text.replace(f"{folder}/", "").replace(str(folder), folder.name))


def _origin(source: Source, names_paths: bool) -> str:
    path = f" {source.path}" if names_paths and source.kind != "uploads" else ""
    return (
        KIND_NAMES[source.kind]
        + path
        + (f", {source.split} split" if source.kind == "dataset" else "")
    )


def posters_view(
    info: LibraryInfo, videos: Sequence[Video], urls: Callable[[str, Video], Mapping[str, str]]
) -> dict[str, Any]:
    """Show the posters of some files, spread over the library; that of a film has its moments, too."""
    films: dict[str, list[Video]] = {}
    for video in videos:
        films.setdefault(video.film or video.video_id, []).append(video)
    posters = []
    for name in list(films)[:: max(1, len(films) // POSTERS)][:POSTERS]:
        moments = films[name][:: max(1, len(films[name]) // MOMENTS)][:MOMENTS]
        of_moment = [urls(info.id, video)["poster"] for video in moments]
        more = (
            {"moments": " ".join(of_moment), "length": clock(films[name][-1].end or 0)}
            if moments[1:]
            else {}
        )
        posters.append({"src": of_moment[0], "text": name, **more})
    return {"id": info.id, "link": f"?gallery={info.id}", "posters": posters}


def removal_text(info: LibraryInfo) -> str:
    if info.source.kind == "uploads":
        return "Remove this library, its index and its uploaded files?"
    return "Remove this library and its index? Your own files stay where they are."


def skipped_view(skipped: Sequence[Skipped], folder: Path | None = None) -> dict[str, Any]:
    """List what is not in the gallery, and why; paths relative to `folder`, for a visitor who may not name any."""
    tell = str if folder is None else partial(_within, folder)
    rows = [{"id": tell(each.id), "reason": tell(each.reason)} for each in skipped[:MOST_SKIPPED]]
    more, copies = len(skipped) - len(rows), sum(bool(each.duplicate_of) for each in skipped)
    left = len(skipped) - copies
    counts = [f"{left:,} skipped"] * bool(left) + [counted(copies, "copy", "copies")] * bool(copies)
    return {"rows": rows, "count": ", ".join(counts), "more": f"and {more:,} more" if more else ""}
