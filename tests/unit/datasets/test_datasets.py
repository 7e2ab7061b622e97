"""Datasets in their published formats, made small, and errors for those that are set up wrongly."""

import json
from collections.abc import Callable, Sequence
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nt2vr.datasets import splits as splits_module
from nt2vr.datasets.base import Dataset, Split
from nt2vr.datasets.load import load_dataset
from nt2vr.errors import ConfigError, DatasetError

Write = Callable[..., Path]


@pytest.fixture
def write(tmp_path: Path) -> Write:
    """Return `write(name, content="")`: a text, or data as JSON; tells the file's path."""

    def write(name: str, content: Any = "") -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(
            content if isinstance(content, str) else json.dumps(content), encoding="utf-8"
        )
        return path

    return write


def captions_of(dataset: Dataset) -> dict[str, list[str]]:
    return {video.video_id: list(video.captions) for video in dataset.videos}


def splits(folder: Path) -> dict[Split, list[str]]:
    parts: tuple[Split, ...] = ("train", "validation", "test")
    return {part: sorted(captions_of(load_dataset(folder, part))) for part in parts}


def msrvtt(splits: dict[int, str]) -> dict[str, Any]:
    """The videodatainfo form, two captions a video."""
    further_columns = {
        "category": 9,
        "url": "https://x.y/watch",
        "start time": 1.5,
        "end time": 11.0,
    }
    videos = [
        {**further_columns, "video_id": f"video{n}", "split": split, "id": n}
        for n, split in splits.items()
    ]
    sentences = []
    for number, video in product((0, 1), splits):
        sentences.append(
            {
                "caption": f"caption {number} of {video}",
                "video_id": f"video{video}",
                "sen_id": 2 * video + number,
            }
        )
    return {
        "info": {"contributor": "Microsoft MSM group"},
        "videos": videos,
        "sentences": sentences,
    }


OFFICIAL = {0: "train", 1: "train", 2: "validate", 3: "test"}


@pytest.mark.parametrize("form", ["CLIP4Clip's file", "the challenge's files"])
def test_msrvtt_with_its_official_split(form: str, write: Write, tmp_path: Path) -> None:
    for n in OFFICIAL:
        write(f"videos/all/video{n}.mp4")
    if form == "CLIP4Clip's file":
        write("MSRVTT_data.json", msrvtt(OFFICIAL))
    else:
        write(
            "train_val_annotation/train_val_videodatainfo.json",
            msrvtt({n: OFFICIAL[n] for n in (0, 1, 2)}),
        )
        write("test_videodatainfo.json", msrvtt({3: "test"}))
    assert splits(tmp_path) == {
        "train": ["video0", "video1"],
        "validation": ["video2"],
        "test": ["video3"],
    }
    dataset = load_dataset(tmp_path, "test")
    assert (dataset.name, dataset.remarks) == ("MSR-VTT3k", ())
    assert captions_of(dataset) == {"video3": ["caption 0 of 3", "caption 1 of 3"]}
    assert dataset.videos[0].path == tmp_path / "videos/all/video3.mp4"


JSFUSION = (
    "key,vid_key,video_id,sentence\nret0,msr3,video3,a person is connecting something to system\n"
)


@pytest.mark.parametrize(
    ("lists", "training"),
    [
        ({}, {0, 1, 2, *range(4, 20)}),
        ({"MSRVTT_train.7k.csv": [0, 2, 4]}, {0, 2, 4}),
        ({"MSRVTT_train.7k.csv": [0, 2, 4], "MSRVTT_train.9k.csv": [1, 2, 4]}, {1, 2, 4}),
    ],
    ids=["all but the test videos", "7k", "9k before 7k"],
)
def test_msrvtt_with_jsfusions_split(
    lists: dict[str, list[int]], training: set[int], write: Write, tmp_path: Path
) -> None:
    for n in range(20):
        write(f"MSRVTT_Videos/video{n}.mp4")
    write("MSRVTT_data.json", msrvtt({n: OFFICIAL.get(n, "train") for n in range(20)}))
    write("MSRVTT_JSFUSION_test.csv", JSFUSION)
    for name, numbers in lists.items():
        write(name, "video_id\n" + "".join(f"video{n}\n" for n in numbers))
    parts = splits(tmp_path)
    assert parts["test"] == ["video3"]
    # It is held out: this split has none of its own.
    assert len(parts["validation"]) == 1
    assert set(parts["train"]).isdisjoint(parts["validation"])
    assert {*parts["train"], *parts["validation"]} == {f"video{n}" for n in training}
    # They remark on videos that no list names.
    assert bool(load_dataset(tmp_path).remarks) == bool(lists)
    assert captions_of(load_dataset(tmp_path, "test")) == {
        "video3": ["a person is connecting something to system"]
    }
    assert len(captions_of(load_dataset(tmp_path, "train"))[parts["train"][0]]) == 2
    # The other split, asked for by name.
    assert splits(Path(f"msrvtt3k:{tmp_path}"))["validation"] == ["video2"]


