"""`nt2vr models`: what it prints; downloads are tested with the catalog."""

import json
from pathlib import Path

import pytest

from nt2vr.cli import main
from tests.support.tiny_models import write_tiny


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    """A data folder with one model."""
    write_tiny(tmp_path / "models" / "mine", "Mine")
    return tmp_path


def models(data_dir: Path, *arguments: str) -> int:
    return main(["models", *arguments, "--data-dir", str(data_dir)])


def test_models_here_are_listed_before_those_to_download(
    data_dir: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert models(data_dir, "list") == 0

    on_this_machine, _, to_download = capsys.readouterr().out.partition("To download")
    assert "CLIP-neg" in on_this_machine
    assert "shipped" in on_this_machine
    assert "Mine" in on_this_machine
    assert "added" in on_this_machine
    assert "ViT-B-32/openai" in to_download
    assert "47.6 by its authors" in to_download
    assert "EVA" not in to_download


def test_words_find_models_to_download(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert models(data_dir, "list", "eva02", "l-14") == 0
    assert "EVA02-L-14/merged2b_s4b_b131k" in capsys.readouterr().out


def test_models_are_listed_as_json(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert models(data_dir, "list", "--json") == 0

    listing = json.loads(capsys.readouterr().out)
    kinds = {model["name"]: model["kind"] for model in listing["here"]}
    assert kinds["Mine"] == "added"
    assert kinds["CLIP"] == "shipped"
    to_download = {model["name"]: model for model in listing["to_download"]}
    assert to_download["ViT-B-32/openai"]["size_mb"] == 577
    assert to_download["ViT-B-32/openai"]["speed"] == "fast"


def test_only_added_models_are_removed(data_dir: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert models(data_dir, "remove", "Mine") == 0
    assert capsys.readouterr().out == "Mine is removed.\n"

    assert models(data_dir, "rm", "Mine") == 1
    assert models(data_dir, "remove", "CLIP") == 1
    assert not list((data_dir / "models").iterdir())


def test_a_model_that_open_clip_does_not_have_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert models(tmp_path, "get", "ViT-B-32/opnai") == 1
    assert "no pre-trained model 'ViT-B-32/opnai'. Try ViT-B-32/openai" in capsys.readouterr().err
