"""Cross-attention of a fusion over the text's tokens and the reference's frames."""

import torch
from torch import Tensor, nn

EPSILON = 1e-5  # of layer norms, torch's default
ROLES = 5  # of vectors: picture, wanted part, unwanted parts; tokens, frames
ASKING = 3  # the first of them
WIDER = 2  # hidden units of a block's second half, per dimension
STD = 0.02  # of new weights


class Block(nn.Module):
    """A block of cross-attention, normalised first, with one head per 64 dimensions that divide evenly."""

    def __init__(self, width: int) -> None:
        super().__init__()
        heads = width // 64 if width % 64 == 0 else 1
        self.ln_1, self.ln_2 = nn.LayerNorm(width, EPSILON), nn.LayerNorm(width, EPSILON)
        self.attn = nn.MultiheadAttention(width, heads, batch_first=True)
        self.c_fc, self.c_proj = nn.Linear(width, WIDER * width), nn.Linear(WIDER * width, width)

    def forward(self, x: Tensor, given: Tensor, absent: Tensor) -> Tensor:
        """Transform (Q, A, D), which asks itself and (Q, K, D); `absent` (Q, A + K) is what there is not."""
        asked = self.ln_1(x)
        keys = torch.cat([asked, self.ln_1(given)], dim=1)
        x = x + self.attn(asked, keys, keys, key_padding_mask=absent, need_weights=False)[0]
        changed: Tensor = self.c_proj(self.c_fc(self.ln_2(x)).relu())
        return x + changed


class Cross(nn.Module):
    """The picture and both parts ask the text's tokens, the reference's frames, and each other.

    x = (picture, wanted, unwanted) + roles,  y = (tokens, frames) + roles
    in each block:  x += attention(norm(x), over norm(x) and norm(y)),  x += mlp(norm(x))
    correction = W [norm(x)],  the three side by side
    """

    def __init__(self, width: int, blocks: int) -> None:
        """Start without effect: the last layer is zero."""
        super().__init__()
        self.roles = nn.Parameter(STD * torch.randn(ROLES, width))
        self.blocks = nn.ModuleList(Block(width) for _ in range(blocks))
        self.ln = nn.LayerNorm(width, EPSILON)
        self.out = nn.Linear(ASKING * width, width, bias=False)
        nn.init.zeros_(self.out.weight)

    def forward(self, asking: list[Tensor], tokens: Tensor, frames: Tensor) -> Tensor:
        """Return the correction of queries (Q, D).

        Args:
            asking: picture, wanted part and sum of the unwanted parts, (Q, D) each; zeros for none.
            tokens: (Q, T, D), unit vectors; zeros pad.
            frames: (Q, F, D), likewise.
        """
        x = torch.stack(asking, dim=1) + self.roles[:ASKING]
        given = torch.cat([tokens, frames], dim=1)
        absent = torch.cat([torch.zeros_like(x[..., 0], dtype=torch.bool), ~given.any(dim=-1)], dim=1)
        roles = self.roles[ASKING:].repeat_interleave(torch.tensor([tokens.shape[1], frames.shape[1]]), dim=0)
        for block in self.blocks:
            x = block(x, given + roles, absent)
        correction: Tensor = self.out(self.ln(x).flatten(1))
        return correction