def vatex(ids: str) -> list[dict[str, Any]]:
    return [
        {"videoID": f"{i * 11}_000001_000011", "enCap": [f"{i} one", f"{i} two "], "chCap": ["一"]}
        for i in ids
    ]


def test_vatex_without_videos_deleted_from_youtube(write: Write, tmp_path: Path) -> None:
    for part, ids in {
        "training_v1.0": "abcd",
        "validation_v1.0": "e",
        "public_test_english_v1.1": "f",
    }.items():
        write(f"annotations/vatex_{part}.json", vatex(ids))
    write("vatex_private_test_without_annotations.json", [{"videoID": "x_000001_000011"}])
    names = {i: f"{i * 11}_000001_000011" for i in "abcdef"}
    for i in "abef":
        write(f"videos/{names[i]}.mp4")
    assert splits(tmp_path) == {
        "train": [names["a"], names["b"]],
        "validation": [names["e"]],
        "test": [names["f"]],
    }
    dataset = load_dataset(tmp_path, "train")
    assert captions_of(dataset)[names["a"]] == ["a one", "a two"]
    assert dataset.remarks == (
        f"2 of 6 described videos have no file under {tmp_path} ({names['c']}, {names['d']}); they are left out.",
    )


@pytest.mark.parametrize("form", ["nT2VR's lists", "lists of YouTube's ids", "HGR's files"])
def test_vatex_in_the_halves_that_the_paper_uses(form: str, write: Write, tmp_path: Path) -> None:
    """val1k5 and test1k5 are halves of the validation set; the public test set is another."""
    halves = {"train": "ab", "val": "c", "test": "de"}
    seconds = "" if form.startswith("lists") else "_000001_000011"
    if form == "HGR's files":
        captions = {entry["videoID"]: entry["enCap"] for entry in vatex("abcde")}
        write("RET/ref_captions.json", captions)
        (tmp_path / "RET" / "public_split").mkdir()
        for name, ids in zip(("trn", "val", "tst"), halves.values(), strict=True):
            np.save(
                tmp_path / f"RET/public_split/{name}_names.npy", [f"{i * 11}{seconds}" for i in ids]
            )
    else:
        write("vatex_training_v1.0.json", vatex("ab"))
        write("vatex_validation_v1.0.json", vatex("cde"))
        write("vatex_public_test_english_v1.1.json", vatex("f"))
        for name in ("val1k5", "test1k5"):
            ids = halves[name.removesuffix("1k5")]
            write(f"vatex_{name}.txt", "".join(f"{i * 11}{seconds}\n" for i in ids))
    # The videos are named by YouTube's ids alone.
    for i in "abcdef":
        write(f"videos/{i * 11}.mp4")
    dataset = load_dataset(tmp_path, "test")
    assert dataset.name == "VATEX, val1k5 and test1k5"
    assert captions_of(dataset) == {
        f"{i * 11}_000001_000011": [f"{i} one", f"{i} two"] for i in "de"
    }
    assert dataset.videos[0].path == tmp_path / "videos/ddddddddddd.mp4"
    assert [len(ids) for ids in splits(tmp_path).values()] == [2, 1, 2]


def test_the_msrvtt_file_of_2017_beside_those_of_2016(write: Write, tmp_path: Path) -> None:
    """It describes the same 10,000 videos in one file, and its test videos have no captions."""
    write("train_val_videodatainfo.json", msrvtt({n: OFFICIAL[n] for n in (0, 1, 2)}))
    write("videodatainfo_2017.json", msrvtt(OFFICIAL))
    test_of_2017 = msrvtt({10_000: "test"})
    write("test_videodatainfo_2017.json", {**test_of_2017, "sentences": []})
    for n in (*OFFICIAL, 10_000):
        write(f"video{n}.mp4")
    assert splits(tmp_path) == {
        "train": ["video0", "video1"],
        "validation": ["video2"],
        "test": ["video3"],
    }
    # None twice.
    assert {len(texts) for texts in captions_of(load_dataset(tmp_path, "all")).values()} == {2}


TOKEN = "".join(
    f"{name}.jpg#{number}\t{name} , {number} .\n"
    for name, number in product(("1000092795", "10002456", "1000268201"), (0, 1))
)


