"""Results on disk, by all that they depend on, so that nobody measures anything twice."""

import json
from collections.abc import Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from nt2vr.evaluation.measures import Measured
from nt2vr.files import atomic_write

PROTOCOL = 1  # raise it when anything is measured differently: what was kept before is not found any more


class ResultStore:
    """One file a result, in one folder; each is there whole or not at all."""

    def __init__(self, folder: Path) -> None:
        """Name the folder; it is made when first needed."""
        self._folder = folder

    def get(self, digest: str, spec: Mapping[str, Any]) -> Measured | None:
        """Return what was measured with a benchmark of this digest by a system like this one, if it is kept."""
        try:
            with self._path(digest, spec).open("rb") as file, np.load(file, allow_pickle=False) as arrays:
                return Measured(**arrays)
        except (OSError, ValueError, KeyError, TypeError, EOFError, BadZipFile):
            return None

    def put(self, digest: str, spec: Mapping[str, Any], measured: Measured) -> None:
        """Keep a result."""
        path = self._path(digest, spec)
        path.parent.mkdir(parents=True, exist_ok=True)
        with atomic_write(path) as partial:
            np.savez_compressed(partial, **vars(measured))

    def _path(self, digest: str, spec: Mapping[str, Any]) -> Path:
        """Name the file; what a model is called decides nothing, its weights do."""
        known = {name: value for name, value in spec.items() if name not in ("model", "base")}
        key = blake2b(json.dumps([PROTOCOL, digest, known], sort_keys=True).encode(), digest_size=12).hexdigest()
        return self._folder / f"{key}.npz"
