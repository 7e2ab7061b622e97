"""The file of embeddings: damage, full disks, compaction; readers keep what they opened. Kills: `test_rows`."""

import logging
import os
import subprocess
import threading
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from nt2vr.media.rows import Rows
from tests.support.disks import mounted

SHAPE = (4, 8)
ROW_BYTES = 4 * 8 * 4


def rows(*numbers: int) -> NDArray[np.float32]:
    """Return a row of equal values per number: (N, 4, 8). They are one higher, as unwritten bytes are zeros."""
    return np.stack([np.full(SHAPE, number + 1, np.float32) for number in numbers])


def keys(*numbers: int) -> list[str]:
    return [f"clip {number}" for number in numbers]


def opened(folder: Path) -> Rows[np.float32]:
    return Rows(folder, np.float32, SHAPE)


def write(folder: Path, *numbers: int) -> Rows[np.float32]:
    file = opened(folder)
    file.append(keys(*numbers), rows(*numbers))
    return file


def content(folder: Path, *numbers: int) -> list[float | None]:
    """Return the numbers of the rows that the file has for these clips, and None for a clip that it lacks."""
    file = opened(folder)
    frames = file.rows()
    numbers_read: list[float | None] = []
    for row in file.find(keys(*numbers)):
        if row < 0:
            numbers_read.append(None)
            continue
        (value,) = np.unique(frames[row])
        numbers_read.append(value - 1)
    return numbers_read


def rows_file(folder: Path) -> Path:
    (path,) = folder.glob("rows-*")
    return path


def test_rows_are_found_by_key_and_stored_once(tmp_path: Path) -> None:
    file = write(tmp_path, 3, 1)
    file.append(keys(1, 2, 2), rows(1, 2, 2))
    assert len(file) == 3
    assert content(tmp_path, 1, 2, 3, 4) == [1, 2, 3, None]


def test_a_reader_keeps_its_rows_while_others_append_and_compact(tmp_path: Path) -> None:
    reader = write(tmp_path, *range(10))
    frames = reader.rows()
    writer = write(tmp_path, 10, 11)
    writer.retain(keys(0, 11))
    writer.append(keys(12), rows(12))
    assert content(tmp_path, 0, 5, 10, 11, 12) == [0, None, None, 11, 12]
    assert frames[:, 0, 0].tolist() == list(range(1, 11))
    assert not frames.flags.writeable
    # It finds the compacted file.
    reader.append(keys(13), rows(13))
    assert content(tmp_path, 0, 11, 12, 13) == [0, 11, 12, 13]
    # The old one is gone.
    assert len(list(tmp_path.glob("rows-*"))) == 1


def test_rows_are_there_at_every_moment_of_a_compaction(tmp_path: Path) -> None:
    write(tmp_path, *range(10))
    ended = threading.Event()

    def compact() -> None:
        while not ended.is_set():
            write(tmp_path, *range(100, 110)).retain(keys(*range(10)))

    thread = threading.Thread(target=compact)
    thread.start()
    try:
        for _ in range(50):
            file = opened(tmp_path)
            stored_rows = file.find(keys(*range(10)))
            assert file.rows()[stored_rows, 0, 0].tolist() == list(range(1, 11))
    finally:
        ended.set()
        thread.join()


@pytest.mark.parametrize("name", ["rows", "keys"])
@pytest.mark.parametrize("remaining_share", [0.0, 0.1, 0.5, 0.95])
def test_a_file_cut_off_is_never_wrong_and_written_again(
    tmp_path: Path, name: str, remaining_share: float
) -> None:
    write(tmp_path, *range(20))
    file = rows_file(tmp_path) if name == "rows" else tmp_path / "keys"
    os.truncate(file, int(file.stat().st_size * remaining_share))
    for number, stored in enumerate(content(tmp_path, *range(20))):
        assert stored in (number, None)
    write(tmp_path, *range(20))
    assert content(tmp_path, *range(20)) == list(range(20))


def test_a_full_disk_is_an_error_and_leaves_the_rows(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with mounted(disk, "size=100k"):
        file = opened(disk)
        count = 0
        with pytest.raises(OSError, match="No space left"):
            for count in range(0, 10_000, 100):
                hundred = range(count, count + 100)
                file.append(keys(*hundred), rows(*hundred))
        # Each hundred takes 12.8 kB, besides its keys.
        assert count >= 300
        assert content(disk, *range(count)) == list(range(count))
        assert rows_file(disk).stat().st_size == count * ROW_BYTES


def test_a_read_only_folder_can_only_be_read(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    with mounted(disk, "size=1m"):
        write(disk / "tower", 0, 1)
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for folder in (disk / "tower", disk / "other"):
            with pytest.raises(OSError, match="Read-only"):
                opened(folder).append(keys(2), rows(2))
        assert content(disk / "tower", 0, 1, 2) == [0, 1, None]
    assert not [record for record in caplog.records if record.levelno >= logging.WARNING]
