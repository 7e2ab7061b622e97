"""The encoder compared with open_clip itself."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import open_clip
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from torch.nn.functional import normalize

from nt2vr.media.resize import fit
from nt2vr.models.card import Card, read_card, write_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.device import TOLERANCE, resolve_device
from nt2vr.models.encoder import CACHED_TEXTS
from nt2vr.models.open_clip_encoder import OpenClipEncoder, normalise_frames, token_embeddings
from tests.support.model_families import FAMILIES, write_family
from tests.support.paths import ROOT
from tests.support.tiny_models import tiny_model, write_tiny

TEXTS = ["a dog runs on the beach", "", "nobody isn't singing 🎸", "very " * 40 + "long"]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("models") / "tiny"
    write_tiny(path)
    return path


@pytest.fixture(scope="module")
def encoder(folder: Path) -> OpenClipEncoder:
    return read_checkpoint(folder)


def test_embeddings_are_those_of_open_clip_itself(folder: Path, encoder: OpenClipEncoder) -> None:
    model, _, preprocess = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    tokenizer = open_clip.get_tokenizer(f"local-dir:{folder}")
    model.eval()
    pictures = np.random.default_rng(0).integers(0, 256, (70, 90, 120, 3), np.uint8)
    pixels = [preprocess(Image.fromarray(picture)) for picture in pictures]
    with torch.inference_mode():
        images = model.encode_image(torch.stack(pixels), normalize=True)
        texts = model.encode_text(tokenizer(TEXTS), normalize=True)
    frames = np.stack([fit(picture, encoder.framing) for picture in pictures])
    np.testing.assert_allclose(encoder.encode_frames(frames), images.numpy(), atol=1e-6)
    np.testing.assert_allclose(encoder.encode_text(TEXTS), texts.numpy(), atol=1e-6)


def test_a_frames_embedding_does_not_depend_on_its_batch() -> None:
    encoder = OpenClipEncoder(
        tiny_model(resnet=True).train(),
        lambda texts: torch.zeros(len(texts), 16, dtype=torch.long),
        Card("tiny"),
    )
    frames = np.random.default_rng(0).integers(0, 256, (5, 64, 64, 3), np.uint8)
    alone = encoder.encode_frames(frames[:1])
    np.testing.assert_allclose(alone, encoder.encode_frames(frames)[:1], atol=1e-6)


def test_a_video_is_the_mean_of_its_frames(encoder: OpenClipEncoder) -> None:
    # Two videos of two frames.
    frames = np.array([[[1, 0], [0, 1]], [[1, 0], [1, 0]]], np.float32)
    np.testing.assert_allclose(encoder.pool(frames), [[0.5**0.5, 0.5**0.5], [1, 0]], atol=1e-6)


@pytest.fixture
def raw_encoder(folder: Path, tmp_path: Path) -> OpenClipEncoder:
    """The same model, which pools as nT2VR's code does: the mean of what the tower returns, normalised once."""
    shutil.copytree(folder, tmp_path / "raw")
    write_card(tmp_path / "raw", read_card(folder).replace(pooling="raw_mean"))
    return read_checkpoint(tmp_path / "raw")


def test_raw_pooling_weights_frames_by_the_length_of_their_embeddings(
    folder: Path, encoder: OpenClipEncoder, raw_encoder: OpenClipEncoder
) -> None:
    model, _, _ = open_clip.create_model_and_transforms(f"local-dir:{folder}")
    frames = np.random.default_rng(0).integers(0, 256, (4, 64, 64, 3), np.uint8)
    frames[0] = 0
    settings = encoder._preprocess
    pixels = normalise_frames(torch.from_numpy(frames), settings["mean"], settings["std"])
    with torch.inference_mode():
        video = model.eval().encode_image(pixels).mean(dim=0)
    pooled = raw_encoder.pool(raw_encoder.encode_frames(frames))
    np.testing.assert_allclose(pooled, normalize(video, dim=-1).numpy(), atol=1e-6)
    # (3, 0) + (0, 4) points there.
    by_hand = raw_encoder.pool(np.array([[3, 0], [0, 4]], np.float32))
    np.testing.assert_allclose(by_hand, [0.6, 0.8], atol=1e-6)


