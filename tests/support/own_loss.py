"""A loss with an input of its own, in one file, as somebody else would write it."""

from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import relu

from trainer.distributed import gather
from trainer.inputs import Drawing, EmbeddedBatch, Input, Towers, Video, given


class Shuffled(Input[list[str], Tensor]):
    """The batch's captions with their words in another order: (B, D), L2-normalised."""

    def draw(self, drawing: Drawing) -> list[str]:
        """Shuffle the words of this process's captions."""
        texts = []
        for draw, caption in zip(drawing.own_draws, drawing.captions, strict=True):
            words = caption.text.split()
            drawing.rng(f"{draw.row} shuffled").shuffle(words)
            texts.append(" ".join(words))
        return texts

    def texts(self, drawn: list[str]) -> list[str]:
        """Return them, to be embedded with the captions."""
        return drawn

    def embed(
        self, drawn: list[str], texts: Tensor, batch: EmbeddedBatch, towers: Towers
    ) -> Tensor:
        """Gather those of all processes."""
        return gather(texts)


@dataclass(frozen=True)
class WordOrderLoss:
    """Hold a caption nearer to its video than the same words in another order."""

    margin: float = 0.2
    inputs = (Video, Shuffled)

    def __call__(self, batch: EmbeddedBatch) -> Tensor:
        video = given(batch.video)
        right = (video * batch.caption).sum(dim=-1)  # (B,)
        wrong = (video * batch.of(Shuffled)).sum(dim=-1)  # (B,)
        return relu(self.margin + wrong - right).mean()
