"""Failures of the Hugging Face Hub as one-sentence errors."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nt2vr.errors import DownloadError, Nt2vrError
from nt2vr.files import is_disk_full

REFUSALS = {  # by HTTP status
    401: "The Hub does not accept the token. Check HF_TOKEN, or run `hf auth login`.",
    403: "The token may not do this with {repository}. Use one with write access to it.",
    404: "The Hub has no {repository}, or the token may not read it. Check the name and HF_TOKEN.",
    429: "The Hub limits the rate of requests. Try again in a few minutes.",
}
REFUSED = "The Hub answered with error {status} for {repository}. Try again later."


@contextmanager
def hub_errors(repository: str) -> Iterator[None]:
    """Turn failures of huggingface_hub, and a full disk, into a DownloadError of one sentence."""
    try:
        yield
    except (Nt2vrError, InterruptedError):
        raise
    except Exception as error:  # each version of huggingface_hub has the exceptions of another HTTP library
        cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error  # in upload threads
        raise DownloadError(_reason(repository, cause)) from error


def _reason(repository: str, error: Any) -> str:
    from huggingface_hub import errors  # noqa: PLC0415  a quarter of a second, and needed after a failure only

    if isinstance(error, errors.OfflineModeIsEnabled):
        return "The Hub may not be used while HF_HUB_OFFLINE is set. Unset it and try again."
    if isinstance(error, errors.GatedRepoError):
        return f"{repository} is gated. Ask for access on its page, and set HF_TOKEN."
    if isinstance(error, errors.HfHubHTTPError):
        status = error.response.status_code if error.response is not None else 0
        status = 404 if isinstance(error, errors.RepositoryNotFoundError) else status
        return REFUSALS.get(status, REFUSED).format(repository=repository, status=status)
    if is_disk_full(error):
        return "The disk is full. Free some space and try again."
    if isinstance(error, PermissionError):
        return f"{error.filename} cannot be written to. Check the data folder."
    return unreachable(type(error).__name__)


def unreachable(reason: str) -> str:
    """Say that no answer came, or not all of it."""
    return f"The Hub cannot be reached, or broke off ({reason}). Check the network and try again."
