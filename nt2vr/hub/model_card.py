"""README of a pushed model: front matter, its card in words, and how to load it."""

import re
from collections.abc import Iterator, Mapping

from nt2vr.errors import ConfigError
from nt2vr.models.card import DRAWINGS, Card

LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]{0,40}")  # the Hub's identifiers: "mit", "cc-by-4.0"
TASK = "zero-shot-image-classification"  # as open_clip's own push says; the Hub has no task for video retrieval
TAGS = ("clip", "open_clip", "nt2vr", "text-to-video-retrieval", "negation")
PARTS = {  # first part of a measure's name -> heading
    "test": "Test scenes",
    "oracle": "Test scenes, the query's parts given",
    "validation": "Validation, during training",
}
CONTROLS = {  # second part of a validation measure's name -> what was measured instead of the model
    "base": "the model that training started from",
    "drop": "the control that ignores the negated clause",
    "boolean": "the control that subtracts the unwanted part",
}


def readme_of(card: Card, repository: str, licence: str = "") -> str:
    """Write the README of a model."""
    if licence and not LICENCE.fullmatch(licence):
        raise ConfigError(f"{licence[:40]!r} is not a licence on the Hub. Write an identifier such as mit.")
    lines = [*_front_matter(licence), "", f"# {_plain(card.name)}", "", *_about(card), "", *_loading(card, repository)]
    lines += ["", "## Measures", "", *_measures(card.metrics), "", "## Limits", "", *_limits(card)]
    return "\n".join(lines) + "\n"


def _front_matter(licence: str) -> Iterator[str]:
    yield from ("---", "library_name: open_clip", f"pipeline_tag: {TASK}")
    if licence:
        yield f"license: {licence}"
    yield "tags:"
    yield from (f"- {tag}" for tag in TAGS)
    yield "---"


def _about(card: Card) -> Iterator[str]:
    yield (
        "A CLIP for text-to-video retrieval, trained and measured by nT2VR, which compares how well models understand "
        "what a query does *not* want."
    )
    yield ""
    facts = {
        "Objective": card.objective,
        "Started from": card.base or "random weights",
        "Training data": card.data,
        "Epochs": str(card.epoch or ""),
        "Input": f"{card.frames} frames per video, {card.image_size} pixels wide and high, {card.pooling} pooling",
        "Written": card.created,
    }
    yield from (f"- {fact}: {_plain(value)}" for fact, value in facts.items() if value)


def _loading(card: Card, repository: str) -> Iterator[str]:
    yield from ("## Loading", "", "With open_clip:", "", "```python", "import open_clip", "")
    yield f'model, preprocess = open_clip.create_model_from_pretrained("hf-hub:{repository}")'
    yield f'tokenizer = open_clip.get_tokenizer("hf-hub:{repository}")'
    yield from ("```", "", "With nT2VR, which then offers it in its page:", "", "```")
    yield f"nt2vr pull {repository}"
    yield f'nt2vr search "a dog and not a cat" --systems "{_plain(card.name)}"'
    yield "```"


def _measures(metrics: Mapping[str, float]) -> Iterator[str]:
    """Yield a table for each part of the metrics."""
    if not metrics:
        yield "None were recorded."
        return
    yield "As nT2VR recorded them in `nt2vr.json`; R@k and hard pairs in percent, MIR and AUC from 0 to 1."
    for part in dict.fromkeys(name.partition("/")[0] for name in metrics):
        yield from ("", f"### {PARTS.get(part, _plain(part))}", "", "| Measure | Value |", "|:--|--:|")
        measures = ((*name.partition("/"), value) for name, value in metrics.items())
        rows = {name or first: value for first, _, name, value in measures if first == part}
        yield from (f"| {_plain(name)} | {value:.4g} |" for name, value in rows.items())
        controls = dict.fromkeys(name.partition("/")[0] for name in rows if name.partition("/")[0] in CONTROLS)
        if controls:
            yield ""
            yield "; ".join(f"`{control}/…` is {CONTROLS[control]}" for control in controls) + "."


def _limits(card: Card) -> Iterator[str]:
    if card.notes:
        yield f"- {_plain(card.notes)}"
    if DRAWINGS in card.data or DRAWINGS in card.base:
        yield "- The built-in world is a toy of drawn clips. These numbers say nothing about real footage."
    yield "- The numbers are those of the run that wrote the checkpoint; nobody else has verified them."
    yield "- A high score does not show that negation is understood: compare with the control that drops the clause."


def _plain(text: str) -> str:
    """Return a card's text as one line that cannot end a table's cell or begin HTML."""
    return " ".join(text.split()).replace("|", "/").replace("<", "&lt;").replace("`", "'")
