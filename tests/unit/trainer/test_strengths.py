"""λ, t, and τ with α, chosen by `python -m trainer.strengths`, on fewer clips."""

from dataclasses import replace
from pathlib import Path

import pytest

import trainer.strengths
from nt2vr.evaluation.measures import summarise
from nt2vr.evaluation.protocol import ask
from nt2vr.models.card import read_card, write_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.progress import silent
from nt2vr.search.systems import System
from tests.tiny import write_tiny

LAMBDAS, TS = (0.5, 1.0, 2.0, 4.0), (0.8, 0.95, 1.0)
WEIGHTS, DEVIATIONS = (0.5, 2.0), (0.0, 1.0)


def test_the_best_strengths_on_validation_join_what_the_card_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trainer.strengths, "GRIDS", {"anchored": LAMBDAS, "spherical": TS})
    monkeypatch.setattr(trainer.strengths, "WEIGHTS", WEIGHTS)
    monkeypatch.setattr(trainer.strengths, "DEVIATIONS", DEVIATIONS)
    before = replace(write_tiny(tmp_path / "tiny"), notes="Weak.", exclusion={"anchor": ["a dog"], "t": 0.1})
    write_card(tmp_path / "tiny", before)
    benchmark = trainer.strengths.validation_queries(tmp_path, 60)
    assert {query.kind for query in benchmark.queries} == {"composed"}
    trainer.strengths.update(tmp_path / "tiny", benchmark)
    card = read_card(tmp_path / "tiny")
    assert replace(card, exclusion=before.exclusion) == before

    encoder = read_checkpoint(tmp_path / "tiny")
    videos = benchmark.embed(encoder, silent)

    def mean(strategy: str, strength: float) -> float:
        (measured,) = ask(encoder, [System("tiny", strategy, strength)], videos, benchmark)
        metrics = summarise(benchmark.queries, measured)
        mir, pairs = metrics["composed/MIR"], metrics["composed/hard_pairs"] / 100
        return 2 * mir * pairs / (mir + pairs)

    parts = sorted({part for query in benchmark.queries for part in query.unwanted})
    shown = encoder.encode_text(parts) @ videos.T
    means: dict[tuple[float, float], float] = {}
    for tau in (round(float(shown.mean() + share * shown.std(axis=1).mean()), 3) for share in DEVIATIONS):
        encoder.card = replace(encoder.card, exclusion={**encoder.card.exclusion, "tau": tau})
        means |= {(tau, weight): mean("rectified", weight) for weight in WEIGHTS}
    tau, weight = max(means, key=lambda chosen: (means[chosen], chosen[1], chosen[0]))
    assert card.exclusion == {
        "anchor": ["a dog"],
        "tau": tau,
        "beta": weight,
        "lambda": max(LAMBDAS, key=lambda strength: mean("anchored", strength)),
        "t": max(TS, key=lambda strength: mean("spherical", strength)),
    }
