"""docs/model-zoo.md, generated from the cards of the shipped models and the table of recommended ones.

python -m tests.support.model_zoo --write
"""

import argparse
import sys
from collections.abc import Iterator, Sequence

from nt2vr.models.card import Card, read_card
from nt2vr.models.download import RECOMMENDED
from nt2vr.settings import ASSETS
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "model-zoo.md"
# As the tables of docs/lab/results.md.
ORDER = ("CLIP", "CLIP-bnl", "CLIP-con", "CLIP-neg", "CLIP4Clip", "CLIP-vfc")
# Name on the card -> head of the column, and its format.
MEASURES = {
    "test/original/MIR": ("Original MIR", ".3f"),
    "test/composed/MIR": ("Composed MIR", ".3f"),
    "test/composed/hard_pairs": ("Hard pairs", ".1f"),
    "test/composed/violations@10": ("Violations@10", ".1f"),
    "test/without/hard_pairs": ("“Without”: hard pairs", ".1f"),
    "test/not/auc": ("“Not”: AUC", ".3f"),
}
# The control has no card; its figures are those of docs/lab/results.md.
CONTROL = ("*CLIP drop, the control*", "–", "0.679", "59.1", "11.0", "54.1", "0.5")
HEAD = """# Model zoo

*Generated from the models' cards by `python -m tests.support.model_zoo --write`.*

## Shipped

All share one visual tower and know only the built-in world: their figures say nothing about real footage. They were
measured on its 2,000 test scenes; hard pairs and violations are in percent. [Results](results.md) has intervals,
controls and what did not reproduce.
"""
DOWNLOADS = """
## To download

`nt2vr models add NAME`, or one click under “More models” on the Search tab. None of these models was measured here:
[Models](models.md#recommended) says where the figures are from. The
[models that take whole clips](models.md#models-that-take-whole-clips) are
listed there with size, licence, frames and dimensions.
"""


def row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |\n"


def _escaped(name: str) -> str:
    return name.replace("*", r"\*")


def figures(card: Card) -> Iterator[str]:
    """Yield a model's figures in the order of MEASURES, a dash for each that is missing."""
    for name, (_head, form) in MEASURES.items():
        if name in card.metrics:
            yield format(card.metrics[name], form)
        else:
            yield "–"


def shipped_cards() -> list[Card]:
    """Return the cards of the shipped models, in ORDER."""
    by_name = {}
    for folder in (ASSETS / "models").iterdir():
        card = read_card(folder)
        by_name[card.name] = card
    assert by_name.keys() == set(ORDER), "name the new model in ORDER"
    return [by_name[name] for name in ORDER]


def measures_table(cards: Sequence[Card]) -> str:
    heads = [head for head, _ in MEASURES.values()]
    first, *others = [row(_escaped(card.name), *figures(card)) for card in cards]
    # The control stands below the model that it uses.
    rows = [first, row(*CONTROL), *others]
    return row("Model", *heads) + row(":--", *["--:"] * len(heads)) + "".join(rows)


def description(card: Card) -> str:
    """Return a line that says what a model was trained from, how and on what."""
    losses = []
    for name, values in card.training.losses.items():
        losses.append(f"{name} × {values.get('weight', 1):g}")
    facts = (
        f"from {card.base or 'random weights'}",
        ", ".join(losses),
        card.training.data,
        f"epoch {card.training.epoch}",
        f"{card.framing.frames} frames of {card.framing.image_size} pixels",
    )
    return f"- **{_escaped(card.name)}**: {'; '.join(facts)}\n"


def downloads_table() -> str:
    text = row("Model", "Disk", "Speed", "MSR-VTT R@1", "Remark")
    text += row(":--", "--:", ":--", "--:", ":--")
    for model in RECOMMENDED:
        size = f"{model.size_mb:,} MB"
        text += row(f"`{model.name}`", size, model.speed, model.msrvtt or "", model.remark)
    return text


def model_zoo() -> str:
    cards = shipped_cards()
    descriptions = "".join(map(description, cards))
    parts = [HEAD, measures_table(cards), descriptions + DOWNLOADS, downloads_table()]
    return "\n".join(parts)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.support.model_zoo", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew docs/model-zoo.md")
    if parser.parse_args().write:
        PAGE.write_text(model_zoo(), encoding="utf-8")
    else:
        sys.stdout.write(model_zoo())


if __name__ == "__main__":
    main()
