"""Losses of a fusion: InfoNCE over candidates, and CoVR's HN-NCE as published and as its code computes it."""

import math
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from nt2vr.papers.covr.fusion import Fusion
from nt2vr.papers.covr.fusion_data import FusionData
from nt2vr.papers.covr.settings import FusionSettings

# Logarithm of 0, with a gradient.
NEVER = -1e9


def _info_nce(model: Fusion, data: FusionData, rows: Tensor, settings: FusionSettings) -> Tensor:
    """Compare with all clips of the triplets' families, their targets and some random clips."""
    candidates = _candidates(data, rows, settings.random_clips)  # (C,)
    is_target = candidates == data.targets[rows][:, None]  # (Q, C)
    targets = is_target.int().argmax(dim=1)  # (Q,)

    queries, wanted = _queries(model, data, rows)
    clips = data.clips[candidates]
    clips[targets] = _targets(data, rows, wanted, settings=settings)
    return info_nce(
        queries @ clips.T,
        targets=targets,
        masked=_are_right(candidates, data, rows) & ~is_target,
        temperature=settings.temperature,
    )


def _are_right(clips: Tensor, data: FusionData, rows: Tensor) -> Tensor:
    """Return which clips are right for each triplet, (Q, C)."""
    is_right = torch.zeros(len(rows), len(data.clips), dtype=torch.bool)  # (Q, V)
    for number, row in enumerate(rows.tolist()):
        is_right[number, data.right[row]] = True
    return is_right[:, clips]


def _candidates(data: FusionData, rows: Tensor, num_random: int) -> Tensor:
    """Return the rows of the clips that the triplets' queries rank, (C,)."""
    in_batch = torch.isin(data.families, data.references[rows])  # (V,)
    in_batch[data.targets[rows]] = True
    further = (~in_batch).nonzero().flatten()
    if len(further):
        further = further[torch.randint(len(further), (num_random,))]
    return torch.cat([in_batch.nonzero().flatten(), torch.unique(further)])


def _hn_nce(model: Fusion, data: FusionData, rows: Tensor, settings: FusionSettings) -> Tensor:
    queries, wanted = _queries(model, data, rows)
    scores = queries @ _targets(data, rows, wanted, settings=settings).T  # (B, B)
    if settings.hn_nce == "as_code":
        return hn_nce_as_code(scores, settings.temperature) / 2

    all_sources = data.references if data.sources is None else data.sources
    sources = all_sources[rows]
    total = hn_nce(
        scores,
        hard=(sources[:, None] == sources).fill_diagonal_(False),
        # Targets of other triplets that are right for each triplet as well.
        noisy=_are_right(data.targets[rows], data, rows).fill_diagonal_(False),
        temperature=settings.temperature,
    )
    return total / (2 * len(rows))


