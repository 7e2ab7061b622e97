"""A picture plus a text of a report, opened in Search with its reference."""

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import gradio as gr
from gradio.utils import get_upload_folder

from nt2vr.errors import ConfigError
from nt2vr.evaluation.reports.report import Report
from nt2vr.library.libraries import Libraries
from nt2vr.media.picture import write_jpeg
from nt2vr.models.framing import DEFAULT_SIZE
from nt2vr.ui.evaluate.queries_view import picture_systems
from nt2vr.world.drawn.render import render
from nt2vr.world.scenes import Scene


def picture_query(report: Report, place: int | None, libraries: Libraries) -> dict[str, str]:
    """Return the values of a query's link in Search; a ConfigError if the report has no such query with a picture.

    Its reference is drawn as an upload, or found among the clips of libraries; other files are not shown.
    """
    if place is None or not 0 <= place < len(report.pictures):
        raise ConfigError("The report has no such query. Choose one from the list.")
    values = {"q": report.queries[place].text, "systems": "|".join(picture_systems(report))}
    return values | _reference(report.pictures[place], libraries)


def _reference(picture: Mapping[str, Any], libraries: Libraries) -> dict[str, str]:
    if scene := picture.get("scene"):
        return {"upload": str(_drawn(scene))}
    path = Path(picture.get("path", ""))
    for info in libraries.infos():
        for video in libraries.gallery(info.id).videos:
            if video.path == path:
                return {"like": video.video_id, "gallery": info.id}
    gr.Warning("The reference is in no library, so only the text is asked.")
    return {}


def _drawn(scene: Mapping[str, Any]) -> Path:
    """Draw a scene's middle frame into the folder of uploads, where it is deleted with them."""
    name = hashlib.sha256(json.dumps(scene).encode()).hexdigest()
    path = Path(get_upload_folder()) / name / "reference.jpg"
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.is_file():
        write_jpeg(render(Scene.from_dict(scene), DEFAULT_SIZE, 1)[0], path)
    return path
