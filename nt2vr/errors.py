"""Errors that users can cause; each message is one clear sentence for the page, never a traceback."""

import logging
import unicodedata
from collections.abc import Iterable
from difflib import get_close_matches
from functools import cache

# Similarity of two names, from 0 to 1: "serch" is close to "search", "CLAP" not to "CLIP".
CLOSE = 0.8
# Characters of outside text in a message.
MAX_QUOTED = 100
# Characters of a third-party error in a message.
MAX_REASON = 200
# Words in errors of libraries that help nobody.
INTERNAL = (
    "miniz",
    "PytorchStreamReader",
    "PyTorch",
    "torch.",
    "enforce fail",
    "loading state_dict",
    "Traceback",
)
DAMAGED = "it is damaged or incomplete"


class Nt2vrError(Exception):
    """Base class; the message says what went wrong, with the value, then what to do."""

    def __str__(self) -> str:
        """Return the message, in which names of files are `printable`."""
        return printable(super().__str__())


class ConfigError(Nt2vrError):
    """An invalid value: a name, a number, a setting."""


class QueryError(Nt2vrError):
    """A query that cannot be searched."""


class MediaError(Nt2vrError):
    """An unreadable video or picture."""


class GalleryError(Nt2vrError):
    """An invalid gallery or manifest."""


class NotIndexedError(Nt2vrError):
    """A gallery that one of some models with a common `tower` must index first.

    A page can offer that.
    """

    def __init__(self, message: str, *models: str, tower: str = "") -> None:
        super().__init__(message)
        self.models = models
        self.tower = tower


class DatasetError(Nt2vrError):
    """An invalid dataset of captioned videos."""


class CheckpointError(Nt2vrError):
    """A checkpoint folder that cannot be loaded."""


class RunError(Nt2vrError):
    """A training run that cannot be started, stopped or deleted now."""


class DeviceInUseError(RunError):
    """A start on a device on which another run is training."""


class DivergedError(RunError):
    """A training whose loss, gradients or weights are not finite any more."""


class DownloadError(Nt2vrError):
    """A failed download, or another request to the Hugging Face Hub."""


class AccessError(Nt2vrError):
    """An action that this visitor may not take."""


class BusyError(Nt2vrError):
    """A request beyond those that are answered at a time."""


def counted(count: int, one: str, many: str = "") -> str:
    """Write a number with its noun: "1 query", "1,200 queries".

    The plural takes an s unless `many` says otherwise.
    """
    if count == 1:
        return f"1 {one}"
    return f"{count:,} {many or one + 's'}"


def listed(*names: str, joint: str = "and") -> str:
    """List names in a sentence: "a, b and c"."""
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} {joint} {names[-1]}"


def quoted(value: object) -> str:
    """Quote outside text, or another value, within a sentence.

    It is printable, and has at most MAX_QUOTED characters.
    """
    text = value if isinstance(value, str) else repr(value)
    if len(text) > MAX_QUOTED:
        text = text[: MAX_QUOTED - 1] + "…"
    if isinstance(value, str):
        return repr(text)
    return text


def causes(error: BaseException | None) -> list[BaseException]:
    """List an error, the one that it was raised from or while handling, and so on."""
    chain = []
    while error is not None:
        chain.append(error)
        error = error.__cause__ or error.__context__
    return chain


def reason_of(error: Exception) -> str:
    """Describe a third-party error within a sentence: its first line, or its type."""
    text = str(error).strip()
    if any(word in text for word in INTERNAL):
        return DAMAGED
    if text:
        return text.splitlines()[0][:MAX_REASON]
    return type(error).__name__


@cache
def warn_once(sentence: str) -> None:
    """Log what is wrong with a thing that is listed again and again."""
    logging.getLogger("nt2vr").warning("%s", sentence)


def printable(text: str) -> str:
    """Escape what would move the cursor, turn the line round or break it, such as in names of files."""
    if text.isprintable():
        return text
    return "".join(
        character.encode("unicode_escape").decode() if _is_control(character) else character
        for character in text
    )


def _is_control(character: str) -> bool:
    # The latter two shape letters and emoji.
    if character in ("\t", "\u200c", "\u200d"):
        return False
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


class LineFormatter(logging.Formatter):
    """Writes a message on one line, `printable` even where names of files are not.

    Only a traceback follows on further lines.
    """

    def formatMessage(self, record: logging.LogRecord) -> str:
        record.message = printable(record.message)
        return super().formatMessage(record)


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """Suggest the closest name, ignoring case, in a sentence that follows another; "" for none."""
    by_key = {candidate.casefold(): candidate for candidate in names}
    close_keys = get_close_matches(name.casefold(), by_key, n=1, cutoff=CLOSE)
    if not close_keys:
        return ""
    return f" Did you mean {by_key[close_keys[0]]!r}?"
