"""Runs that train a fusion: on mined triplets, stopped and resumed, refused in one sentence, and searched with."""

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from nt2vr.errors import ConfigError
from nt2vr.media.decode import Decoder
from nt2vr.media.gallery import Gallery, Video
from nt2vr.media.store import Cache
from nt2vr.models.card import WEIGHTS, read_card
from nt2vr.models.catalog import Catalog
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.negation.parse.query import understand
from nt2vr.negation.parse.tagger import load_tagger
from nt2vr.papers.covr import world_triplets
from nt2vr.papers.covr.compositions import CompositionWeights
from nt2vr.papers.covr.datasets import load_covr
from nt2vr.papers.covr.embedded_queries import vectors_of
from nt2vr.papers.covr.file_benchmark import covr_files
from nt2vr.papers.covr.fusion import Fusion
from nt2vr.papers.covr.world_benchmark import covr_world
from nt2vr.presets import preset_files
from nt2vr.search.embed_clips import embed_gallery
from nt2vr.search.embed_query import embed_query
from nt2vr.search.references import Reference
from nt2vr.training import Training
from tests.support.tiny_models import write_tiny
from tests.support.trainings import run_training
from tests.support.triplet_files import write_triplets
from trainer.config import TrainConfig, load_config, save_config
from trainer.runs.run_folder import RunFolder, read_metrics


@pytest.fixture
def config(tmp_path: Path) -> TrainConfig:
    write_tiny(tmp_path / "models" / "tiny", resnet=True)
    write_triplets(tmp_path / "triplets")
    changes = {"base": str(tmp_path / "models" / "tiny"), "data": str(tmp_path / "triplets")}
    return load_config(
        preset_files()["fusion"], {**changes, "batch_size": 8, "epochs": 3, "log_every": 1}
    )


def fusion_of(encoder: Encoder) -> Fusion:
    fusion = encoder.composers["fusion"]
    assert isinstance(fusion, Fusion)
    return fusion


def rows_of(run: RunFolder) -> list[dict[str, float]]:
    return read_metrics(run.metrics)


@pytest.mark.slow
def test_a_run_trains_the_fusion_that_search_then_has(config: TrainConfig, tmp_path: Path) -> None:
    run = run_training(config, tmp_path / "runs" / "mine")
    rows = rows_of(run)
    folder = run.checkpoint(3)
    base = config.encoder.base_folder
    assert base
    assert "parts/fusion/R@1" in rows[0]
    epochs = [row for row in rows if row["epoch"] > 0 and "fusion/R@1" in row]
    assert [row["epoch"] for row in epochs] == [1, 2, 3]
    steps = [row for row in rows if "hn_nce" in row]
    assert steps[-1]["hn_nce"] < steps[0]["hn_nce"]
    card = read_card(folder)
    before = read_card(base)
    assert (card.name, card.base, card.training.epoch) == (config.encoder.name, "tiny", 3)
    assert card.metrics["validation/fusion/R@5"] == epochs[-1]["fusion/R@5"]
    assert (card.visual.fingerprint, card.text.fingerprint) == (
        before.visual.fingerprint,
        before.text.fingerprint,
    )
    entry = card.composers.entries["fusion"]
    assert "my-triplets" not in card.training.data
    assert "triplets" in entry["data"]
    encoder = read_checkpoint(folder, verify=True)
    assert fusion_of(encoder).fingerprint == entry["fingerprint"]
    # Nothing in the base has changed.
    assert not read_checkpoint(base).composers
    assert (folder / WEIGHTS).samefile(base / WEIGHTS)
    assert (run.path / "checkpoints" / "best.json").is_file()
    catalog = Catalog([], runs=tmp_path / "runs")
    assert catalog.find("mine").composers == catalog.find("mine · best").composers == ("fusion",)
    assert catalog.folder("mine") == folder


def test_a_notebook_draws_the_curve_of_a_fusion_s_loss(config: TrainConfig, tmp_path: Path) -> None:
    run = RunFolder(tmp_path)
    save_config(config, run.config)
    rows = [{"epoch": 1, "step": step, "hn_nce": 1 / step} for step in (1, 2)]
    run.metrics.write_text("\n".join(map(json.dumps, rows)))
    assert "hn_nce" in Training(tmp_path, "stopped")._repr_html_()


