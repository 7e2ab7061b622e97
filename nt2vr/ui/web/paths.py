"""Paths in messages to visitors who may not name paths of this machine."""

import re
from pathlib import Path

FOLDERS = re.compile(r"(?<![\w./~])/(?!/)(?:[^\s/'\"]+/)+")  # of an absolute path, not of a URL


def without_folders(text: str, folder: Path | None = None) -> str:
    """Shorten the absolute paths in a message: relative to a library's folder, others to their names."""
    if folder is not None:
        text = text.replace(f"{folder}/", "").replace(str(folder), folder.name)
    return FOLDERS.sub("", text)
