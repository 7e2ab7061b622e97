"""Pooling with weights that learn, compared with reference values and slow twins."""

from typing import Any

import pytest
import torch
from torch.nn.functional import normalize

from nt2vr.models.pooling import AttentionPooling, Mean, SequenceTransformer
from tests.support.paper_references import papers_reference
from tests.support.tiny_models import tiny_model

mean = Mean()


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    return {name: torch.from_numpy(array) for name, array in papers_reference("c4c", "att").items()}


def published(stored: dict[str, Any]) -> SequenceTransformer:
    pooling = SequenceTransformer(16, 8, heads=2).double()
    pooling.load_state_dict(
        {
            name.removeprefix("c4c_w_"): value
            for name, value in stored.items()
            if name.startswith("c4c_w_")
        }
        | {"positions": stored["c4c_pos"]}
    )
    return pooling


@pytest.mark.parametrize("kind", ["full", "reversed"])
def test_seqtransf_is_that_of_clip4clip(kind: str, stored: dict[str, Any]) -> None:
    frames = stored["c4c_frames"]
    with torch.no_grad():
        pooled = published(stored)(frames.flip(1) if kind == "reversed" else frames)
    torch.testing.assert_close(pooled, stored[f"c4c_seqTransf_{kind}_pooled"], rtol=0, atol=1e-9)
    logits = stored["c4c_logit_scale"] * normalize(stored["c4c_texts"], dim=-1) @ pooled.T
    torch.testing.assert_close(logits, stored[f"c4c_seqTransf_{kind}_logits"], rtol=0, atol=1e-9)


def test_a_new_one_is_the_mean_of_normalised_frames() -> None:
    frames = torch.randn(3, 4, 128)
    pooling = SequenceTransformer(128, 12)
    with torch.no_grad():
        pooling.positions.zero_()
        pooled = pooling(frames)
    torch.testing.assert_close(pooled, mean(normalize(frames, dim=-1)), rtol=0, atol=1e-6)
    assert pooling.heads == 2


def test_it_starts_from_the_text_tower_s_blocks() -> None:
    model: Any = tiny_model()
    blocks = model.transformer.resblocks
    positions = model.positional_embedding
    pooling = SequenceTransformer(positions.shape[1], len(positions) + 2, layers=len(blocks) + 1)
    pooling.copy_text_tower(positions, list(blocks))
    assert torch.equal(pooling.positions[: len(positions)], positions)
    for copied, block in zip(pooling.resblocks, blocks, strict=False):
        for name, value in block.state_dict().items():
            assert torch.equal(copied.state_dict()[name], value)
    last: Any = pooling.resblocks[-1]
    assert not last.attn.out_proj.weight.any()
    assert not last.mlp.c_proj.weight.any()
    assert last.mlp.c_fc.weight.any()
    other_pooling = SequenceTransformer(2 * positions.shape[1], 4)
    before = other_pooling.positions.clone()
    other_pooling.copy_text_tower(positions, list(blocks))
    assert torch.equal(other_pooling.positions, before)


def test_attention_is_the_reference_and_starts_as_the_mean(stored: dict[str, Any]) -> None:
    pooling = AttentionPooling(8, 4).double()
    frames = stored["att_frames"]
    torch.testing.assert_close(pooling(frames), mean(frames))
    with torch.no_grad():
        pooling.hidden.weight.copy_(stored["att_V"])
        pooling.score.weight.copy_(stored["att_w"][None])
    torch.testing.assert_close(pooling.weights(frames), stored["att_weights"], rtol=0, atol=1e-9)
    torch.testing.assert_close(pooling(frames), stored["att_pooled"], rtol=0, atol=1e-9)
