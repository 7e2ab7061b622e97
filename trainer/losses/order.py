"""Order loss: a sentence fits the frames in their order, not in the other one, which shows something else.

"A woman sings, then dances" is not "a woman dances, then sings", nor is a ball thrown a ball caught.
"""

from dataclasses import dataclass
from typing import ClassVar

from torch import Tensor
from torch.nn.functional import softplus

from trainer.losses.embedded import EmbeddedBatch, given


@dataclass(frozen=True)
class OrderLoss:
    """Tell clips that differ in the order of their frames apart by their sentences, and the sentences by the clips.

        s_ij = logit_scale · cos(sentence i, clip j)
        loss = mean_i (log(1 + exp(s_ir - s_ii)) + log(1 + exp(s_ri - s_ii))) / 2      r: i in the other order

    It is at least ln 2 for what does not know the order, such as the mean of frames. No gradient reaches the
    temperature.
    """

    needs: ClassVar[frozenset[str]] = frozenset({"video", "ordered"})

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        """Return the mean of both directions, a scalar; 0 without pairs."""
        order, scale = given(batch.order), batch.logit_scale.detach()
        text, video = (rows.reshape(-1, 2, rows.shape[-1]) for rows in (order.text, order.video))  # (P / 2, 2, D)
        scores = scale * text @ video.mT  # (P / 2, 2, 2)
        if not len(scores):
            return order.text.sum() * 0.0
        right, wrong = scores.diagonal(dim1=1, dim2=2), scores.flip(2).diagonal(dim1=1, dim2=2)  # wrong: its clip
        return (softplus(wrong - right) + softplus(wrong.flip(1) - right)).mean() / 2
