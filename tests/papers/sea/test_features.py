"""Features of videos from BigFile folders: of videos, of frames, and files that cannot be used."""

from pathlib import Path

import numpy as np
import pytest

from nt2vr.datasets.video_inputs import read_vectors
from nt2vr.errors import DatasetError
from nt2vr.models.capabilities import VideoInputName
from nt2vr.papers.sea.features import Features, find_features
from tests.support.big_files import write_big_file

# The name under which they were published.
NAME = "pyresnext-101_rbps13k,flatten0_output,os"


def test_frames_are_averaged(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    counts = {"video1": 3, "video10": 1, "a_b": 5, "a": 2}
    names = []
    for video_id, count in counts.items():
        names += [f"{video_id}_{number}" for number in range(count)]
    order = rng.permutation(len(names))
    folder = tmp_path / "FeatureData" / NAME
    rows = {names[row]: rng.normal(size=7).astype(np.float32) for row in order}
    write_big_file(folder, {name: row.tolist() for name, row in rows.items()})
    name = VideoInputName("features", NAME)
    features = read_vectors(name, tmp_path, [*counts, "video2"])
    assert (features.name, features.width, features.of_video.keys()) == (name, 7, counts.keys())
    for video_id, row in features.of_video.items():
        expected = sum(
            rows[f"{video_id}_{number}"].astype(float) for number in range(counts[video_id])
        )
        np.testing.assert_allclose(row, expected / counts[video_id], rtol=1e-6)


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
    means = Features(tmp_path, "mean").read(["v_1", "v", "w"])
    assert {video_id: mean.tolist() for video_id, mean in means.items()} == {
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
        with pytest.raises(DatasetError, match="mean"):
            find_features(tmp_path, name)
    with pytest.raises(DatasetError, match="nowhere"):
        find_features(tmp_path / "nowhere", "mean")


def test_features_of_one_name_in_two_collections_are_refused(tmp_path: Path) -> None:
    for folder in ("a/features/clip", "b/features/clip", "c/features/other"):
        write_big_file(tmp_path / folder, {"v": [1]})
    with pytest.raises(DatasetError, match=r"a/features/clip.*b/features/clip"):
        find_features(tmp_path, "clip")
    assert find_features(tmp_path, "other") == tmp_path / "c/features/other"


@pytest.mark.parametrize(
    ("file", "content", "problem"),
    [
        ("shape.txt", "3 2", "id.txt .*2 .*3 "),
        ("shape.txt", "2 3", "feature.bin .*16 .*24"),
        ("shape.txt", "2", "shape.txt|2"),
        ("id.txt", "v", "id.txt .*1 .*2 "),
        (
            "feature.bin",
            np.array([1, np.nan, 0, 0], "<f4").tobytes(),
            "'v'",
        ),
        (
            "feature.bin",
            np.array([3e38, 3e38, 0, 0], "<f4").tobytes(),
            "'v'",
        ),
        ("shape.txt", None, "shape.txt"),
    ],
)
def test_files_that_cannot_be_used_are_one_sentence(
    file: str, content: str | bytes | None, problem: str, tmp_path: Path
) -> None:
    folder = write_big_file(tmp_path / "mean", {"v": [1, 2], "w": [3, 4]})
    (folder / file).unlink()
    if content is not None:
        (folder / file).write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(DatasetError, match=problem) as raised:
        Features(tmp_path, "mean").read(["v", "w"])
    sentence = str(raised.value)
    assert sentence.startswith(f"{folder} cannot be used (")
    assert "Expected features as W2VV++ publishes" in sentence
    assert "\n" not in sentence
    assert len(sentence) < 500
