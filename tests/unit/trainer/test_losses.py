"""Losses compared with hand-computed values and slow references; validation of their settings."""

import math
from dataclasses import replace
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from nt2vr.errors import ConfigError
from trainer.config import OF_CAPTIONS, OF_WORLD
from trainer.inputs import (
    Denied,
    EmbeddedBatch,
    Input,
    Labels,
    Negated,
    Order,
    Parts,
    Truth,
    Video,
    given,
    inputs_of,
)
from trainer.inputs.denied import EmbeddedTruth
from trainer.inputs.labels import EmbeddedLabels
from trainer.inputs.negated import EmbeddedNegated
from trainer.inputs.order import EmbeddedOrder
from trainer.inputs.parts import PartVectors
from trainer.losses import BUILT_IN, LOSSES, build_losses
from trainer.losses.contrastive import ContrastiveLoss
from trainer.losses.distill import DistillLoss
from trainer.losses.paper import BidirectionalLoss, RetrievalLoss, SoftNegativeLoss
from trainer.losses.world import ComposedLoss, LabelsLoss, OrderLoss


def random_batch(size: int = 5, scale: float = 7.0) -> EmbeddedBatch:
    generator = torch.Generator().manual_seed(0)
    video, caption, negated, text, wanted, unwanted, teacher_caption = (
        normalize(torch.randn(size, 8, generator=generator), dim=-1) for _ in range(7)
    )
    parts = PartVectors(
        wanted,
        unwanted,
        torch.arange(size) == 0,
        unwanted.mean(dim=0),
        video.mean(dim=0),
        torch.zeros(size, dtype=torch.bool),
        teacher_caption,
    )
    fitting = torch.eye(size, dtype=torch.bool)
    truth = EmbeddedTruth(video.detach(), fitting, fitting.roll(1, 1))
    labels = normalize(torch.randn(size, 8, generator=generator), dim=-1).requires_grad_()
    order_text, order_video = (
        normalize(torch.randn(4, 8, generator=generator), dim=-1).requires_grad_() for _ in range(2)
    )
    video.requires_grad_()
    caption.requires_grad_()
    inputs: dict[type[Input[Any, Any]], Any] = {
        Negated: EmbeddedNegated(negated.requires_grad_()),
        Denied: text.requires_grad_(),
        Truth: truth,
        Parts: parts,
        Labels: EmbeddedLabels(labels, fitting | fitting.roll(1, 1)),
        Order: EmbeddedOrder(order_text, order_video),
    }
    return EmbeddedBatch(video, caption, torch.tensor(scale), inputs)


def with_negatable(batch: EmbeddedBatch, *negatable: bool) -> EmbeddedBatch:
    """Return a batch of which some captions cannot be negated."""
    negated = batch.of(Negated)._replace(negatable=torch.tensor(negatable))
    return replace(batch, inputs={**batch.inputs, Negated: negated})


def test_order_compares_only_sentences_of_the_other_order() -> None:
    generator = torch.Generator().manual_seed(2)
    text, video = (
        normalize(torch.randn(4, 3, generator=generator, dtype=torch.float64), dim=-1)
        for _ in range(2)
    )
    batch = EmbeddedBatch(video, video, torch.tensor(5.0), {Order: EmbeddedOrder(text, video)})
    scores = (5 * text @ video.T).tolist()
    costs = []
    # Rows 0 and 1 are of one pair, and 2 and 3.
    for row, other_order in ((0, 1), (1, 0), (2, 3), (3, 2)):
        right = scores[row][row]
        costs.append(math.log(1 + math.exp(scores[row][other_order] - right)))
        costs.append(math.log(1 + math.exp(scores[other_order][row] - right)))
    assert OrderLoss()(batch).item() == pytest.approx(sum(costs) / len(costs), abs=1e-9)


