"""CoN-CLIP's loss compared with its authors' code, and with a plain loop."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from nt2vr.errors import ConfigError
from nt2vr.papers.con_clip.distractors import Distractors, EmbeddedDistractors
from nt2vr.papers.con_clip.loss import ConClipLoss, NegClipLoss
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
        assert (
            embeddings.grad is not None
            and embeddings.grad.any()
            and embeddings.grad.isfinite().all()
        )


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
    rows = {
        "v": given(batch.video),
        "c": batch.caption,
        "n": batch.of(Negated).text,
        "d": batch.of(Distractors).video,
    }
    scores = {a + b: (7.0 * rows[a] @ rows[b].T).tolist() for a in rows for b in rows}

    def term(
        asking: str, right: str, wrong: str, asking_rows: list[int], wrong_rows: list[int]
    ) -> float:
        """Compute the mean cross-entropy of rows that choose their own among right and wrong answers."""
        right_rows = asking_rows if asking == "d" else range(5)
        losses: list[float] = []
        for row in asking_rows:
            answers = [scores[asking + right][row][answer_row] for answer_row in right_rows]
            answers += [scores[asking + wrong][row][answer_row] for answer_row in wrong_rows]
            total = sum(math.exp(score) for score in answers)
            losses.append(math.log(total) - scores[asking + right][row][row])
        return sum(losses) / len(losses)

    everyone = [0, 1, 2, 3, 4]
    negated_rows = [0, 2, 3]
    l1 = term("v", "c", "n", everyone, negated_rows)
    l2 = term("c", "v", "d", everyone, negated_rows)
    l3 = term("d", "n", "c", negated_rows, everyone)
    assert ConClipLoss()(batch).item() == pytest.approx((l1 + l2 + l3) / 3, rel=1e-5)
    l0 = term("c", "v", "d", everyone, [])
    assert NegClipLoss()(batch).item() == pytest.approx((l1 + l0) / 2, rel=1e-5)
    none = with_negatable(batch, *[False] * 5)
    assert ConClipLoss(images=False, captions=False)(none).item() == 0
    assert ConClipLoss()(none).isfinite()


def test_a_caption_without_distractor_counts_as_not_negatable() -> None:
    batch = random_batch()
    has_distractor = torch.tensor([True, False, True, True, False])
    mined = batch.of(Distractors)._replace(has_distractor=has_distractor)
    without = replace(batch, inputs={**batch.inputs, Distractors: mined})
    assert (
        ConClipLoss()(without).item()
        == ConClipLoss()(with_negatable(batch, *has_distractor.tolist())).item()
    )
    # L1 alone has no distractors, and keeps all negations.
    alone = ConClipLoss(captions=False, distractors=False)
    assert (
        alone(without).item()
        == alone(batch).item()
        != alone(with_negatable(batch, *has_distractor.tolist())).item()
    )


def test_l3_without_distractors_leaves_the_text_tower_alone() -> None:
    """A step needs a gradient, and frozen videos have none."""
    batch = with_negatable(random_batch(), *[False] * 5)
    frozen = replace(batch, video=given(batch.video).detach())
    loss = ConClipLoss(images=False, captions=False)(frozen)
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == 0
    assert batch.caption.grad is not None and not batch.caption.grad.any()


def test_con_needs_a_term_and_distractors_a_frozen_visual_tower() -> None:
    with pytest.raises(ConfigError):
        ConClipLoss(images=False, captions=False, distractors=False)
    assert Distractors not in ConClipLoss(captions=False, distractors=False).inputs
    with pytest.raises(ConfigError, match="con "):
        losses_of(TrainConfig(losses={"con": {}}))
