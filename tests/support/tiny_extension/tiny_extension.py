"""An extension of somebody else's: a loss, a strategy, a benchmark and a command."""

from nt2vr.extension import Command, Extension

EXTENSION = Extension(
    name="tiny",
    losses={"pull": "tiny_extension_parts:PullLoss"},
    strategies={"opposite": "tiny_extension_parts:OPPOSITE"},
    tables={"tiny_caption": "tiny_extension_parts:read_captions"},
    commands=(
        Command(
            "queries tiny",
            "tiny_extension_parts:count_words",
            help="Count the words of a sentence.",
        ),
    ),
)
