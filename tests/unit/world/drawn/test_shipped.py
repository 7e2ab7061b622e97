"""Embeddings of clips that ship with the app."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.clip_embeddings import BASE, SHIPPED
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.world.drawn import clips as clips_module
from nt2vr.world.drawn import shipped
from nt2vr.world.drawn.clips import ClipFile
from nt2vr.world.drawn.shipped import embed_undrawn
from nt2vr.world.sampling import sample_scenes
from nt2vr.world.scenes import SceneSplit


@pytest.mark.parametrize("split", list(SHIPPED))
def test_shipped_clips_are_those_drawn(
    split: SceneSplit, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = read_checkpoint(BASE)
    file = ClipFile.of(split, sample_scenes(split, 20, 0), 4, encoder.framing, tmp_path)
    with monkeypatch.context() as patch:
        patch.setattr(clips_module, "draw_clips", lambda *_, **__: pytest.fail("drawn"))
        embeddings = embed_undrawn(file, encoder)
    np.testing.assert_allclose(np.linalg.norm(embeddings, axis=1), 1, atol=1e-6)
    few = ClipFile.of(split, file.scenes[:3], 4, encoder.framing, tmp_path)
    np.testing.assert_allclose(embeddings[:3], few.embeddings(encoder), atol=2e-3)


def test_other_scenes_and_all_clips_under_another_tower_are_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    encoder = read_checkpoint(BASE)
    scenes = [
        *sample_scenes("train", 1, 0),
        *sample_scenes("train", 2, 1),
        *sample_scenes("validation", 1, 0),
    ]
    file = ClipFile.of("train", scenes, 4, encoder.framing, tmp_path)
    np.testing.assert_allclose(embed_undrawn(file, encoder), file.embeddings(encoder), atol=2e-3)
    monkeypatch.setattr(shipped, "model_key", lambda encoder: "another tower")
    np.testing.assert_array_equal(embed_undrawn(file, encoder), file.embeddings(encoder))


def test_without_the_file_clips_are_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shipped, "FILE", tmp_path / "none.npz")
    encoder = read_checkpoint(BASE)
    file = ClipFile.of("train", sample_scenes("train", 2, 0), 4, encoder.framing, tmp_path)
    np.testing.assert_array_equal(embed_undrawn(file, encoder), file.embeddings(encoder))
