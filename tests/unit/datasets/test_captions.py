"""Captions files as people have them: every form that is read, and one sentence for each that is not."""

import json
import unicodedata
from pathlib import Path

import pytest

from nt2vr.datasets.load import load_dataset
from nt2vr.errors import DatasetError

TWO = {"a.mp4": ["a dog", "a cat"], "sub/b.mp4": ["a ship"]}
OBJECTS = [
    {"file_name": "a.mp4", "text": "a dog"},
    {"file_name": "a.mp4", "text": "a cat"},
    {"file_name": "sub/b.mp4", "text": "a ship"},
]
LINES = "\n".join(map(json.dumps, OBJECTS))
FORMS = {
    "plain": ("c.csv", "path,caption\na.mp4,a dog\na.mp4,a cat\nsub/b.mp4,a ship\n", TWO),
    "pandas' index": ("c.csv", ",path,caption\n0,a.mp4,a dog\n1,a.mp4,a cat\n2,sub/b.mp4,a ship\n", TWO),
    "Excel's empty columns": ("c.csv", "path,caption,,\na.mp4,a dog,,\na.mp4,a cat,,\nsub/b.mp4,a ship,,\n,,,\n", TWO),
    "byte order mark, CRLF": ("c.csv", "\ufeffpath,caption\r\na.mp4,a dog\r\na.mp4,a cat\r\nsub/b.mp4,a ship", TWO),
    "semicolons": ("c.csv", "Path; Caption\na.mp4;a dog\na.mp4;a cat\nsub/b.mp4;a ship\n", TWO),
    "tabs": ("c.tsv", "filepath\ttitle\na.mp4\ta dog\na.mp4\ta cat\nsub/b.mp4\ta ship\n", TWO),
    "Flickr30k": (
        "results.csv",
        "image_name| comment_number| comment\na.mp4| 0| a dog\na.mp4| 1| a cat\nsub/b.mp4| 2   lost\n"
        "sub/b.mp4| 0| a ship\n",
        TWO,
    ),
    "quotes and line breaks": (
        "c.csv",
        'path,caption\na.mp4,"a dog,\n“a” cat\u2028"\n',
        {"a.mp4": ["a dog,\n“a” cat"]},
    ),
    "backslashes": ("c.csv", "path,caption\n.\\a.mp4,a dog\na.mp4,a cat\nsub\\b.mp4,a ship\n", TWO),
    "other case": ("c.csv", "path,caption\nA.MP4,a dog\nSub/b.mp4,x\n", {"A.MP4": ["a dog"], "Sub/b.mp4": ["x"]}),
    "ids with suffix": ("c.csv", "video_id,caption\na.mp4,a dog\nb.mp4,x\n", {"a.mp4": ["a dog"], "b.mp4": ["x"]}),
    "without suffix": ("c.csv", "video,caption\na,a dog\nb,x\n", {"a": ["a dog"], "b": ["x"]}),
    "integers": ("c.jsonl", '{"video_id": 7, "captions": "one"}', {"7": ["one"]}),
    "a caption per line": ("metadata.jsonl", LINES, TWO),
    "an array": ("c.json", json.dumps(OBJECTS), TWO),
    "text files": ("a.txt", "a dog\na cat\n", {"a": ["a dog", "a cat"]}),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "sub").mkdir()
    for name in ("a.mp4", "sub/b.mp4", "7.mp4"):
        (tmp_path / name).touch()
    return tmp_path


@pytest.mark.parametrize("form", FORMS)
def test_a_form_that_people_have_is_read(form: str, folder: Path) -> None:
    name, content, expected = FORMS[form]
    (folder / name).write_bytes(content.encode())
    dataset = load_dataset(folder)
    assert {video.video_id: list(video.captions) for video in dataset.videos} == expected
    assert all(video.path.is_file() for video in dataset.videos)


def test_names_are_the_same_in_every_unicode_form(folder: Path) -> None:
    composed, decomposed = (unicodedata.normalize(form, "Zoë.mp4") for form in ("NFC", "NFD"))
    (folder / decomposed).touch()
    (folder / "c.csv").write_text(f"path,caption\n{composed},a dog\n", encoding="utf-8")
    assert load_dataset(folder).videos[0].path.name == decomposed


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("c.csv", b"video_id,words\na,b\n", r"column caption is missing; found video_id, words\). Expected a table"),
        ("c.csv", b"video_id,caption\na,b\na\n", "line 3 has fewer cells than the header"),
        ("c.csv", b"video_id,caption\na,a dog, a cat\n", "line 2 has more cells than the header; quote captions"),
        ("c.csv", b"path,caption\n../../etc/a.mp4,b\n", "line 2: the path '../../etc/a.mp4' leads out of the folder"),
        ("c.csv", b"path,caption,split\na.mp4,b,tset\n", "unknown split 'tset'"),
        ("c.csv", b"path,caption\n,b\n", "line 2 names no video"),
        ("c.csv", "path,caption\na.mp4,café\n".encode("cp1252"), "save it as “CSV UTF-8”"),
        ("c.jsonl", b'{"path": "a.mp4", "caption": "b"}\n{', "line 2 is not JSON"),
        ("c.jsonl", b'{"video_id": "a", "words": "b"}', "line 1 has no caption, but None, among video_id, words"),
        ("c.jsonl", b'{"caption": "b"}', "line 1 names no video: give it a video_id or a path"),
        ("notes.txt", b"x", "no text file is named like a video or picture beside it"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_naming_the_place(
    name: str, content: bytes, reason: str, folder: Path
) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(DatasetError, match=reason):
        load_dataset(folder)
