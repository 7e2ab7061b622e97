"""Poolings with weights in checkpoint folders: what is read back, their keys, and files that cannot be used."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from torch.nn.functional import normalize

from nt2vr.errors import CheckpointError
from nt2vr.models.card import HEAD, LEARNT, Card, StoredNames
from nt2vr.models.checkpoint import read_checkpoint, write_checkpoint
from nt2vr.models.pooling import Mean, new_pooling
from tests.support.tiny_models import TINY, tiny_model

DIM = 16
FRAMES = 3


def write_pooled(folder: Path, pooling: str = "seqTransf", seed: int = 0) -> Any:
    """Write a TINY model with a pooling of random weights, and return the pooling."""
    card = Card("tiny", frames=FRAMES, pooling=pooling)
    model = tiny_model()
    torch.manual_seed(seed)
    module = new_pooling(card, model, DIM)
    for parameter in module.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    write_checkpoint(folder, model, TINY, {}, card, pooling=module)
    return module


@pytest.mark.parametrize("pooling", LEARNT)
def test_a_pooling_is_read_back_unchanged(pooling: str, tmp_path: Path) -> None:
    module = write_pooled(tmp_path / "one", pooling).half().float()
    encoder = read_checkpoint(tmp_path / "one", verify=True)
    frames = np.random.default_rng(0).normal(size=(2, FRAMES, DIM)).astype(np.float32)
    with torch.no_grad():
        expected = module(torch.from_numpy(frames)).numpy()
    np.testing.assert_allclose(encoder.pool(frames), expected, atol=1e-6)
    assert encoder.card.pooling.normalises_frames == (pooling != "seqTransf")


def test_equal_towers_share_frames_and_not_pooled_embeddings(
    tmp_path: Path,
) -> None:
    for seed in range(2):
        write_pooled(tmp_path / str(seed), seed=seed)
    first, second = (read_checkpoint(tmp_path / str(seed)).card for seed in range(2))
    assert first.unpooled.visual_key == second.unpooled.visual_key
    assert first.visual_key != second.visual_key
    names = StoredNames.of(first.visual_key)
    other_names = StoredNames.of(second.visual_key)
    assert names.of_frames == other_names.of_frames
    assert names.pooling != other_names.pooling
    # It is the name of a file.
    assert names.pooling.isidentifier()


def test_more_frames_than_positions_are_thinned_out_evenly(tmp_path: Path) -> None:
    write_pooled(tmp_path / "one")
    encoder = read_checkpoint(tmp_path / "one")
    frames = np.random.default_rng(0).normal(size=(7, DIM)).astype(np.float32)
    np.testing.assert_array_equal(encoder.pool(frames), encoder.pool(frames[[0, 3, 6]]))


def test_over_normalised_frames_it_starts_close_to_the_mean() -> None:
    model: Any = tiny_model()
    frames = normalize(
        torch.randn(5, FRAMES, DIM, generator=torch.Generator().manual_seed(0)), dim=-1
    )
    torch.manual_seed(0)
    pooled = new_pooling(Card("tiny", frames=FRAMES, pooling="unit_seqTransf"), model, DIM)(frames)
    assert (pooled * Mean()(frames)).sum(dim=-1).min() > 0.99


def changed(**tensors: torch.Tensor) -> Callable[[Path], object]:
    return lambda file: save_file({**load_file(file), **tensors}, file)


def without_positions(file: Path) -> None:
    save_file(
        {name: tensor for name, tensor in load_file(file).items() if name != "positions"}, file
    )


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (without_positions, "'positions'"),
        (changed(positions=torch.zeros(2, DIM)), "3 frames"),
        (changed(positions=torch.zeros(3, 2 * DIM)), "16"),
        (changed(positions=torch.full((3, DIM), torch.nan)), "head"),
        (changed(**{f"resblocks.{n}.x": torch.zeros(1) for n in range(60)}), "60 layers"),
        (changed(positions=torch.zeros(3, DIM)), "head"),
        (lambda file: os.truncate(file, file.stat().st_size // 2), "head"),
        # The file is sparse.
        (lambda file: os.truncate(file, (1 << 30) + 1), "1 GB"),
        (Path.unlink, "head"),
    ],
)
def test_a_hostile_head_is_one_sentence(
    change: Callable[[Path], object], sentence: str, tmp_path: Path
) -> None:
    write_pooled(tmp_path / "one")
    change(tmp_path / "one" / HEAD)
    with pytest.raises(CheckpointError, match=sentence) as caught:
        read_checkpoint(tmp_path / "one")
    assert "\n" not in str(caught.value)
    assert HEAD in str(caught.value)
