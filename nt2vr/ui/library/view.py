"""Libraries as template data. Independent of Gradio."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeVar

from nt2vr.errors import counted
from nt2vr.library.changes import shares_text, skipped_text
from nt2vr.library.move import Moved
from nt2vr.library.source import LibraryInfo, Skipped, Source
from nt2vr.library.update import IndexJob
from nt2vr.media.gallery import Video
from nt2vr.progress import percent_text
from nt2vr.ui.job_view import job_view, state_text
from nt2vr.ui.search.formats import clock
from nt2vr.ui.view import Redact, View
from nt2vr.ui.web.permissions import without_paths

KIND_NAMES = {
    "uploads": "uploaded files",
    "folder": "folder",
    "manifest": "manifest",
    "dataset": "dataset",
}
# Files that are shown by their posters, and moments of a long video.
POSTERS = 24
MOMENTS = 12
# Rows of the table of skipped files.
MOST_SKIPPED = 200
# Names of files that are missing after a move.
MOST_MISSING = 20
GONE = "Its files are not there now. What is indexed can still be searched."
T = TypeVar("T")
# The last update or move of each library, by its id.
Jobs = Mapping[str, IndexJob]


def list_view(infos: Sequence[LibraryInfo], jobs: Jobs, chosen: str) -> View:
    """List the libraries with the state of each, the open one marked."""
    rows = [
        {
            "id": info.id,
            "name": info.name,
            "about": f"{counted(info.num_clips, 'clip')} · {KIND_NAMES[info.source.kind]}",
            "chosen": info.id == chosen,
            **_state_view(info, jobs.get(info.id)),
        }
        for info in infos
    ]
    return {"libraries": rows}


def _state_view(info: LibraryInfo, job: IndexJob | None) -> View:
    """Show the state of a library, in a word and as a bar."""
    # A move that failed has changed nothing.
    has_failed = job is not None and job.models and job.state != "finished"
    if job is not None and (job.is_under_way or has_failed):
        return {
            "state": job.state,
            "state_text": state_text(job, _running_text(job)),
            "share": percent_text(job.done, job.total),
        }
    if not info.available:
        return {"state": "interrupted", "state_text": "unavailable", "share": "0"}
    if not info.num_clips:
        return {"state": "interrupted", "state_text": "not indexed", "share": "0"}
    return {"state": "finished", "state_text": "ready", "share": "100"}


def update_view(job: IndexJob | None, redact: Redact = str) -> View:
    """Show an update or a move of a library, as `job_view` does."""
    return job_view(job, _running_text(job), redact)


def _running_text(job: IndexJob | None) -> str:
    """Return what a running job of a library does: a move names no model."""
    if job is None or job.models:
        return "indexing"
    return "moving"


def info_view(info: LibraryInfo, job: IndexJob | None, names_paths: bool) -> View:
    """Show a library; `names_paths` says whether the visitor may know its folder on this machine."""
    source = info.source
    num_files = info.num_files + info.num_copies
    clips = f"{info.num_clips:,}"
    if source.window_s:
        clips += f", in windows of {source.window_s:g} s"
    facts = {
        "Made from": _origin(source, names_paths),
        "Files": f"{num_files:,}{shares_text(info.num_copies)}",
        "Clips": clips,
        "Duration": clock(info.seconds),
        "Skipped": f"{info.num_skipped:,}",
        "Captions": "yes" if info.has_captions else "none",
    }
    return {
        "id": info.id,
        "name": info.name,
        "facts": [{"name": name, "value": value} for name, value in facts.items()],
        "unavailable": "" if info.available else GONE,
        "last_change": _last_change(job),
        "job": update_view(job, library_redactor(source, names_paths)),
    }


def _origin(source: Source, names_paths: bool) -> str:
    origin = KIND_NAMES[source.kind]
    if names_paths and source.kind != "uploads":
        origin += f" {source.path}"
    if source.kind == "dataset":
        origin += f", {source.split} split"
    return origin


def _last_change(job: IndexJob | None) -> str:
    """Say what the last update or move has changed, if anything."""
    if job is None or job.result is None:
        return ""
    if isinstance(job.result, Moved):
        return _moved_text(job.result)
    changes = _changes_text(job.result.changes.by_kind)
    if changes:
        return f"The last update: {changes}."
    return ""


def _moved_text(moved: Moved) -> str:
    files = counted(moved.num_files, "file")
    text = f"Found {moved.num_recognised:,} of {files} in the new folder"
    changes = _changes_text(moved.by_kind)
    text += f" ({changes})." if changes else "."
    if not moved.missing:
        return text

    names = ", ".join(moved.missing[:MOST_MISSING])
    num_unnamed = len(moved.missing) - MOST_MISSING
    if num_unnamed > 0:
        names += f" and {num_unnamed:,} more"
    them = "it" if len(moved.missing) == 1 else "them"
    return f"{text} Missing: {names}. The next update removes {them} from the library."


def _changes_text(files_by_kind: Mapping[str, Sequence[str]]) -> str:
    return ", ".join(f"{len(files):,} {kind}" for kind, files in files_by_kind.items())


def library_redactor(source: Source, names_paths: bool) -> Redact:
    """Return a function that words a message about a library for a visitor who may name paths, or may not.

    For the latter, paths are relative to the library's folder, and a message that names other paths
    is withheld.
    """
    if names_paths:
        return str
    folder = source.within or source.path

    def redact(text: str) -> str:
        relative = text.replace(f"{folder}/", "")
        return without_paths(relative.replace(str(folder), folder.name))

    return redact


def posters_view(
    info: LibraryInfo, videos: Sequence[Video], urls: Callable[[str, Video], View]
) -> View:
    """Show the posters of some files, spread over the library.

    The poster of a long video also has those of some of its moments.
    """
    clips_of_file: dict[str, list[Video]] = {}
    for video in videos:
        clips_of_file.setdefault(video.long_video or video.video_id, []).append(video)

    posters = []
    for name in _spread(list(clips_of_file), POSTERS):
        clips = clips_of_file[name]
        moments = [urls(info.id, clip)["poster"] for clip in _spread(clips, MOMENTS)]
        poster = {"src": moments[0], "text": name}
        if len(moments) > 1:
            poster["moments"] = " ".join(moments)
            poster["length"] = clock(clips[-1].end or 0)
        posters.append(poster)
    return {"id": info.id, "link": f"?gallery={info.id}", "posters": posters}


def _spread(values: Sequence[T], most: int) -> Sequence[T]:
    """Return at most so many values, at even distances."""
    step = max(1, len(values) // most)
    return values[::step][:most]


def removal_text(info: LibraryInfo) -> str:
    if info.source.kind == "uploads":
        return "Remove this library, its index and its uploaded files?"
    return "Remove this library and its index? Your own files stay where they are."


def skipped_view(skipped: Sequence[Skipped], redact: Redact) -> View:
    """List what is not in the gallery, and why; `redact` is a `library_redactor`."""
    rows = [
        {"id": redact(file.id), "reason": redact(file.reason)} for file in skipped[:MOST_SKIPPED]
    ]
    num_unlisted = len(skipped) - len(rows)
    num_copies = sum(bool(file.duplicate_of) for file in skipped)
    return {
        "rows": rows,
        "count": skipped_text(num_copies, len(skipped) - num_copies),
        "more": f"and {num_unlisted:,} more" if num_unlisted else "",
    }
