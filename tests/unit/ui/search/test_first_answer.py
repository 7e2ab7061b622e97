"""The answer that ships with the page is what a search finds."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.first_answer import made
from nt2vr.models.catalog import Catalog
from nt2vr.services import Services
from nt2vr.settings import Settings
from nt2vr.ui.search.first_answer import fingerprint, shipped_views
from tests.support.tiny_models import write_tiny

AGAIN = "Make the answer again: python -m benchmarks.first_answer"


@pytest.fixture
def services(gallery_data: Path) -> Iterator[Services]:
    services = Services(Settings.read(gallery_data))
    yield services
    services.close()


def without_scores(views: Any) -> tuple[Any, list[float]]:
    """Return what is shown without the scores, whose last digit depends on the processor, and these."""
    scores = []
    columns = []
    for column in views["columns"]["columns"]:
        hits = []
        for hit in column["hits"]:
            scores.append(float(hit["score"]))
            hits.append({**hit, "score": ""})
        columns.append({**column, "hits": hits})
    return {**views, "columns": {**views["columns"], "columns": columns}}, scores


def test_the_shipped_answer_is_what_the_page_s_search_finds(services: Services) -> None:
    shipped = shipped_views(services.models)
    assert shipped is not None, AGAIN
    views, scores = without_scores(shipped)
    expected, expected_scores = without_scores(made(services))
    assert views == expected, AGAIN
    assert scores == pytest.approx(expected_scores, abs=0.0015), AGAIN


def test_an_answer_of_other_models_is_not_shown(services: Services, tmp_path: Path) -> None:
    write_tiny(tmp_path / "models" / "tiny", "CLIP")
    assert shipped_views(Catalog([tmp_path / "models"], "cpu")) is None
    assert shipped_views(services.models, tmp_path / "none.json") is None
    (tmp_path / "gallery.jsonl").write_text("{}")
    assert fingerprint(services.models, tmp_path / "gallery.jsonl") != fingerprint(services.models)
