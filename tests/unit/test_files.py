"""Atomic writes, also of several threads."""

from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from threading import Barrier

import pytest

from nt2vr.files import atomic_folder, atomic_write, hash_file, size_text


def test_threads_writing_one_file_share_no_half_of_it(tmp_path: Path) -> None:
    both = Barrier(2, timeout=20)

    def write(text: str) -> None:
        with atomic_write(tmp_path / "a.txt") as partial:
            partial.write_text(text)
            both.wait()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, ("one", "another")))
    assert [path.name for path in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() in ("one", "another")


def test_a_file_s_hash_covers_all_its_bytes(tmp_path: Path) -> None:
    content = bytes(3_000_000) + b"end"
    (tmp_path / "video.mp4").write_bytes(content)
    assert hash_file(tmp_path / "video.mp4") == blake2b(content, digest_size=16).hexdigest()


def test_a_folder_is_written_whole_or_not_at_all(
    tmp_path: Path,
) -> None:
    with pytest.raises(OSError, match="full"), atomic_folder(tmp_path / "new" / "v1.5") as partial:
        (partial / "half").touch()
        raise OSError("full")
    assert not list((tmp_path / "new").iterdir())
    with atomic_folder(tmp_path / "new" / "v1.5") as partial:
        (partial / "file").touch()
        assert [path.name[0] for path in (tmp_path / "new").iterdir()] == ["."]
    assert [path.name for path in tmp_path.rglob("*")] == ["new", "v1.5", "file"]


@pytest.mark.parametrize(
    ("num_bytes", "text"),
    [
        (0, "0 KB"),
        (1, "1 KB"),
        (68_000, "68 KB"),
        (300_000, "0.3 MB"),
        (12e6, "12 MB"),
        (577e6, "577 MB"),
        (2.1e9, "2.1 GB"),
    ],
)
def test_the_size_of_a_file_is_never_nothing(num_bytes: float, text: str) -> None:
    assert size_text(num_bytes) == text