@pytest.mark.parametrize(
    ("captions", "lists", "name"),
    [
        ("results_20130124.token", ("train.txt", "val.txt", "test.txt"), "Flickr30k"),
        (
            "Flickr8k.token.txt",
            [f"Flickr_8k.{part}Images.txt" for part in ("train", "dev", "test")],
            "Flickr8k",
        ),
        (
            "flickr8k_captions.txt",
            [f"flickr8k_{part}Images.txt" for part in ("train", "dev", "test")],
            "Flickr8k",
        ),
        ("captions.txt", ("train.txt", "val.txt", "test.txt"), "flickr"),
    ],
)
def test_flickr_in_its_original_files(
    captions: str, lists: Sequence[str], name: str, write: Write, tmp_path: Path
) -> None:
    pictures = ["1000092795", "10002456", "1000268201"]
    rows = [line.split("\t") for line in TOKEN.splitlines()]
    table = "image,caption\n" + "".join(
        f'{key.partition("#")[0]},"{caption}"\n' for key, caption in rows
    )
    write(f"flickr/{captions}", table if captions == "captions.txt" else TOKEN)
    for picture, list_name in zip(pictures, lists, strict=True):
        entry = f"{picture}.jpg\n" if "Images" in list_name else f"{picture}\n"
        write(f"flickr/{list_name}", entry)
        write(f"flickr/images/{picture}.jpg")
    assert splits(tmp_path / "flickr") == {
        "train": pictures[:1],
        "validation": pictures[1:2],
        "test": pictures[2:],
    }
    dataset = load_dataset(tmp_path / "flickr", "test")
    assert (dataset.name, dataset.remarks) == (name, ())
    assert captions_of(dataset) == {"1000268201": ["1000268201 , 0 .", "1000268201 , 1 ."]}


def test_pictures_with_like_names_keep_their_captions(write: Write, tmp_path: Path) -> None:
    names = ["a.jpg", "a.png", "a.jpg.png"]
    write("captions.txt", "image,caption\n" + "".join(f"{name},it is {name}\n" for name in names))
    for name in names:
        write(name)
    assert captions_of(load_dataset(tmp_path)) == {name: [f"it is {name}"] for name in names}


def test_coco_pictures_by_the_names_of_2017(write: Write, tmp_path: Path) -> None:
    images = []
    for n, split in enumerate(["restval", "val", "test"]):
        sentences = [{"tokens": ["a"], "raw": f"A cat {n}.", "imgid": n, "sentid": n}]
        of_file = {
            "filepath": "val2014",
            "filename": f"COCO_val2014_{n:012d}.jpg",
            "imgid": n,
            "cocoid": n,
        }
        images.append({**of_file, "split": split, "sentids": [n], "sentences": sentences})
    write("dataset_coco.json", {"images": images, "dataset": "coco"})
    # The splits of 2017 are others.
    for n, folder in enumerate(["train2017", "train2017", "val2017"]):
        write(f"{folder}/{n:012d}.jpg")
    assert [len(ids) for ids in splits(tmp_path).values()] == [1, 1, 1]
    assert load_dataset(tmp_path, "test").videos[0].path == tmp_path / "val2017/000000000002.jpg"


@pytest.mark.parametrize("form", ["CSV", "JSONL"])
def test_ones_own_splits(form: str, write: Write, tmp_path: Path) -> None:
    where = {"a": "train", "b": "val", "c": "test", "d": ""}
    entries = [
        {"video_id": i, "caption": f"it is {i}", "split": split} for i, split in where.items()
    ]
    if form == "CSV":
        rows = [",".join(entry.values()) for entry in entries]
        write("c.csv", "\n".join([",".join(entries[0]), *rows]))
    else:
        write("c.jsonl", "\n".join(map(json.dumps, entries)))
    for i in where:
        write(f"{i}.mp4")
    assert splits(tmp_path) == {"train": ["a", "d"], "validation": ["b"], "test": ["c"]}
    assert sorted(captions_of(load_dataset(tmp_path))) == ["a", "b", "c", "d"]


def own(write: Write, count: int) -> Path:
    for n in range(count):
        write(f"v{n}.mp4")
    return write(
        "captions.csv", "video_id,caption\n" + "".join(f"v{n},it is {n}\n" for n in range(count))
    )


