"""Readers of covr's datasets, on small files of their form, and their measures end to end."""

import csv
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from nt2vr.errors import DatasetError
from nt2vr.evaluation.benchmark_kinds import Places
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.papers.covr.data import CovrData
from nt2vr.papers.covr.datasets import CovrSample, load_covr
from nt2vr.papers.covr.file_benchmark import covr_files
from nt2vr.progress import silent
from tests.support.tiny_models import write_tiny


def pictures(folder: Path, *names: str) -> None:
    for number, name in enumerate(names):
        path = folder / f"{name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", (32, 32), (40 * number, 200 - 40 * number, 90)).save(path)


def write_covr(folder: Path) -> None:
    pictures(folder, "videos/0001_0050/101", "videos/0001_0050/102")
    with (folder / "webvid8m-covr_test.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["txt1", "txt2", "pth1", "pth2", "edit"])
        rows.writerow(
            ["Old woman", "Young woman", "0001_0050/101", "0001_0050/102", "make her young"]
        )


def write_cirr(folder: Path) -> None:
    names = [f"dev-{number}" for number in range(6)]
    pictures(folder / "dev", *names)
    (folder / "split.rc2.val.json").write_text(
        json.dumps({name: f"./dev/{name}.png" for name in names})
    )
    entry = {
        "pairid": 1,
        "reference": "dev-0",
        "target_hard": "dev-1",
        "target_soft": {"dev-1": 1.0},
        "caption": "no dog",
        "img_set": {"id": 3, "members": names[:4]},
    }
    (folder / "cap.rc2.val.json").write_text(json.dumps([entry]))


def write_fashion(folder: Path) -> None:
    pictures(folder / "images", "B1", "B2", "B3")
    (folder / "split.dress.val.json").write_text(json.dumps(["B1", "B2", "B3"]))
    entry = {"candidate": "B1", "target": "B2", "captions": ["is darker", "has no sleeves."]}
    (folder / "cap.dress.val.json").write_text(json.dumps([entry]))


def write_circo(folder: Path) -> None:
    pictures(folder / "unlabeled2017", *(f"{number:012d}" for number in (7, 8, 9, 10)))
    entry = {
        "id": 0,
        "reference_img_id": 7,
        "relative_caption": "is red",
        "shared_concept": "a kite",
    }
    candidates = {
        "target_img_id": 8,
        "gt_img_ids": [8, 9],
        "semantic_aspects": ["cardinality", "negation"],
    }
    (folder / "val.json").write_text(json.dumps([entry | candidates]))


WEBVID = ("0001_0050/101", "make her young", ("0001_0050/102",), "WebVid-CoVR", "0")
CIRCO = ("000000000007", "is red", ("000000000008", "000000000009"), "CIRCO", "0")
DRESS = ("B1", "is darker and has no sleeves", ("B2",), "dress", "dress-0")
CIRR = ("dev-0", "no dog", ("dev-1",), "CIRR", "1")
CASES: dict[str, tuple[Callable[[Path], None], str, CovrSample, int]] = {
    "WebVid-CoVR": (
        write_covr,
        "test",
        CovrSample(*WEBVID, caption="Young woman", before="Old woman"),
        2,
    ),
    "CIRR": (write_cirr, "val", CovrSample(*CIRR, subset=("dev-1", "dev-2", "dev-3")), 6),
    "FashionIQ": (write_fashion, "val", CovrSample(*DRESS, gallery="dress"), 3),
    "CIRCO": (
        write_circo,
        "val",
        CovrSample(*CIRCO, target="000000000008", labels=("cardinality", "negation")),
        4,
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_dataset_is_read_in_its_published_form(tmp_path: Path, name: str) -> None:
    write, split, sample, num_files = CASES[name]
    write(tmp_path)
    dataset = load_covr(tmp_path, split)
    assert dataset.samples == (sample,)
    assert dataset.name == f"{name}, {split}"
    assert len(dataset.media) == num_files


def test_missing_splits_galleries_and_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=str(tmp_path)):
        load_covr(tmp_path)
    write_fashion(tmp_path)
    with pytest.raises(DatasetError, match="test"):
        load_covr(tmp_path, "test")
    for picture in (tmp_path / "images").iterdir():
        picture.unlink()
    with pytest.raises(DatasetError, match="FashionIQ, val"):
        load_covr(tmp_path, "val")
    write_fashion(tmp_path)
    (tmp_path / "images" / "B3.png").unlink()
    assert load_covr(tmp_path, "val").remarks == (
        "1 of the 3 files to rank are missing, which raises all figures.",
    )
    (tmp_path / "split.dress.val.json").write_text("[]")
    with pytest.raises(DatasetError, match="1 "):
        load_covr(tmp_path, "val")
    (tmp_path / "split.dress.val.json").write_text("[5]")
    with pytest.raises(DatasetError, match="5 "):
        load_covr(tmp_path, "val")


@pytest.mark.parametrize("name", ["CIRR", "CIRCO"])
def test_a_dataset_is_evaluated_end_to_end(tmp_path: Path, name: str, decoder: Decoder) -> None:
    write, split, _, _ = CASES[name]
    write(tmp_path / "data")
    write_tiny(tmp_path / "model")
    encoder = read_checkpoint(tmp_path / "model")
    with Cache(tmp_path / "cache") as cache:
        benchmark = covr_files(load_covr(tmp_path / "data", split), decoder, cache)
        results = benchmark.measure(encoder, benchmark.systems_of(encoder))
    metrics = benchmark.report(results).metrics
    assert np.isfinite(
        [value for of_system in metrics.values() for value in of_system.values()]
    ).all()
    assert (f"{name}/subset R@1" in metrics["tiny sum"]) == (name == "CIRR")
    assert (f"{name}/mAP@10" in metrics["tiny sum"]) == (name == "CIRCO")
    # The reference itself is not ranked, so a right one is found.
    assert metrics["tiny picture"][f"{name}/R@50"] == 100


def test_unreadable_files_are_left_out_of_gallery_and_queries(
    tmp_path: Path, decoder: Decoder
) -> None:
    write_cirr(tmp_path / "data")
    write_tiny(tmp_path / "model")
    encoder = read_checkpoint(tmp_path / "model")
    data = CovrData(str(tmp_path / "data"), "val")
    (tmp_path / "data" / "dev" / "dev-3.png").write_bytes(b"no picture")
    with Cache(tmp_path / "cache") as cache:
        places = Places(tmp_path, decoder, cache)
        benchmark = data.load(encoder, places, silent)
        (remark,) = benchmark.source["remarks"]
        assert remark.startswith("1 of 6 videos cannot be read: dev-3 (")
        assert "0 of 1 queries" in remark
        assert "dev-3" not in benchmark.clip_ids
        assert len(benchmark.embedded_queries(encoder).clips) == 5
        # It is the only answer.
        (tmp_path / "data" / "dev" / "dev-1.png").write_bytes(b"no picture")
        with pytest.raises(
            DatasetError,
            match=r"CIRR, val .*dev-1 \(",
        ):
            data.load(encoder, places, silent)
