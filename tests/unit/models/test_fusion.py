"""The trained fusion: its arithmetic, its file, and folders with and without one."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from nt2vr.errors import CheckpointError
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.fusion import FUSION, INPUTS, Fusion, PartWeights, read_fusion, save_fusion
from tests.tiny import write_tiny

DIM = 16


def some_fusion(hidden: int = 0, seed: int = 0, dim: int = DIM) -> Fusion:
    rng = np.random.default_rng(seed)
    widths = [INPUTS * dim, *([hidden] if hidden else []), dim]
    layers = [
        (rng.normal(size=(out, into)).astype(np.float16).astype(np.float32), np.full(out, 0.5, np.float32))
        for into, out in pairwise(widths)
    ]
    return Fusion(PartWeights(1.5, 1.25), tuple(layers))


def some_vectors() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    return tuple(np.random.default_rng(9).normal(size=(3, 4, DIM)).astype(np.float32))


@pytest.mark.parametrize("hidden", [0, 7])
def test_the_vector_is_parts_plus_the_layers(hidden: int) -> None:
    fusion, (picture, wanted, unwanted) = some_fusion(hidden), some_vectors()
    for row, (p, w, u) in enumerate(zip(picture, wanted, unwanted, strict=True)):
        correction = np.array([*p, *w, *u, *(p * w), *(p * u)])
        for number, (matrix, bias) in enumerate(fusion.layers):
            correction = matrix @ (correction.clip(0) if number else correction) + bias
        vector = p + 1.5 * w - 1.25 * u + correction
        np.testing.assert_allclose(
            fusion(picture, wanted, unwanted)[row], vector / np.linalg.norm(vector), rtol=1e-4, atol=1e-5
        )


def test_without_a_correction_it_is_parts() -> None:
    picture, wanted, unwanted = some_vectors()
    fusion = Fusion(PartWeights(2, 0), ((np.zeros((DIM, INPUTS * DIM), np.float32), np.zeros(DIM, np.float32)),))
    expected = picture + 2 * wanted
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(fusion(picture, wanted, unwanted), expected, atol=1e-6)


@pytest.mark.parametrize("hidden", [0, 7])
def test_a_saved_fusion_answers_as_before(tmp_path: Path, hidden: int) -> None:
    fusion = some_fusion(hidden)
    save_fusion(tmp_path, fusion)
    read = read_fusion(tmp_path, DIM)
    assert read is not None
    assert read.fingerprint == fusion.fingerprint
    assert (read(*some_vectors()) == fusion(*some_vectors())).all()


def test_fingerprints_tell_fusions_apart() -> None:
    one = some_fusion()
    others = [some_fusion(seed=1), some_fusion(7), Fusion(PartWeights(1.5, 1), one.layers)]
    assert len({fusion.fingerprint for fusion in (one, *others)}) == 4


def test_a_checkpoint_with_a_fusion_embeds_texts_and_frames_bit_for_bit_as_without(tmp_path: Path) -> None:
    write_tiny(tmp_path / "model")
    before = read_checkpoint(tmp_path / "model")
    save_fusion(tmp_path / "model", some_fusion())
    after = read_checkpoint(tmp_path / "model", verify=True)
    frames = np.random.default_rng(0).integers(0, 255, (2, 64, 64, 3), np.uint8)
    assert before.fusion is None
    assert after.fusion is not None
    assert (before.encode_text(["a dog"]) == after.encode_text(["a dog"])).all()
    assert (before.encode_frames(frames) == after.encode_frames(frames)).all()
    assert before.card == after.card


def test_a_swapped_model_has_its_own_fusion(tmp_path: Path) -> None:
    for name in ("one", "two"):
        write_tiny(tmp_path / name)
    save_fusion(tmp_path / "two", some_fusion())
    one = read_checkpoint(tmp_path / "one")
    assert read_checkpoint(tmp_path / "two", like=one).fusion is not None
    assert read_checkpoint(tmp_path / "one", like=read_checkpoint(tmp_path / "two")).fusion is None


def test_a_damaged_or_foreign_fusion_is_refused_in_one_sentence(tmp_path: Path) -> None:
    save_fusion(tmp_path, some_fusion())
    whole = (tmp_path / FUSION).read_bytes()
    with pytest.raises(CheckpointError, match="length 32"):
        read_fusion(tmp_path, 32)
    (tmp_path / FUSION).write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CheckpointError, match=r"fusion.safetensors cannot be used"):
        read_fusion(tmp_path, DIM)
    infinite = some_fusion()
    infinite.layers[0][1][0] = np.inf
    save_fusion(tmp_path, infinite)
    with pytest.raises(CheckpointError, match="not finite"):
        read_fusion(tmp_path, DIM)
