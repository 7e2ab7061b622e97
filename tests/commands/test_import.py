"""`nt2vr import`: a checkpoint written by other code becomes a model of the app."""

from pathlib import Path

import pytest
import torch

from nt2vr.cli import main
from nt2vr.models import untrusted
from nt2vr.models.checkpoint import read_checkpoint
from tests.support.running import here
from tests.support.tiny_models import tiny_model, write_tiny


def test_a_checkpoint_is_imported_under_a_free_name(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(untrusted, "run_limited", here)
    write_tiny(tmp_path / "data" / "models" / "there", "there")
    torch.save(tiny_model(7).state_dict(), tmp_path / "mine.pt")
    flags = [
        "--name",
        "mine",
        "--model",
        "there",
        "--frames",
        "2",
        "--pooling",
        "raw_mean",
        "--positions",
        "ends",
    ]
    flags += ["--data-dir", str(tmp_path / "data")]
    assert main(["import", str(tmp_path / "mine.pt"), *flags]) == 0
    assert capsys.readouterr().out.startswith(f"mine is in {tmp_path}/data/models. ")
    card = read_checkpoint(tmp_path / "data" / "models" / "mine", verify=True).card
    assert (card.framing.frames, card.pooling.name, card.framing.positions) == (
        2,
        "raw_mean",
        "ends",
    )
    assert (
        card.text.fingerprint
        == write_tiny(tmp_path / "in_float32", seed=7, fp16=False).text.fingerprint
    )

    assert main(["import", str(tmp_path / "mine.pt"), *flags]) == 1
    assert capsys.readouterr().err.splitlines() == [
        f"This command is now: nt2vr models add {tmp_path}/mine.pt",
        "There is already a model 'mine'. Choose another name.",
    ]
