"""What is evicted, what a damaged cache file does, and that the documentation states the limits."""

import json
import os
import time
from pathlib import Path

import pytest

from nt2vr.media.store import Limit, bytes_in, evict, mark_used, read_cached

DAY_S = 24 * 3600


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Five files and folders of 100 bytes; number n was used n days ago."""
    found = []
    for number in range(5):
        path = tmp_path / str(number)
        if number % 2:
            path.mkdir()
        (path / "a" if number % 2 else path).write_bytes(bytes(100))
        os.utime(path, (time.time() - number * DAY_S - 60,) * 2)
        found.append(path)
    return found


@pytest.mark.parametrize(
    ("limit", "kept"),
    [
        (Limit(), "01234"),
        (Limit(count=2), "01"),
        (Limit(num_bytes=350), "012"),
        (Limit(days=3), "012"),
        (Limit(count=4, num_bytes=450, days=1.5), "01"),
        (Limit(count=0), ""),
        (Limit(num_bytes=-1), ""),
    ],
)
def test_what_was_used_least_recently_goes_until_the_rest_fits(paths: list[Path], limit: Limit, kept: str) -> None:
    assert evict(paths, limit) == []
    assert "".join(path.name for path in paths if path.exists()) == kept


def test_use_counts_and_what_is_gone_does_not(paths: list[Path]) -> None:
    mark_used(paths[4])
    paths[0].unlink()
    assert evict(paths, Limit(count=2)) == []
    assert [path.name for path in paths if path.exists()] == ["1", "4"]
    assert bytes_in(paths[4]) == bytes_in(paths[1]) == 100 and bytes_in(paths[0]) == 0


def test_a_link_to_a_folder_is_deleted_and_the_folder_stays(paths: list[Path], tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(paths[1])
    evict([tmp_path / "link"], Limit(count=0))
    assert (paths[1] / "a").exists() and not (tmp_path / "link").is_symlink()


def test_a_damaged_cache_file_is_deleted_and_one_that_cannot_be_read_is_not(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert read_cached(path, lambda path: json.loads(path.read_bytes())) is None
    path.write_text("[1]")
    assert read_cached(path, lambda path: json.loads(path.read_bytes())) == [1]
    path.write_text("[1")
    assert read_cached(path, lambda path: json.loads(path.read_bytes())) is None and not path.exists()
    path.mkdir()
    assert read_cached(path, lambda path: json.loads(path.read_bytes())) is None and path.exists()
