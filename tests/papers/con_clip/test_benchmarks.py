"""CC-Neg's own file, made small."""

import argparse
import os
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from nt2vr.evaluation import tasks
from nt2vr.evaluation.tasks import is_task, task_benchmark
from nt2vr.media.decode import Decoder
from nt2vr.media.store import Cache
from nt2vr.papers.con_clip import benchmarks
from tests.support.running import here

PICTURES = ("000000000001.jpg", "000000000002.jpg")


class Making:
    """Makes a folder when it is unpickled."""

    def __init__(self, folder: Path) -> None:
        self.folder = str(folder)

    def __setstate__(self, state: dict[str, str]) -> None:
        os.mkdir(state["folder"])


def write_cc_neg(path: Path) -> None:
    """Write ccneg_preprocessed.pt as CoN-CLIP's data sets read it."""
    rows = [
        ("/workspace/cc3m/000000000001.jpg", "a cat, on a mat", "a cat, not on a mat"),
        ("/workspace/cc3m/000000000001.jpg", "a cat, on a mat", "a cat, not on a mat"),
        ("/workspace/cc3m/000000000002.jpg", "a man with a hat", "a man without a hat, but a shoe"),
    ]
    content = {
        "image_paths": [picture for picture, _, _ in rows],
        "annotations": [
            {
                "json": {"caption": caption, "url": "u"},
                "sop_data": {"negative-prompt": foil, "subject": "a"},
            }
            for _, caption, foil in rows
        ],
        "num_ops": {1: [0, 1], 2: [2]},
        "args": argparse.Namespace(made=Making(path.parent / "it ran")),
    }
    torch.save(content, path)


def test_cc_neg_is_read_by_comma_cue_and_pairs(
    tmp_path: Path,
    write_video: Callable[..., Path],
    decoder: Decoder,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (tmp_path / "pictures").mkdir()
    for name in PICTURES:
        (tmp_path / "pictures" / name).write_bytes(write_video("a.avi", [0]).read_bytes())
    monkeypatch.setattr(tasks, "run_limited", here)
    monkeypatch.setattr(benchmarks, "TEST_SIZE", 2)
    file = tmp_path / "ccneg_preprocessed.pt"
    write_cc_neg(file)
    assert is_task(file)
    with Cache(tmp_path.parent / f"{tmp_path.name}-cache") as cache:
        benchmark = task_benchmark(file, decoder, cache)
    assert not (tmp_path / "it ran").exists()
    questions = []
    for query in benchmark.queries:
        wrong_texts = [benchmark.texts[row] for row in query.others]
        video_id = benchmark.video_ids[query.relevant[0]]
        questions.append((query.text, wrong_texts, video_id, query.group))
    assert questions == [
        (
            "a cat, on a mat",
            ["a cat not on a mat"],
            "/workspace/cc3m/000000000001.jpg",
            "not; with a comma; 1 pairs",
        ),
        (
            "a man with a hat",
            ["a man without a hat but a shoe"],
            "/workspace/cc3m/000000000002.jpg",
            "without; without a comma; 2 pairs",
        ),
    ]
