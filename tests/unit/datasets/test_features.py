"""Features of videos from BigFile folders: of videos, of frames, and files that cannot be used."""

from pathlib import Path

import numpy as np
import pytest

from nt2vr.datasets.features import features_size, find_features, read_features
from nt2vr.errors import DatasetError
from tests.big_files import write_big_file

NAME = "pyresnext-101_rbps13k,flatten0_output,os"  # as published


def test_frames_are_averaged(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    counts = {"video1": 3, "video10": 1, "a_b": 5, "a": 2}
    names = [
        f"{video_id}_{number}" for video_id, count in counts.items() for number in range(count)
    ]
    order = rng.permutation(len(names))
    folder = tmp_path / "FeatureData" / NAME
    rows = {names[row]: rng.normal(size=7).astype(np.float32) for row in order}
    write_big_file(folder, {name: row.tolist() for name, row in rows.items()})
    features = read_features(tmp_path, NAME, [*counts, "video2"])
    assert (features.name, features.size, features.of_video.keys()) == (NAME, 7, counts.keys())
    for video_id, row in features.of_video.items():
        expected = sum(
            rows[f"{video_id}_{number}"].astype(float) for number in range(counts[video_id])
        )
        np.testing.assert_allclose(row, expected / counts[video_id], rtol=1e-6)
    assert features_size(tmp_path, NAME) == 7


def test_a_videos_own_row_counts_before_its_frames(tmp_path: Path) -> None:
    rows = {
        "v_1": [1, 1],
        "v_1_0": [5, 5],
        "v_2": [3, 3],
        "v_x": [9, 9],
        "w_0": [2, 4],
        "w_1": [4, 8],
    }
    write_big_file(tmp_path / "mean", rows)
    found = read_features(tmp_path, "mean", ["v_1", "v", "w"]).of_video
    assert {video_id: row.tolist() for video_id, row in found.items()} == {
        "v": [3, 3],
        "w": [3, 6],
        "v_1": [1, 1],
    }


def test_features_are_found_by_name_anywhere_below_the_dataset(tmp_path: Path) -> None:
    captions = tmp_path / "captions.csv"
    captions.write_text("video_id,caption\n", encoding="utf-8")
    deep = write_big_file(tmp_path / "some" / "where" / "mean", {"v": [1]})
    assert find_features(captions, "mean") == find_features(f"folder:{tmp_path}", "mean") == deep
    shallow = write_big_file(tmp_path / "z" / "mean", {"v": [2]})
    assert find_features(tmp_path, "mean") == shallow
    for name in ("resnet", "../mean", "where/mean", ""):
        with pytest.raises(DatasetError, match="those there: mean"):
            find_features(tmp_path, name)
    with pytest.raises(DatasetError, match="is not there"):
        find_features(tmp_path / "nowhere", "mean")


@pytest.mark.parametrize(
    ("file", "content", "said"),
    [
        ("shape.txt", "3 2", "id.txt has 2 names for 3 rows"),
        ("shape.txt", "2 3", "feature.bin has 16 bytes, 2 rows of 3 numbers take 24"),
        ("shape.txt", "2", "must hold two numbers above 0, not '2'"),
        ("id.txt", "v", "id.txt has 1 names for 2 rows"),
        (
            "feature.bin",
            np.array([1, np.nan, 0, 0], "<f4").tobytes(),
            "numbers of 'v' are too large or not finite",
        ),
        (
            "feature.bin",
            np.array([3e38, 3e38, 0, 0], "<f4").tobytes(),
            "numbers of 'v' are too large or not finite",
        ),
        ("shape.txt", None, "No such file"),
    ],
)
def test_files_that_cannot_be_used_are_one_sentence(
    file: str, content: str | bytes | None, said: str, tmp_path: Path
) -> None:
    folder = write_big_file(tmp_path / "mean", {"v": [1, 2], "w": [3, 4]})
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DatasetError, match=said) as raised:
        read_features(tmp_path, "mean", ["v", "w"])
    sentence = str(raised.value)
    assert (
        sentence.startswith(f"{folder} cannot be used (")
        and "Expected features as W2VV++ publishes" in sentence
    )
    assert "\n" not in sentence and len(sentence) < 500
