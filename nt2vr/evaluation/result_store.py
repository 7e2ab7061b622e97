"""On-disk cache of per-query results, keyed by every input."""

import json
import logging
import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from nt2vr.evaluation.measures import Measured
from nt2vr.files import atomic_write

logger = logging.getLogger(__name__)

PROTOCOL = 2  # cache version: raise it when measurements change
MAX_RESULTS = 2000  # 26 kB each on the gallery, 150 kB on the built-in world; a strength can be any number


@cache
def _warn(folder: Path, reason: str | None) -> None:
    logger.warning("Results cannot be stored in %s (%s). They will be measured again.", folder, reason)


class ResultStore:
    """Stores one file per result, written atomically, and at most `MAX_RESULTS` of them."""

    def __init__(self, folder: Path) -> None:
        """Use a folder, which is created on first use."""
        self._folder = folder

    def get(self, digest: str, spec: Mapping[str, Any]) -> Measured | None:
        """Return the result of a system on the benchmark with this digest, or None."""
        path = self._path(digest, spec)
        try:
            with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                measured = Measured(**{name: arrays[name] for name in Measured.__dataclass_fields__})
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
            return None
        with suppress(OSError):  # in a folder that cannot be written to, nothing is deleted either
            os.utime(path)
        return measured

    def put(self, digest: str, spec: Mapping[str, Any], measured: Measured) -> None:
        """Store a result; a full disk or a read-only folder only costs measuring it again."""
        path = self._path(digest, spec)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as partial:
                np.savez_compressed(partial, **vars(measured))
        except OSError as error:
            _warn(self._folder, error.strerror)
        self._make_room()

    def _make_room(self) -> None:
        """Delete the results used least recently."""
        with suppress(OSError):  # another process does so at the same time
            stored = sorted(self._folder.glob("[!.]*.npz"), key=lambda path: path.stat().st_mtime_ns)
            for path in stored[:-MAX_RESULTS]:
                path.unlink(missing_ok=True)

    def _path(self, digest: str, spec: Mapping[str, Any]) -> Path:
        """Return the file of a result; models are identified by their weights, not by their names."""
        known = {name: value for name, value in spec.items() if name not in ("model", "base")}
        key = blake2b(json.dumps([PROTOCOL, digest, known], sort_keys=True).encode(), digest_size=12).hexdigest()
        return self._folder / f"{key}.npz"
