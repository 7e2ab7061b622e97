"""Uploaded files: where they are stored, and checks that nothing else passes for one."""

import shutil
import time
from contextlib import suppress
from pathlib import Path

import gradio as gr
from gradio import processing_utils
from gradio.utils import get_upload_folder

from nt2vr.settings import store_uploads_in

HOUR_S, DAY_S = 3600, 24 * 3600  # how often uploads are looked through, and how long they stay


def prepare_uploads(folder: Path) -> None:
    """Have uploads stored in a folder of this app's own, without those that an app which was killed has left.

    Unless the environment names another: Gradio's default is one folder for all apps and users of the machine. Call it
    before the page is built.
    """
    with suppress(OSError):  # a data folder that cannot be written to: Gradio's default will do
        folder.mkdir(parents=True, exist_ok=True)
        store_uploads_in(folder)
        for path in folder.iterdir():
            if path.stat().st_mtime < time.time() - DAY_S:
                shutil.rmtree(path, ignore_errors=True)


def refuse_addresses() -> None:
    """Keep Gradio from downloading what a request names by its address: anyone could have anything fetched."""

    async def refuse(url: str, cache_dir: str) -> str:
        raise gr.Error("Upload the file: addresses are not opened here.", print_exception=False)

    processing_utils.async_ssrf_protected_download = refuse  # there is no setting for it


def is_upload(path: str | Path) -> bool:
    """Whether a path is that of an uploaded file: resolved, inside the upload folder, and no pipe or device."""
    try:
        return Path(path).resolve().is_relative_to(Path(get_upload_folder()).resolve()) and Path(path).is_file()
    except (OSError, ValueError):  # too long a name, or a NUL in it
        return False
