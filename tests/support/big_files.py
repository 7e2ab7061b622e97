"""BigFile folders for tests."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np


def write_big_file(folder: Path, rows: Mapping[str, Sequence[float]]) -> Path:
    """Write rows by name, as W2VV++'s tools do."""
    folder.mkdir(parents=True)
    numbers = np.array(list(rows.values()), np.float32)
    numbers.tofile(folder / "feature.bin")
    (folder / "id.txt").write_text(" ".join(rows), encoding="utf-8")
    (folder / "shape.txt").write_text(f"{len(numbers)} {numbers.shape[1]}\n", encoding="utf-8")
    return folder
