"""A fusion trained on a dataset's triplets: which are held out, what is right for whom, what a step draws."""

import json
import sys
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

from nt2vr.datasets.covr import CovrSample, CovrSet, load_covr
from nt2vr.errors import ConfigError, DatasetError
from nt2vr.evaluation.covr import CovrQuery, EmbeddedQueries
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.fusion import Fusion
from nt2vr.search.references import CovrVectors, Weights
from tests.tiny import write_tiny
from trainer.fusion.__main__ import main
from trainer.fusion.config import FusionConfig
from trainer.fusion.data import FusionData, triplets_of
from trainer.fusion.losses import hn_nce
from trainer.fusion.train import LOSSES, batches, train_fusion

DIM = 8
# reference, target, reference's caption, target's caption; clips c and e show the same
TRIPLETS = [
    ("a", "b", "a dog", "a cat"),
    ("a", "c", "a dog", "a cow"),
    ("d", "e", "a dog", "a cow"),
    ("b", "c", "a cat", "a cow"),
    ("e", "b", "a cow", "a cat"),
]
CLIPS = "abcde"


def write_triplets(folder: Path, count: int = 40) -> None:
    """Write pictures, and triplets that lead from each to the next two."""
    folder.mkdir()
    for number in range(count):
        Image.new("RGB", (32, 32), (6 * number, 200 - 4 * number, 90)).save(folder / f"v{number}.png")
    pairs = [(number, (number + step) % count) for number in range(count) for step in (1, 2)]
    lines = [
        {
            "reference": f"v{one}",
            "target": f"v{two}.png",
            "text": f"make it {two}",
            "captions": [f"a {one}", f"a {two}"],
        }
        for one, two in pairs
    ]
    (folder / "my-triplets.jsonl").write_text("\n".join(map(json.dumps, lines)))


def data_of(triplets: list[tuple[str, str, str, str]] = TRIPLETS, missing: str = "") -> FusionData:
    rng = np.random.default_rng(0)
    clips = rng.normal(size=(len(CLIPS), DIM)).astype(np.float32)
    clips /= np.linalg.norm(clips, axis=1, keepdims=True)
    clips[[CLIPS.index(each) for each in missing]] = 0
    samples = tuple(
        CovrSample(one, "x", (two,), "triplets", str(row), caption=after, before=before)
        for row, (one, two, before, after) in enumerate(triplets)
    )
    queries = tuple(CovrQuery("triplets", "x", CLIPS.index(one), (CLIPS.index(two),)) for one, two, _, _ in triplets)
    texts = rng.normal(size=(2, len(triplets), DIM)).astype(np.float32)
    pictures = clips[[CLIPS.index(one) for one, *_ in triplets]]
    embedded = EmbeddedQueries(queries, CovrVectors(pictures, texts[0], texts[0], texts[1]), texts[0], clips)
    return triplets_of(CovrSet("toy", samples, {}, {}), embedded)


def test_neither_video_of_a_training_triplet_is_held_out(tmp_path: Path) -> None:
    write_triplets(tmp_path / "data")
    training, held_out = (load_covr(tmp_path / "data", split) for split in ("train", "val"))
    taken = {sample.targets[0] for sample in held_out.samples}
    assert len(taken) == 4  # a tenth
    assert len(held_out.samples) == 8
    assert not taken & {name for sample in training.samples for name in (sample.reference, *sample.targets)}
    first = training.samples[0]
    assert (first.reference, first.targets, first.before) == ("v0", ("v1",), "a 0")
    assert load_covr(tmp_path / "data", "test").samples == held_out.samples
    (tmp_path / "data" / "my-triplets.jsonl").write_text('{"reference": "v0", "target": "v1"}')
    with pytest.raises(DatasetError, match="Expected JSON lines with reference, target, text and both captions"):
        load_covr(tmp_path / "data", "val")


