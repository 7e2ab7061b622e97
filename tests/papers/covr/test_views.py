"""Reports of pictures plus texts on the Evaluate tab."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from nt2vr.errors import ConfigError
from nt2vr.evaluation.report import Report
from nt2vr.library.libraries import Libraries
from nt2vr.media.decode import Decoder
from nt2vr.papers.covr.kind import read_single_file
from nt2vr.ui.evaluate.picture_query import picture_query
from nt2vr.ui.evaluate.query_listing import QueryListing
from nt2vr.ui.evaluate.query_views import queries_view
from nt2vr.ui.evaluate.report_link import ReportLink, kinds_of, resolved
from nt2vr.ui.evaluate.report_view import report_view
from nt2vr.ui.evaluate.review_view import review_view
from nt2vr.world.drawn.render import render
from nt2vr.world.sampling import sample_scenes
from tests.support.old_composed_report import write_covr_file


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Report:
    return read_single_file(write_covr_file(tmp_path_factory.mktemp("composed")))


def with_picture(report: Report, picture: dict[str, Any]) -> Report:
    """Give each query of a report this reference."""
    return replace(
        report, queries=tuple(replace(query, picture=picture) for query in report.queries)
    )


def listed(report: Report, **link: Any) -> dict[str, Any]:
    return queries_view(QueryListing.of(report, resolved(ReportLink("r", **link), report), {}))


def test_violations_stand_next_to_recall_of_the_same_queries(report: Report) -> None:
    (view,) = report_view(report, "id", ())["tables"]
    heads = [head["text"] for head in view["heads"]]
    place = heads.index("violations@5")
    assert heads[place - 1] == "R@1"
    assert heads[-3:] == ["add prop", "remove actor", "remove prop"]
    cells = {line["name"]: line["cells"][place - 1 : place + 1] for line in view["lines"]}
    assert [cell["text"] for cell in cells["CLIP fusion"]] == ["60.0", "10.0"]
    assert [cell["text"] for cell in cells["CLIP picture"]] == ["100.0", "99.0"]
    # Means over kinds of change have no interval, so none is clearly the best.
    assert not any(cell["best"] for line in view["lines"] for cell in line["cells"])


def test_queries_are_listed_by_gain_and_open_in_search(
    report: Report,
) -> None:
    view = listed(report)
    assert (view["first"], view["second"]) == ("CLIP parts", "CLIP fusion")
    assert [(row["text"], row["movement"]) for row in view["rows"]] == [
        ("without the dog", "▲9"),
        ("add a cake", "▲2"),
        ("no cake", "▼2"),
    ]
    assert view["rows"][0]["search"] == "?q=without+the+dog&systems=CLIP%7CCLIP+fusion%7CCLIP+parts"
    assert [row["position"] for row in listed(report, kind="remove prop")["rows"]] == [2]
    assert [kind for _, kind in kinds_of(report)] == ["", "add prop", "remove actor", "remove prop"]
    link = resolved(ReportLink("r", "CLIP parts", "CLIP fusion", query=1), report)
    assert review_view(QueryListing.of(report, link, {})) == {}


def test_a_query_opens_with_its_reference(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))
    libraries = Libraries(tmp_path / "libraries")
    values = picture_query(report, 1, libraries)
    assert values["q"] == "without the dog"
    assert Path(values["upload"]).is_relative_to(tmp_path / "uploads")
    for place in (None, -1, 3):
        with pytest.raises(ConfigError):
            picture_query(report, place, libraries)


def test_only_those_who_may_name_files_open_references(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decoder: Decoder
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))
    libraries = Libraries(tmp_path / "libraries")
    Image.new("RGB", (40, 30), "red").save(tmp_path / "red.png")
    values = with_picture(report, {"path": str(tmp_path / "red.png")})
    with Image.open(picture_query(values, 0, libraries, decoder)["upload"]) as picture:
        assert picture.size == (40, 30)
    with pytest.warns(UserWarning):
        # The values are of a visitor.
        assert "upload" not in picture_query(values, 0, libraries)

    (tmp_path / "red.png").unlink()
    with pytest.warns(UserWarning, match="red.png"):
        assert "upload" not in picture_query(values, 0, libraries, decoder)


def test_a_reference_is_drawn_as_its_scene(
    report: Report, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GRADIO_TEMP_DIR", str(tmp_path / "uploads"))
    scene = sample_scenes("test", 1, 3)[0]
    drawn = with_picture(report, {"scene": scene.to_dict()})
    with Image.open(
        picture_query(drawn, 0, Libraries(tmp_path / "libraries"))["upload"]
    ) as picture:
        pixels = np.asarray(picture, float)
    expected = render(scene, 224, 1)[0]
    # JPEG changes the pixels a little.
    assert np.abs(pixels - expected).mean() < 5