def test_labels_are_ranked_as_in_plain_loops() -> None:
    """Clip 0 shows words 0 and 1, clip 1 word 1, clip 2 none; word 2 is shown by all, so it says nothing."""
    generator = torch.Generator().manual_seed(1)
    video, text = (
        normalize(torch.randn(3, 4, generator=generator, dtype=torch.float64), dim=-1)
        for _ in range(2)
    )
    is_shown = torch.tensor([[1, 1, 1], [0, 1, 1], [0, 0, 1]], dtype=torch.bool)
    batch = EmbeddedBatch(video, video, torch.tensor(5.0), {Labels: EmbeddedLabels(text, is_shown)})
    scores = (5 * video @ text.T).tolist()

    def cost(right: float, wrong: list[float]) -> float:
        return -math.log(math.exp(right) / (math.exp(right) + sum(map(math.exp, wrong))))

    # Clip 0 shows all words, so it says nothing either.
    clip_1 = (cost(scores[1][1], [scores[1][0]]) + cost(scores[1][2], [scores[1][0]])) / 2
    clip_2 = cost(scores[2][2], [scores[2][0], scores[2][1]])
    word_0 = cost(scores[0][0], [scores[1][0], scores[2][0]])
    word_1 = (cost(scores[0][1], [scores[2][1]]) + cost(scores[1][1], [scores[2][1]])) / 2
    expected = (clip_1 + clip_2 + word_0 + word_1) / 4
    assert LabelsLoss()(batch).item() == pytest.approx(expected, abs=1e-6)


def cosines(
    video_caption: float, video_negated: float, caption_negated: float, size: int = 1
) -> EmbeddedBatch:
    """Batch of `size` identical rows with these three cosines."""
    rows = torch.linalg.cholesky(
        torch.tensor(
            [
                [1, video_caption, video_negated],
                [video_caption, 1, caption_negated],
                [video_negated, caption_negated, 1],
            ],
            dtype=torch.float64,
        )
    )
    video, caption, negated = rows.float()[:, None].expand(3, size, 3)
    return EmbeddedBatch(video, caption, torch.tensor(1.0), {Negated: EmbeddedNegated(negated)})


def test_contrastive_is_the_mean_of_both_directions() -> None:
    batch = random_batch()
    scores = (7.0 * given(batch.video) @ batch.caption.T).double()
    total = 0.0
    for row in range(5):
        right = scores[row, row].exp().item()
        total -= math.log(right / scores[row].exp().sum().item())
        total -= math.log(right / scores[:, row].exp().sum().item())
    assert ContrastiveLoss()(batch).item() == pytest.approx(total / 10, rel=1e-5)


@pytest.mark.parametrize("name", sorted(BUILT_IN))
def test_every_loss_is_finite_and_reaches_all_texts(name: str) -> None:
    batch = random_batch()
    kind = LOSSES[name]
    loss: Tensor = kind()(batch)
    loss.backward()  # type: ignore[no-untyped-call]
    inputs = inputs_of(kind().inputs)
    seen = {
        "caption": (batch.caption, name not in ("composed", "labels", "order")),
        "negated": (batch.of(Negated).text, Negated in inputs),
        "denied": (batch.of(Denied), Denied in inputs),
        # The other losses detach or do not use it.
        "video": (given(batch.video), name in ("contrastive", "retrieval", "labels")),
        "labels": (batch.of(Labels).text, Labels in inputs),
        "order": (batch.of(Order).text, Order in inputs),
    }
    for embeddings, is_seen in seen.values():
        gradient = torch.zeros(1) if embeddings.grad is None else embeddings.grad
        assert gradient.any() == is_seen
        assert gradient.isfinite().all()
    assert loss.shape == ()


def test_retrieval_is_that_of_a_plain_loop() -> None:
    batch = random_batch()
    scores = (given(batch.video) @ batch.caption.T).tolist()
    total = 0.0
    for query in range(5):
        wrong = [scores[video][query] for video in range(5) if video != query]
        # The default margin is 0.2.
        total += max(0, 0.2 + max(wrong) - scores[query][query])
    assert RetrievalLoss()(batch).item() == pytest.approx(total, rel=1e-5)


