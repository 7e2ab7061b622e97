"""The extension's text side that a config asks for."""

from nt2vr.extension import load, text_sides
from nt2vr.models.text_side import TextSide
from trainer.config import TrainConfig
from trainer.data.clips import Clips


def new_text_side(config: TrainConfig, clips: Clips) -> TextSide | None:
    """Build the text side; None if the config asks for none, but for the text tower."""
    return text_side_class(config).for_training(config, clips) if config.text_side else None


def text_side_class(config: TrainConfig) -> type[TextSide]:
    """Return the class of the text side of a config that asks for one."""
    kind: type[TextSide] = load(text_sides()[config.text_side])
    return kind
