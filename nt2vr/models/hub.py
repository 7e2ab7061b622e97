"""Hugging Face Hub: its client, on request only; huggingface_hub reads HF_ENDPOINT and HF_TOKEN."""

import re
import shutil
from collections.abc import Callable, Iterator
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

NAME = re.compile(
    r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?"
)  # owner or repository, by the Hub's own rules
REQUEST_S = 5.0  # for one answer; open_clip itself would try for 50 s
DEADLINE_S = (
    8.0  # for the first answer, name resolution included: the Hub counts as unreachable after that
)
SPARE_BYTES = 200 << 20  # left free on the disk


def check_repository(name: str) -> None:
    parts = name.split("/")
    fits = all(NAME.fullmatch(part) and not re.search(r"\.\.|--", part) for part in parts)
    if len(parts) != 2 or not fits or name.endswith(".git"):
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
    except (
        Exception
    ) as error:  # each version of huggingface_hub has the exceptions of another HTTP library
        answers = (getattr(each, "response", None) for each in causes(error))
        if (answer := next((each for each in answers if each is not None), None)) is not None:
            status = answer.status_code
            is_passing = (
                status == HTTPStatus.TOO_MANY_REQUESTS or status >= HTTPStatus.INTERNAL_SERVER_ERROR
            )
            advice = (
                "Try again later."
                if is_passing
                else "Check its name, and that HF_TOKEN may use it."
            )
            message = (
                f"The Hub answered {status} {HTTPStatus(status).phrase} for {repository}. {advice}"
            )
        elif is_disk_full(error):
            message = "The disk is full. Free some space and try again."
        else:
            reason = type(error).__name__
            message = f"The Hub cannot be reached, or broke off ({reason}). Check the network and try again."
        raise DownloadError(message) from error


@dataclass(frozen=True)
class RemoteFile:
    """A file on the Hub, or in the Hub's cache on this machine."""

    repository: str
    name: str
    size: int  # in bytes
    revision: str = ""
    cached: Path | None = None


def remote_files(repository: str) -> dict[str, RemoteFile]:
    with hub_errors(repository):
        hub = open_hub()
        info = first_answer(
            lambda: hub.model_info(repository, files_metadata=True, timeout=REQUEST_S)
        )
    files = (
        RemoteFile(repository, each.rfilename, each.size or 0, str(info.sha))
        for each in info.siblings or ()
    )
    return {file.name: file for file in files}


def transfer(file: RemoteFile, folder: Path, progress: Progress, doing: str) -> Path:
    """Download a file into a folder; `progress` gets its bytes."""
    import huggingface_hub as hub  # noqa: PLC0415  see `open_hub`

    if file.cached is not None:
        folder.mkdir(parents=True, exist_ok=True)
        return Path(shutil.copy(file.cached, folder / file.name))

    class Bar(tqdm):  # type: ignore[misc]  # reports the bytes, and draws nothing
        def __init__(self, *arguments: Any, **options: Any) -> None:
            super().__init__(*arguments, **{**options, "disable": True})

        def update(self, n: float | None = 1) -> None:
            self.n += n or 0  # a disabled tqdm does not count
            progress(int(self.n), file.size, doing)

    asked: dict[str, Any] = {"revision": file.revision, "local_dir": folder, "tqdm_class": Bar}
    with hub_errors(file.repository):
        return Path(hub.hf_hub_download(file.repository, file.name, **asked))