def _queries(model: Fusion, data: FusionData, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Draw one text per triplet, and return its query and its wanted part, (Q, D) each."""
    texts = torch.randint(data.wanted.shape[1], (len(rows),))
    references = data.references[rows]
    pictures = data.pictures[references]
    wanted = data.wanted[rows, texts]
    inputs = [pictures, wanted, data.unwanted[rows, texts]]
    if model.cross is not None:
        assert data.tokens is not None, "loaded where they are needed"
        assert data.token_rows is not None, "as are the tokens"
        inputs.append(data.tokens[data.token_rows[rows, texts]].float())
        if data.reference_frames is None:
            inputs.append(pictures[:, None])
        else:
            inputs.append(data.reference_frames[references])
    return model(*inputs), wanted


def _targets(data: FusionData, rows: Tensor, wanted: Tensor, settings: FusionSettings) -> Tensor:
    if not settings.weigh_frames:
        return data.clips[data.targets[rows]]
    assert data.frames is not None, "loaded where they are needed"
    return weighted_targets(data.frames[data.targets[rows]], wanted)


LOSSES = {"info_nce": _info_nce, "hn_nce": _hn_nce}


def info_nce(scores: Tensor, targets: Tensor, masked: Tensor, temperature: float) -> Tensor:
    """Cross entropy of the target among all candidates, averaged over the queries.

        loss = mean over i of -log(exp(S_it / tau) / sum over j not masked of exp(S_ij / tau))

    Args:
        scores: (Q, C), cosines of queries and candidates.
        targets: (Q,), column of each query's target t.
        masked: (Q, C), candidates that are right too, and so no negatives; False for targets.
    """
    logits = scores / temperature
    return cross_entropy(logits.masked_fill(masked, -torch.inf), targets)


def hn_nce(
    scores: Tensor,
    hard: Tensor,
    noisy: Tensor,
    temperature: float,
    alpha: float = 1.0,
    beta: float = 0.5,
) -> Tensor:
    """HN-NCE over a batch of triplets as published, in both directions, summed over the batch.

        loss = sum over i of -log(e(i, i) / (sum over j not in P(i) of w(i, j) e(i, j)
                                             + alpha * sum over j in HN(i) of e(i, j))),  e(i, j) = exp(S_ij / tau)
               and the same with e(j, i)
        w(i, j) = (n - 1) * exp(beta * S_ij / tau) / sum over k != i of exp(beta * S_ik / tau),  w(i, i) = 1

    Args:
        scores: (B, B), cosines of query i and target j; the diagonal is right.
        hard: (B, B), HN: triplets of the same reference with another target.
        noisy: (B, B), P: other triplets whose target is right for query i as well; they are left
            out everywhere.
        temperature: tau; it and alpha are learned in the paper, and fixed here.
        beta: concentration on similar candidates; 0 weights all alike. n counts those that are not
            in P(i).

    Source: Ventura et al., "CoVR: Learning Composed Video Retrieval from Web Video Captions", AAAI
    2024, section 3.3;
        w as in Radenovic et al., "Filtering, Distillation, and Hard Negatives", CVPR 2023.
    """
    logits = scores / temperature
    losses_by_row = partial(_hn_nce_by_row, alpha=alpha, beta=beta)
    by_query = losses_by_row(logits, hard, noisy)
    by_target = losses_by_row(logits.T, hard.T, noisy.T)
    return by_query.sum() + by_target.sum()


def _hn_nce_by_row(
    logits: Tensor, hard: Tensor, noisy: Tensor, alpha: float, beta: float
) -> Tensor:
    """Return the summands of `hn_nce` in one direction, (B,)."""
    is_own = torch.eye(len(logits), dtype=torch.bool, device=logits.device)
    is_ignored = noisy | is_own
    negatives = (beta * logits).masked_fill(is_ignored, NEVER)
    num_negatives = (~is_ignored).sum(dim=1, keepdim=True)  # (B, 1)
    log_count = num_negatives.clamp(min=1).to(logits).log()
    log_weights = log_count + negatives - negatives.logsumexp(dim=1, keepdim=True)
    weighted = torch.where(is_own, logits, logits + log_weights)
    weighted = weighted.masked_fill(noisy, NEVER)

    summands = weighted
    if alpha:
        is_left_out = ~hard | is_ignored
        hard_logits = (logits + math.log(alpha)).masked_fill(is_left_out, NEVER)
        summands = torch.cat([weighted, hard_logits], dim=1)
    return summands.logsumexp(dim=1) - logits.diagonal()


def hn_nce_as_code(
    scores: Tensor, temperature: float, alpha: float = 1.0, beta: float = 0.5
) -> Tensor:
    """HN-NCE as CoVR's code computes it: without HN and P, alpha on the right pair, averaged over the batch.

        loss = mean over i of log(sum over j of v(i, j) e(i, j)) - S_ii / tau
             + mean over j of log(sum over i of w(i, j) e(i, j)) - S_jj / tau
        v(i, j) = (B - 1) * exp(beta * S_ij / tau) / sum over k != j of exp(beta * S_jk / tau),  v(i, i) = alpha
        w(i, j) = (B - 1) * exp(beta * S_ij / tau) / sum over k != j of exp(beta * S_kj / tau),  w(i, i) = alpha

    v divides column j by the sum of row j, not of row i, so its rows do not sum to B - 1 unless
    beta is 0.

    Args:
        scores: (B, B), cosines of query i and target j; the diagonal is right.
        alpha: 1 in their configuration, with beta 0.5 and temperature 0.07.

    Source: `HardNegativeNCE` of lucas-ventura/CoVR.
    """
    is_own = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    logits = scores / temperature
    negatives = (beta * logits).masked_fill(is_own, NEVER)
    log_count = math.log(max(len(scores) - 1, 1))
    losses = []
    for dim in (1, 0):
        log_weights = log_count + negatives - negatives.logsumexp(dim=dim)  # (B, B), per column
        weighted = logits + torch.where(is_own, math.log(alpha), log_weights)
        log_ratios = weighted.logsumexp(dim=dim) - logits.diagonal()
        losses.append(log_ratios.mean())
    return torch.stack(losses).sum()


def weighted_targets(frames: Tensor, texts: Tensor, temperature: float = 0.1) -> Tensor:
    """Pool frames by their similarity to a text: sum of softmax(frame . text / temperature) * frame, normalised.

    Args:
        frames: (N, F, D), L2-normalised.
        texts: (N, D), L2-normalised.

    Source: CoVR, section 3.3, after Bain et al., "A CLIP-Hitchhiker's Guide to Long Video
    Retrieval", 2022.
    """
    similarities = (frames @ texts[:, :, None]).squeeze(-1)  # (N, F)
    shares = (similarities / temperature).softmax(dim=-1)  # (N, F)
    weighted_frames = shares[..., None] * frames
    return normalize(weighted_frames.sum(dim=1), dim=-1)
