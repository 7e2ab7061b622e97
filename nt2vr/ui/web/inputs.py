"""What anyone may send: values of events, which are checked, and uploaded files."""

import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

import gradio as gr
from gradio.utils import get_upload_folder

from nt2vr.errors import ConfigError, reason_of
from nt2vr.files import AnyPath
from nt2vr.media.limits import DAY_S, LIMITS, evict
from nt2vr.settings import prepare_environment
from nt2vr.ui.view import Link
from nt2vr.ui.web.gradio_fixes import keep_temporary_files

MB = 1_000_000
MAX_PICTURE_MB = 50
# Files in a request; `assets/ui/uploads.js` sends more in several requests.
MAX_FILES = 200
TOO_LARGE = f"A picture may have {MAX_PICTURE_MB} MB. Send a smaller one."
# Between two clean-ups of uploads.
HOUR_S = 3600
STAY_S = round(LIMITS["uploads"].days * DAY_S)

# Takes an event, and a function that returns a query's link, which the event then opens in Search.
OpensQueries = Callable[[Any, Callable[..., Link]], None]
# The inputs or outputs of an event.
Components = list[Any]
# New values by component; the others stay as they are.
Updates = dict[Any, Any]
T = TypeVar("T", str, int)


def event_value(event: gr.EventData, name: str, kind: type[T]) -> T:
    """Return a value from a template's event; a ConfigError if it has none of that name and type."""
    value = event._data.get(name) if isinstance(event._data, dict) else None
    if type(value) is not kind:
        raise ConfigError(f"The request was refused: its event has no {name}.")
    return value


def event_text(event: gr.EventData, name: str) -> str:
    return event_value(event, name, str)


def store_uploads(folder: Path) -> None:
    """Store uploads in this app's own folder, unless the environment names one.

    It must be called before the page is built. Gradio's default is one folder for all apps and
    users of the machine. A ConfigError says that there is none.
    """
    # In a read-only data folder, Gradio's default will do.
    with suppress(OSError):
        folder.mkdir(parents=True, exist_ok=True)
        prepare_environment({"GRADIO_TEMP_DIR": str(folder.absolute())})
    try:
        uploads = Path(get_upload_folder())
        uploads.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        problem = f"No folder for uploads can be made ({reason_of(error)})"
        raise ConfigError(
            f"{problem}. Set GRADIO_TEMP_DIR to a folder that can be written to."
        ) from error
    keep_temporary_files(uploads)


def sweep_uploads(folder: Path) -> None:
    """Delete old uploads for as long as the process lives.

    Gradio knows only those that it completed itself.
    """
    while True:
        # The data folder may be read-only.
        with suppress(OSError):
            evict(folder.iterdir(), LIMITS["uploads"])
        time.sleep(HOUR_S)


def is_upload(path: AnyPath) -> bool:
    """Return whether a path, once resolved, is a regular file in the upload folder."""
    folder = Path(get_upload_folder()).resolve()
    try:
        return Path(path).resolve().is_relative_to(folder) and Path(path).is_file()
    # The name is too long, or contains NUL.
    except (OSError, ValueError):
        return False


def is_too_large(path: AnyPath) -> bool:
    return Path(path).stat().st_size > MAX_PICTURE_MB * MB
