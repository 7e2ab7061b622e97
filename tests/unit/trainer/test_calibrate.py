"""What `python -m trainer.calibrate` writes into a card, on fewer clips."""

from pathlib import Path

import numpy as np
import pytest

from nt2vr.evaluation.measures import summarise
from nt2vr.models.card import read_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.progress import silent
from nt2vr.search.strategies import System
from tests.support.tiny_models import write_tiny
from trainer import calibrate


def test_strengths_and_the_low_score_are_chosen_on_validation_clips(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(calibrate, "GRIDS", {"anchored": (0.0, 1.0, 4.0), "spherical": (0.8, 1.0)})
    monkeypatch.setattr(calibrate, "WEIGHTS", (0.5, 2.0))
    monkeypatch.setattr(calibrate, "DEVIATIONS", (0.0, 1.0))
    write_tiny(tmp_path / "tiny")
    benchmark = calibrate.validation_queries(tmp_path, 60)
    before = read_card(tmp_path / "tiny")
    calibrate.calibrate(tmp_path / "tiny", benchmark, calibrate.typed_queries(60))
    card = read_card(tmp_path / "tiny")
    encoder = read_checkpoint(tmp_path / "tiny")
    assert before.exclusion == {}
    assert card.exclusion.keys() == {"lambda", "t", "beta", "tau"}

    media = benchmark.embed(encoder, silent)
    strengths = (0.0, 1.0, 4.0)
    scores = []
    for strength in strengths:
        (result,) = benchmark.measure(encoder, [System(encoder.name, "anchored", strength)], media)
        metrics = summarise(benchmark.queries, result.measured)
        mir = metrics["composed/MIR"]
        pairs = metrics["composed/hard_pairs"] / 100
        # The harmonic mean of both.
        scores.append(2 * mir * pairs / (mir + pairs))
    assert card.exclusion["lambda"] == strengths[np.argmax(scores)]

    captions = [query.text for query in benchmark.queries if query.kind == "original"]
    assert len(captions) == 60
    best_scores = (encoder.encode_text(captions) @ media.vectors.T).max(axis=1)
    lowest, second, *_ = sorted(best_scores)
    assert lowest <= card.metrics["validation/low_score"] <= second + 1e-4
