"""Pooling with weights that learn, compared with reference values and slow twins."""

import math
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from nt2vr.models.pooling import AttentionPooling, Mean, SequenceTransformer
from tests.papers import papers_reference
from tests.tiny import tiny_model

mean = Mean()


@pytest.fixture(scope="module")
def stored() -> dict[str, Any]:
    return {name: torch.from_numpy(array) for name, array in papers_reference("c4c", "att").items()}


def published(stored: dict[str, Any]) -> SequenceTransformer:
    pooling = SequenceTransformer(16, 8, heads=2).double()
    pooling.load_state_dict(
        {name.removeprefix("c4c_w_"): value for name, value in stored.items() if name.startswith("c4c_w_")}
        | {"positions": stored["c4c_pos"]}
    )
    return pooling


@pytest.mark.parametrize("kind", ["masked", "full", "reversed"])
def test_seqtransf_is_that_of_clip4clip(kind: str, stored: dict[str, Any]) -> None:
    frames, mask = stored["c4c_frames"], stored["c4c_mask"] > 0 if kind == "masked" else None
    with torch.no_grad():
        pooled = published(stored)(frames.flip(1) if kind == "reversed" else frames, mask)
    torch.testing.assert_close(pooled, stored[f"c4c_seqTransf_{kind}_pooled"], rtol=0, atol=1e-9)
    logits = stored["c4c_logit_scale"] * normalize(stored["c4c_texts"], dim=-1) @ pooled.T
    torch.testing.assert_close(logits, stored[f"c4c_seqTransf_{kind}_logits"], rtol=0, atol=1e-9)


def slow(pooling: SequenceTransformer, frames: Tensor) -> list[float]:
    """Pool one video's frames (F, D), word by word of the definition."""

    def layer_norm(x: Tensor, norm: Any) -> Tensor:
        middle = x - x.mean()
        result: Tensor = middle / math.sqrt(float((middle**2).mean()) + 1e-12) * norm.weight + norm.bias
        return result

    x = [frame + pooling.positions[i] for i, frame in enumerate(frames)]
    width, heads = len(frames[0]), pooling.heads
    for block in pooling.resblocks:
        attn: Any = block.attn
        three = [attn.in_proj_weight @ layer_norm(each, block.ln_1) + attn.in_proj_bias for each in x]
        q, k, v = ([each[n * width : (n + 1) * width].reshape(heads, -1) for each in three] for n in range(3))
        for i in range(len(x)):
            parts = []
            for h in range(heads):
                scores = torch.stack([q[i][h] @ key[h] / math.sqrt(width / heads) for key in k])
                parts.append(sum(w * value[h] for w, value in zip(scores.softmax(dim=0), v, strict=True)))
            x[i] = x[i] + attn.out_proj.weight @ torch.cat(parts) + attn.out_proj.bias
        for i, each in enumerate(x):
            mlp: Any = block.mlp
            inner = mlp.c_fc.weight @ layer_norm(each, block.ln_2) + mlp.c_fc.bias
            x[i] = each + mlp.c_proj.weight @ (inner / (1 + (-1.702 * inner).exp())) + mlp.c_proj.bias
    total = torch.stack([(one + f) / (one + f).norm() for one, f in zip(x, frames, strict=True)]).mean(dim=0)
    values: list[float] = (total / total.norm()).tolist()
    return values


def random_pooling() -> SequenceTransformer:
    torch.manual_seed(0)
    pooling = SequenceTransformer(12, 6, layers=2, heads=3).double()
    for parameter in pooling.parameters():
        torch.nn.init.normal_(parameter, std=0.3)
    return pooling


def test_seqtransf_is_that_of_a_plain_loop_with_and_without_padding() -> None:
    pooling, frames = random_pooling(), torch.randn(2, 5, 12, dtype=torch.float64)
    is_frame = torch.tensor([[True] * 5, [True, True, True, False, False]])
    with torch.no_grad():
        both, padded = pooling(frames), pooling(frames, is_frame)
        assert both[1].tolist() == pytest.approx(slow(pooling, frames[1]), abs=1e-12)
        assert padded[1].tolist() == pytest.approx(slow(pooling, frames[1, :3]), abs=1e-12)
        assert pooling(frames[0]).tolist() == pytest.approx(both[0].tolist(), abs=1e-12)  # without a batch


def test_a_new_one_is_the_mean_of_normalised_frames() -> None:
    frames = torch.randn(3, 4, 128)
    pooling = SequenceTransformer(128, 12)
    with torch.no_grad():
        pooling.positions.zero_()
        pooled = pooling(frames)
    torch.testing.assert_close(pooled, mean(normalize(frames, dim=-1)), rtol=0, atol=1e-6)
    assert pooling.heads == 2


def test_it_starts_from_a_text_towers_blocks_as_far_as_these_go() -> None:
    model: Any = tiny_model()
    blocks, positions = model.transformer.resblocks, model.positional_embedding
    pooling = SequenceTransformer(positions.shape[1], len(positions) + 2, layers=len(blocks) + 1)
    pooling.copy_text_tower(positions, list(blocks))
    assert torch.equal(pooling.positions[: len(positions)], positions)
    for own, block in zip(pooling.resblocks, blocks, strict=False):
        assert all(torch.equal(own.state_dict()[name], value) for name, value in block.state_dict().items())
    last: Any = pooling.resblocks[-1]
    assert not last.attn.out_proj.weight.any() and not last.mlp.c_proj.weight.any() and last.mlp.c_fc.weight.any()
    other = SequenceTransformer(2 * positions.shape[1], 4)
    before = other.positions.clone()
    other.copy_text_tower(positions, list(blocks))
    assert torch.equal(other.positions, before)


def test_attention_is_the_reference_and_starts_as_the_mean(stored: dict[str, Any]) -> None:
    pooling = AttentionPooling(8, 4).double()
    frames = stored["att_frames"]
    torch.testing.assert_close(pooling(frames), mean(frames))
    with torch.no_grad():
        pooling.hidden.weight.copy_(stored["att_V"])
        pooling.score.weight.copy_(stored["att_w"][None])
    torch.testing.assert_close(pooling.weights(frames), stored["att_weights"], rtol=0, atol=1e-9)
    torch.testing.assert_close(pooling(frames), stored["att_pooled"], rtol=0, atol=1e-9)


def test_attention_is_that_of_a_plain_loop() -> None:
    torch.manual_seed(0)
    pooling, frames = AttentionPooling(6, 3).double(), torch.randn(4, 6, dtype=torch.float64)
    torch.nn.init.normal_(pooling.score.weight)
    hidden, score = pooling.hidden.weight.detach(), pooling.score.weight[0].detach()
    scores = [float(score @ torch.tanh(hidden @ frame)) for frame in frames]
    total = sum(map(math.exp, scores))
    pooled = torch.stack([math.exp(s) / total * frame for s, frame in zip(scores, frames, strict=True)]).sum(dim=0)
    torch.testing.assert_close(pooling(frames), pooled / pooled.norm())