def test_only_frames_of_raw_pooling_have_other_lengths_than_one(
    encoder: OpenClipEncoder, raw_encoder: OpenClipEncoder
) -> None:
    frames = np.random.default_rng(0).integers(0, 256, (4, 64, 64, 3), np.uint8)
    lengths = np.linalg.norm(encoder.encode_frames(frames), axis=1)
    raw_lengths = np.linalg.norm(raw_encoder.encode_frames(frames), axis=1)
    np.testing.assert_allclose(lengths, 1, atol=1e-6)
    assert np.abs(raw_lengths - 1).min() > 0.01
    picture = raw_encoder.pool(raw_encoder.encode_frames(frames[:1]))
    np.testing.assert_allclose(np.linalg.norm(picture), 1, atol=1e-6)
    # Neither shares the other's cached embeddings.
    assert raw_encoder.card.visual_key != encoder.card.visual_key


def test_repeated_texts_get_equal_embeddings_and_the_cache_is_bounded(
    encoder: OpenClipEncoder,
) -> None:
    first = encoder.encode_text(TEXTS)
    again = encoder.encode_text([*TEXTS[::-1], TEXTS[1]])
    np.testing.assert_array_equal(again, first[[3, 2, 1, 0, 1]])
    encoder.encode_text([f"clip {number}" for number in range(CACHED_TEXTS + 10)])
    assert len(encoder.cached_texts) == CACHED_TEXTS
    np.testing.assert_allclose(encoder.encode_text(TEXTS), first, atol=1e-6)


def test_concurrent_threads_get_their_own_embeddings(encoder: OpenClipEncoder) -> None:
    texts = [f"clip {number} at once" for number in range(120)]
    batches = [texts[start : start + 30] for start in range(0, 120, 30)]
    with ThreadPoolExecutor(4) as pool_of_threads:
        at_once = list(pool_of_threads.map(encoder.encode_text, batches))
    # Else what the threads stored would be compared with itself.
    encoder.cached_texts.clear()
    alone = [encoder.encode_text([text])[0] for text in texts]
    np.testing.assert_allclose(np.concatenate(at_once), alone, atol=1e-6)


def test_each_word_with_an_untrained_token_is_listed_once(folder: Path) -> None:
    encoder = read_checkpoint(folder)
    table = token_embeddings(encoder._model)
    with torch.no_grad():
        for word in ("not", "zebra"):
            table[encoder._tokenizer.encode(word)] = 0
    assert encoder.unseen_words("A Zebra, not a dog; not a zebra!") == ("zebra", "not")


def _scores(encoder: OpenClipEncoder) -> NDArray[np.float32]:
    size = encoder.image_size
    frames = np.random.default_rng(0).integers(0, 256, (8, size, size, 3), np.uint8)
    scores: NDArray[np.float32] = encoder.encode_frames(frames) @ encoder.encode_text(TEXTS).T
    return scores


@pytest.mark.parametrize("name", FAMILIES)
def test_bfloat16_changes_a_cosine_by_less_than_the_tolerance(tmp_path: Path, name: str) -> None:
    write_family(tmp_path / "model", name)
    exact = read_checkpoint(tmp_path / "model")
    fast = read_checkpoint(tmp_path / "model")
    fast.set_precision("bf16")
    # Embeddings of one are not taken for those of the other.
    assert fast.card.visual_key != exact.card.visual_key
    scores = _scores(fast)
    assert 0 < np.abs(scores - _scores(exact)).max() < TOLERANCE
    np.testing.assert_allclose(np.linalg.norm(fast.encode_text(TEXTS), axis=1), 1, atol=1e-6)


@pytest.mark.gpu
@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs CUDA")
@pytest.mark.parametrize("model", ["clip", "clip-neg"])
def test_cuda_embeddings_are_close_and_have_their_own_key(model: str) -> None:
    folder = ROOT / "assets" / "models" / model
    on_cpu = read_checkpoint(folder, "cpu")
    on_gpu = read_checkpoint(folder, "auto")
    assert np.abs(_scores(on_cpu) - _scores(on_gpu)).max() < TOLERANCE
    assert (on_cpu.card.visual_key == on_gpu.card.visual_key) == (on_gpu.card.precision == "")


@pytest.mark.parametrize(
    ("cuda", "mps", "zero_gpu", "expected"),
    [
        (True, True, "", "cuda"),
        (False, True, "", "mps"),
        (False, False, "", "cpu"),
        (True, False, "1", "cpu"),
    ],
)
def test_auto_is_the_fastest_device_here(
    monkeypatch: pytest.MonkeyPatch, cuda: bool, mps: bool, zero_gpu: str, expected: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: cuda)
    monkeypatch.setattr(torch.backends.mps, "is_available", lambda: mps)
    monkeypatch.setattr("nt2vr.models.device.on_zero_gpu", lambda: bool(zero_gpu))
    assert resolve_device("auto") == expected
    assert resolve_device("cpu") == "cpu"
