"""Splits are read alike wherever they are named, and no clip is in two of them."""

import csv
import io
import json
from collections.abc import Callable
from itertools import chain, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nt2vr.datasets.base import Split, split_in, split_of_folders, split_of_path
from nt2vr.datasets.load import load_dataset
from nt2vr.errors import DatasetError
from nt2vr.evaluation.benchmark_kinds import Places
from nt2vr.evaluation.sources import Data, load_benchmark
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.progress import silent

Row = dict[str, str]
Write = Callable[[Path, list[Row]], None]
COUNTS = {"train": 12, "test": 3}


def write_csv(path: Path, rows: list[Row]) -> None:
    text = io.StringIO()
    table = csv.DictWriter(text, list(rows[0]))
    table.writeheader()
    table.writerows(rows)
    path.with_suffix(".csv").write_text(text.getvalue(), encoding="utf-8")


def write_lines(path: Path, rows: list[Row]) -> None:
    path.with_suffix(".jsonl").write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")


def write_array(path: Path, rows: list[Row]) -> None:
    path.with_suffix(".json").write_text(json.dumps(rows), encoding="utf-8")


WRITERS: dict[str, Write] = {"CSV": write_csv, "JSON lines": write_lines, "JSON": write_array}


def media(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def split_folder(folder: Path, write: Write, way: str) -> None:
    """Write 12 pictures to train on and 3 to test on, with the splits named in one of five ways."""
    rows: dict[str, list[Row]] = {}
    for split, count in COUNTS.items():
        in_folder = way in ("folder", "folders of pictures", "folder, equal names")
        names = [
            f"{n}.png" if way == "folder, equal names" else f"{split}{n}.png" for n in range(count)
        ]
        paths = [f"{split}/{name}" if in_folder else name for name in names]
        media(folder, *paths)
        written = paths if way == "folders of pictures" else names
        rows[split] = [
            {"file_name": name, "text": f"thing {n} of {split}"} for n, name in enumerate(written)
        ]
    if way in ("folder", "folder, equal names"):
        for split, of_split in rows.items():
            write(folder / split / "metadata", of_split)
    elif way == "file name":
        for split, of_split in rows.items():
            write(folder / f"captions_{split}2017", of_split)
    elif way == "column":
        with_splits = []
        for split, of_split in rows.items():
            with_splits += [{**row, "split": split} for row in of_split]
        write(folder / "captions", with_splits)
    else:
        write(folder / "captions", [*chain.from_iterable(rows.values())])


@pytest.mark.parametrize(
    "way", ["folder", "folder, equal names", "file name", "column", "folders of pictures"]
)
@pytest.mark.parametrize("form", WRITERS)
def test_a_split_is_read_wherever_it_is_named(form: str, way: str, tmp_path: Path) -> None:
    split_folder(tmp_path, WRITERS[form], way)
    captions: dict[Split, set[str]] = {}
    parts: tuple[Split, ...] = ("train", "validation", "test", "all")
    for part in parts:
        videos = load_dataset(tmp_path, part).videos
        captions[part] = set(chain.from_iterable(video.captions for video in videos))
    assert captions["test"] == {f"thing {n} of test" for n in range(3)}
    assert captions["train"] | captions["validation"] == {f"thing {n} of train" for n in range(12)}
    assert len(captions["validation"]) == 1
    assert len(load_dataset(tmp_path, "all").videos) == 15


@pytest.mark.parametrize(
    ("name", "split"),
    [
        ("train", "train"),
        ("captions_val2017", "validation"),
        ("Flickr_8k.devImages", "validation"),
        ("TEST-captions", "test"),
        ("valid", "validation"),
        ("latest", None),
        ("trainval", None),
        ("train_and_test", None),
    ],
)
def test_the_split_in_a_name(name: str, split: Split | None) -> None:
    assert split_in(name) == split


def test_the_nearest_name_says_the_split() -> None:
    assert split_of_path("train/captions_test.csv") == "test"
    assert split_of_path("test/a/captions.csv") == "test"
    assert split_of_folders("train/test.png") == "train"
    assert split_of_folders("test.png") is None


def test_a_single_folder_named_like_a_split_is_none(tmp_path: Path) -> None:
    # Things that move.
    media(tmp_path, "train/1.png", "boat/2.png")
    write_csv(
        tmp_path / "captions",
        [{"path": "train/1.png", "caption": "a train"}, {"path": "boat/2.png", "caption": "b"}],
    )
    assert load_dataset(tmp_path, "test").split == "all"


@pytest.mark.parametrize(
    "names",
    [("a.csv", "b.csv"), ("a.json", "b.json"), ("a.csv", "b.json"), ("x/a.csv", "train.csv")],
)
def test_several_captions_files_without_splits_are_refused_by_name(
    names: tuple[str, str], tmp_path: Path
) -> None:
    media(tmp_path, "1.png")
    for name in names:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        write = write_csv if path.suffix == ".csv" else write_array
        write(path, [{"file_name": "1.png", "caption": f"said by {name}"}])
    with pytest.raises(DatasetError) as error:
        load_dataset(tmp_path)
    assert all(name in str(error.value) for name in names)


def test_files_that_hold_no_captions_do_not_count(tmp_path: Path) -> None:
    media(tmp_path, "1.png")
    write_csv(tmp_path / "captions", [{"path": "1.png", "caption": "a dog"}])
    write_csv(tmp_path / "classes", [{"class": "dog", "number": "7"}])
    write_array(tmp_path / "boxes", [{"x": "1"}])
    assert len(load_dataset(tmp_path).videos) == 1


def own(folder: Path) -> None:
    media(folder, "v1.png", "v2.png")
    rows = [("v1", "train"), ("v2", "train"), ("v1", "test")]
    write_csv(
        folder / "mine",
        [{"video_id": name, "caption": "x", "split": split} for name, split in rows],
    )


def own_folders(folder: Path) -> None:
    media(folder, "v1.png", "v2.png")
    for split, names in {"train": ("v1", "v2"), "test": ("v1",)}.items():
        (folder / split).mkdir()
        write_lines(
            folder / split / "metadata", [{"video_id": name, "caption": "x"} for name in names]
        )


def own_paths(folder: Path) -> None:
    media(folder, "v1.png", "v2.png")
    rows = [("1", "v1.png", "train"), ("2", "v2.png", "train"), ("3", "V1.PNG", "test")]
    write_array(
        folder / "mine",
        [{"id": n, "image": file, "caption": "x", "split": part} for n, file, part in rows],
    )


def msrvtt(folder: Path) -> None:
    media(folder, "v1.mp4", "v2.mp4")
    videos = [
        {"video_id": name, "split": split}
        for name, split in (("v1", "train"), ("v2", "train"), ("v1", "test"))
    ]
    sentences = [{"video_id": name, "caption": "x"} for name in ("v1", "v2")]
    (folder / "MSRVTT_data.json").write_text(json.dumps({"videos": videos, "sentences": sentences}))


def jsfusion(folder: Path) -> None:
    media(folder, "v1.mp4", "v2.mp4")
    videos = [{"video_id": name, "split": "train"} for name in ("v1", "v2")]
    sentences = [{"video_id": name, "caption": "x"} for name in ("v1", "v2")]
    (folder / "MSRVTT_data.json").write_text(json.dumps({"videos": videos, "sentences": sentences}))
    (folder / "MSRVTT_JSFUSION_test.csv").write_text("video_id,sentence\nv1,x\n")
    (folder / "MSRVTT_train.9k.csv").write_text("video_id\nv2\nv1\n")


def vatex(folder: Path) -> None:
    media(folder, "v1.mp4", "v2.mp4")
    captions: dict[str, Any] = {name: ["x"] for name in ("v1", "v2")}
    (folder / "ref_captions.json").write_text(json.dumps(captions))
    np.save(folder / "trn_names.npy", ["v2", "v1"])
    np.save(folder / "tst_names.npy", ["v1"])


def karpathy(folder: Path) -> None:
    media(folder, "v1.jpg", "v2.jpg")
    entries = [
        (name, split)
        for name, split in (("v1.jpg", "train"), ("v2.jpg", "train"), ("v1.jpg", "test"))
    ]
    images = [
        {"filename": name, "split": split, "sentences": [{"raw": "x"}]} for name, split in entries
    ]
    (folder / "dataset.json").write_text(json.dumps({"dataset": "mine", "images": images}))


def flickr(folder: Path) -> None:
    media(folder, "v1.jpg", "v2.jpg")
    (folder / "captions.txt").write_text("image,caption\nv1.jpg,x\nv2.jpg,x\n")
    (folder / "train.txt").write_text("v2.jpg\nv1.jpg\n")
    (folder / "test.txt").write_text("v1.jpg\n")


def coco(folder: Path) -> None:
    media(folder, "v1.jpg", "v2.jpg")
    for split, names in {"train": ("v2.jpg", "v1.jpg"), "val": ("v1.jpg",)}.items():
        images = [{"id": n, "file_name": name} for n, name in enumerate(names)]
        notes = [{"image_id": image["id"], "caption": "x"} for image in images]
        (folder / f"captions_{split}2017.json").write_text(
            json.dumps({"images": images, "annotations": notes})
        )


LEAKS = (own, own_folders, own_paths, msrvtt, jsfusion, vatex, karpathy, flickr, coco)


@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak.__name__)
def test_a_clip_in_two_splits_is_refused_with_both_entries(
    leak: Callable[[Path], None], tmp_path: Path
) -> None:
    leak(tmp_path)
    with pytest.raises(DatasetError) as error:
        load_dataset(tmp_path, "train")
    message = str(error.value)
    assert "v1" in message
    assert "train (" in message
    assert "test (" in message or "validation (" in message


