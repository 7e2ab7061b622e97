"""MSVD, DiDeMo, ActivityNet, LSMDC and BLIP's files in their published forms, made small."""

import json
import os
import pickle
from pathlib import Path
from typing import Any

import pytest

from nt2vr.datasets.load import load_dataset
from nt2vr.errors import DatasetError


def put(folder: Path, **files: Any) -> None:
    """Write files, "." in their names as "__": text, bytes, or data as JSON."""
    for name, content in files.items():
        path = folder / name.replace("__", ".")
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")


def media(folder: Path, *names: str) -> None:
    (folder / "videos").mkdir()
    for name in names:
        (folder / "videos" / name).touch()


def captions(folder: Path, split: Any = "test") -> dict[str, list[str]]:
    return {video.video_id: list(video.captions) for video in load_dataset(folder, split).videos}


SENTENCES = {"a_1_2": [["a", "dog", "runs"], ["it", "barks"]], "b_3_4": [["a", "cat"]], "c_5_6": [["a", "man"]]}
LINES = "# of the corpus\na_1_2 a dog runs\na_1_2 it barks\nb_3_4 a cat\nc_5_6 a man\n"


@pytest.mark.parametrize("form", ["CLIP4Clip's pickle", "a pickle of Python 2", "the corpus"])
def test_msvd_has_all_sentences_as_queries(tmp_path: Path, form: str) -> None:
    media(tmp_path, "a_1_2.avi", "b_3_4.avi", "c_5_6.avi")
    put(tmp_path, train_list__txt="c_5_6\n", val_list__txt="b_3_4\n", test_list__txt="a_1_2\n")
    if form == "the corpus":
        put(tmp_path, AllVideoDescriptions__txt=LINES)
    else:
        protocol = 2 if form == "a pickle of Python 2" else None
        (tmp_path / "raw-captions.pkl").write_bytes(pickle.dumps(SENTENCES, protocol))
    assert captions(tmp_path) == {"a_1_2": ["a dog runs", "it barks"]}
    assert captions(tmp_path, "validation") == {"b_3_4": ["a cat"]}
    assert load_dataset(tmp_path, "train").name == "MSVD"


class Making:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (self.folder,)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (pickle.dumps({"a": [["b", 3]]}), "3 is not a string"),
        (pickle.dumps([1]), "no attribute 'items'"),
        (pickle.dumps(SENTENCES)[:-9], "cannot be used"),
        (b"no pickle", "cannot be used"),
        (b"", "cannot be used"),
    ],
)
def test_a_pickle_of_something_else_is_refused(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "raw-captions.pkl").write_bytes(content)
    with pytest.raises(DatasetError, match="cannot be used") as caught:
        load_dataset(tmp_path)
    assert reason in str(caught.value)


def test_no_code_of_a_pickle_runs(tmp_path: Path) -> None:
    (tmp_path / "raw-captions.pkl").write_bytes(pickle.dumps({"a": Making(tmp_path / "it ran")}))
    with pytest.raises(DatasetError, match="mkdir, more than captions"):
        load_dataset(tmp_path)
    assert not (tmp_path / "it ran").exists()


def test_didemo_joins_a_videos_descriptions(tmp_path: Path) -> None:
    def entry(video: str, description: str) -> dict[str, Any]:
        return {"num_segments": 6, "description": description, "times": [[4, 4]], "video": video, "annotation_id": 1}

    media(tmp_path, "1@N01_a.mov", "2@N01_b.mp4", "3@N01_c.avi")
    test = [entry("1@N01_a.mov", "a bug."), entry("2@N01_b.mpg", "a man"), entry("1@N01_a.3gpp", "it runs")]
    put(tmp_path, test_data__json=test, train_data__json=[entry("3@N01_c.avi", "a hat")], val_data__json=[])
    assert captions(tmp_path) == {"1@N01_a": ["a bug. it runs"], "2@N01_b": ["a man"]}
    put(tmp_path, test_list__txt="2@N01_b.mpg\n")
    assert captions(tmp_path) == {"2@N01_b": ["a man"]}
    assert load_dataset(tmp_path, "test").name == "DiDeMo, paragraphs"


def test_activitynet_tests_paragraphs_on_val_1(tmp_path: Path) -> None:
    media(tmp_path, "v_abc.mp4", "def.mkv", "v_x-1.mp4")
    one = {"duration": 9.5, "timestamps": [[0, 4], [4, 9]], "sentences": ["A man sits. ", " He stands."]}
    two = {"duration": 5, "timestamps": [[0, 4]], "sentences": ["A dog."]}
    put(tmp_path, val_1__json={"v_abc": one, "v_def": two}, val_2__json={"v_abc": two}, train__json={"v_x-1": two})
    assert captions(tmp_path) == {"v_abc": ["A man sits. He stands."], "v_def": ["A dog."]}


def test_lsmdc_reads_lines_of_six_cells(tmp_path: Path) -> None:
    media(tmp_path, "1004_Juno_00.00.32.445-00.00.35.764.avi", "1005_Up_00.01-00.02.avi")
    line = "1004_Juno_00.00.32.445-00.00.35.764\t00:00\t00:01\t00:00\t00:01\tSomeone drinks.\n"
    other = line.replace("1004_Juno_00.00.32.445-00.00.35.764", "1005_Up_00.01-00.02")
    put(tmp_path, LSMDC16_challenge_1000_publictect__csv=line, LSMDC16_annos_training__csv=other + other)
    assert captions(tmp_path) == {"1004_Juno_00.00.32.445-00.00.35.764": ["Someone drinks."]}
    put(tmp_path, LSMDC16_annos_val__csv="a\tb\n")
    with pytest.raises(DatasetError, match="line 1 has 2 cells"):
        load_dataset(tmp_path)


def test_blips_files_name_a_picture_with_its_captions(tmp_path: Path) -> None:
    media(tmp_path, "000000391895.jpg", "COCO_train2014_000000000009.jpg")
    test = [{"image": "val2014/COCO_val2014_000000391895.jpg", "caption": ["a man", "a bike"]}]
    train = [
        {"caption": text, "image": "train2014/COCO_train2014_000000000009.jpg", "image_id": "coco_9"}
        for text in ("a", "b")
    ]
    put(tmp_path, coco_karpathy_test__json=test, coco_karpathy_train__json=train)
    assert captions(tmp_path) == {"COCO_val2014_000000391895": ["a man", "a bike"]}
    assert load_dataset(tmp_path, "test").name == "MS-COCO"
    assert captions(tmp_path, "all")["COCO_train2014_000000000009"] == ["a", "b"]


def test_blips_flickr30k_is_read(tmp_path: Path) -> None:
    media(tmp_path, "1007129816.jpg")
    put(tmp_path, flickr30k_test__json=[{"image": "flickr30k-images/1007129816.jpg", "caption": ["a hat"]}])
    assert captions(tmp_path) == {"1007129816": ["a hat"]}
    assert load_dataset(tmp_path, "test").name == "Flickr30k"
