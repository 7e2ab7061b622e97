"""Galleries, measures and submissions of the published datasets, by hand, with embeddings from elsewhere."""

import csv
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nt2vr.errors import ConfigError, DatasetError, Nt2vrError
from nt2vr.evaluation.tables import markdown
from nt2vr.models.precomputed import write_embeddings
from nt2vr.papers.covr.api import evaluate_covr, submit_covr
from nt2vr.papers.covr.data import CovrData

# Scores of each query, by its id, with all media.
Scores = Mapping[str, Sequence[float]]


@pytest.fixture
def data(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    return tmp_path / "data"


def write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content))


def model_with(folder: Path, media: Sequence[str], scores: Scores) -> Path:
    """Write a model for which the cosines of a query are proportional to the given scores."""
    np.savez(
        folder / "vectors.npz",
        video_ids=np.array(media),
        videos=np.eye(len(media), dtype=np.float32),
        queries=np.array(list(scores)),
        texts=np.array(list(scores.values()), np.float32),
    )
    write_embeddings(folder / "vectors.npz", folder / "model", "given")
    return folder / "model"


def metrics_of(
    tmp_path: Path, data: CovrData, media: Sequence[str], scores: Scores
) -> dict[str, float]:
    evaluation = evaluate_covr(model_with(tmp_path, media, scores), data, tmp_path / "app", "cpu")
    return dict(evaluation.report.metrics["given as given"])


def write_fashion(data: Path, targets: bool = True) -> None:
    split = "val" if targets else "test"
    for kind, first in (("dress", "D"), ("shirt", "S")):
        write(data / f"split.{kind}.{split}.json", [f"{first}{number}" for number in range(3)])
        entry = {"candidate": f"{first}0", "captions": ["is red", "has dots"]}
        write(
            data / f"cap.{kind}.{split}.json",
            [entry | ({"target": f"{first}1"} if targets else {})],
        )


def test_fashion_iq_ranks_within_its_kind_without_the_reference(tmp_path: Path, data: Path) -> None:
    write_fashion(data)
    media = ["D0", "D1", "D2", "S0", "S1", "S2"]
    scores = {"dress-0": [0.8, 0.7, 0.1, 0, 0.9, 0], "shirt-0": [0.9, 0, 0, 0, 0.5, 0.6]}
    metrics = metrics_of(tmp_path, CovrData(str(data), "val"), media, scores)
    assert metrics["dress/R@1"] == 100
    assert (metrics["shirt/R@1"], metrics["shirt/R@5"]) == (0, 100)
    assert metrics["all kinds/R@1"] == 50


