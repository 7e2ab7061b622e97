"""What preparing has worked out is read again, as far as it came, and equals what would be computed."""

import random
from pathlib import Path
from typing import get_args

import pytest
from pydantic import TypeAdapter

from nt2vr.negation.generate.denial import DenialKind
from nt2vr.negation.generate.denials import CaptionDenials
from trainer.data import caption_clips
from trainer.data.caption_clips import denials_of, world_captions
from trainer.data.remembered import remembered

NUMBER = TypeAdapter(int)


class Work:
    """Squares numbers, and is killed at one."""

    def __init__(self, killed_at: int = -1) -> None:
        self.done: list[int] = []
        self._killed_at = killed_at

    def __call__(self, number: int) -> int:
        if number == self._killed_at:
            raise KeyboardInterrupt
        self.done.append(number)
        return number * number


def squares(folder: Path | None, work: Work, key: str = "squares") -> list[int]:
    return list(remembered(folder, key, range(6), work, NUMBER))


def test_work_that_is_killed_goes_on_where_it_was(tmp_path: Path) -> None:
    with pytest.raises(KeyboardInterrupt):
        squares(tmp_path, Work(killed_at=4))
    rest = Work()
    second_work = Work()
    assert squares(tmp_path, rest) == squares(tmp_path, second_work) == [0, 1, 4, 9, 16, 25]
    assert (rest.done, second_work.done) == ([4, 5], [])
    other_work = Work()
    squares(tmp_path, other_work, "other data")
    assert other_work.done == [*range(6)]


@pytest.mark.parametrize("damage", [b"16", b"16\n[", b"no number\n", b"\xff\n"])
def test_damaged_lines_are_worked_out_again(tmp_path: Path, damage: bytes) -> None:
    squares(tmp_path, Work())
    (path,) = tmp_path.glob("prepared-*.jsonl")
    path.write_bytes(b"0\n1\n4\n9\n" + damage)
    assert squares(tmp_path, Work()) == [0, 1, 4, 9, 16, 25]
    assert path.read_bytes() == b"0\n1\n4\n9\n16\n25\n"


def test_what_cannot_be_kept_is_worked_out_all_the_same(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert (
        squares(tmp_path / "file" / "folder", Work())
        == squares(None, Work())
        == [0, 1, 4, 9, 16, 25]
    )


def test_a_full_disk_ends_the_memory_and_not_work(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    # Bytes: "0", "1", "4", and no whole "9".
    resource.setrlimit(resource.RLIMIT_FSIZE, (6, limits[1]))
    try:
        assert squares(tmp_path, Work()) == [0, 1, 4, 9, 16, 25]
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    rest = Work()
    assert squares(tmp_path, rest) == [0, 1, 4, 9, 16, 25]
    assert rest.done == [3, 4, 5]


def test_remembered_sentences_equal_those_drawn_from_captions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    captions = world_captions("train", 60, 0, folder=tmp_path)
    fresh = CaptionDenials([*captions, "", "a man without a hat sings"])
    denials_of([*captions, "", "a man without a hat sings"], cache=tmp_path)
    monkeypatch.setattr(
        caption_clips, "parse_caption", lambda caption: pytest.fail(f"{caption} is parsed again")
    )
    monkeypatch.setattr(
        caption_clips, "sample_scenes", lambda *_: pytest.fail("scenes are drawn again")
    )
    assert world_captions("train", 60, 0, folder=tmp_path) == captions
    remembered = denials_of([*captions, "", "a man without a hat sings"], cache=tmp_path)
    for kind in get_args(DenialKind):
        for row in range(len(fresh)):
            assert remembered.draw(row, kind, random.Random(row)) == fresh.draw(
                row, kind, random.Random(row)
            )
