"""The gallery's shipped embeddings: those of the tower that ships, and of no other."""

import numpy as np
import pytest

from nt2vr.files import hash_file
from nt2vr.media.gallery import load_gallery
from nt2vr.media.video import sample_frames
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.search.shipped_embeddings import shipped_embeddings
from nt2vr.settings import ASSETS


def test_shipped_clips_are_embedded_as_by_the_model() -> None:
    encoder = read_checkpoint(ASSETS / "models" / "clip")
    shipped = shipped_embeddings(encoder.card)
    videos = load_gallery(ASSETS / "gallery" / "gallery.jsonl").videos
    assert {hash_file(video.path) for video in videos} == shipped.keys()
    for video in videos[::200]:
        frames = encoder.encode_frames(
            sample_frames(video.path, encoder.num_frames, encoder.framing)
        )
        np.testing.assert_allclose(
            shipped[hash_file(video.path)], frames, atol=2e-3 * np.abs(frames).max()
        )


@pytest.mark.parametrize(
    "change", [{"visual_fingerprint": "another"}, {"positions": "ends"}, {"frames": 8}]
)
def test_another_tower_or_sampling_is_not_taken_for_it(change: dict[str, object]) -> None:
    card = read_checkpoint(ASSETS / "models" / "clip").card
    # The precision does not matter.
    assert shipped_embeddings(card.replace(precision="bf16"))
    assert not shipped_embeddings(card.replace(**change))
