"""Features of videos that other code has computed, as BigFile folders: found by name, looked up by video id.

The form that W2VV++, SEA and dual encoding publish, in COLLECTION/FeatureData/NAME:

    shape.txt    "rows numbers"
    id.txt       names of the rows, between white space: of videos, or of their frames, such as video7_12
    feature.bin  the rows in float32, one after another
"""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.datasets.base import such_as
from nt2vr.datasets.files import Files, expecting
from nt2vr.datasets.load import kind_and_path
from nt2vr.errors import DatasetError, quoted

SHAPE, IDS, ROWS = "shape.txt", "id.txt", "feature.bin"
FORM = f"features as W2VV++ publishes them: {SHAPE}, {IDS} and {ROWS}, which fit each other"
FLOAT = 4  # bytes


@dataclass(frozen=True, eq=False)
class BigFile:
    """Rows of numbers in a file, (N, W) and memory-mapped, and their N names."""

    names: list[str]
    rows: NDArray[np.float32]

    @classmethod
    def open(cls, folder: Path) -> "BigFile":
        """Open a folder without reading its rows; an OSError or ValueError says what is wrong with it."""
        shape = (folder / SHAPE).read_text(encoding="utf-8").split()
        if len(shape) != 2 or not all(number.isdecimal() and int(number) for number in shape):
            raise ValueError(
                f"{SHAPE} must hold two numbers above 0, not {quoted(' '.join(shape))}"
            )
        count, size = map(int, shape)
        names = (folder / IDS).read_text(encoding="utf-8", errors="replace").split()
        if len(names) != count:
            raise ValueError(f"{IDS} has {len(names)} names for {count} rows")
        if (there := (folder / ROWS).stat().st_size) != count * size * FLOAT:
            raise ValueError(
                f"{ROWS} has {there} bytes, {count} rows of {size} numbers take {count * size * FLOAT}"
            )
        return cls(names, np.memmap(folder / ROWS, np.float32, "r", shape=(count, size)))


@dataclass(frozen=True, eq=False)
class Features:
    """The features of a dataset's videos under one name: `size` numbers by video id, for videos that have any."""

    name: str
    size: int
    of_video: Mapping[str, NDArray[np.float32]]

    @property
    def digest(self) -> str:
        digest = blake2b(self.name.encode(), digest_size=12)
        for video_id, row in sorted(self.of_video.items()):
            digest.update(video_id.encode() + row.tobytes())
        return digest.hexdigest()


def find_features(data: str | Path, name: str) -> Path:
    """Return the BigFile folder of this name in or below the folder of a dataset, named as for `load_dataset`."""
    path = kind_and_path(data)[1]
    files = Files(path.parent if path.is_file() else path)
    folders = [file.parent for file in files.named(ROWS)]
    named = [folder for folder in folders if folder.name == name]
    shallowest = [folder for folder in named if len(folder.parts) == len(named[0].parts)]
    if len(shallowest) == 1:
        return shallowest[0]
    if shallowest:
        places = ", ".join(files.relative(folder) for folder in shallowest)
        raise DatasetError(
            f"{files.folder} has features {quoted(name)} of several collections ({places}). Name the folder of one."
        )
    there = such_as(sorted({folder.name for folder in folders})) or "none"
    advice = f"Put a folder of that name with {SHAPE}, {IDS} and {ROWS} in it or below."
    raise DatasetError(
        f"{files.folder} has no features {quoted(name)}; those there: {there}. {advice}"
    )


def features_size(data: str | Path, name: str) -> int:
    """Return how many numbers a feature of this name has, without reading any; errors as of `read_features`."""
    with expecting(folder := find_features(data, name), FORM):
        return int(BigFile.open(folder).rows.shape[1])


def read_features(data: str | Path, name: str, video_ids: Collection[str]) -> Features:
    """Read the features of videos: the row of its id, or the mean of the rows of its frames, ID_NUMBER."""
    folder, ids, of_video = (
        find_features(data, name),
        set(video_ids),
        dict[str, NDArray[np.float32]](),
    )
    with expecting(folder, FORM), np.errstate(over="ignore", invalid="ignore"):
        file = BigFile.open(folder)
        of_frames, own = dict[str, dict[str, int]](), dict[str, list[int]]()
        for place, row in enumerate(
            file.names
        ):  # of equal names the last one counts, as in SEA's code
            video_id, _, number = row.rpartition("_")
            if row in ids:
                own[row] = [place]
            elif number.isdecimal() and video_id in ids:
                of_frames.setdefault(video_id, {})[row] = place
        for video_id, places in (
            {each: [*some.values()] for each, some in of_frames.items()} | own
        ).items():
            of_video[video_id] = file.rows[places].mean(axis=0, dtype=np.float64).astype(np.float32)
            if not np.isfinite(np.linalg.norm(of_video[video_id])):
                raise ValueError(f"the numbers of {quoted(video_id)} are too large or not finite")
    if not of_video:
        known, others = (
            such_as(list(video_ids)),
            f"but of {such_as(file.names)}. Name those of this dataset.",
        )
        raise DatasetError(
            f"{folder} has no features of the {len(video_ids)} videos ({known}), {others}"
        )
    return Features(name, file.rows.shape[1], of_video)
