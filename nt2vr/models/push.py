"""Uploads of models to the Hugging Face Hub, with a README made from their card."""

import re
from pathlib import Path
from tempfile import TemporaryDirectory

from nt2vr.errors import ConfigError
from nt2vr.models.card import (
    DRAWINGS,
    Card,
)
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.difference import export_checkpoint
from nt2vr.models.hub import check_repository, first_answer, hub_errors, open_hub
from nt2vr.models.hub_checkpoint import limits

# The Hub's identifiers: "mit", "cc-by-4.0".
LICENCE = re.compile(r"[a-z0-9][a-z0-9.-]{0,40}")
# What could end a cell of a table, or begin HTML or code.
PLAIN = str.maketrans({"|": "/", "<": "&lt;", "`": "'"})
LIMITS = "the built-in world is a toy of drawn clips; its numbers say nothing about real footage"


def push(folder: Path, repository: str, private: bool = True, licence: str = "") -> str:
    """Upload a checkpoint as a whole model, with a README made from its card; return the address of the repository."""
    check_repository(repository)
    hub = open_hub(write=True)
    card = read_checkpoint(folder, verify=True).card
    readme = readme_of(card, repository, licence)
    with hub_errors(repository), TemporaryDirectory() as parent:
        from huggingface_hub import CommitOperationAdd  # noqa: PLC0415  see `open_hub`

        first_answer(hub.whoami)
        whole = Path(parent) / "model"
        export_checkpoint(folder, whole)
        address = hub.create_repo(repository, private=private, exist_ok=True)
        operations = [
            CommitOperationAdd(name, whole / name) for name in limits() if (whole / name).is_file()
        ]
        operations.append(CommitOperationAdd("README.md", readme.encode()))
        hub.create_commit(repository, operations, commit_message=f"Push {card.name}")
    return str(address)


def readme_of(card: Card, repository: str, licence: str) -> str:
    """Write the README of a model: what its card says, and how to load it."""
    from huggingface_hub import ModelCardData  # noqa: PLC0415  see `open_hub`

    if licence and not LICENCE.fullmatch(licence):
        raise ConfigError(
            f"{licence[:40]!r} is not a licence on the Hub. Write an identifier such as mit."
        )
    front_matter = ModelCardData(
        library_name="open_clip",
        license=licence or None,
        pipeline_tag="zero-shot-image-classification",
        tags=["clip", "open_clip", "nt2vr", "text-to-video-retrieval", "negation"],
    )
    facts = {
        "Objective": card.training.objective,
        "Started from": card.base or "random weights",
        "Training data": card.training.data,
        "Input": (
            f"{card.framing.frames} frames per video, {card.framing.image_size} pixels wide and high, "
            f"{card.pooling.name} pooling"
        ),
        "Notes": card.notes,
    }
    if DRAWINGS in card.training.data or DRAWINGS in card.base:
        facts["Limits"] = LIMITS
    fact_lines = [f"- {fact}: {_plain(text)}" for fact, text in facts.items() if text]
    measures = ["| Measure | Value |", "|:--|--:|"] if card.metrics else ["None were recorded."]
    measures += [f"| {_plain(name)} | {value:.4g} |" for name, value in card.metrics.items()]
    return f"""---
{front_matter.to_yaml()}
---

# {_plain(card.name)}

A CLIP for text-to-video retrieval, trained and measured by nT2VR, which compares how well models understand what a
query does *not* want.

{chr(10).join(fact_lines)}

## Loading

```python
import open_clip

model, preprocess = open_clip.create_model_from_pretrained("hf-hub:{repository}")
tokenizer = open_clip.get_tokenizer("hf-hub:{repository}")
```

With nT2VR, which then offers it in its page:

```
nt2vr models add hf:{repository}
```

## Measures

R@k and hard pairs in percent, MIR and AUC from 0 to 1, as the run that wrote the checkpoint recorded them. A high
score does not show that negation is understood: compare with `drop`, the control that ignores the negated clause.

{chr(10).join(measures)}
"""


def _plain(text: str) -> str:
    """Return a card's text as one line that cannot end a table's cell or begin HTML."""
    return " ".join(text.split()).translate(PLAIN)
