"""The extension's text side that a config asks for."""

from nt2vr.extension import load, text_sides
from nt2vr.models.text_side import TextSide
from trainer.config import TrainConfig
from trainer.data.clips import Clips


def new_text_side(config: TrainConfig, clips: Clips) -> TextSide | None:
    """Build the text side; None if the config asks for none, but for the text tower."""
    if not config.text_side:
        return None
    kind: type[TextSide] = load(text_sides()[config.text_side])
    return kind.for_training(config, clips)
