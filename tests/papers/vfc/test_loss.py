"""VFC's loss compared with its paper's equations, its authors' code, and a plain loop."""

import math
from dataclasses import replace

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from nt2vr.errors import ConfigError
from nt2vr.papers.vfc.loss import VfcLoss
from nt2vr.papers.vfc.verbs_input import EmbeddedVerbs, Verbs
from tests.support.paper_references import papers_reference
from trainer.inputs import EmbeddedBatch, given
from trainer.losses import build_losses
from trainer.losses.contrastive import ContrastiveLoss


def random_batch(size: int = 5) -> EmbeddedBatch:
    """Return a batch of which the second caption has no phrase, and others have zero to two changed captions."""
    generator = torch.Generator().manual_seed(0)
    video, caption, phrase = (
        normalize(torch.randn(size, 8, generator=generator), dim=-1).requires_grad_()
        for _ in range(3)
    )
    changed = normalize(torch.randn(size, 2, 8, generator=generator), dim=-1).requires_grad_()
    is_changed = torch.tensor([[True, True], [True, False], [False, False]]).repeat(size, 1)[:size]
    verbs = EmbeddedVerbs(changed, is_changed, phrase, torch.arange(size) != 1)
    return EmbeddedBatch(video, caption, torch.tensor(7.0), {Verbs: verbs})


def test_all_that_it_sees_gets_a_gradient() -> None:
    batch = random_batch()
    loss = VfcLoss()(batch)
    loss.backward()  # type: ignore[no-untyped-call]
    assert loss.shape == ()
    assert loss.isfinite()
    verbs = batch.of(Verbs)
    for embeddings in (given(batch.video), batch.caption, verbs.changed, verbs.phrase):
        assert embeddings.grad is not None
        assert embeddings.grad.any()
        assert embeddings.grad.isfinite().all()


def test_a_weight_must_be_finite() -> None:
    with pytest.raises(ConfigError, match=r"verb_phrase .*vfc"):
        build_losses({"vfc": {"verb_phrase": math.nan}})


# The weights of each term alone.
VFC_TERMS = {"t2v": (1.0, 0.0, 0.0), "v2t": (0.0, 1.0, 0.0), "verb": (0.0, 0.0, 1.0)}


def published_vfc(tau: float, beta: float) -> tuple[EmbeddedBatch, dict[str, float]]:
    """Batch of VFC's equations, and the values of its terms and of the authors' code, in float64."""
    stored = papers_reference("vfc_")
    video, captions, phrase, padding, has_phrase = (
        torch.from_numpy(stored[f"vfc_{name}"])
        for name in ("video", "captions", "verbs", "padding", "has_verb")
    )
    values = {
        name: float(stored[f"vfc_paper_{name}_norm_tau{tau}_beta{beta}"]) for name in ("t2v", "v2t")
    }
    values["verb"] = float(stored[f"vfc_verb_phrase_tau{tau}"])
    values["code"] = float(stored[f"vfc_code_total_tau{tau}_beta{beta}"])
    verbs = EmbeddedVerbs(captions[:, 1:], padding[:, 1:] == 0, phrase, has_phrase > 0)
    return EmbeddedBatch(video, captions[:, 0], torch.tensor(1.0).double(), {Verbs: verbs}), values


@pytest.mark.parametrize("beta", [0.0, 0.1])
@pytest.mark.parametrize("tau", [0.05, 0.005])
def test_vfc_equals_its_paper_in_total_and_by_terms(tau: float, beta: float) -> None:
    batch, published = published_vfc(tau, beta)
    for name, weights in VFC_TERMS.items():
        loss = VfcLoss(*weights, temperature=tau, beta=beta)(batch)
        assert loss.item() == pytest.approx(published[name], rel=1e-9, abs=1e-9)
    total = 2 * published["t2v"] + published["v2t"] + published["verb"]
    assert VfcLoss(temperature=tau, beta=beta)(batch).item() == pytest.approx(total, rel=1e-9)


