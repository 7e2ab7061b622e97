"""The clips' own videos."""

from torch import Tensor

from trainer.inputs.base import Drawing, EmbeddedBatch, Input, Towers


class Video(Input[None, None]):
    """The video of each caption, which losses read as `batch.video`.

    A training none of whose losses has it reads no videos.
    """

    reads_videos = True

    def draw(self, drawing: Drawing) -> None:
        """Draw nothing: a batch has its videos anyway."""

    def embed(self, drawn: None, texts: Tensor, batch: EmbeddedBatch, towers: Towers) -> None:
        """Embed nothing: the learner embeds the videos."""
