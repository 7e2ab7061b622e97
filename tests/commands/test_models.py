"""`nt2vr models`: what it prints; downloads are tested with the catalog."""

import json
from pathlib import Path

import pytest

from nt2vr.cli import main
from tests.support.tiny_models import write_tiny


def test_models_are_listed_and_removed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write_tiny(tmp_path / "models" / "mine", "Mine")
    flags = ["--data-dir", str(tmp_path)]
    assert main(["models", "list", *flags]) == 0
    local, _, remote = capsys.readouterr().out.partition("To download")
    assert "CLIP-neg" in local and "shipped" in local and "Mine" in local and "added" in local
    assert "ViT-B-32/openai" in remote and "47.6 by its authors" in remote and "EVA" not in remote
    assert main(["models", "list", "eva02", "l-14", *flags]) == 0
    assert "EVA02-L-14/merged2b_s4b_b131k" in capsys.readouterr().out
    assert main(["models", "list", "--json", *flags]) == 0
    models = json.loads(capsys.readouterr().out)
    kinds = {model["name"]: model["kind"] for model in models["here"]}
    assert kinds["Mine"] == "added" and kinds["CLIP"] == "shipped"
    offered = {model["name"]: model for model in models["to_download"]}
    assert (offered["ViT-B-32/openai"]["size_mb"], offered["ViT-B-32/openai"]["speed"]) == (
        577,
        "fast",
    )
    assert main(["models", "remove", "Mine", *flags]) == 0
    assert capsys.readouterr().out == "Mine is removed.\n"
    assert main(["models", "rm", "Mine", *flags]) == 1
    assert main(["models", "remove", "CLIP", *flags]) == 1
    assert not list((tmp_path / "models").iterdir())


def test_a_model_that_open_clip_does_not_have_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "get", "ViT-B-32/opnai", "--data-dir", str(tmp_path)]) == 1
    assert "no pre-trained model 'ViT-B-32/opnai'. Try ViT-B-32/openai" in capsys.readouterr().err
