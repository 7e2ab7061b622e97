"""On-disk cache of per-query results, keyed by every input."""

import json
import logging
from collections.abc import Mapping
from functools import cache
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from nt2vr.evaluation.measures import Measured
from nt2vr.files import atomic_write
from nt2vr.media.stored import LIMITS, evict, mark_used, read_cached

logger = logging.getLogger(__name__)

PROTOCOL = 5  # cache version: raise it when measurements change


@cache
def _warn(folder: Path, reason: str | None) -> None:
    logger.warning("Results cannot be stored in %s (%s). They will be measured again.", folder, reason)


class ResultStore:
    """Stores one file per result, written atomically, and at most `LIMITS["results"]` of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def get(self, digest: str, spec: Mapping[str, Any]) -> Measured | None:
        """Return the result of a system on the benchmark with this digest, or None."""
        path = self._path(digest, spec)
        mark_used(path)
        return read_cached(path, _read)

    def put(self, digest: str, spec: Mapping[str, Any], measured: Measured) -> None:
        """Store a result; a full disk or a read-only folder only costs measuring it again."""
        path = self._path(digest, spec)
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_write(path) as partial:
                np.savez_compressed(partial, **vars(measured))
        except OSError as error:
            _warn(self._folder, error.strerror)
        evict(self._folder.glob("[!.]*.npz"), LIMITS["results"])

    def _path(self, digest: str, spec: Mapping[str, Any]) -> Path:
        """Return the file of a result; models are identified by their weights, not by their names."""
        known = {name: value for name, value in spec.items() if name not in ("model", "base")}
        key = blake2b(json.dumps([PROTOCOL, digest, known], sort_keys=True).encode(), digest_size=12).hexdigest()
        return self._folder / f"{key}.npz"


def _read(path: Path) -> Measured:
    with path.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        return Measured(**{name: arrays[name] for name in Measured.__dataclass_fields__})
