"""An extension of somebody else's: a loss, a strategy, an input of videos, a benchmark and a command."""

from nt2vr.extension import Command, Extension

EXTENSION = Extension(
    name="tiny",
    losses={"pull": "tiny_extension_parts:PullLoss"},
    strategies={"opposite": "tiny_extension_parts:OPPOSITE"},
    settings={"sounds": "tiny_extension_sounds:SoundSettings"},
    video_inputs={"sounds": "tiny_extension_sounds:Sounds"},
    tables={"tiny_caption": "tiny_extension_parts:read_captions"},
    commands=(
        Command(
            "queries tiny",
            "tiny_extension_parts:count_words",
            help="Count the words of a sentence.",
        ),
    ),
)
