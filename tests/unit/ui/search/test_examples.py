"""What the page shows of a gallery: queries to begin with."""

from pathlib import Path

import pytest

from nt2vr.media.gallery import Gallery, Video
from nt2vr.ui.search.examples import GENERIC, own_examples


def named(*names: str) -> Gallery:
    return Gallery("Mine", tuple(Video(name, Path("/home/me") / name) for name in names))


@pytest.mark.parametrize(
    ("name", "example"),
    [
        ("beach_sunset-02.mp4", "beach sunset"),
        ("Cat sleeping (copy).mov", "cat sleeping"),
        ("sub/Geburtstag.MP4", "geburtstag"),
        ("2024-07-01 skiing3.avi", "skiing"),
        ("猫が寝ている.mp4", "猫が寝ている"),
    ],
)
def test_a_files_name_is_an_example(name: str, example: str) -> None:
    assert own_examples(named(name)) == [example, *GENERIC[:3]]


@pytest.mark.parametrize(
    "name",
    [
        "IMG_2034.MOV",
        "VID-20240101-WA0003.mp4",
        "dQw4w9WgXcQ.mp4",
        "GOPR0012.mp4",
        "a.mp4",
        "x" * 80,
        "-_.mp4",
    ],
)
def test_a_camera_and_a_site_name_files_without_saying_anything(name: str) -> None:
    assert own_examples(named(name)) == list(GENERIC)


def test_examples_have_at_most_two_names_and_none_built_in() -> None:
    names = ("beach1.mp4", "beach2.mp4", "city.mp4", "forest.mp4")
    assert own_examples(named(*names)) == ["beach", "city", *GENERIC[:2]]
    assert own_examples(Gallery("Empty", ())) == list(GENERIC)


def test_captions_come_first_and_one_is_negated() -> None:
    videos = (
        Video("beach", Path("beach.mp4"), ("a dog is running on the beach", "a dog is running")),
        Video("long", Path("long.mp4"), ("a cat " * 20,)),
        Video("cat", Path("cat.mp4"), ("a cat is sleeping",)),
        Video("twin", Path("twin.mp4"), ("a cat is sleeping",)),
        Video("none", Path("none.mp4")),
    )
    assert own_examples(Gallery("Mine", videos)) == [
        "a dog is running",
        "a dog isn't running",
        "a cat is sleeping",
    ]