@pytest.mark.parametrize(
    ("pivot", "expected"),
    # Eq. 3 and the other pivot.
    [("video", 0.1 + 0.5 - 0.55), ("query", 0.1 + 0.9 - 0.55)],
)
def test_snl_by_hand(pivot: Any, expected: float) -> None:
    loss = SoftNegativeLoss(pivot=pivot)
    assert loss(cosines(0.55, 0.5, 0.9)).item() == pytest.approx(expected, abs=1e-5)
    assert loss(cosines(0.55, 0.5, 0.9, size=3)).item() == pytest.approx(3 * expected, abs=1e-5)


@pytest.mark.parametrize(
    ("gap", "video", "query"),
    [(0.0, 0.1, 0.1), (0.2, 0.0, 0.0), (0.5, 0.0, 0.2), (0.75, 0.15, 0.45)],
    ids=["deaf to negation", "inside both bands", "too far for the query", "too far for both"],
)
def test_bnl_is_the_distance_from_its_bands_by_hand(gap: float, video: float, query: float) -> None:
    # The gap is the same for both pivots.
    near = cosines(0.8, 0.8 - gap, 0.8 - gap)
    assert BidirectionalLoss()(near).item() == pytest.approx(video + query, abs=1e-5)
    assert BidirectionalLoss(query_pivot=False)(near).item() == pytest.approx(video, abs=1e-5)
    assert BidirectionalLoss(video_pivot=False)(near).item() == pytest.approx(query, abs=1e-5)


@pytest.mark.parametrize("kind", [SoftNegativeLoss, BidirectionalLoss])
def test_captions_that_cannot_be_negated_count_nothing(kind: Any) -> None:
    four = cosines(0.6, 0.6, 0.6, size=4)
    one_of_four = with_negatable(four, True, False, False, False)
    none_of_four = with_negatable(four, False, False, False, False)
    single = kind()(cosines(0.6, 0.6, 0.6)).item()
    assert single > 0
    # The same sum as if all four were negatable.
    assert kind()(one_of_four).item() == pytest.approx(4 * single)
    assert kind(rescale=False)(one_of_four).item() == pytest.approx(single)
    # The mean is over the captions that could be.
    for rescale in (True, False):
        mean = kind(reduction="mean", rescale=rescale)(one_of_four).item()
        assert mean == pytest.approx(single)
    assert kind()(none_of_four).item() == 0


def denied_scores(scores: list[float], fitting: list[bool], both: list[bool]) -> EmbeddedBatch:
    """One sentence along the first axis, and clips with the given cosines to it."""
    pool = torch.tensor([[score, math.sqrt(1 - score**2)] for score in scores])
    text = torch.tensor([[1.0, 0.0]], requires_grad=True)
    truth = EmbeddedTruth(pool, torch.tensor([fitting]), torch.tensor([both]))
    return EmbeddedBatch(text, text, torch.tensor(10.0), {Denied: text, Truth: truth})


@pytest.mark.parametrize(
    ("fitting", "both"), [([False, False], [True, False]), ([True, True], [False, False])]
)
def test_composed_needs_both_fitting_and_other_clips(fitting: list[bool], both: list[bool]) -> None:
    batch = denied_scores([0.5, 0.9], fitting, both)
    loss = ComposedLoss()(batch)
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.item() == 0
    gradient = batch.of(Denied).grad
    assert gradient is not None
    assert not gradient.any()


def test_composed_is_that_of_a_plain_loop() -> None:
    generator = torch.Generator().manual_seed(1)
    pool = normalize(torch.randn(9, 8, generator=generator), dim=-1)
    text = normalize(torch.randn(4, 8, generator=generator), dim=-1)
    fitting = torch.rand(4, 9, generator=generator) < 0.4
    both = ~fitting & (torch.rand(4, 9, generator=generator) < 0.3)
    # One sentence fits nothing, one has no hard clips.
    fitting[3] = False
    both[2] = False
    scores = (7 * text @ pool.T).double()
    contrasts = []
    hard_costs = []
    for row in range(3):
        right = scores[row, fitting[row]]
        wrong = scores[row, ~fitting[row]].exp().sum()
        contrasts.append(((right.exp() + wrong) / right.exp()).log().mean().item())
        if both[row].any():
            # The default margin is 0.7.
            excess = scores[row, both[row]] - right.mean() + 0.7
            hard_costs.append((1 + excess.exp()).log().mean().item())
    assert len(hard_costs) == 2

    inputs: dict[type[Input[Any, Any]], Any] = {
        Denied: text,
        Truth: EmbeddedTruth(pool, fitting, both),
    }
    batch = EmbeddedBatch(pool, text, torch.tensor(7.0), inputs)
    expected = sum(contrasts) / 3 + 1.5 * sum(hard_costs) / 2
    assert ComposedLoss(hard_weight=1.5)(batch).item() == pytest.approx(expected, rel=1e-5)


