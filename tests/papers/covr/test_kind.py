"""The benchmark of pictures plus texts as the app knows it."""

import subprocess
import sys

import pytest

from nt2vr.errors import ConfigError
from nt2vr.evaluation.benchmark_kinds import prefix_of, select_data, shipped_data
from nt2vr.papers.covr.data import CovrData


def test_data_is_selected_by_its_prefix() -> None:
    assert prefix_of("covr:world") == "covr:"
    assert prefix_of("world") == prefix_of("words:covr:world") == ""
    shipped = select_data("covr:world", "validation", 25)
    assert shipped == CovrData("world", "validation", 25)
    assert not shipped.is_path

    folder = select_data("covr:/data/cirr", "val", 25)
    # Only scenes are drawn.
    assert folder == CovrData("/data/cirr", "val")
    assert folder.is_path
    assert folder.title == "/data/cirr, val, picture plus text"


def test_shipped_data_is_listed_and_has_no_training_split() -> None:
    assert [name for _, name in shipped_data()] == ["covr:world"]
    with pytest.raises(ConfigError, match="validation and test"):
        select_data("covr:world", "train")


def test_listing_data_does_not_import_the_benchmark() -> None:
    code = """
import sys
from nt2vr.evaluation.benchmark_kinds import shipped_data
assert shipped_data()
assert not {"torch", "nt2vr.papers.covr.benchmark", "nt2vr.papers.covr.datasets"} & sys.modules.keys()
"""
    subprocess.run([sys.executable, "-c", code], check=True)
