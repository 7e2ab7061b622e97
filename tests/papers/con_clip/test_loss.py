"""CoN-CLIP's loss compared with its authors' code, and with a plain loop."""

from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from nt2vr.errors import ConfigError
from nt2vr.papers.con_clip.distractors import Distractors, EmbeddedDistractors
from nt2vr.papers.con_clip.loss import ConClipLoss, NegClipLoss
from tests.support.choice_loss import choice_loss
from tests.support.paper_references import papers_reference
from trainer.config import TrainConfig
from trainer.inputs import EmbeddedBatch, Input, Negated, given
from trainer.inputs.negated import EmbeddedNegated
from trainer.losses import losses_of


def random_batch(size: int = 5) -> EmbeddedBatch:
    generator = torch.Generator().manual_seed(0)
    video, caption, negated, distractor = (
        normalize(torch.randn(size, 8, generator=generator), dim=-1).requires_grad_()
        for _ in range(4)
    )
    inputs: dict[type[Input[Any, Any]], Any] = {
        Negated: EmbeddedNegated(negated),
        Distractors: with_distractors(distractor),
    }
    return EmbeddedBatch(video, caption, torch.tensor(7.0), inputs)


def with_distractors(video: Tensor) -> EmbeddedDistractors:
    return EmbeddedDistractors(video, torch.ones(len(video), dtype=torch.bool))


def with_negatable(batch: EmbeddedBatch, *negatable: bool) -> EmbeddedBatch:
    """Return a batch of which some captions cannot be negated."""
    is_negatable = torch.tensor(negatable)
    negated = batch.of(Negated)._replace(negatable=is_negatable)
    distractors = batch.of(Distractors)._replace(has_distractor=is_negatable)
    return replace(batch, inputs={**batch.inputs, Negated: negated, Distractors: distractors})


@pytest.mark.parametrize("kind", [ConClipLoss, NegClipLoss])
def test_all_that_it_sees_gets_a_gradient(kind: Any) -> None:
    batch = random_batch()
    loss = kind()(batch)
    loss.backward()
    assert loss.shape == ()
    for embeddings in (given(batch.video), batch.caption, batch.of(Negated).text):
        assert embeddings.grad is not None
        assert embeddings.grad.any()
        assert embeddings.grad.isfinite().all()


def published_con(scale: str) -> tuple[EmbeddedBatch, dict[str, float]]:
    """Batch and values that CoN-CLIP's code computes, in float64."""
    stored = papers_reference("con_")
    video, distractor, caption, negated = (
        torch.from_numpy(stored[f"con_{name}"])
        for name in ("images", "distractors", "captions", "negated")
    )
    values = {
        name: float(stored[f"con_{name}_scale{scale}"]) for name in ("L1", "L2", "L3", "total")
    }
    values["negclip"] = float(stored[f"con_negclip_style_scale{scale}"])
    inputs: dict[type[Input[Any, Any]], Any] = {
        Negated: EmbeddedNegated(negated),
        Distractors: with_distractors(distractor),
    }
    batch = EmbeddedBatch(video, caption, torch.tensor(float(scale)).double(), inputs)
    return batch, values


@pytest.mark.parametrize("scale", ["14.2857", "100.0000"])
def test_con_equals_the_authors_loss_in_total_and_by_terms(scale: str) -> None:
    batch, published = published_con(scale)
    terms: dict[str, Any] = {
        "L1": ConClipLoss(captions=False, distractors=False),
        "L2": ConClipLoss(images=False, distractors=False),
        "L3": ConClipLoss(images=False, captions=False),
        "total": ConClipLoss(),
        "negclip": NegClipLoss(),
    }
    for name, loss in terms.items():
        assert loss(batch).item() == pytest.approx(published[name], rel=1e-6, abs=1e-6)
    both = ConClipLoss(distractors=False)(batch).item()
    assert both == pytest.approx((published["L1"] + published["L2"]) / 2, abs=1e-6)


def test_con_equals_a_plain_loop() -> None:
    batch = with_negatable(random_batch(), True, False, True, True, False)
    negated_rows = [0, 2, 3]
    videos = given(batch.video)
    captions = batch.caption
    negated = batch.of(Negated).text[negated_rows]
    distractors = batch.of(Distractors).video[negated_rows]

    l1 = choice_loss(7.0, videos, captions, negated)
    l2 = choice_loss(7.0, captions, videos, distractors)
    l3 = choice_loss(7.0, distractors, negated, captions)
    assert ConClipLoss()(batch).item() == pytest.approx((l1 + l2 + l3) / 3, rel=1e-5)
    without_distractors = choice_loss(7.0, captions, videos, distractors[:0])
    expected = (l1 + without_distractors) / 2
    assert NegClipLoss()(batch).item() == pytest.approx(expected, rel=1e-5)


def test_without_negatable_captions_con_is_finite() -> None:
    batch = with_negatable(random_batch(), *[False] * 5)
    assert ConClipLoss(images=False, captions=False)(batch).item() == 0
    assert ConClipLoss()(batch).isfinite()


def test_a_caption_without_distractor_counts_as_not_negatable() -> None:
    batch = random_batch()
    has_distractor = torch.tensor([True, False, True, True, False])
    mined = batch.of(Distractors)._replace(has_distractor=has_distractor)
    without = replace(batch, inputs={**batch.inputs, Distractors: mined})
    not_negatable = with_negatable(batch, *has_distractor.tolist())
    assert ConClipLoss()(without).item() == ConClipLoss()(not_negatable).item()
    # L1 alone has no distractors, and keeps all negations.
    l1 = ConClipLoss(captions=False, distractors=False)
    assert l1(without).item() == l1(batch).item()
    assert l1(without).item() != l1(not_negatable).item()


def test_l3_without_distractors_leaves_the_text_tower_alone() -> None:
    """A step needs a gradient, and frozen videos have none."""
    batch = with_negatable(random_batch(), *[False] * 5)
    frozen = replace(batch, video=given(batch.video).detach())
    loss = ConClipLoss(images=False, captions=False)(frozen)
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == 0
    assert batch.caption.grad is not None
    assert not batch.caption.grad.any()


def test_con_needs_a_term_and_distractors_a_frozen_visual_tower() -> None:
    with pytest.raises(ConfigError):
        ConClipLoss(images=False, captions=False, distractors=False)
    assert Distractors not in ConClipLoss(captions=False, distractors=False).inputs
    with pytest.raises(ConfigError, match="con "):
        losses_of(TrainConfig(losses={"con": {}}))