def test_mscocos_own_files_are_read_with_their_splits(tmp_path: Path) -> None:
    numbers = {"train2017": (1, 2, 3), "val2017": (4, 5)}
    for folder, images in numbers.items():
        media(tmp_path, *(f"{folder}/{n:012}.jpg" for n in images))
        entries = [
            {"id": n, "file_name": f"{n:012}.jpg", "width": 32, "height": 32} for n in images
        ]
        notes = []
        for n, k in product(images, (0, 1)):
            notes.append({"id": 10 * n + k, "image_id": n, "caption": f"thing {n}, {k}"})
        path = tmp_path / "annotations" / f"captions_{folder}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(
            json.dumps({"info": {}, "licenses": [], "images": entries, "annotations": notes})
        )
    (tmp_path / "annotations" / "instances_val2017.json").write_text(
        '{"images": [], "annotations": [], "caption": ""}'
    )
    dataset = load_dataset(tmp_path, "validation")
    assert {video.path.name: video.captions for video in dataset.videos} == {
        f"{n:012}.jpg": (f"thing {n}, 0", f"thing {n}, 1") for n in (4, 5)
    }
    assert len(load_dataset(tmp_path, "train").videos) == 3


def test_evaluation_takes_the_validation_split_where_no_test_split_is(
    tmp_path: Path, decoder: Decoder
) -> None:
    media(tmp_path, "a.png", "b.png")
    write_csv(
        tmp_path / "captions_val",
        [{"path": f"{name}.png", "caption": f"a {name}"} for name in "ab"],
    )
    with Cache(tmp_path.parent / "cache") as cache:
        places = Places(tmp_path.parent, decoder, cache)
        benchmark = load_benchmark(Data(str(tmp_path)), places, silent)
        assert benchmark.source["split"] == "validation"
        assert "no test split" in benchmark.source["remarks"][0]
        # A split that was named is not replaced by another.
        with pytest.raises(DatasetError):
            load_benchmark(Data(str(tmp_path), split="test"), places, silent)