def test_the_same_tenth_is_held_out_up_to_a_limit(
    write: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = own(write, 40)
    train, validation = (
        set(captions_of(load_dataset(path, split))) for split in ("train", "validation")
    )
    assert len(train) == 36
    assert len(validation) == 4
    assert train & validation == set()
    with monkeypatch.context() as context:
        context.setattr(splits_module, "HELD_OUT", 2)
        assert set(captions_of(load_dataset(path, "validation"))) < validation
        assert len(captions_of(load_dataset(path, "train"))) == 38
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], *reversed(lines[1:])]))
    assert set(captions_of(load_dataset(path, "validation"))) == validation


def test_mismatches_are_reported(
    write: Write, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "a,it is a,train\ngone,it is gone,train\nmute, ,train\n"
    write("captions.csv", "video_id,caption,split\n" + rows)
    for name in ("a.mp4", "mute.mp4", "extra.mp4", "cover.jpg", ".hidden.mp4"):
        write(name)
    dataset = load_dataset(tmp_path, "all")
    assert dataset.remarks == (
        f"1 of 3 described videos have no file under {tmp_path} (gone); they are left out.",
        "1 of 2 videos have no caption (mute); they are left out.",
        f"1 files under {tmp_path} are not described (extra.mp4); they are left out.",
    )
    monkeypatch.setattr(splits_module, "HELD_OUT", 0)
    assert captions_of(load_dataset(tmp_path, "train")) == {"a": ["it is a"]}


def test_ids_that_match_no_file_are_an_error(write: Write, tmp_path: Path) -> None:
    write("MSRVTT_data.json", msrvtt(OFFICIAL))
    write("videos/msr_0001.mp4")
    with pytest.raises(DatasetError) as error:
        load_dataset(tmp_path)
    assert str(error.value) == (
        "None of the 4 videos that MSR-VTT3k describes (such as video0, video1, video2) has a file under "
        f"{tmp_path}; the files there: msr_0001.mp4. Put the videos there, named by their ids."
    )


def test_a_video_is_taken_rather_than_its_picture(write: Write, tmp_path: Path) -> None:
    write("elsewhere/v0.mp4")
    write("mine/v0.jpg")
    write("mine/captions.csv", "video_id,caption\nv0,it is 0\n")
    (tmp_path / "mine" / "videos").symlink_to(tmp_path / "elsewhere")
    # The walk through the folders must end.
    (tmp_path / "elsewhere" / "round").symlink_to(tmp_path / "mine")
    assert load_dataset(tmp_path / "mine").videos[0].path == tmp_path / "mine/videos/v0.mp4"


WRONG: list[tuple[str, Any, str]] = [
    (
        "MSRVTT_data.json",
        "{",
        "MSRVTT_data.json",
    ),
    ("MSRVTT_data.json", msrvtt({0: "trian"}), "'trian'.* train,"),
    (
        "MSRVTT_JSFUSION_test.csv",
        "a,b\n1,2\n",
        "video_id .* a, b",
    ),
]


@pytest.mark.parametrize(("name", "content", "reason"), WRONG)
def test_an_invalid_file_is_one_sentence_with_the_expected_format(
    name: str, content: Any, reason: str, write: Write, tmp_path: Path
) -> None:
    write(name, content)
    write("video0.mp4")
    with pytest.raises(DatasetError, match=reason):
        load_dataset(tmp_path)


def test_all_of_a_dataset_without_splits_is_its_test_split(write: Write) -> None:
    path = own(write, 20)
    dataset = load_dataset(path, "test")
    assert (dataset.split, len(dataset.videos)) == ("all", 20)
    assert dataset.remarks[0].startswith(
        f"{dataset.name} has no splits, so all of its 20 videos are taken."
    )
    assert [len(load_dataset(path, part).videos) for part in ("train", "validation")] == [18, 2]
    path.write_text("video_id,caption,split\nv0,a,train\nv1,b,val\n", encoding="utf-8")
    with pytest.raises(DatasetError, match="test"):
        load_dataset(path, "test")


def test_a_missing_path_or_split_is_one_sentence(write: Write, tmp_path: Path) -> None:
    path = own(write, 2)
    with pytest.raises(DatasetError, match="/nowhere"):
        load_dataset("/nowhere")
    with pytest.raises(
        ConfigError,
        match=r"'tgif'.* captions, flickr, folder",
    ):
        load_dataset(f"tgif:{tmp_path}")
    with pytest.raises(DatasetError, match=r"vatex_training.*\(vatex\).*eric-xw.github.io"):
        load_dataset(f"vatex:{tmp_path}")
    write("more.csv", "video_id,caption\nv0,a\n")
    with pytest.raises(DatasetError, match=r"captions\.csv, more\.csv"):
        load_dataset(tmp_path)
    assert len(load_dataset(path).videos) == 2
