"""The clips' own videos."""

from torch import Tensor

from trainer.inputs.base import Drawing, EmbeddedBatch, Input, Towers


class Video(Input[None, None]):
    """The video of each caption, which losses read as `batch.video`. Without it, a training reads no videos."""

    reads_videos = True

    def draw(self, drawing: Drawing) -> None:
        """Draw nothing: every batch of clips with videos has them."""

    def embed(self, drawn: None, texts: Tensor, batch: EmbeddedBatch, towers: Towers) -> None:
        """Add nothing, for the same reason."""