def test_webvid_covr_ranks_its_targets_without_the_own_reference(
    tmp_path: Path, data: Path
) -> None:
    with (data / "webvid8m-covr_test.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["txt1", "txt2", "pth1", "pth2", "edit"])
        rows.writerows([["a", "b", "0/1", "0/2", "more"], ["c", "a", "0/3", "0/1", "less"]])
    scores = {"0": [0.8, 0.7, 0.9], "1": [0.5, 0.6, 0.9]}
    data_of = CovrData(str(data))
    evaluation = evaluate_covr(
        model_with(tmp_path, ["0/1", "0/2", "0/3"], scores), data_of, tmp_path / "app", "cpu"
    )
    (result,) = evaluation.report.results
    assert result.measured.ranks.tolist() == [1, 2]
    assert len(evaluation.report.video_ids) == 2


def circo(number: int) -> str:
    return f"{number:012d}"


def test_circo_counts_the_target_and_every_match(tmp_path: Path, data: Path) -> None:
    entry = {
        "reference_img_id": 7,
        "target_img_id": 8,
        "relative_caption": "no cat",
        "gt_img_ids": [8, 9],
    }
    first = entry | {"id": 0, "semantic_aspects": ["cardinality", "negation"]}
    write(data / "val.json", [first, entry | {"id": 1, "semantic_aspects": ["cardinality"]}])
    media = [circo(number) for number in (7, 8, 9)]
    scores = {"0": [0.9, 0.5, 0.8], "1": [0.1, 0.9, -0.5]}
    evaluation = evaluate_covr(
        model_with(tmp_path, media, scores), CovrData(str(data), "val"), tmp_path / "app", "cpu"
    )
    metrics = evaluation.report.metrics["given as given"]
    assert (metrics["CIRCO/R@1"], metrics["CIRCO/mAP@10"], metrics["negation/R@1"]) == (50, 100, 0)
    rows = [line.split(" | ")[0] for line in markdown(evaluation.report).splitlines()]
    assert rows[-4:-2] == ["| negation", "| cardinality"]


def write_cirr(data: Path, split: str, targets: bool) -> list[str]:
    names = [f"p{number}" for number in range(7)]
    write(data / f"split.rc2.{split}.json", {name: f"./{name}.png" for name in names})
    entries = [
        {
            "pairid": 12063 + place,
            "reference": "p0",
            "caption": "no dog",
            "img_set": {"id": 1, "members": names[:4]},
        }
        for place in range(2)
    ]
    write(
        data / f"cap.rc2.{split}.json",
        [e | ({"target_hard": "p1"} if targets else {}) for e in entries],
    )
    return names


CIRR_SCORES = {
    "12063": [0.9, 0.8, 0.1, 0.2, 0.3, 0.4, 0.7],
    "12064": [0, 0.1, 0.9, 0.2, 0.3, 0.4, 0.5],
}


def test_cirr_has_the_mean_of_both_its_measures(tmp_path: Path, data: Path) -> None:
    names = write_cirr(data, "val", True)
    # Ranks 1 and 6; 1 and 3 of three.
    metrics = metrics_of(tmp_path, CovrData(str(data), "val"), names, CIRR_SCORES)
    assert (metrics["CIRR/R@5"], metrics["CIRR/subset R@1"], metrics["CIRR/subset R@3"]) == (
        50,
        50,
        100,
    )
    assert metrics["CIRR/mean of R@5 and subset R@1"] == 50


def test_cirr_s_submission_has_both_files_its_server_expects(tmp_path: Path, data: Path) -> None:
    names = write_cirr(data, "test1", False)
    model = model_with(tmp_path, names, CIRR_SCORES)
    files = submit_covr(
        model, CovrData(str(data), "test"), tmp_path / "cirr.json", data_dir=tmp_path / "app"
    )
    assert [file.name for file in files] == ["cirr.json", "cirr_subset.json"]
    assert json.loads(files[0].read_text()) == {
        "version": "rc2",
        "metric": "recall",
        "12063": ["p1", "p6", "p5", "p4", "p3", "p2"],
        "12064": ["p2", "p6", "p5", "p4", "p3", "p1"],
    }
    assert json.loads(files[1].read_text()) == {
        "version": "rc2",
        "metric": "recall_subset",
        "12063": ["p1", "p3", "p2"],
        "12064": ["p2", "p3", "p1"],
    }


def test_a_split_without_targets_is_not_measured_and_says_why(tmp_path: Path, data: Path) -> None:
    write_fashion(data, targets=False)
    media = ["D0", "D1", "D2", "S0", "S1", "S2"]
    model = model_with(tmp_path, media, {"dress-0": [1] * 6, "shirt-0": [1] * 6})
    with pytest.raises(DatasetError, match="FashionIQ, test") as refused:
        evaluate_covr(model, CovrData(str(data)), tmp_path / "app", "cpu")
    assert "val" in str(refused.value)
    with pytest.raises(ConfigError):
        submit_covr(model, CovrData(str(data)), tmp_path / "x.json", data_dir=tmp_path / "app")


@pytest.mark.parametrize(
    ("names", "scores", "reason"),
    [
        (["p0", "p1"], {"12063": [1, 1], "12064": [1, 1]}, "5 of the 7"),
        (None, {"12063": CIRR_SCORES["12063"]}, "12064"),
        (["other"], {"12063": [1]}, "CIRR, test"),
    ],
    ids=["a part of the gallery", "no such query", "none of the gallery"],
)
def test_what_a_submission_lacks_is_named(
    tmp_path: Path, data: Path, names: list[str] | None, scores: Scores, reason: str
) -> None:
    everything = write_cirr(data, "test1", False)
    model = model_with(tmp_path, names or everything, scores)
    with pytest.raises(Nt2vrError, match=reason):
        submit_covr(model, CovrData(str(data)), tmp_path / "cirr.json", data_dir=tmp_path / "app")
    assert not (tmp_path / "cirr.json").exists()