def test_distillation_by_hand() -> None:
    x, y = torch.eye(2)
    parts = PartVectors(
        wanted=torch.stack((x, x)),
        unwanted=torch.stack((y, y)),
        pure=torch.tensor([False, True]),
        # The first target is x - .5 (y + y), the second 2x - y.
        unwanted_mean=-y,
        video_mean=2 * x,
        idiom=torch.tensor([False, False]),
        caption=torch.stack((x, y)),
    )
    targets = torch.tensor([[1.0, -1.0], [2.0, -1.0]])
    torch.testing.assert_close(DistillLoss().target(parts), normalize(targets, dim=-1))
    torch.testing.assert_close(DistillLoss(start=0).target(parts)[1], -y)
    inputs: dict[type[Input[Any, Any]], Any] = {Denied: torch.stack((x, x)), Parts: parts}
    batch = EmbeddedBatch(None, torch.stack((x, x)), torch.tensor(1.0), inputs)
    # Both sentences lie at x.
    first = 1 - 1 / math.sqrt(2)
    second = 1 - 2 / math.sqrt(5)
    expected = (first + second) / 2
    assert DistillLoss(keep=0)(batch).item() == pytest.approx(expected, rel=1e-5)
    # One caption has moved.
    assert DistillLoss(keep=3)(batch).item() == pytest.approx(expected + 3 * 0.5, rel=1e-5)
    # With alpha 0, the first target is x, too.
    assert DistillLoss(alpha=0, keep=0)(batch).item() == pytest.approx(second / 2, rel=1e-5)


def test_losses_for_one_kind_of_data_match_the_config() -> None:
    of_world = set()
    of_captions = set()
    for name, kind in LOSSES.items():
        inputs = inputs_of(kind().inputs)
        if any(loss_input.needs_world for loss_input in inputs):
            of_world.add(name)
        if Video not in inputs:
            of_captions.add(name)
    assert of_world == OF_WORLD
    assert of_captions == OF_CAPTIONS


def test_a_batch_without_a_needed_input_is_refused() -> None:
    bare = replace(random_batch(), inputs={})
    with pytest.raises(ValueError, match="Labels"):
        LabelsLoss()(bare)


def test_losses_add_up_by_their_weights_and_are_told_without() -> None:
    batch = random_batch()
    total, values = build_losses({"contrastive": {"weight": 0.25}})(batch)
    assert values == {"contrastive": pytest.approx(ContrastiveLoss()(batch).item())}
    assert total.item() == pytest.approx(0.25 * values["contrastive"])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"contrastiv": {}}, "contrastiv.* bnl, composed, "),
        ({"bnl": {"video_pivot": False, "query_pivot": False}}, "bnl"),
        ({"bnl": {"m1": 0.7}}, "m1 .*m2"),
        ({"bnl": {"m2": "0.6"}}, "m2 .*bnl .*0.6"),
        ({"snl": {"pivot": "text"}}, "pivot .*snl .*video.*query.*text"),
        ({"contrastive": {"margin": 0.2}}, "margin.* contrastive"),
        ({"contrastive": {"weight": math.nan}}, "weight .*contrastive"),
        ({"contrastive": {"weight": -1}}, "weight .*contrastive .*0.*-1"),
        ({"contrastive": {"weight": 0}}, "loss"),
        ({}, "loss"),
    ],
)
def test_losses_that_make_no_sense_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        build_losses(settings)
