"""open_clip by itself, with transformers' tokenizers, reads the exported built-in models as nT2VR does."""

from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch

from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.difference import export_checkpoint
from nt2vr.settings import ASSETS

pytest.importorskip("transformers", reason="needs pip install transformers; .ci/run does so last")
TEXTS = [
    "a pooch and not a cappuccino",
    "A man, who doesn't sing!",
    "two seagulls at a café",
    "гитара",
    "dog " * 60,
]


@pytest.mark.parametrize(
    "folder", sorted((ASSETS / "models").iterdir()), ids=lambda folder: folder.name
)
def test_open_clip_gives_the_same_embeddings(folder: Path, tmp_path: Path) -> None:
    whole_folder = tmp_path / "whole"
    export_checkpoint(folder, whole_folder)
    tokenizer = open_clip.get_tokenizer(f"local-dir:{whole_folder}")
    model, *_ = open_clip.create_model_and_transforms(f"local-dir:{whole_folder}")
    with torch.inference_mode():
        theirs = model.eval().encode_text(tokenizer(TEXTS), normalize=True).numpy()
    np.testing.assert_allclose(read_checkpoint(folder).encode_text(TEXTS), theirs, atol=1e-5)
