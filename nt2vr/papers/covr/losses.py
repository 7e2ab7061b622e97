"""Losses of a fusion: InfoNCE over candidates, and CoVR's HN-NCE as published and as its code computes it."""

import math
from collections.abc import Callable

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize

from nt2vr.papers.covr.fusion import Fusion
from nt2vr.papers.covr.settings import FusionSettings
from nt2vr.papers.covr.training_data import FusionData

NEVER = -1e9  # logarithm of 0, with a gradient


def _info_nce(model: Fusion, data: FusionData, rows: Tensor, settings: FusionSettings) -> Tensor:
    own = torch.isin(data.families, data.references[rows])
    own[data.targets[rows]] = True
    others = (~own).nonzero()[:, 0]
    drawn = others[torch.randint(len(others), (settings.random_clips,))] if len(others) else others
    candidates = torch.cat([own.nonzero()[:, 0], torch.unique(drawn)])
    columns = torch.full((len(data.clips),), -1)
    columns[candidates] = torch.arange(len(candidates))
    targets = columns[data.targets[rows]]
    masked = torch.zeros(len(rows), len(candidates), dtype=torch.bool)
    for number, row in enumerate(rows.tolist()):
        right = columns[data.right[row]]
        masked[number, right[right >= 0]] = True
    masked[torch.arange(len(rows)), targets] = False
    queries, wanted = _queries(model, data, rows)
    clips = data.clips[candidates]
    clips[targets] = _targets(data, rows, wanted, settings)
    return info_nce(queries @ clips.T, targets, masked, settings.temperature)


def _hn_nce(model: Fusion, data: FusionData, rows: Tensor, settings: FusionSettings) -> Tensor:
    targets, references = data.targets[rows], data.references[rows]
    sources = references if data.sources is None else data.sources[rows]
    right = [set(data.right[row]) for row in rows.tolist()]
    noisy = torch.tensor([[target in those for target in targets.tolist()] for those in right])
    noisy.fill_diagonal_(False)
    hard = (sources[:, None] == sources) & ~torch.eye(len(rows), dtype=torch.bool)
    queries, wanted = _queries(model, data, rows)
    scores = queries @ _targets(data, rows, wanted, settings).T
    if settings.hn_nce == "as_code":
        return hn_nce_as_code(scores, settings.temperature) / 2
    return hn_nce(scores, hard, noisy, settings.temperature) / (2 * len(rows))


def _queries(model: Fusion, data: FusionData, rows: Tensor) -> tuple[Tensor, Tensor]:
    """Draw one text per triplet, and return its query and its wanted part, (Q, D) each."""
    drawn = torch.randint(data.wanted.shape[1], (len(rows),))
    references, wanted = data.references[rows], data.wanted[rows, drawn]
    given = data.pictures[references], wanted, data.unwanted[rows, drawn]
    if model.cross is None:
        return model(*given), wanted
    assert data.tokens is not None and data.spelled is not None, "loaded where they are needed"
    frames = data.pictures[references, None] if data.shown is None else data.shown[references]
    return model(*given, data.tokens[data.spelled[rows, drawn]].float(), frames), wanted


def _targets(data: FusionData, rows: Tensor, wanted: Tensor, settings: FusionSettings) -> Tensor:
    if not settings.weigh_frames:
        return data.clips[data.targets[rows]]
    assert data.frames is not None, "loaded where they are needed"
    return weighted_targets(data.frames[data.targets[rows]], wanted)


Loss = Callable[[Fusion, FusionData, Tensor, FusionSettings], Tensor]
LOSSES: dict[str, Loss] = {"info_nce": _info_nce, "hn_nce": _hn_nce}


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
    itself = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    total = scores.new_zeros(())
    for way, extra, ignored in ((scores, hard, noisy), (scores.T, hard.T, noisy.T)):
        logits = way / temperature
        others = (beta * logits).masked_fill(ignored | itself, NEVER)
        counts = (
            (~(ignored | itself)).sum(dim=1, keepdim=True).clamp(min=1).to(scores.dtype)
        )  # n - 1
        weights = counts.log() + others - others.logsumexp(dim=1, keepdim=True)  # logarithms
        weighted = torch.where(itself, logits, logits + weights).masked_fill(ignored, NEVER)
        again = logits + math.log(alpha) if alpha else logits
        again = again.masked_fill(~extra | ignored | itself | (not alpha), NEVER)
        total = (
            total + (torch.cat([weighted, again], dim=1).logsumexp(dim=1) - logits.diagonal()).sum()
        )
    return total


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
    itself = torch.eye(len(scores), dtype=torch.bool, device=scores.device)
    logits = scores / temperature
    others = (beta * logits).masked_fill(itself, NEVER)
    total = torch.zeros((), dtype=scores.dtype, device=scores.device)
    for way in (1, 0):
        weights = (
            math.log(max(len(scores) - 1, 1)) + others - others.logsumexp(dim=way)
        )  # (B, B), per column
        weighted = logits + torch.where(itself, math.log(alpha), weights)
        total = total + (weighted.logsumexp(dim=way) - logits.diagonal()).mean()
    return total


def weighted_targets(frames: Tensor, texts: Tensor, temperature: float = 0.1) -> Tensor:
    """Pool frames by their similarity to a text: sum of softmax(frame . text / temperature) * frame, normalised.

    Args:
        frames: (N, F, D), L2-normalised.
        texts: (N, D), L2-normalised.

    Source: CoVR, section 3.3, after Bain et al., "A CLIP-Hitchhiker's Guide to Long Video
    Retrieval", 2022.
    """
    shares = ((frames @ texts[:, :, None]).squeeze(-1) / temperature).softmax(dim=-1)  # (N, F)
    return normalize((shares[..., None] * frames).sum(dim=1), dim=-1)
