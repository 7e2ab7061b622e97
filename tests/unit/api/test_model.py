"""`Model`: what `load_model` returns."""

from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import nt2vr
from nt2vr.errors import MediaError
from nt2vr.media.decode import Decoder
from tests.support.colour_model import ColourModel


def test_embeddings_are_arrays_or_tensors_of_equal_values(
    tmp_path: Path, decoder: Decoder, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Each call would start its own.
    monkeypatch.setattr("nt2vr.api.Decoder", lambda: nullcontext(decoder))
    model = nt2vr.Model(ColourModel())
    for name, colour in (("red", (255, 0, 0)), ("blue", (0, 0, 255))):
        Image.new("RGB", (20, 10), colour).save(tmp_path / f"{name}.png")
    files: list[str | Path] = [tmp_path / "red.png", str(tmp_path / "blue.png")]
    frames = np.zeros((2, 8, 8, 3), np.uint8)
    calls: dict[str, Any] = {
        "encode_text": ["red", "blue"],
        "encode_frames": frames,
        "encode_videos": files,
    }
    for name, argument in calls.items():
        encode = getattr(model, name)
        array = encode(argument)
        tensor = encode(argument, convert_to="torch")
        assert isinstance(array, np.ndarray)
        assert isinstance(tensor, torch.Tensor)
        assert array.shape == (2, 4)
        assert torch.equal(torch.from_numpy(array), tensor)
    assert model.encode_videos(files) == pytest.approx(model.encode_text(["red", "blue"]), abs=1e-3)
    assert model.encode_videos(files[0]).shape == (4,)
    assert model.encode_videos([]).shape == (0, 4)
    (tmp_path / "no.mp4").write_text("no video")
    with pytest.raises(MediaError, match=r"no\.mp4"):
        model.encode_videos([tmp_path / "red.png", tmp_path / "no.mp4"])
