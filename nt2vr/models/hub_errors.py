"""Failures of the Hugging Face Hub as one-sentence errors."""

import errno
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from nt2vr.errors import DownloadError, HubError, Nt2vrError


@contextmanager
def hub_errors(repository: str) -> Iterator[None]:
    """Turn failures of huggingface_hub, and a full disk, into a HubError or DownloadError of one sentence."""
    try:
        yield
    except (Nt2vrError, InterruptedError):
        raise
    except Exception as error:  # each version of huggingface_hub has the exceptions of another HTTP library
        cause = error.__cause__ if isinstance(error, RuntimeError) and error.__cause__ else error  # in upload threads
        raise _translated(repository, cause) from error


def _translated(repository: str, error: BaseException) -> Nt2vrError:
    from huggingface_hub import errors  # noqa: PLC0415  a quarter of a second, and needed after a failure only

    if isinstance(error, errors.OfflineModeIsEnabled):
        return DownloadError("The Hub may not be used while HF_HUB_OFFLINE is set. Unset it and try again.")
    if isinstance(error, errors.HfHubHTTPError):
        return HubError(_refusal(repository, error))
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
        return DownloadError("The disk is full. Free some space and try again.")
    if isinstance(error, PermissionError):
        return DownloadError(f"{error.filename} cannot be written to. Check the data folder.")
    return DownloadError(unreachable(type(error).__name__))


def unreachable(reason: str) -> str:
    """Say that no answer came, or not all of it."""
    return f"The Hub cannot be reached, or broke off ({reason}). Check the network and try again."


def _refusal(repository: str, error: Any) -> str:
    """Say what an HTTP error means for this repository."""
    from huggingface_hub import errors  # noqa: PLC0415  a quarter of a second, and needed after a failure only

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