def test_right_is_what_has_the_targets_caption_and_hard_what_shares_the_references() -> None:
    data = data_of()
    assert [list(rows) for rows in data.right] == [[1], [2, 4], [2, 4], [2, 4], [1]]
    assert data.sources is not None
    assert data.sources.tolist() == [0, 0, 0, 1, 2]
    assert data.targets.tolist() == [1, 2, 4, 2, 1]
    lost = data_of(missing="c")
    assert len(lost.targets) == 3  # two triplets lead to it
    with pytest.raises(DatasetError, match="toy has 1 triplets with a target"):
        data_of(TRIPLETS[:1])


def test_the_loss_is_that_of_the_papers_sets() -> None:
    data, config = data_of(), FusionConfig(loss="hn_nce", iterate="triplets", temperature=0.1)
    model, rows = Fusion(DIM, 1, 1), torch.arange(5)
    noisy, hard = torch.zeros(2, 5, 5, dtype=torch.bool)
    for i, (_, _, before, after) in enumerate(TRIPLETS):
        for j, (_, _, other_before, other_after) in enumerate(TRIPLETS):
            noisy[i, j] = i != j and after == other_after
            hard[i, j] = before == other_before and after != other_after
    queries = model(data.pictures, data.wanted[:, 0], data.unwanted[:, 0])
    expected = hn_nce(queries @ data.clips[data.targets].T, hard, noisy, 0.1) / 10
    torch.testing.assert_close(LOSSES["hn_nce"](model, data, rows, config), expected)


def test_a_step_draws_triplets_or_one_of_each_distinct_target() -> None:
    data, config = data_of(), FusionConfig(iterate="targets", steps=40, batch=3)
    drawn = [rows.tolist() for rows in batches(data, config)]
    assert all(sorted(data.targets[rows].tolist()) == [1, 2, 4] for rows in drawn)
    assert {row for rows in drawn for row in rows} == set(range(5))
    each = [rows.tolist() for rows in batches(data, replace(config, iterate="triplets", batch=2))]
    assert all(len(rows) == 2 for rows in each)
    for start in range(0, 40, 2):
        assert len({*each[start], *each[start + 1]}) == 4  # none twice before all were drawn
    with pytest.raises(ConfigError, match="batch must be at least 1"):
        replace(config, batch=0)


@pytest.mark.parametrize("loss", sorted(LOSSES))
def test_triplets_are_learnt(loss: str) -> None:
    config = FusionConfig(loss=loss, iterate="targets", batch=3, steps=200, learning_rate=0.02, temperature=0.1)  # type: ignore[arg-type]
    fusion, losses = train_fusion(data_of(), Weights(wanted=1, unwanted=1), config)
    assert losses[-1] < losses[0] / 2
    data = data_of()
    found = fusion(data.pictures, data.wanted[:, 0], data.unwanted[:, 0]) @ data.clips.T
    assert all(best in right for best, right in zip(found.argmax(dim=1).tolist(), data.right, strict=True))


def test_the_command_adds_a_fusion_trained_on_ones_own_triplets(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write_triplets(tmp_path / "data", 20)
    write_tiny(tmp_path / "model")

    def run(*flags: str) -> str:
        cache = str(tmp_path / "cache")
        monkeypatch.setattr(sys, "argv", ["fusion", str(tmp_path / "model"), "--cache", cache, "--steps", "3", *flags])
        main()
        return capsys.readouterr().out

    out = run("--data", str(tmp_path / "data"), "--batch", "4", "--loss", "hn_nce", "--weight-decay", "0.1")
    assert "validation/fusion/R@1:" in out and "validation/parts/R@1:" in out
    card = read_checkpoint(tmp_path / "model", verify=True).card
    assert card.fusion["data"].startswith("Mined triplets, train, ")
    given = {"iterate": "targets", "batch": 4, "steps": 3, "loss": "hn_nce", "weight_decay": 0.1}
    assert card.fusion["training"] == asdict(FusionConfig()) | given
    for flags, said in (
        (["--data", str(tmp_path / "nowhere")], "is not there"),
        (["--data", str(tmp_path / "data"), "--iterate", "families"], "families and weighed frames are the world's"),
    ):
        with pytest.raises(SystemExit):
            run(*flags)
        assert said in capsys.readouterr().err
