"""Losses of covr against plain loops over their formulas, and values by hand."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from nt2vr.papers.covr.losses import hn_nce, hn_nce_as_code, info_nce, weighted_targets
from tests.support.paper_references import papers_reference

# The temperature of the paper.
TAU = 0.07


def test_info_nce_by_hand() -> None:
    scores = torch.tensor([[0.9, 0.5, 0.1]])
    targets = torch.tensor([0])
    masks_none = torch.tensor([[False, False, False]])
    masks_second = torch.tensor([[False, True, False]])

    # The scores are divided by the temperature of 0.5.
    right = math.exp(1.8)
    second = math.exp(1)
    third = math.exp(0.2)
    of_three = -math.log(right / (right + second + third))
    of_two = -math.log(right / (right + third))
    assert info_nce(scores, targets, masks_none, 0.5).item() == pytest.approx(of_three, abs=1e-6)
    assert info_nce(scores, targets, masks_second, 0.5).item() == pytest.approx(of_two, abs=1e-6)


def plain_hn_nce(scores: Tensor, hard: Tensor, noisy: Tensor, alpha: float, beta: float) -> float:
    """The formula, query by query and target by target."""
    exponentials = (scores.double() / TAU).exp()
    total = 0.0
    for row in range(len(scores)):
        total += plain_term(exponentials[row], row, hard[row], noisy[row], alpha, beta)
        total += plain_term(exponentials[:, row], row, hard[:, row], noisy[:, row], alpha, beta)
    return total


def plain_term(
    exponentials: Tensor, right: int, hard: Tensor, noisy: Tensor, alpha: float, beta: float
) -> float:
    negatives = [
        column for column in range(len(exponentials)) if column != right and not noisy[column]
    ]
    powers = exponentials**beta
    weights = len(negatives) * powers / powers[negatives].sum()

    denominator = exponentials[right].item()
    for column in negatives:
        denominator += (weights[column] * exponentials[column]).item()
        if hard[column]:
            denominator += alpha * exponentials[column].item()
    return -math.log(exponentials[right].item() / denominator)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.5), (0.0, 0.5), (1.0, 0.0), (2.0, 1.0)])
def test_hn_nce_is_its_formula(alpha: float, beta: float) -> None:
    generator = torch.Generator().manual_seed(1)
    is_negative = ~torch.eye(6, dtype=torch.bool)
    scores = torch.rand(6, 6, generator=generator) * 2 - 1
    hard = torch.rand(6, 6, generator=generator) < 0.3
    noisy = (torch.rand(6, 6, generator=generator) < 0.2) & is_negative
    expected = plain_hn_nce(scores, hard, noisy, alpha, beta)
    loss = hn_nce(scores, hard, noisy, TAU, alpha, beta)
    assert loss.item() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.5), (0.0, 0.5), (1.0, 0.0), (2.0, 1.0)])
def test_hn_nce_without_negatives_is_zero(alpha: float, beta: float) -> None:
    scores = torch.rand(6, 6, generator=torch.Generator().manual_seed(1)) * 2 - 1
    none_hard = torch.zeros(6, 6, dtype=torch.bool)
    all_noisy = ~torch.eye(6, dtype=torch.bool)
    loss = hn_nce(scores, none_hard, all_noisy, 1.0, alpha, beta)
    assert loss.item() == pytest.approx(0, abs=1e-5)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (1.0, 0.5), (0.5, 0.5)])
def test_hn_nce_as_code_divides_columns_by_row_sums(alpha: float, beta: float) -> None:
    generator = torch.Generator().manual_seed(2)
    scores = torch.rand(5, 5, dtype=torch.float64, generator=generator) * 2 - 1
    logits = scores / TAU
    # Without the diagonal, whose pairs are right.
    powers = (beta * logits).exp().fill_diagonal_(0)
    # Each right pair has four negatives.
    by_rows = 4 * powers / powers.sum(dim=1) * logits.exp()
    by_columns = 4 * powers / powers.sum(dim=0) * logits.exp()

    expected = 0.0
    for row in range(5):
        right = logits[row, row].exp()
        to_targets = alpha * right + by_rows[row].sum()
        to_queries = alpha * right + by_columns[:, row].sum()
        expected -= math.log(right / to_targets) / 5
        expected -= math.log(right / to_queries) / 5
    assert hn_nce_as_code(scores, TAU, alpha, beta).item() == pytest.approx(expected, abs=1e-9)


@pytest.fixture(scope="module")
def stored() -> dict[str, Tensor]:
    """Reference numbers of the paper's formula and of its code, and what they were computed from."""
    arrays = papers_reference("covr_")
    return {name.removeprefix("covr_"): torch.from_numpy(array) for name, array in arrays.items()}


@pytest.mark.parametrize(("alpha", "beta"), [(0.0, 0.0), (1.0, 0.5), (0.3, 0.1)])
def test_hn_nce_equals_the_paper(stored: dict[str, Tensor], alpha: float, beta: float) -> None:
    scores = stored["queries"] @ stored["targets"].T
    loss = hn_nce(scores, stored["hard"], stored["noisy"], TAU, alpha, beta)
    expected = stored[f"paper_alpha{alpha}_beta{beta}"].item()
    assert loss.item() == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (1.0, 0.5), (0.5, 0.5)])
def test_hn_nce_equals_its_code(stored: dict[str, Tensor], alpha: float, beta: float) -> None:
    scores = stored["queries"] @ stored["targets"].T
    loss = hn_nce_as_code(scores, TAU, alpha, beta)
    # The paper's code computes in float32.
    expected = stored[f"hnnce_code_alpha{alpha}_beta{beta}"].item()
    assert loss.item() == pytest.approx(expected, abs=2e-5)


def test_frames_are_weighted_by_their_similarity_to_the_text() -> None:
    frames = torch.eye(2)[None]  # (1, 2, 2)
    text = torch.tensor([[1.0, 0.0]])
    # Softmax of (1, 0) / 0.5.
    share = math.exp(2) / (math.exp(2) + 1)
    expected = normalize(torch.tensor([[share, 1 - share]]), dim=-1)
    torch.testing.assert_close(weighted_targets(frames, text, 0.5), expected)
    assert weighted_targets(frames, text, 0.01)[0, 0].item() == pytest.approx(1)
