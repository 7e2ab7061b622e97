"""A report of pictures plus texts, as versions before the common archive stored them."""

import json
from pathlib import Path
from typing import Any

from nt2vr.files import with_schema
from nt2vr.world.sampling import sample_scenes

METRICS = {"R@1": 50.0, "R@5": 60.0, "R@10": 70.0, "R@50": 80.0}
# System -> the rank of each query.
RANKS = {
    "picture": (9, 1, 1),
    "parts": (4, 10, 1),
    "sum": (5, 5, 5),
    "fusion": (2, 1, 3),
    "caption": (1, 1, 1),
}
QUERIES = (
    ("add prop", "add a cake"),
    ("remove actor", "without the dog"),
    ("remove prop", "no cake"),
)
# System -> R@1 and violations@5 of what is removed.
RECALL_AND_VIOLATIONS = {
    "picture": (100, 99),
    "parts": (20, 40),
    "sum": (10, 0),
    "fusion": (60, 10),
}


def _metrics_by_kind(recall: float, violations: float) -> dict[str, dict[str, float]]:
    removal = {**METRICS, "R@1": recall, "violations@5": violations}
    return {
        "remove actor": removal,
        # What is added violates nothing.
        "add prop": METRICS,
        "remove prop": removal,
        "all kinds": removal,
        "seen wordings": removal,
    }


def write_covr_file(folder: Path, name: str = "world", **changed: Any) -> Path:
    """Write a report of three queries about one scene; `changed` replaces values."""
    (scene,) = sample_scenes("test", 1, 0)
    rows = []
    for number, (kind, text) in enumerate(QUERIES):
        row_ranks = {system: ranks[number] for system, ranks in RANKS.items()}
        reference = {"scene": scene.to_dict()}
        rows.append({"kind": kind, "text": text, "reference": reference, "ranks": row_ranks})
    metrics = {}
    for system in RANKS:
        recall, violations = RECALL_AND_VIOLATIONS.get(system, (100, 0))
        metrics[system] = _metrics_by_kind(recall, violations)
    data = {
        "name": name,
        "model": "CLIP",
        "source": {"data": "built-in world"},
        "systems": metrics,
        "rows": rows,
        "clips": 30,
        "created": "2026-11-22T10:00:00+00:00",
    }
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}-clip-0123456789ab.json"
    path.write_text(json.dumps(with_schema(data | changed)))
    return path
