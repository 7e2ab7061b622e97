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
    "pandas' index": (
        "c.csv",
        ",path,caption\n0,a.mp4,a dog\n1,a.mp4,a cat\n2,sub/b.mp4,a ship\n",
        TWO,
    ),
    "Excel's empty columns": (
        "c.csv",
        "path,caption,,\na.mp4,a dog,,\na.mp4,a cat,,\nsub/b.mp4,a ship,,\n,,,\n",
        TWO,
    ),
    "byte order mark, CRLF": (
        "c.csv",
        "\ufeffpath,caption\r\na.mp4,a dog\r\na.mp4,a cat\r\nsub/b.mp4,a ship",
        TWO,
    ),
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
    "other case": (
        "c.csv",
        "path,caption\nA.MP4,a dog\nSub/b.mp4,x\n",
        {"A.MP4": ["a dog"], "Sub/b.mp4": ["x"]},
    ),
    "ids with suffix": (
        "c.csv",
        "video_id,caption\na.mp4,a dog\nb.mp4,x\n",
        {"a.mp4": ["a dog"], "b.mp4": ["x"]},
    ),
    "without suffix": ("c.csv", "video,caption\na,a dog\nb,x\n", {"a": ["a dog"], "b": ["x"]}),
    "integers": ("c.jsonl", '{"video_id": 7, "captions": "one"}', {"7": ["one"]}),
    "a caption per line": ("metadata.jsonl", LINES, TWO),
    "an array": ("c.json", json.dumps(OBJECTS), TWO),
    "an array in data": ("c.json", json.dumps({"data": OBJECTS}), TWO),
    "lines in .json": ("metadata.json", LINES, TWO),
    "captions by name": ("c.json", json.dumps(TWO), TWO),
    "captions by id": (
        "c.json",
        json.dumps({"a": ["a dog"], "b": "x"}),
        {"a": ["a dog"], "b": ["x"]},
    ),
    "pandas' columns": (
        "c.json",
        json.dumps(
            {"path": {"0": "a.mp4", "1": "sub/b.mp4"}, "caption": {"0": "a dog", "1": None}}
        ),
        {"a.mp4": ["a dog"]},
    ),
    "lists as columns": (
        "c.json",
        json.dumps(
            {"path": ["a.mp4", "a.mp4", "sub/b.mp4"], "caption": ["a dog", "a cat", "a ship"]}
        ),
        TWO,
    ),
    "a missing caption": ("c.jsonl", f'{LINES}\n{{"file_name": "7.mp4", "text": NaN}}', TWO),
    "pandas' list": (
        "c.csv",
        "path,captions\na.mp4,\"['a dog', 'a cat']\"\nsub/b.mp4,\"['a ship']\"\n",
        TWO,
    ),
    "NumPy's list": (
        "c.csv",
        "path,captions\na.mp4,\"['a dog' 'a cat']\"\nsub/b.mp4,['a ship']\n",
        TWO,
    ),
    "a JSON list": (
        "c.csv",
        'filename,raw\na.mp4,"[""a dog"", ""a cat""]"\nsub/b.mp4,"[""a ship""]"\n',
        TWO,
    ),
    "brackets": ("c.csv", "path,caption\na.mp4,[a dog]\n", {"a.mp4": ["[a dog]"]}),
    "numbered columns": (
        "c.csv",
        "img_path,caption_1,caption_2\na.mp4,a dog,a cat\nsub/b.mp4,a ship,\n",
        TWO,
    ),
    "Excel's delimiter": (
        "c.csv",
        "sep=;\npath;caption\na.mp4;a dog\na.mp4;a cat\nsub/b.mp4;a ship\n",
        TWO,
    ),
    "prompts": (
        "metadata.jsonl",
        '{"file_name": "a.mp4", "prompt": "a dog"}',
        {"a.mp4": ["a dog"]},
    ),
    "LLaVA": (
        "c.json",
        json.dumps(
            [
                {
                    "id": "1",
                    "image": "a.mp4",
                    "conversations": [
                        {"from": "human", "value": "<image>\nWhat?"},
                        {"from": "gpt", "value": "a dog"},
                    ],
                }
            ]
        ),
        {"1": ["a dog"]},
    ),
    "Label Studio's tasks": (
        "export.json",
        json.dumps(
            [
                {
                    "id": 1,
                    "data": {"captioning": "/data/upload/1/0a1b2c3d-a.mp4"},
                    "annotations": [
                        {"result": [{"type": "textarea", "value": {"text": ["a dog", "a cat"]}}]},
                        {"was_cancelled": True, "result": [{"value": {"text": ["nothing"]}}]},
                    ],
                }
            ]
        ),
        {"1": ["a dog", "a cat"]},
    ),
    "FiftyOne's samples": (
        "samples.json",
        json.dumps(
            {"samples": [{"filepath": "/theirs/a.mp4", "tags": ["train"], "caption": "a dog"}]}
        ),
        {"theirs/a.mp4": ["a dog"]},
    ),
    "caption files": ("a.caption", "a dog\na cat\n", {"a": ["a dog", "a cat"]}),
    "JSON beside": ("a.json", '{"caption": "a dog", "key": "a", "url": "x"}', {"a": ["a dog"]}),
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
        (
            "c.csv",
            b"video_id,words\na,b\n",
            "column caption .* video_id, words",
        ),
        ("c.csv", b"video_id,caption\na,b\na\n", "line 3"),
        (
            "c.csv",
            b"video_id,caption\na,a dog, a cat\n",
            "line 2",
        ),
        (
            "c.csv",
            b"path,caption\n../../etc/a.mp4,b\n",
            "line 2: .*'../../etc/a.mp4'",
        ),
        ("c.csv", b"path,caption,split\na.mp4,b,tset\n", "'tset'"),
        ("c.csv", b"path,caption\n,b\n", "line 2"),
        ("c.csv", "path,caption\na.mp4,café\n".encode("cp1252"), "UTF-8"),
        ("c.jsonl", b'{"path": "a.mp4", "caption": "b"}\n{', "line 2"),
        (
            "c.jsonl",
            b'{"video_id": "a", "words": "b"}',
            "line 1 .* video_id, words",
        ),
        ("c.jsonl", b'{"caption": "b"}', "line 1"),
        (
            "c.jsonl",
            b'{"path": "a.mp4", "conversations": []}',
            "line 1 .* 0 answers",
        ),
        ("c.parquet", b"PAR1", "c.parquet"),
        ("notes.txt", b"x", "captions"),
    ],
)
def test_what_cannot_be_read_is_one_sentence_naming_the_place(
    name: str, content: bytes, reason: str, folder: Path
) -> None:
    (folder / name).write_bytes(content)
    with pytest.raises(DatasetError, match=reason):
        load_dataset(folder)


