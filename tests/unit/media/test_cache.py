"""The cache: hashes of contents, on any disk."""

import os
from pathlib import Path

import pytest

from nt2vr.errors import MediaError, warn_once
from nt2vr.media.store import Cache
from tests.support.disks import mounted


def test_the_hash_is_of_the_content_and_follows_changes(tmp_path: Path) -> None:
    first = tmp_path / "a.mp4"
    second = tmp_path / "b.mp4"
    first.write_bytes(b"one")
    second.write_bytes(b"one")
    with Cache(tmp_path / "cache") as cache:
        assert cache.content_hash(first) == cache.content_hash(second) == cache.content_hash(first)
        first.write_bytes(b"two")
        os.utime(first, ns=(1, 1))
        assert cache.content_hash(first) != cache.content_hash(second)


def test_missing_files_and_pipes_are_refused_by_name(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.mp4")
    with Cache(tmp_path / "cache") as cache:
        for name in ("gone.mp4", "pipe.mp4"):
            with pytest.raises(MediaError, match=f"^{name}"):
                cache.content_hash(tmp_path / name)


@pytest.fixture
def warnings(caplog: pytest.LogCaptureFixture) -> pytest.LogCaptureFixture:
    """Warn as a process does for the first time."""
    warn_once.cache_clear()
    return caplog


def is_cached(cache: Cache, path: Path) -> bool:
    """Whether a file's hash is found without reading the file."""
    content = path.read_bytes()
    stat = path.stat()
    before = cache.content_hash(path)
    path.write_bytes(content[::-1])
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    after = cache.content_hash(path)
    path.write_bytes(content)
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    return before == after


@pytest.fixture
def clip(tmp_path: Path) -> Path:
    (tmp_path / "clip.mp4").write_bytes(b"one")
    return tmp_path / "clip.mp4"


def test_a_damaged_database_is_made_again(
    tmp_path: Path, clip: Path, warnings: pytest.LogCaptureFixture
) -> None:
    for _ in range(2):
        with Cache(tmp_path / "cache") as cache:
            assert is_cached(cache, clip)
        (tmp_path / "cache" / "hashes" / "cache.db").write_bytes(b"not a database" * 100)
    with Cache(tmp_path / "cache") as cache:
        assert is_cached(cache, clip)
    assert len(warnings.records) == 1


def test_a_folder_that_cannot_be_used_costs_only_time(
    tmp_path: Path, clip: Path, warnings: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "hashes").write_text("a file")
    with Cache(tmp_path) as cache:
        assert cache.content_hash(clip)
        assert not is_cached(cache, clip)
    assert len(warnings.records) == 1


@pytest.mark.parametrize("options", ["size=200k", "size=2m,ro"])
def test_a_full_or_read_only_disk_costs_only_time(
    tmp_path: Path, clip: Path, warnings: pytest.LogCaptureFixture, options: str
) -> None:
    (tmp_path / "disk").mkdir()
    with mounted(tmp_path / "disk", options), Cache(tmp_path / "disk") as cache:
        for number in range(400):
            cache._call("set", str(number), "a" * 1000)
            assert cache._call("get", str(number)) in (None, "a" * 1000)
        assert cache.content_hash(clip)
    assert len(warnings.records) == 1


def test_a_pickle_in_the_database_is_not_loaded(tmp_path: Path) -> None:
    with Cache(tmp_path) as cache:
        cache._call("set", "a", {"a": "pickle"})  # type: ignore[arg-type]
        assert cache._call("get", "a") is None
