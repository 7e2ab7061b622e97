"""Decoders of tests take over the child processes of closed ones, as a new child takes .3 s of the processor."""

import os
from dataclasses import dataclass
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from pebble import ProcessPool

from nt2vr.media.decode import Decoder

# Pools without a task that are kept at a time.
MOST = 2


@dataclass(frozen=True)
class Kept:
    """An idle pool, its folder of temporary files, and what a decoder must share to take it."""

    pool: ProcessPool
    folder: "TemporaryDirectory[str]"
    num_workers: int
    cwd: str


class KeptChildren:
    """Patches `Decoder` so that closing one keeps its children, if none of them has anything to do.

    Children know the folder in which they were started, so only a decoder in the same folder takes
    them over. `is_on` is turned off for tests of how children start and end.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.is_on = True
        self._kept: list[Kept] = []
        self._start = Decoder._running_pool
        self._stop = Decoder._stop_pool
        monkeypatch.setattr(Decoder, "_running_pool", lambda decoder: self.start(decoder))
        monkeypatch.setattr(Decoder, "_stop_pool", lambda decoder: self.stop(decoder))

    def start(self, decoder: Any) -> ProcessPool:
        """Return a decoder's pool, or let it take over a kept one, or start one."""
        if self.is_on and decoder._pool is None:
            for children in self._kept:
                fits = (children.num_workers, children.cwd) == (decoder.num_workers, os.getcwd())
                if fits and children.pool.active:
                    self._kept.remove(children)
                    decoder._pool = children.pool
                    decoder._folder = children.folder
                    break
        return self._start(decoder)

    def stop(self, decoder: Any) -> None:
        """Keep a decoder's pool if it is idle, otherwise end it."""
        pool = decoder._pool
        is_idle = pool is not None and pool.active and not decoder._pending
        if not self.is_on or not is_idle or len(self._kept) == MOST:
            self._stop(decoder)
            return

        self._kept.append(Kept(pool, decoder._folder, decoder.num_workers, os.getcwd()))
        decoder._pool = None

    def close(self) -> None:
        """End all children."""
        for children in self._kept:
            children.pool.stop()  # type: ignore[no-untyped-call]
            children.pool.join()
            children.folder.cleanup()
        self._kept.clear()
