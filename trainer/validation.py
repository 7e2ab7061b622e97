"""Validation after each epoch: the evaluation's measures for one model, on held-out clips."""

from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nt2vr.evaluation.benchmark import Benchmark, JudgedQuery
from nt2vr.evaluation.measures import summarise
from nt2vr.evaluation.protocol import ask
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.encoder import Encoder
from nt2vr.progress import Progress, silent
from nt2vr.search.systems import System
from trainer.data.clips import Clips
from trainer.data.videos import embed_clips, embed_once

TRACKED = ("/MIR", "/delta_MIR", "/hard_pairs", "/auc")  # of denying sentences; enough to follow a run
CONTROLS = {"base": "plain", "drop": "drop", "boolean": "boolean"}  # metric prefix -> search strategy


def validate(encoder: Encoder, clips: Clips, videos: NDArray[np.float32] | None = None) -> dict[str, float]:
    """Search the clips with one caption per clip and with denying sentences.

    Args:
        videos: (N, D), L2-normalised clip embeddings; computed if None.

    Returns:
        Measures of `summarise`: every "original/" one, and for denying sentences "/MIR", "/delta_MIR", "/hard_pairs"
        and "/auc"; for datasets only "original/" and "negated/delta_MIR".
    """
    videos = embed_clips(encoder, clips) if videos is None else videos
    return _measured(encoder, clips, videos, ["plain"])[0]


def control_metrics(base: Path, clips: Clips, device: str = "cpu", progress: Progress = silent) -> dict[str, float]:
    """Measure the starting model as it is ("base/") and with the control strategies "drop/" and "boolean/"."""
    encoder = read_checkpoint(base, device)
    measured = _measured(
        encoder, clips, embed_once(encoder, clips, progress=progress), list(CONTROLS.values()), progress
    )
    return {
        f"{control}/{name}": value
        for control, metrics in zip(CONTROLS, measured, strict=True)
        for name, value in metrics.items()
        if control == "base" or not name.startswith("original/")  # captions score the same under every strategy
    }


def _measured(
    encoder: Encoder, clips: Clips, videos: NDArray[np.float32], strategies: Sequence[str], progress: Progress = silent
) -> list[dict[str, float]]:
    queries = _queries(clips)
    names = tuple(map(str, range(len(clips))))
    benchmark = Benchmark(clips.name or "clips", names, queries, lambda *_: videos, {})
    measured = ask(encoder, [System(encoder.name, strategy) for strategy in strategies], videos, benchmark, progress)
    return [_tracked(summarise(queries, values)) for values in measured]


def _tracked(metrics: dict[str, float]) -> dict[str, float]:
    """Drop the recalls and first-page measures of denying sentences, which only the evaluation reports."""
    return {name: value for name, value in metrics.items() if name.startswith("original/") or name.endswith(TRACKED)}


@lru_cache(maxsize=1)  # a run validates on the same clips after every epoch
def _queries(clips: Clips) -> tuple[JudgedQuery, ...]:
    return clips.sentences.queries()
