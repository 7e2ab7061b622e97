"""Hugging Face Hub: its client, on request only; huggingface_hub reads HF_ENDPOINT and HF_TOKEN."""

import re
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http import HTTPStatus
from pathlib import Path
from typing import Any, TypeVar

from pebble import concurrent
from tqdm import tqdm

from nt2vr.errors import ConfigError, DownloadError, Nt2vrError, causes, quoted
from nt2vr.files import is_disk_full
from nt2vr.progress import Progress

T = TypeVar("T")

# Owner or repository, by the Hub's own rules.
NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")
# For one answer; open_clip itself would try for 50 s.
REQUEST_S = 5.0
# For the first answer, name resolution included: the Hub counts as unreachable after that.
DEADLINE_S = 8.0
# Left free on the disk.
SPARE_BYTES = 200 << 20


def check_repository(name: str) -> None:
    parts = name.split("/")
    has_refused_marks = re.search(r"\.\.|--|\.git\Z", name)
    if len(parts) != 2 or has_refused_marks or not all(map(NAME.fullmatch, parts)):
        raise ConfigError(f"{quoted(name)} is not a repository on the Hub. Write OWNER/NAME.")


def open_hub(write: bool = False) -> Any:
    """Return huggingface_hub's client; to `write`, a token is required."""
    import huggingface_hub  # noqa: PLC0415  a quarter of a second, and needed for the Hub only

    if write and not huggingface_hub.get_token():
        raise ConfigError(
            "Publishing needs a Hugging Face token. Set HF_TOKEN, or run `hf auth login`."
        )
    return huggingface_hub.HfApi()


def first_answer(call: Callable[[], T]) -> T:
    """Return what the first request returns, or raise a DownloadError after DEADLINE_S, as a resolver may hang."""
    try:
        answer: T = concurrent.thread(call)().result(DEADLINE_S)
    except TimeoutError:
        raise DownloadError(
            "The Hub cannot be reached (no answer). Check the network and try again."
        ) from None
    return answer


@contextmanager
def hub_errors(repository: str) -> Iterator[None]:
    """Turn failures of huggingface_hub, and a full disk, into a DownloadError of one sentence."""
    try:
        yield
    except (Nt2vrError, InterruptedError):
        raise
    # Each version of huggingface_hub has the exceptions of another HTTP library.
    except Exception as error:
        raise DownloadError(_message_of(error, repository)) from error


def _message_of(error: Exception, repository: str) -> str:
    for cause in causes(error):
        response = getattr(cause, "response", None)
        if response is not None:
            return _message_of_status(response.status_code, repository)
    if is_disk_full(error):
        return "The disk is full. Free some space and try again."
    reason = type(error).__name__
    return f"The Hub cannot be reached, or broke off ({reason}). Check the network and try again."


def _message_of_status(status: int, repository: str) -> str:
    advice = "Check its name, and that HF_TOKEN may use it."
    if status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR:
        advice = "Try again later."
    return f"The Hub answered {status} {HTTPStatus(status).phrase} for {repository}. {advice}"


@dataclass(frozen=True)
class RemoteFile:
    """A file on the Hub, or in the Hub's cache on this machine."""

    repository: str
    name: str
    size: int  # bytes
    revision: str = ""
    cached: Path | None = None


def remote_files(repository: str) -> dict[str, RemoteFile]:
    with hub_errors(repository):
        hub = open_hub()
        info = first_answer(
            lambda: hub.model_info(repository, files_metadata=True, timeout=REQUEST_S)
        )
    return {
        file.rfilename: RemoteFile(repository, file.rfilename, file.size or 0, str(info.sha))
        for file in info.siblings or ()
    }


def transfer_all(files: Iterable[RemoteFile], folder: Path, progress: Progress) -> None:
    """Download files into a folder, and remove what the client keeps there besides."""
    for file in files:
        transfer(file, folder, progress, f"downloading {file.name}")
    shutil.rmtree(folder / ".cache", ignore_errors=True)


def transfer(file: RemoteFile, folder: Path, progress: Progress, doing: str) -> None:
    """Download a file into a folder; `progress` gets its bytes."""
    import huggingface_hub as hub  # noqa: PLC0415  see `open_hub`

    if file.cached is not None:
        folder.mkdir(parents=True, exist_ok=True)
        shutil.copy(file.cached, folder / file.name)
        return

    class Bar(tqdm):  # type: ignore[misc]
        """Reports the bytes, and draws nothing."""

        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **{**options, "disable": True})

        def update(self, n: float | None = 1) -> None:
            # A disabled tqdm does not count.
            self.n += n or 0
            progress(int(self.n), file.size, doing)

    with hub_errors(file.repository):
        hub.hf_hub_download(
            file.repository,
            file.name,
            revision=file.revision,
            local_dir=folder,
            tqdm_class=Bar,
        )
