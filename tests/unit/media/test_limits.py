"""What is evicted, what a damaged cache file does, and that the documentation states the limits."""

import json
import os
import time
from pathlib import Path

import pytest

from nt2vr.media.limits import Limit, evict
from nt2vr.media.store import read_cached

DAY_S = 24 * 3600


@pytest.fixture
def paths(tmp_path: Path) -> list[Path]:
    """Five files and folders of 100 bytes; number n was used n days ago."""
    names = []
    for number in range(5):
        path = tmp_path / str(number)
        if number % 2:
            path.mkdir()
        (path / "a" if number % 2 else path).write_bytes(bytes(100))
        os.utime(path, (time.time() - number * DAY_S - 60,) * 2)
        names.append(path)
    return names


@pytest.mark.parametrize(
    ("limit", "remaining"),
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
def test_what_was_used_least_recently_goes_until_the_rest_fits(
    paths: list[Path], limit: Limit, remaining: str
) -> None:
    assert evict(paths, limit) == []
    assert "".join(path.name for path in paths if path.exists()) == remaining


def test_only_damaged_cache_files_are_deleted(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    assert read_cached(path, lambda path: json.loads(path.read_bytes())) is None
    path.write_text("[1]")
    assert read_cached(path, lambda path: json.loads(path.read_bytes())) == [1]
    path.write_text("[1")
    assert read_cached(path, lambda path: json.loads(path.read_bytes())) is None
    assert not path.exists()
    path.mkdir()
    assert read_cached(path, lambda path: json.loads(path.read_bytes())) is None
    assert path.exists()
