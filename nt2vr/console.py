"""Standard streams that are closed, on a full disk, or a pipe that nobody reads.

No work is lost to them.
"""

import io
import os
import sys
from typing import Any

from nt2vr.errors import reason_of

CLOSED = "it is closed"

# File descriptors.
STDOUT = 1
STDERR = 2


class _LossyStream(io.RawIOBase):
    """A standard stream that, where it cannot be written, drops the text and notes why.

    No notice must end the work.

    Args:
        raw: the stream; None if it is closed.
        number: of its file, STDOUT or STDERR.
    """

    def __init__(self, raw: Any, number: int) -> None:
        self.failure = ""
        self._raw = raw
        self._number = number

    def writable(self) -> bool:
        return True

    def isatty(self) -> bool:
        return self._raw is not None and bool(self._raw.isatty())

    def fileno(self) -> int:
        return self._number

    def write(self, data: Any) -> int:
        if self._raw is None:
            self.failure = CLOSED
            return len(data)
        try:
            return int(self._raw.write(data))
        except OSError as error:
            # A command ends as soon as nobody reads its output, as in `nt2vr … | head`.
            if self._number == STDOUT and isinstance(error, BrokenPipeError):
                raise
            self.failure = error.strerror or reason_of(error)
            return len(data)


def prepare_streams() -> None:
    """Replace standard streams by some that can be written, whatever they are; see `output_failure`.

    Those that a test or a notebook has put in place are left alone.
    """
    _occupy_closed_files()
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin.reconfigure(errors="replace")
    if sys.stdout is sys.__stdout__:
        sys.stdout = _lossy_stream(sys.stdout, STDOUT, errors="replace")
    elif isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")
    if sys.stderr is sys.__stderr__:
        sys.stderr = _lossy_stream(sys.stderr, STDERR, errors="backslashreplace")


def output_failure() -> str:
    """Write what is left, and say why standard output could not be written; empty if it could."""
    sys.stdout.flush()
    raw = getattr(getattr(sys.stdout, "buffer", None), "raw", None)
    if isinstance(raw, _LossyStream):
        return raw.failure
    return ""


def drop_output() -> None:
    """Discard what is left to be written, which would fail once more at the end of the process."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())


def _lossy_stream(stream: Any, number: int, errors: str) -> io.TextIOWrapper:
    raw = None
    encoding = "utf-8"
    is_line_buffered = True
    if stream is not None:
        # With python -u, there is no buffer between the text and the file.
        raw = getattr(stream.buffer, "raw", stream.buffer)
        encoding = stream.encoding
        is_line_buffered = stream.line_buffering or stream.write_through
    buffered = io.BufferedWriter(_LossyStream(raw, number))
    return io.TextIOWrapper(buffered, encoding, errors=errors, line_buffering=is_line_buffered)


def _occupy_closed_files() -> None:
    """Open the numbers 0 to 2 where they are closed.

    Otherwise the next file that is opened, such as a database, would have the number of standard
    error, to which libraries write.
    """
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
