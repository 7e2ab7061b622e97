"""docs/model-zoo.md, generated from the cards of the shipped models and the table of recommended ones.

python -m tests.support.model_zoo --write
"""

import argparse
import sys
from collections.abc import Iterator

from nt2vr.models.card import Card, read_card
from nt2vr.models.download import RECOMMENDED
from nt2vr.settings import ASSETS
from tests.support.paths import ROOT

PAGE = ROOT / "docs" / "model-zoo.md"
# As the tables of docs/lab/results.md.
ORDER = (
    "CLIP",
    "CLIP-bnl",
    "CLIP-con",
    "CLIP-neg",
    "CLIP4Clip",
    "CLIP-vfc",
)
# Name on the card -> head of the column, and its format.
MEASURES = {
    "test/original/MIR": ("Original MIR", ".3f"),
    "test/composed/MIR": ("Composed MIR", ".3f"),
    "test/composed/hard_pairs": ("Hard pairs", ".1f"),
    "test/composed/violations@10": ("Violations@10", ".1f"),
    "test/without/hard_pairs": ("“Without”: hard pairs", ".1f"),
    "test/not/auc": ("“Not”: AUC", ".3f"),
}
# Of docs/lab/results.md; has no card.
CONTROL = (
    "*CLIP drop, the control*",
    "–",
    "0.679",
    "59.1",
    "11.0",
    "54.1",
    "0.5",
)
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
    for name, (_, form) in MEASURES.items():
        yield format(card.metrics[name], form) if name in card.metrics else "–"


def model_zoo() -> str:
    card_of = {card.name: card for card in map(read_card, sorted((ASSETS / "models").iterdir()))}
    assert card_of.keys() == set(ORDER), "name the new model in ORDER"
    cards = [card_of[name] for name in ORDER]
    heads = [head for head, _ in MEASURES.values()]
    text = HEAD + "\n" + row("Model", *heads) + row(":--", *["--:"] * len(heads))
    rows = [row(_escaped(card.name), *figures(card)) for card in cards]
    text += "".join([rows[0], row(*CONTROL), *rows[1:]]) + "\n"
    for card in cards:
        losses = ", ".join(
            f"{name} × {values.get('weight', 1):g}" for name, values in card.training.losses.items()
        )
        text += f"- **{_escaped(card.name)}**: from {card.base or 'random weights'}; {losses}; {card.training.data}; "
        text += f"epoch {card.training.epoch}; {card.framing.frames} frames of {card.framing.image_size} pixels\n"
    heads = ["Model", "Disk", "Speed", "MSR-VTT R@1", "Remark"]
    text += DOWNLOADS + "\n" + row(*heads) + row(":--", "--:", ":--", "--:", ":--")
    for model in RECOMMENDED:
        text += row(
            f"`{model.name}`",
            f"{model.size_mb:,} MB",
            model.speed,
            model.msrvtt or "",
            model.remark,
        )
    return text


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.support.model_zoo", description=__doc__)
    parser.add_argument("--write", action="store_true", help="renew docs/model-zoo.md")
    if parser.parse_args().write:
        PAGE.write_text(model_zoo(), encoding="utf-8")
    else:
        sys.stdout.write(model_zoo())


if __name__ == "__main__":
    main()
