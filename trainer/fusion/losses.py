"""Losses of covr: InfoNCE with masked candidates, and HN-NCE; and targets weighted by frame."""

import math

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

NEVER = -1e9  # logarithm of 0, with a gradient


def info_nce(scores: Tensor, targets: Tensor, masked: Tensor, temperature: float) -> Tensor:
    """Cross entropy of the target among all candidates, averaged over the queries.

        loss = mean over i of -log(exp(S_it / tau) / sum over j not masked of exp(S_ij / tau))

    Args:
        scores: (Q, C), cosines of queries and candidates.
        targets: (Q,), column of each query's target t.
        masked: (Q, C), candidates that are right too, and so no negatives; False for targets.
    """
    return cross_entropy((scores / temperature).masked_fill(masked, -torch.inf), targets)


def hn_nce(
    scores: Tensor, hard: Tensor, noisy: Tensor, temperature: float, alpha: float = 1.0, beta: float = 0.5
) -> Tensor:
    """HN-NCE over a batch of triplets as published, in both directions, summed over the batch.

        loss = sum over i of -log(e(i, i) / (sum over j not in P(i) of w(i, j) e(i, j)
                                             + alpha * sum over j in HN(i) of e(i, j))),  e(i, j) = exp(S_ij / tau)
               and the same with e(j, i)
        w(i, j) = (n - 1) * exp(beta * S_ij / tau) / sum over k != i of exp(beta * S_ik / tau),  w(i, i) = 1

    Args:
        scores: (B, B), cosines of query i and target j; the diagonal is right.
        hard: (B, B), HN: triplets of the same reference with another target.
        noisy: (B, B), P: other triplets whose target is right for query i as well; they are left out everywhere.
        temperature: tau; it and alpha are learned in the paper, and fixed here.
        beta: concentration on similar candidates; 0 weights all alike. n counts those that are not in P(i).

    Source: Ventura et al., "CoVR: Learning Composed Video Retrieval from Web Video Captions", AAAI 2024, section 3.3;
        w as in Radenovic et al., "Filtering, Distillation, and Hard Negatives", CVPR 2023.
    """
    both = ((scores, hard, noisy), (scores.T, hard.T, noisy.T))
    return torch.stack([_one_way(*way, temperature, alpha, beta) for way in both]).sum()


def hn_nce_as_code(scores: Tensor, temperature: float, alpha: float = 1.0, beta: float = 0.5) -> Tensor:
    """HN-NCE as CoVR's code computes it: without HN and P, alpha on the right pair, averaged over the batch.

        loss = mean over i of log(sum over j of v(i, j) e(i, j)) - S_ii / tau
             + mean over j of log(sum over i of w(i, j) e(i, j)) - S_jj / tau
        v(i, j) = (B - 1) * exp(beta * S_ij / tau) / sum over k != j of exp(beta * S_jk / tau),  v(i, i) = alpha
        w(i, j) = (B - 1) * exp(beta * S_ij / tau) / sum over k != j of exp(beta * S_kj / tau),  w(i, i) = alpha

    v divides column j by the sum of row j, not of row i, so its rows do not sum to B - 1 unless beta is 0.

    Args:
        scores: (B, B), cosines of query i and target j; the diagonal is right.
        alpha: 1 in their configuration, with beta 0.5 and temperature 0.07.

    Source: `HardNegativeNCE` of lucas-ventura/CoVR.
    """
    itself = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    logits = scores / temperature
    others = (beta * logits).masked_fill(itself, NEVER)
    total = torch.zeros((), dtype=scores.dtype, device=scores.device)
    for way in (1, 0):
        weights = math.log(max(len(scores) - 1, 1)) + others - others.logsumexp(dim=way)  # (B, B), per column
        weighted = logits + torch.where(itself, math.log(alpha), weights)
        total = total + (weighted.logsumexp(dim=way) - logits.diagonal()).mean()
    return total


def _one_way(scores: Tensor, hard: Tensor, noisy: Tensor, temperature: float, alpha: float, beta: float) -> Tensor:
    itself = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    logits = scores / temperature
    others = (beta * logits).masked_fill(noisy | itself, NEVER)
    counts = (~(noisy | itself)).sum(dim=1, keepdim=True).clamp(min=1).to(scores.dtype)  # n - 1
    weights = counts.log() + others - others.logsumexp(dim=1, keepdim=True)  # logarithms
    weighted = torch.where(itself, logits, logits + weights).masked_fill(noisy, NEVER)
    extra = (logits + math.log(alpha) if alpha else logits).masked_fill(~hard | noisy | itself | (not alpha), NEVER)
    return (torch.cat([weighted, extra], dim=1).logsumexp(dim=1) - logits.diagonal()).sum()


def weighted_targets(frames: Tensor, texts: Tensor, temperature: float = 0.1) -> Tensor:
    """Pool frames by their similarity to a text: sum of softmax(frame . text / temperature) * frame, normalised.

    Args:
        frames: (N, F, D), L2-normalised.
        texts: (N, D), L2-normalised.

    Source: CoVR, section 3.3, after Bain et al., "A CLIP-Hitchhiker's Guide to Long Video Retrieval", 2022.
    """
    shares = ((frames @ texts[:, :, None]).squeeze(-1) / temperature).softmax(dim=-1)  # (N, F)
    return normalize((shares[..., None] * frames).sum(dim=1), dim=-1)
