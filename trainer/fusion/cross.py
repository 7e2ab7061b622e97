"""The trainable twin of `nt2vr.models.cross`."""

import torch
from torch import Tensor, nn

from nt2vr.models.cross import ASKING, EPSILON, ROLES, WIDER, heads_of

STD = 0.02  # of new weights


class CrossBlock(nn.Module):
    """A block of cross-attention, normalised first."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.ln_1, self.ln_2 = nn.LayerNorm(width, EPSILON), nn.LayerNorm(width, EPSILON)
        self.attn = nn.MultiheadAttention(width, heads_of(width), batch_first=True)
        self.c_fc, self.c_proj = nn.Linear(width, WIDER * width), nn.Linear(WIDER * width, width)

    def forward(self, x: Tensor, given: Tensor, absent: Tensor) -> Tensor:
        """Transform (Q, A, D), which asks itself and (Q, K, D); `absent` (Q, A + K) is what there is not."""
        asked = self.ln_1(x)
        keys = torch.cat([asked, self.ln_1(given)], dim=1)
        x = x + self.attn(asked, keys, keys, key_padding_mask=absent, need_weights=False)[0]
        changed: Tensor = self.c_proj(self.c_fc(self.ln_2(x)).relu())
        return x + changed


class CrossModule(nn.Module):
    """See `Cross`; it starts without effect, as its last layer is zero."""

    def __init__(self, width: int, blocks: int) -> None:
        super().__init__()
        self.roles = nn.Parameter(STD * torch.randn(ROLES, width))
        self.blocks = nn.ModuleList(CrossBlock(width) for _ in range(blocks))
        self.ln = nn.LayerNorm(width, EPSILON)
        self.out = nn.Linear(ASKING * width, width, bias=False)
        nn.init.zeros_(self.out.weight)

    def forward(self, asking: list[Tensor], tokens: Tensor, frames: Tensor) -> Tensor:
        """Return the correction (Q, D) of queries; arguments as of `Cross`."""
        x = torch.stack(asking, dim=1) + self.roles[:ASKING]
        given = torch.cat([tokens, frames], dim=1)
        absent = torch.cat([torch.zeros_like(x[..., 0], dtype=torch.bool), ~given.any(dim=-1)], dim=1)
        roles = self.roles[ASKING:].repeat_interleave(torch.tensor([tokens.shape[1], frames.shape[1]]), dim=0)
        for block in self.blocks:
            x = block(x, given + roles, absent)
        correction: Tensor = self.out(self.ln(x).flatten(1))
        return correction
