"""Losses of covr against plain loops over their formulas, and values by hand."""

import math

import pytest
import torch
from torch import Tensor
from torch.nn.functional import normalize

from nt2vr.papers.covr.losses import hn_nce, hn_nce_as_code, info_nce, weighted_targets
from tests.support.paper_references import papers_reference


def test_info_nce_by_hand() -> None:
    scores = torch.tensor([[0.9, 0.5, 0.1]])
    nothing = torch.tensor([[False] * 3])
    second = torch.tensor([[False, True, False]])
    negative_log = -math.log(math.exp(1.8) / (math.exp(1.8) + math.exp(1) + math.exp(0.2)))
    without = -math.log(math.exp(1.8) / (math.exp(1.8) + math.exp(0.2)))
    targets = torch.tensor([0])
    assert info_nce(scores, targets, nothing, 0.5).item() == pytest.approx(negative_log, abs=1e-6)
    assert info_nce(scores, targets, second, 0.5).item() == pytest.approx(without, abs=1e-6)


def plain_hn_nce(
    scores: Tensor, hard: Tensor, noisy: Tensor, tau: float, alpha: float, beta: float
) -> float:
    """The formula, term by term."""
    total = 0.0
    size = len(scores)
    for way, is_hard, is_noisy in ((scores, hard, noisy), (scores.T, hard.T, noisy.T)):
        for i in range(size):
            e = [math.exp(way[i, j].item() / tau) for j in range(size)]
            columns = [j for j in range(size) if j != i and not is_noisy[i, j]]
            sum_of_betas = sum(e[j] ** beta for j in columns)
            below = e[i]
            below += sum(len(columns) * e[j] ** beta / sum_of_betas * e[j] for j in columns)
            below += alpha * sum(e[j] for j in columns if is_hard[i, j])
            total -= math.log(e[i] / below)
    return total


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.5), (0.0, 0.5), (1.0, 0.0), (2.0, 1.0)])
def test_hn_nce_is_its_formula(alpha: float, beta: float) -> None:
    generator = torch.Generator().manual_seed(1)
    scores = torch.rand(6, 6, generator=generator) * 2 - 1
    hard = torch.rand(6, 6, generator=generator) < 0.3
    noisy = (torch.rand(6, 6, generator=generator) < 0.2) & ~torch.eye(6, dtype=torch.bool)
    expected = plain_hn_nce(scores, hard, noisy, 0.07, alpha, beta)
    assert hn_nce(scores, hard, noisy, 0.07, alpha, beta).item() == pytest.approx(
        expected, rel=1e-4
    )
    no_negatives = ~torch.eye(6, dtype=torch.bool)
    assert hn_nce(scores, hard & False, no_negatives, 1.0, alpha, beta).item() == pytest.approx(
        0, abs=1e-5
    )


@pytest.mark.parametrize(("alpha", "beta"), [(1.0, 0.0), (1.0, 0.5), (0.5, 0.5)])
def test_hn_nce_as_code_divides_columns_by_row_sums(alpha: float, beta: float) -> None:
    scores = (
        torch.rand(5, 5, dtype=torch.float64, generator=torch.Generator().manual_seed(2)) * 2 - 1
    )
    s = (scores / 0.07).tolist()
    expected = 0.0
    for i in range(5):
        columns = [j for j in range(5) if j != i]
        rows = {j: sum(math.exp(beta * s[j][k]) for k in range(5) if k != j) for j in range(5)}
        below = sum(4 * math.exp(beta * s[i][j]) / rows[j] * math.exp(s[i][j]) for j in columns)
        column = sum(math.exp(beta * s[k][i]) for k in columns)
        above = sum(4 * math.exp(beta * s[k][i]) / column * math.exp(s[k][i]) for k in columns)
        right = alpha * math.exp(s[i][i])
        expected += (math.log(right + below) + math.log(right + above) - 2 * s[i][i]) / 5
    assert hn_nce_as_code(scores, 0.07, alpha, beta).item() == pytest.approx(expected, abs=1e-9)


def test_hn_nce_equals_reference_numbers_of_paper_and_code() -> None:
    reference = {name: torch.from_numpy(array) for name, array in papers_reference("covr_").items()}
    scores = reference["covr_queries"] @ reference["covr_targets"].T
    for alpha, beta in ((0.0, 0.0), (1.0, 0.5), (0.3, 0.1)):
        loss = hn_nce(scores, reference["covr_hard"], reference["covr_noisy"], 0.07, alpha, beta)
        assert loss.item() == pytest.approx(
            reference[f"covr_paper_alpha{alpha}_beta{beta}"].item(), abs=1e-9
        )
    for alpha, beta in ((1.0, 0.0), (1.0, 0.5), (0.5, 0.5)):
        # The paper's code computes in float32.
        of_code = reference[f"covr_hnnce_code_alpha{alpha}_beta{beta}"].item()
        assert hn_nce_as_code(scores, 0.07, alpha, beta).item() == pytest.approx(of_code, abs=2e-5)


def test_frames_are_weighted_by_their_similarity_to_the_text() -> None:
    frames = torch.eye(2)[None]  # (1, 2, 2)
    text = torch.tensor([[1.0, 0.0]])
    # Softmax of (1, 0) / 0.5.
    share = math.exp(2) / (math.exp(2) + 1)
    expected = normalize(torch.tensor([[share, 1 - share]]), dim=-1)
    torch.testing.assert_close(weighted_targets(frames, text, 0.5), expected)
    assert weighted_targets(frames, text, 0.01)[0, 0].item() == pytest.approx(1)
