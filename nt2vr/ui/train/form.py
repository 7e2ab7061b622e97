"""New-run form as data, derived from TrainConfig and the losses; imports torch only when losses are needed."""

import inspect
import json
import re
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, get_args, get_type_hints

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.models.card import CARD, read_card
from nt2vr.models.device import gflops_per_second, resolve_device
from nt2vr.presets import preset_files
from nt2vr.progress import duration_text
from nt2vr.settings import ASSETS, resolve_path
from trainer.config import CHOICES, FIELDS, TrainConfig
from trainer.teaching import changes_by_depth

TEACHING = "teach-text"  # the preset whose settings depend on the depth of its base
BENCHMARKED = 70.0  # GFLOP per second of the two cores on which steps were timed
OWN_DATA = "path/to"  # begins the data of presets that need one's own
FIRST = {  # presets to begin with -> title, what they do, and seconds per step on two cores and on a GPU
    "stage": (
        "Watch it learn",
        "The built-in CLIP learns “not” in minutes, and Search shows each of its checkpoints.",
        0.38,
        # It was not run on a GPU: CLIP-neg's steps, which do more.
        0.3,
    ),
    "teach-text": (
        "Teach it “not”",
        "Any CLIP learns negation from sentences alone; ViT-B/32 takes about half an hour on two cores.",
        0.3,
        0.1,
    ),
    "own-videos": (
        "Your own videos",
        "A CLIP learns what captioned videos or pictures show, and “not”. Enter their folder as data.",
        0.5,
        0.1,
    ),
    "clip-bnl": ("The paper's CLIP-bnl", "The loss of the paper, on the built-in world.", 0.7, 0.1),
    "clip-neg": (
        "Strongest: CLIP-neg",
        "Learns on the built-in world what each sentence excludes.",
        2.4,
        0.3,
    ),
}

RESTS = "Times are estimates: steps timed on two cores, or on a GPU, and scaled by how fast this machine computes now."


@dataclass(frozen=True)
class Field:
    key: str
    default: Any  # default value, of the type that values must have
    help: str = ""
    choices: tuple[str, ...] = ()  # allowed values; empty if they cannot be listed

    @property
    def info(self) -> str:
        """The help's first clause, then as Markdown's strong text all of it, which style.css shows at use."""
        text = in_words(self.help)
        first = re.split("[.;,] ", text, maxsplit=1)[0]
        return text if first == text else f"{first} **{text}**"


def config_fields() -> list[Field]:
    """Return the settings of a config by flat key, section by section."""
    return [
        Field(key, info.default, info.description or "", CHOICES.get(key, ()))
        for key, info in FIELDS.items()
    ]


def in_words(sentence: str) -> str:
    """Write the keys of a config in a sentence as the form labels them: num_clips is “Number of clips”."""
    return re.sub(
        r"\b\w+_\w+\b",
        lambda key: f"“{label_of(key[0])}”" if key[0] in FIELDS else key[0],
        sentence,
    )


def label_of(key: str) -> str:
    return key.replace("num_", "number_of_").replace("_", " ").capitalize()


def presets() -> dict[str, dict[str, Any]]:
    """Return the shipped configs by model name, as form values: `FIRST`, then those that need no data of one's own."""
    configs = {
        name: json.loads(path.read_text(encoding="utf-8")) for name, path in preset_files().items()
    }
    teaching = configs[TEACHING]
    teaching |= changes_by_depth(resolve_path(teaching["base"]))
    rest = sorted(
        configs.keys() - FIRST.keys(),
        key=lambda stem: (OWN_DATA in configs[stem].get("data", ""), stem),
    )
    order = [*(stem for stem in FIRST if stem in configs), *rest]
    defaults = TrainConfig().flat()
    return {configs[stem]["name"]: defaults | configs[stem] for stem in order}