@pytest.mark.slow
@pytest.mark.parametrize("blocks", [0, 2])
def test_a_run_on_families_learns_from_all_their_queries(
    config: TrainConfig, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, blocks: int
) -> None:
    # Few clips to draw.
    monkeypatch.setattr(world_triplets, "covr_world", partial(covr_world, per_kind=1))
    settings = {"loss": "info_nce", "temperature": 0.02, "random_clips": 8, "blocks": blocks}
    config = config.replace(data="world", num_clips=4, batch_size=2, epochs=1, fusion=settings)
    run = run_training(config, tmp_path / "run")
    entry = read_card(run.checkpoint(1)).composers.entries["fusion"]
    assert entry["training"]["iterate"] == "families"
    assert {"fusion/R@1", "fusion/violations@5"} <= rows_of(run)[-1].keys()
    fusion = fusion_of(read_checkpoint(run.checkpoint(1), verify=True))
    assert bool(fusion.cross) == bool(blocks)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"batch_size": 64}, "has 36 distinct targets, fewer than batch_size (64). Lower it."),
        ({"data": "empty"}, "empty holds no dataset of pictures plus texts (covr)"),
        ({"data": "one"}, "of 1 triplets, none is left after a tenth of the targets is held out"),
        ({"data": "torn"}, "torn/triplets.jsonl cannot be used"),
    ],
)
def test_what_cannot_be_trained_on_fails_in_one_sentence(
    config: TrainConfig, tmp_path: Path, changes: dict[str, Any], problem: str
) -> None:
    line = {"reference": "a", "target": "b", "text": "a cat", "captions": ["a dog", "a cat"]}
    for name, content in (("empty", None), ("one", json.dumps(line)), ("torn", '{"reference": ')):
        (tmp_path / name).mkdir()
        for folder in "ab":
            Image.fromarray(np.zeros((8, 8, 3), np.uint8)).save(tmp_path / name / f"{folder}.png")
        if content is not None:
            (tmp_path / name / "triplets.jsonl").write_text(content)
    if "data" in changes:
        changes = {"data": str(tmp_path / changes["data"])}
    run = run_training(config.replace(**changes), tmp_path / "run", expected="failed")
    status = run.status()
    assert status
    assert status.error
    assert problem in status.error
    assert "\n" not in status.error


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"fusion": {}}, "train fusion"),
        ({"train": "text", "monitor": "original/R@1"}, "train fusion"),
        ({"losses": {"contrastive": {}}}, "losses"),
        ({"monitor": "original/R@1"}, "original/R@1"),
        ({"base": ""}, "base"),
        ({"fusion": {"steps": 3}}, "steps"),
        ({"fusion": {"loss": "bnl"}}, "info_nce.*hn_nce.*bnl"),
        ({"fusion": {"iterate": "families"}}, "fusion.iterate"),
        ({"data": "world", "fusion": {"iterate": "targets"}}, "fusion.iterate"),
    ],
)
def test_settings_that_cannot_go_together_are_one_sentence(
    config: TrainConfig, changes: dict[str, Any], problem: str
) -> None:
    with pytest.raises(ConfigError, match=problem):
        config.replace(**changes)
    with pytest.raises(ConfigError, match="fusion/R@1"):
        TrainConfig(monitor="fusion/R@1")


@pytest.mark.slow
def test_cross_attention_sees_the_same_in_training_and_search(
    config: TrainConfig, tmp_path: Path
) -> None:
    settings = {"loss": "hn_nce", "temperature": 0.1, "blocks": 2}
    config = config.replace(fusion=settings, epochs=2, learning_rate=1e-3)
    run = run_training(config, tmp_path / "runs" / "deep")
    card = read_card(run.checkpoint(2))
    encoder = read_checkpoint(run.checkpoint(2), verify=True)
    entry = card.composers.entries["fusion"]
    assert fusion_of(encoder).cross
    assert entry["blocks"] == 2
    assert entry["weights"] > 0
    dataset = load_covr(Path(config.dataset.data), "val")
    with Decoder(1) as decoder, Cache(tmp_path / "content") as cache:
        embedded = covr_files(dataset, decoder, cache).embedded_queries(encoder)
        videos = tuple(Video(name, path) for name, path in dataset.media.items())
        gallery = embed_gallery(Gallery("val", videos), encoder, decoder, cache)
    vectors = vectors_of(
        embedded, "fusion", CompositionWeights.of(card.composition), encoder.composers
    )
    for row, sample in enumerate(dataset.samples[:3]):
        query = understand(sample.text, load_tagger(), editing=True)
        reference = Reference(video_id=sample.reference)
        parts = embed_query(encoder, query, [reference], gallery)
        assert parts.combined
        np.testing.assert_allclose(parts.combined("fusion"), vectors[row], atol=1e-4)
        frame = decoder_frame(dataset.media[sample.reference])
        picture_query = embed_query(encoder, query, [Reference(frames=(frame,))], gallery)
        assert picture_query.combined
        # Once instead of twice.
        np.testing.assert_allclose(picture_query.combined("fusion"), vectors[row], atol=2e-2)
        assert not np.allclose(parts.combined("fusion"), parts.combined("parts"), atol=1e-3)


def decoder_frame(path: Path) -> Any:
    return np.asarray(Image.open(path).convert("RGB"))