def test_splits_in_fiftyones_tags_and_a_tools_subset(folder: Path) -> None:
    samples = [{"filepath": name, "caption": name} for name in ("a.mp4", "sub/b.mp4", "7.mp4")]
    tags: list[object] = [["train", "validated"], ["test"], ["blurred"]]
    tagged = [{**sample, "tags": tag} for sample, tag in zip(samples, tags, strict=True)]
    (folder / "samples.json").write_text(json.dumps({"samples": tagged}))
    assert [video.path.name for video in load_dataset(folder, "test").videos] == ["b.mp4"]
    (folder / "samples.json").write_text(
        json.dumps([{**sample, "subset": "Validation"} for sample in samples[:2]])
    )
    assert len(load_dataset(folder, "validation").videos) == 2


def test_label_studio_files_are_found_by_their_uploaded_names(folder: Path) -> None:
    (folder / "red_ZoqW18z.mp4").touch()
    rows = {
        "0a1b2c3d-a.mp4": "a",
        "b_ZoqW18z.mp4": "b",
        "red_ZoqW18z.mp4": "red",
        "ffffffff-7.mp4": "7",
        "7.mp4": "own",
    }
    (folder / "c.json").write_text(
        json.dumps([{"image": f"/data/upload/{n}", "caption": t} for n, t in rows.items()])
    )
    dataset = load_dataset(folder)
    files = {}
    for video in dataset.videos:
        for caption in video.captions:
            files[caption] = video.path.name
    assert files == {"a": "a.mp4", "b": "b.mp4", "red": "red_ZoqW18z.mp4"}
    assert all(name in " ".join(dataset.remarks) for name in ("ffffffff-7.mp4", "upload/7.mp4"))


def test_a_videos_own_file_counts_not_its_thumbnails(folder: Path) -> None:
    (folder / "a.jpg").touch()
    (folder / "a.txt").write_text("tags, of, a dog")
    (folder / "a.caption").write_text("a dog")
    (video,) = load_dataset(folder).videos
    assert (video.path.name, video.captions) == ("a.mp4", ("a dog",))
