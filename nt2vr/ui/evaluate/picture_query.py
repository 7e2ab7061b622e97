"""A query of a report that has a reference picture, as a search: its link, and the picture to upload."""

import json
from hashlib import sha256
from pathlib import Path
from uuid import uuid4

import gradio as gr
from gradio.utils import get_upload_folder

from nt2vr.errors import ConfigError, Nt2vrError
from nt2vr.evaluation.report import Report
from nt2vr.library.libraries import Libraries
from nt2vr.media.decode import Decoder
from nt2vr.media.picture import write_jpeg
from nt2vr.models.framing import DEFAULT_SIZE
from nt2vr.ui.view import Link
from nt2vr.world.drawn.render import render
from nt2vr.world.scenes import Scene


def picture_query(
    report: Report, position: int | None, libraries: Libraries, decoder: Decoder | None = None
) -> Link:
    """Return the values of a query's link in Search; a ConfigError if the report has no such query with a picture.

    Its reference is drawn as an upload, found among the clips of libraries, or, with a decoder,
    read from its file: only for those who may name files.
    """
    if (
        position is None
        or not 0 <= position < len(report.queries)
        or not report.queries[position].picture
    ):
        raise ConfigError("The report has no such query. Choose one from the list.")

    row = report.row(position)
    picture = row.query.picture
    values = {"q": row.query.text, "systems": "|".join(row.search_systems)}
    scene = picture.get("scene")
    if scene:
        return {**values, "upload": _drawn(scene)}

    path = Path(picture.get("path", ""))
    clip = _clip_in_libraries(path, libraries)
    if clip:
        return {**values, **clip}
    if decoder is None:
        gr.Warning("The reference is in no library, so only the text is searched for.")
        return values

    try:
        frames = decoder.reference(path)
    except Nt2vrError as error:
        gr.Warning(f"{error} Only the text is searched for.")
        return values
    # Which no visitor can guess.
    copied = _upload_path(uuid4().hex)
    write_jpeg(frames[0], copied)
    return {**values, "upload": str(copied)}


def _drawn(scene: dict[str, object]) -> str:
    """Return the path of the picture of a scene, which is drawn once."""
    path = _upload_path(json.dumps(scene))
    if not path.is_file():
        write_jpeg(render(Scene.from_dict(scene), DEFAULT_SIZE, 1)[0], path)
    return str(path)


def _clip_in_libraries(path: Path, libraries: Libraries) -> Link:
    """Return the link's values for a clip of this file; nothing if no library has it."""
    for info in libraries.infos():
        for video in libraries.gallery(info.id).videos:
            if video.path == path:
                return {"like": video.video_id, "gallery": info.id}
    return {}


def _upload_path(key: str) -> Path:
    """Return where a reference picture is put: among the uploads, with which it is deleted."""
    name = sha256(key.encode()).hexdigest()
    path = Path(get_upload_folder()) / name / "reference.jpg"
    path.parent.mkdir(parents=True, exist_ok=True)
    return path
