"""Cards written by `python -m trainer.measure`, on fewer clips."""

from dataclasses import replace
from pathlib import Path

import pytest

import trainer.measure
from nt2vr.evaluation.built_in import world_benchmark
from nt2vr.models.card import read_card, write_card
from tests.tiny import write_tiny


def test_new_measures_replace_those_of_test_clips_alone_and_notes_stay_until_there_are_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        trainer.measure, "world_benchmark", lambda cache, **options: world_benchmark(cache, 30, **options)
    )
    monkeypatch.setattr(trainer.measure, "NUM_CLIPS", 60)
    folder, validation = tmp_path / "tiny", {"validation/original/MIR": 0.5}
    before = replace(write_tiny(folder), notes="Weak.", metrics={**validation, "test/no longer measured": 1.0})
    write_card(folder, before)

    trainer.measure.report(folder, tmp_path / "cache")
    card = read_card(folder)
    assert card.metrics.items() >= validation.items() and "test/no longer measured" not in card.metrics
    assert card.metrics["test/original/MIR"] < card.metrics["oracle/original/MIR"] <= 1  # its weights are random
    assert -1 <= card.metrics["validation/low_score"] <= 1
    assert replace(card, metrics=before.metrics) == before

    trainer.measure.report(folder, tmp_path / "cache", "Better.")
    assert read_card(folder) == replace(card, notes="Better.")
