"""Figure of the first clips of several systems, as template data. Independent of Gradio."""

from collections.abc import Collection, Sequence
from typing import Any

from nt2vr.errors import ConfigError, quoted
from nt2vr.ui.search.column_view import short_name

MOST = 6  # systems, as in Figure 1 of the paper
USUAL = ("CLIP", "CLIP-bnl", "CLIP-con", "CLIP-neg", "CLIP4Clip", "CLIP boolean")


def figure_choices(chosen: Sequence[str], names: Collection[str]) -> list[str]:
    """List the systems to choose from: the usual ones as far as there are such `names`, then those chosen already."""
    usual = [name for name in USUAL if name in names]
    return [*usual, *(name for name in chosen if name not in usual)]


def figure_systems(asked: str, chosen: Sequence[str], choices: Sequence[str]) -> list[str]:
    """Return the systems that an event names, "CLIP|CLIP-neg", or a ConfigError; else those chosen, and others."""
    named = asked.split("|") if asked else list(dict.fromkeys([*chosen, *choices]))[:MOST]
    if others := [name for name in named if name not in choices]:
        raise ConfigError(f"A figure cannot show {quoted(others[0])}. Choose among its systems.")
    if len(named) > MOST:
        raise ConfigError(f"A figure shows at most {MOST} systems.")
    return [name for name in choices if name in named]


def figure_view(
    understood: dict[str, Any], columns: Sequence[dict[str, Any]], systems: Sequence[str], choices: Sequence[str]
) -> dict[str, Any]:
    """Show the first clip of each system under the query; the last cannot be taken away, and none can join MOST."""
    others = [name for name in choices if name not in systems]
    fixed = systems if len(systems) == 1 else others if len(systems) == MOST else ()
    return {
        "pieces": understood["pieces"],
        "flipped": understood["flipped"],
        "columns": list(columns),
        "choices": [
            {
                "system": name,
                "name": short_name(name),
                "on": "true" if name in systems else "false",
                "fixed": name in fixed,
            }
            for name in choices
        ],
    }
