"""Access to the Hub: names, token, deadline, and failures as one-sentence errors.

`huggingface_hub` reads HF_ENDPOINT and HF_TOKEN itself; it is imported when the first command needs it.
"""

import errno
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Any, TypeVar

from nt2vr.errors import ConfigError, DownloadError, HubError, Nt2vrError

T = TypeVar("T")

NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")  # owner or repository, by the Hub's own rules
QUOTED = 100  # characters of a value that an error quotes
REQUEST_S = 5.0  # for one answer
DEADLINE_S = 8.0  # for the first answer, name resolution included: the Hub counts as unreachable after that


def check_repository(name: str) -> None:
    """Refuse a name that is not OWNER/NAME."""
    parts = name.split("/")
    fits = all(NAME.fullmatch(part) and not re.search(r"\.\.|--", part) for part in parts)
    if len(parts) != 2 or not fits or name.endswith(".git"):
        raise ConfigError(f"{name[:QUOTED]!r} is not a repository on the Hub. Write OWNER/NAME.")


def open_hub(write: bool = False) -> Any:
    """Return huggingface_hub's client; to `write`, a token is required."""
    import huggingface_hub  # noqa: PLC0415  a quarter of a second, and needed for the Hub only

    if write and not huggingface_hub.get_token():
        raise ConfigError("Publishing needs a Hugging Face token. Set HF_TOKEN, or run `hf auth login`.")
    return huggingface_hub.HfApi()


def first_answer(call: Callable[[], T]) -> T:
    """Return what the first request to the Hub returns.

    Raises:
        DownloadError: after DEADLINE_S; no timeout of an HTTP library covers a resolver that hangs.
    """
    answers: SimpleQueue[tuple[Any, Exception | None]] = SimpleQueue()

    def ask() -> None:
        try:
            answers.put((call(), None))
        except Exception as error:  # raised again below, in the caller's thread
            answers.put((None, error))

    Thread(target=ask, daemon=True).start()
    try:
        answer, error = answers.get(timeout=DEADLINE_S)
    except Empty:
        raise DownloadError(_unreachable("no answer")) from None
    if error is not None:
        raise error
    return answer  # type: ignore[no-any-return]


@contextmanager
def hub_errors(repository: str) -> Iterator[None]:
    """Turn failures of huggingface_hub, and a full disk, into a HubError or DownloadError of one sentence."""
    try:
        yield
    except Nt2vrError:
        raise
    except Exception as error:  # each version of huggingface_hub has the exceptions of another HTTP library
        cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error  # in upload threads
        raise _translated(repository, cause) from error


def _translated(repository: str, error: BaseException) -> Nt2vrError:
    from huggingface_hub import errors  # noqa: PLC0415  see `open_hub`

    if isinstance(error, errors.OfflineModeIsEnabled):
        return DownloadError("The Hub may not be used while HF_HUB_OFFLINE is set. Unset it and try again.")
    if isinstance(error, errors.HfHubHTTPError):
        return HubError(_refusal(repository, error))
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DownloadError("The disk is full. Free some space and try again.")
    if isinstance(error, PermissionError):
        return DownloadError(f"{error.filename} cannot be written to. Check the data folder.")
    return DownloadError(_unreachable(type(error).__name__))


def _unreachable(reason: str) -> str:
    return f"The Hub cannot be reached, or broke off ({reason}). Check the network and try again."


def _refusal(repository: str, error: Any) -> str:
    """Say what an HTTP error means for this repository."""
    from huggingface_hub import errors  # noqa: PLC0415  see `open_hub`

    status = error.response.status_code if error.response is not None else 0
    if isinstance(error, errors.GatedRepoError):
        return f"{repository} is gated. Ask for access on its page, and set HF_TOKEN."
    if isinstance(error, errors.RepositoryNotFoundError) or status == 404:
        return f"The Hub has no {repository}, or the token may not read it. Check the name and HF_TOKEN."
    if status == 401:
        return "The Hub does not accept the token. Check HF_TOKEN, or run `hf auth login`."
    if status == 403:
        return f"The token may not do this with {repository}. Use one with write access to it."
    if status == 429:
        return "The Hub limits the rate of requests. Try again in a few minutes."
    return f"The Hub answered with error {status} for {repository}. Try again later."
