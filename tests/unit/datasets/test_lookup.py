"""A name finds its own file, or none: in every reader, whatever lies beside it."""

import csv
import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from PIL import Image

from nt2vr.datasets.load import load_dataset, videos_of
from nt2vr.datasets.lookup import MediaLookup, MediaName
from nt2vr.errors import DatasetError
from nt2vr.evaluation.tasks import task_benchmark
from nt2vr.library.listing import list_files
from nt2vr.library.source import Source
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.papers.covr.datasets import load_covr

TWO_FOLDERS = ("images/cats/1.png", "images/dogs/1.png")


def picture(path: Path, colour: str = "red") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", (32, 32), colour).save(path)
    return path


def touch(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def captions_csv(folder: Path, rows: Mapping[str, str], column: str = "path") -> Path:
    path = folder / "captions.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file).writerows([(column, "caption"), *rows.items()])
    return path


def files_and_captions(folder: Path) -> dict[str, tuple[str, ...]]:
    videos = load_dataset(folder).videos
    return {video.path.relative_to(folder).as_posix(): video.captions for video in videos}


@pytest.mark.parametrize(
    ("name", "files", "expected"),
    [
        ("cats/1.png", ["dogs/1.png", "cats/1.png"], ["cats/1.png"]),
        ("cats/1.png", ["x/cats/1.png", "x/dogs/1.png"], ["x/cats/1.png"]),
        ("a/cats/1.png", ["a/cats/1.png", "b/cats/1.png"], ["a/cats/1.png"]),
        ("z/cats/1.png", ["x/cats/1.png", "dogs/1.png"], ["x/cats/1.png"]),
        ("cats/1", ["cats/1.png", "dogs/1.png"], ["cats/1.png"]),
        ("1", ["cats/1.png", "dogs/1.png"], ["cats/1.png", "dogs/1.png"]),
        ("1.png", ["1.jpg", "1.png"], ["1.png"]),
        ("1", ["1.jpg", "1.png"], ["1.jpg", "1.png"]),
        # A video comes before its thumbnail.
        ("1", ["1.jpg", "1.mp4"], ["1.mp4"]),
        ("1.avi", ["1.jpg", "1.mp4"], ["1.mp4"]),
        ("A.PNG", ["a.png", "b.png"], ["a.png"]),
        ("a.png", ["A.png", "x/a.png"], ["x/a.png"]),
        ("video.1", ["video.1.mp4", "video.mp4"], ["video.1.mp4"]),
        ("/data/upload/3/red.png", ["sub/red.png"], ["sub/red.png"]),
        (r"\\nas\data\red.png", ["sub/red.png"], ["sub/red.png"]),
        (r"C:\data\red.png", ["sub/red.png"], ["sub/red.png"]),
        ("file:///data/red%20one.png", ["sub/red one.png"], ["sub/red one.png"]),
        ("https://h.example/a/red.png?token=/b.png", ["a/red.png", "b/red.png"], ["a/red.png"]),
        ("/data/local-files/?d=up%2Fred.png", ["up/red.png", "b/red.png"], ["up/red.png"]),
        ("https://youtube.com/watch?v=1", ["1.mp4"], []),
        ("2.png", ["1.png"], []),
    ],
)
def test_the_best_matches_of_a_name(name: str, files: list[str], expected: list[str]) -> None:
    lookup = MediaLookup(Path("/set"), files)
    assert sorted(lookup.find(name).files) == sorted(expected)


def test_files_near_the_annotations_come_first_among_equals() -> None:
    lookup = MediaLookup(Path("/set"), ["test/images/0.png", "train/images/0.png", "train/0.png"])
    assert lookup.find("0.png", "train").files == ("train/0.png",)
    assert lookup.find("images/0.png", "train").files == ("train/images/0.png",)
    assert lookup.find("0.png", "test").files == ("test/images/0.png",)


def test_a_file_goes_to_the_name_that_fits_best() -> None:
    lookup = MediaLookup(Path("/set"), ["dogs/1.png", "x/2.png", "3.png"])
    names = {
        "cats/1.png": "cats/1.png",
        "dogs/1.png": "dogs/1.png",
        "a": "a/2.png",
        "b": "b/2.png",
        "c": "/x/3.png",
    }
    located = lookup.locate({video_id: MediaName(name) for video_id, name in names.items()})
    assert located.files == {"dogs/1.png": "dogs/1.png", "c": "3.png"}
    assert located.unclear.keys() == {"cats/1.png", "a", "b"}


def test_links_to_one_file_are_one_file(tmp_path: Path) -> None:
    touch(tmp_path, "store/v.mp4")
    (tmp_path / "all").mkdir()
    (tmp_path / "all" / "v.mp4").symlink_to(tmp_path / "store" / "v.mp4")
    captions_csv(tmp_path, {"v": "it moves"}, "video_id")
    assert load_dataset(tmp_path).remarks == ()


@pytest.mark.parametrize(
    "form", ["paths below images", "ids with a folder", "suffixes", "Flickr", "Karpathy", "lines"]
)
def test_equal_file_names_keep_their_own_captions(form: str, tmp_path: Path) -> None:
    cat, dog = TWO_FOLDERS
    if form in ("suffixes", "Flickr"):
        cat = "1.png"
        dog = "1.jpg"
    picture(tmp_path / cat)
    picture(tmp_path / dog, "blue")
    if form == "paths below images":
        captions_csv(tmp_path, {"cats/1.png": "a cat sits", "dogs/1.png": "a dog runs"})
    elif form == "ids":
        captions_csv(tmp_path, {"cats/1": "a cat sits", "dogs/1": "a dog runs"}, "video_id")
    elif form == "suffixes":
        captions_csv(tmp_path, {"1.png": "a cat sits", "1.jpg": "a dog runs"}, "video_id")
    elif form == "Flickr":
        (tmp_path / "captions.txt").write_text(
            "image,caption\n1.png,a cat sits\n1.jpg,a dog runs\n"
        )
        (tmp_path / "test.txt").write_text("1.jpg\n1.png\n")
    elif form == "Karpathy":
        entry = {"filename": "1.png", "split": "test"}
        cats = {**entry, "filepath": "cats", "sentences": [{"raw": "a cat sits"}]}
        dogs = {**entry, "filepath": "dogs", "sentences": [{"raw": "a dog runs"}]}
        (tmp_path / "dataset.json").write_text(
            json.dumps({"dataset": "mine", "images": [cats, dogs]})
        )
    else:
        for file, text in ((cat, "a cat sits"), (dog, "a dog runs")):
            (tmp_path / file).with_suffix(".txt").write_text(text)
    assert files_and_captions(tmp_path) == {cat: ("a cat sits",), dog: ("a dog runs",)}
    assert len({video.video_id for video in load_dataset(tmp_path).videos}) == 2


def test_an_unclear_row_is_reported_with_its_candidates(tmp_path: Path) -> None:
    touch(tmp_path, *TWO_FOLDERS, "images/2.png")
    captions_csv(tmp_path, {"1": "a cat sits", "2": "a dog runs"}, "video_id")
    dataset = load_dataset(tmp_path)
    assert [video.video_id for video in dataset.videos] == ["2"]
    (remark, _) = dataset.remarks
    assert remark.startswith("1 of 2 described videos")
    assert all(file in remark for file in TWO_FOLDERS)


def test_a_dataset_of_unclear_rows_names_one(tmp_path: Path) -> None:
    touch(tmp_path, *TWO_FOLDERS)
    captions_csv(tmp_path, {"1": "a cat sits"}, "video_id")
    with pytest.raises(DatasetError, match=r"images/cats/1\.png.*images/dogs/1\.png"):
        load_dataset(tmp_path)


def test_ids_of_one_file_are_one_video(tmp_path: Path) -> None:
    touch(tmp_path, "a.png", "b.png")
    rows = "id,image,caption\n1,a.png,a cat\n2,a.png,it sits\n3,b.png,a dog\n"
    (tmp_path / "captions.csv").write_text(rows)
    assert files_and_captions(tmp_path) == {"a.png": ("a cat", "it sits"), "b.png": ("a dog",)}


def test_one_id_of_several_files_is_several_videos(tmp_path: Path) -> None:
    touch(tmp_path, "a.png", "b.png")
    (tmp_path / "captions.csv").write_text("id,image,caption\n1,a.png,a cat\n1,b.png,a dog\n")
    assert files_and_captions(tmp_path) == {"a.png": ("a cat",), "b.png": ("a dog",)}


def test_an_id_next_to_a_path_names_no_file(tmp_path: Path) -> None:
    touch(tmp_path, "1.png", "red.png")
    (tmp_path / "export.json").write_text(
        json.dumps([{"id": 1, "image": "/data/gone.png", "caption": "a red thing"}])
    )
    with pytest.raises(DatasetError, match="1 "):
        load_dataset(tmp_path)


def test_a_manifest_skips_unclear_rows_with_their_candidates(tmp_path: Path) -> None:
    touch(tmp_path, *TWO_FOLDERS, "2.png")
    path = captions_csv(
        tmp_path, {"1": "a cat sits", "2": "a dog runs", "cats/1.png": "a cat"}, "video_id"
    )
    videos = {video.video_id: (video.path, reason) for video, reason in videos_of(path)}
    assert videos["2"] == (tmp_path / "2.png", "")
    assert videos["cats/1.png"] == (tmp_path / TWO_FOLDERS[0], "")
    files = {
        file.id: file.reason
        for file in list_files(Source("x", "mine", "manifest", path, within=tmp_path))
    }
    assert all(file in files["1"] for file in TWO_FOLDERS)
    assert not files["2"]
    assert not files["cats/1.png"]


def test_a_librarys_dataset_says_what_it_leaves_out(tmp_path: Path) -> None:
    touch(tmp_path, *TWO_FOLDERS, "2.png")
    captions_csv(tmp_path, {"1": "a cat sits", "2": "a dog runs"}, "video_id")
    files = list(list_files(Source("x", "mine", "dataset", tmp_path)))
    assert [file.id for file in files if not file.reason] == ["2"]
    assert any(TWO_FOLDERS[0] in file.reason for file in files)


def test_tasks_find_files_by_their_folders_and_name_unclear_ones(
    tmp_path: Path, decoder: Decoder
) -> None:
    for name in TWO_FOLDERS:
        picture(tmp_path / name)
    rows = "image_path,caption,negated_caption\n{},a cat,no cat\n{},a dog,no dog\n"
    path = tmp_path / "pairs.csv"
    with Cache(tmp_path.parent / "cache") as cache:
        path.write_text(rows.format("/theirs/cats/1.png", "/theirs/dogs/1.png"))
        assert not task_benchmark(path, decoder, cache).unreadable
        path.write_text(rows.format("/theirs/cats/1.png", "1.png"))
        unreadable = task_benchmark(path, decoder, cache).unreadable or {}
    assert unreadable.keys() == {"1.png"}
    assert all(file in unreadable["1.png"] for file in TWO_FOLDERS)


def test_pictures_plus_texts_find_files_by_their_folders(tmp_path: Path) -> None:
    touch(
        tmp_path,
        "videos/0001/101.mp4",
        "videos/0001/102.mp4",
        "videos/0002/101.mp4",
        "videos/0002/102.mp4",
    )
    rows = "txt1,txt2,pth1,pth2,edit\nOld,Young,0001/101,0002/101,make her young\nOld,Young,102,0002/102,make it new\n"
    (tmp_path / "webvid8m-covr_test.csv").write_text(rows)
    dataset = load_covr(tmp_path)
    assert {
        name: path.relative_to(tmp_path).as_posix() for name, path in dataset.media.items()
    } == {
        "0001/101": "videos/0001/101.mp4",
        "0002/101": "videos/0002/101.mp4",
        "0002/102": "videos/0002/102.mp4",
    }
    assert len(dataset.samples) == 1
    assert any("videos/0001/102.mp4" in remark for remark in dataset.remarks)


def test_circo_ranks_unlabeled_images_alone(tmp_path: Path) -> None:
    touch(
        tmp_path,
        *(f"unlabeled2017/{number:012d}.jpg" for number in (7, 8, 9)),
        "train2017/000000000001.jpg",
    )
    entry = {
        "id": 0,
        "reference_img_id": 7,
        "relative_caption": "is red",
        "target_img_id": 8,
        "gt_img_ids": [8],
    }
    (tmp_path / "val.json").write_text(json.dumps([entry]))
    dataset = load_covr(tmp_path, "val")
    assert sorted(dataset.galleries[""]) == [f"{number:012d}" for number in (7, 8, 9)]