def test_vfc_divides_videos_by_their_own_number_of_captions() -> None:
    batch, published = published_vfc(0.05, 0.1)
    loss = VfcLoss(1.0, 0.5, 0.0, temperature=0.05, beta=0.1)
    assert loss(batch).item() == pytest.approx(1.379037766, abs=1e-9)
    # The authors' code does not.
    assert published["code"] == pytest.approx(1.438434755)
    unweighted = VfcLoss(1.0, 0.5, 0.0, temperature=0.05, beta=0.0)
    assert unweighted(batch).item() == pytest.approx(1.221215525, abs=1e-9)


def slow_nce(right: float, wrong: list[float], beta: float) -> float:
    """Compute HardNeg-NCE of one score among wrong ones; all are divided by the temperature."""
    mean_weight = sum(math.exp(beta * score) for score in wrong) / len(wrong)
    against = sum(math.exp((1 + beta) * score) / mean_weight for score in wrong)
    return -math.log(math.exp(right) / (math.exp(right) + against))


def slow_terms(batch: EmbeddedBatch, tau: float, beta: float) -> dict[str, float]:
    """Compute the terms of VFC's loss for five videos, of which the second has no verb phrase."""
    video = given(batch.video)
    caption = batch.caption
    verbs = batch.of(Verbs)

    def score(first: Tensor, second: Tensor) -> float:
        return (first.double() @ second.double()).item() / tau

    t2v = 0.0
    v2t = 0.0
    for row in range(5):
        wrong_rows = [wrong_row for wrong_row in range(5) if wrong_row != row]
        right = score(video[row], caption[row])
        wrong_videos = [score(video[wrong_row], caption[row]) for wrong_row in wrong_rows]
        t2v += slow_nce(right, wrong_videos, beta) / math.log(5) / 5

        changed = verbs.changed[row][verbs.is_changed[row]]
        wrong_captions = [score(video[row], text) for text in [*caption[wrong_rows], *changed]]
        v2t += slow_nce(right, wrong_captions, beta) / math.log(5 + len(changed)) / 5

    verb = 0.0
    with_phrase = [0, 2, 3, 4]
    for row in with_phrase:
        right = score(video[row], verbs.phrase[row])
        wrong_rows = [wrong_row for wrong_row in with_phrase if wrong_row != row]
        wrong_phrases = [score(video[row], phrase) for phrase in verbs.phrase[wrong_rows]]
        verb += slow_nce(right, wrong_phrases, beta=0.0) / math.log(4) / 4
    return {"t2v": t2v, "v2t": v2t, "verb": verb}


def test_vfc_equals_a_plain_loop() -> None:
    batch = random_batch()
    tau = 0.3
    beta = 0.4
    expected = slow_terms(batch, tau, beta)
    for name, weights in VFC_TERMS.items():
        loss = VfcLoss(*weights, temperature=tau, beta=beta)
        assert loss(batch).item() == pytest.approx(expected[name], rel=1e-5)


def test_without_changed_verbs_vfc_is_infonce() -> None:
    """One phrase alone has nothing to be compared with."""
    batch = random_batch()
    verbs = replace(
        batch.of(Verbs),
        is_changed=torch.zeros(5, 2, dtype=torch.bool),
        has_phrase=torch.arange(5) == 2,
    )
    bare = replace(batch, inputs={Verbs: verbs})
    # The batch's logits have a scale of 7, too.
    loss = VfcLoss(1.0, 1.0, 1.0, temperature=1 / 7, beta=0.0)(bare).item()
    assert loss == pytest.approx(2 * ContrastiveLoss()(batch).item() / math.log(5), rel=1e-5)

    VfcLoss()(bare).backward()  # type: ignore[no-untyped-call]
    gradient = given(batch.video).grad
    assert gradient is not None
    assert gradient.isfinite().all()
