"""Access to the Hub: names, token and deadline.

`huggingface_hub` reads HF_ENDPOINT and HF_TOKEN itself; it is imported when the first command needs it.
"""

import re
from collections.abc import Callable
from typing import Any, TypeVar

from pebble import concurrent

from nt2vr.errors import ConfigError, DownloadError, quoted
from nt2vr.models.hub_errors import unreachable

T = TypeVar("T")

NAME = re.compile(r"[A-Za-z0-9_](?:[A-Za-z0-9._-]{0,94}[A-Za-z0-9_])?")  # owner or repository, by the Hub's own rules
REQUEST_S = 5.0  # for one answer
DEADLINE_S = 8.0  # for the first answer, name resolution included: the Hub counts as unreachable after that


def check_repository(name: str) -> None:
    """Refuse a name that is not OWNER/NAME."""
    parts = name.split("/")
    fits = all(NAME.fullmatch(part) and not re.search(r"\.\.|--", part) for part in parts)
    if len(parts) != 2 or not fits or name.endswith(".git"):
        raise ConfigError(f"{quoted(name)} is not a repository on the Hub. Write OWNER/NAME.")


def open_hub(write: bool = False) -> Any:
    """Return huggingface_hub's client; to `write`, a token is required."""
    import huggingface_hub  # noqa: PLC0415  a quarter of a second, and needed for the Hub only

    if write and not huggingface_hub.get_token():
        raise ConfigError("Publishing needs a Hugging Face token. Set HF_TOKEN, or run `hf auth login`.")
    return huggingface_hub.HfApi()


def first_answer(call: Callable[[], T]) -> T:
    """Return what the first request returns, or raise a DownloadError after DEADLINE_S, as a resolver may hang."""
    try:
        answer: T = concurrent.thread(call)().result(DEADLINE_S)
    except TimeoutError:
        raise DownloadError(unreachable("no answer")) from None
    return answer
