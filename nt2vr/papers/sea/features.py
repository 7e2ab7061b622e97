"""Features of videos that other code has computed, as BigFile folders: found by name, looked up by video id.

The form that W2VV++, SEA and dual encoding publish, in COLLECTION/FeatureData/NAME:

    shape.txt    "rows numbers"
    id.txt       names of the rows, between white space: of videos, or of their frames, such as video7_12
    feature.bin  the rows in float32, one after another
"""

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from nt2vr.datasets.base import such_as
from nt2vr.datasets.files import Files, expecting
from nt2vr.datasets.load import kind_and_path
from nt2vr.datasets.video_inputs import Vector, VideoInput
from nt2vr.errors import DatasetError, quoted
from nt2vr.files import AnyPath
from nt2vr.models.encoder import Vectors

SHAPE = "shape.txt"
IDS = "id.txt"
ROWS = "feature.bin"
FORM = f"features as W2VV++ publishes them: {SHAPE}, {IDS} and {ROWS}, which fit each other"
FLOAT_BYTES = 4


@dataclass(frozen=True, eq=False)
class BigFile:
    """Rows of numbers in a file, (N, W) and memory-mapped, and their N names."""

    names: list[str]
    rows: Vectors

    @classmethod
    def open(cls, folder: Path) -> "BigFile":
        """Open a folder without reading its rows; an OSError or ValueError says what is wrong with it."""
        num_rows, width = _read_shape(folder / SHAPE)
        ids = (folder / IDS).read_text(encoding="utf-8", errors="replace")
        names = ids.split()
        if len(names) != num_rows:
            raise ValueError(f"{IDS} has {len(names)} names for {num_rows} rows")

        num_bytes = (folder / ROWS).stat().st_size
        expected_bytes = num_rows * width * FLOAT_BYTES
        if num_bytes != expected_bytes:
            raise ValueError(
                f"{ROWS} has {num_bytes} bytes, {num_rows} rows of {width} numbers take {expected_bytes}"
            )
        rows = np.memmap(folder / ROWS, np.float32, "r", shape=(num_rows, width))
        return cls(names, rows)


def _read_shape(path: Path) -> tuple[int, int]:
    words = path.read_text(encoding="utf-8").split()
    numbers = [int(word) for word in words if word.isdecimal()]
    if len(words) != 2 or len(numbers) != 2 or 0 in numbers:
        raise ValueError(f"{SHAPE} must hold two numbers above 0, not {quoted(' '.join(words))}")
    num_rows, width = numbers
    return num_rows, width


class Features(VideoInput):
    """The features of a dataset's videos, in a BigFile folder."""

    def __init__(self, data: AnyPath, name: str) -> None:
        """Find the folder in or below that of the dataset."""
        self._folder = find_features(data, name)

    @cached_property
    def _file(self) -> BigFile:
        with expecting(self._folder, FORM):
            return BigFile.open(self._folder)

    @property
    def width(self) -> int:
        return int(self._file.rows.shape[1])

    def read(self, video_ids: Collection[str]) -> dict[str, Vector]:
        """Read the row of each video's id, or the mean of the rows of its frames, ID_NUMBER."""
        file = self._file
        of_video = {}
        for video_id, rows in rows_by_video(file.names, set(video_ids)).items():
            with expecting(self._folder, FORM):
                of_video[video_id] = _mean(file, video_id, rows)
        if not of_video:
            examples = such_as(list(video_ids))
            raise DatasetError(
                f"{self._folder} has no features of the {len(video_ids)} videos ({examples}), but of "
                f"{such_as(file.names)}. Name those of this dataset."
            )
        return of_video


def rows_by_video(names: Sequence[str], video_ids: Collection[str]) -> dict[str, list[int]]:
    """Return the rows of each video: the one that has its id, otherwise those of its frames.

    Of rows with equal names the last one counts, as in SEA's code.
    """
    rows = {}
    frame_rows: dict[str, dict[str, int]] = defaultdict(dict)
    for row, name in enumerate(names):
        video_id, _, number = name.rpartition("_")
        if name in video_ids:
            rows[name] = [row]
        elif number.isdecimal() and video_id in video_ids:
            frame_rows[video_id][name] = row
    for video_id, row_of_frame in frame_rows.items():
        rows.setdefault(video_id, list(row_of_frame.values()))
    return rows


def _mean(file: BigFile, video_id: str, rows: Sequence[int]) -> Vector:
    with np.errstate(over="ignore", invalid="ignore"):
        mean = file.rows[rows].mean(axis=0, dtype=np.float64)
        vector = np.asarray(mean, np.float32)
        if not np.isfinite(np.linalg.norm(vector)):
            raise ValueError(f"the numbers of {quoted(video_id)} are too large or not finite")
    return vector


def find_features(data: AnyPath, name: str) -> Path:
    """Return the BigFile folder of this name in or below the folder of a dataset, named as for `load_dataset`."""
    _, path = kind_and_path(data)
    folder = path.parent if path.is_file() else path
    files = Files(folder)
    folders_by_name: dict[str, list[Path]] = defaultdict(list)
    for file in files.named(ROWS):
        folders_by_name[file.parent.name].append(file.parent)
    if name not in folders_by_name:
        existing = such_as(sorted(folders_by_name)) or "none"
        raise DatasetError(
            f"{files.folder} has no features {quoted(name)}; those there: {existing}. "
            f"Put a folder of that name with {SHAPE}, {IDS} and {ROWS} in it or below."
        )

    # Files are listed shallowest first.
    folders = folders_by_name[name]
    depth = len(folders[0].parts)
    shallowest = [folder for folder in folders if len(folder.parts) == depth]
    if len(shallowest) > 1:
        places = ", ".join(map(files.relative, shallowest))
        raise DatasetError(
            f"{files.folder} has features {quoted(name)} of several collections ({places}). "
            "Name the folder of one."
        )
    return folders[0]