def presets_view(
    known: Mapping[str, Mapping[str, Any]], chosen: str, device: str = ""
) -> dict[str, Any]:
    """Show the presets to begin with, one perhaps chosen, with estimated times if there is a `device`.

    The time rests on the seconds per step of docs/benchmarks.md: on a GPU as they are, on a CPU
    scaled by its speed.
    """
    cards = []
    for (name, config), (title, about, on_cpu_s, on_gpu_s) in zip(
        known.items(), FIRST.values(), strict=False
    ):
        card = {"name": name, "title": title, "about": about, "chosen": name == chosen}
        steps = config["epochs"] * config["passes"] * (config["num_clips"] // config["batch_size"])
        card["time"] = f"{steps:,} steps"
        if OWN_DATA in config["data"]:
            card["time"] = "depends on your data"
        elif device:
            is_cpu = resolve_device(device) == "cpu"
            step_s = on_cpu_s * BENCHMARKED / gflops_per_second(device) if is_cpu else on_gpu_s
            card["time"] = f"about {duration_text(steps * step_s)} here"
        cards.append(card)
    return {"presets": cards, "chosen": chosen, "rests": RESTS if device else ""}


def bases(folders: Iterable[Path]) -> dict[str, str]:
    """Return the models that training can start from: display name to folder, as written in a config."""
    found = {"random weights": ""}
    for folder in (card.parent for parent in folders for card in sorted(parent.glob(f"*/{CARD}"))):
        try:
            card = read_card(folder)
        except CheckpointError:
            continue
        if not card.capabilities.has_text_tower:
            continue
        of_run = folder.parent.name == "checkpoints"
        name = (
            f"{card.name} · {folder.parent.parent.name}, epoch {card.training.epoch}"
            if of_run
            else card.name
        )
        path = folder.resolve()
        found[name] = str(
            path.relative_to(ASSETS.parent) if path.is_relative_to(ASSETS.parent) else path
        )
    return found


def read_form(values: Mapping[str, Any], losses: Mapping[str, Any]) -> TrainConfig:
    """Build a config from values by key, JSON as text, and the table of `losses_view` as the user edited it."""
    from trainer.losses import losses_of  # noqa: PLC0415  imports torch

    read = dict(values)
    for key, value in values.items():
        default = FIELDS[key].default
        if isinstance(default, Mapping):
            try:
                read[key] = json.loads(value or "{}")
            except ValueError as error:
                raise ConfigError(
                    f"{label_of(key)} cannot be read as JSON ({error}). Correct it."
                ) from error
        elif isinstance(default, str):
            read[key] = (value or "").strip()
        elif isinstance(value, float) and value.is_integer():  # pages send 3 as 3.0
            read[key] = int(value)
    config = TrainConfig(**{**read, "losses": _read_losses(losses)})
    if config.encoder.trains_towers:
        losses_of(config)  # refuses what cannot be built
    return config


def loss_fields() -> dict[str, tuple[str, list[Field]]]:
    """Return each loss's one-line description, its weight and its own fields."""
    from trainer.loss_settings import help_of  # noqa: PLC0415
    from trainer.losses import LOSSES, Weight  # noqa: PLC0415  imports torch

    found, weight = {}, Field("weight", 1.0, Weight.model_fields["weight"].description or "")
    for name, kind in LOSSES.items():
        helps, hints = help_of(kind), get_type_hints(kind)
        choices = {
            key: tuple(each for each in get_args(hint) if isinstance(each, str))
            for key, hint in hints.items()
        }
        own = [
            Field(field.name, field.default, helps[field.name], choices[field.name])
            for field in fields(kind)
        ]
        found[name] = (inspect.getdoc(kind) or "").partition("\n")[0], [weight, *own]
    return found


def losses_view(losses: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """Return the table of all losses, with those of a config selected and filled in, of which it may have none."""
    rows = []
    for name, (purpose, own) in loss_fields().items():
        values = {field.key: field.default for field in own} | dict(losses.get(name, {}))
        cells = [_cell(field, values[field.key]) for field in own]
        rows.append({"name": name, "help": purpose, "on": name in losses, "fields": cells})
    return {"losses": rows, "has_none": not losses}


def _cell(field: Field, value: Any) -> dict[str, Any]:
    """Return one input of the table: a switch, a choice or a number."""
    cell = {"key": field.key, "label": field.key.replace("_", " "), "help": field.help}
    if isinstance(field.default, bool):
        return {**cell, "switch": True, "on": value}
    if field.choices:
        return {**cell, "choice": True, "value": value, "choices": list(field.choices)}
    return {
        **cell,
        "number": True,
        "value": f"{value:g}" if isinstance(value, int | float) else value,
    }


def _read_losses(table: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the selected losses in config form; invalid numbers pass through for `build_losses` to reject."""
    read: dict[str, dict[str, Any]] = {}
    try:
        for row in table.get("losses", ()):
            for cell in row["fields"] if row["on"] else ():
                value = bool(cell["on"]) if "switch" in cell else cell["value"]
                if "number" in cell:
                    with suppress(TypeError, ValueError):
                        value = float(value)
                read.setdefault(row["name"], {})[cell["key"]] = value
    except (TypeError, LookupError, AttributeError) as error:
        raise ConfigError("The table of losses cannot be read. Reload the page.") from error
    return read
