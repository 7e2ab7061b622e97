"""Reading and writing nt2vr.json."""

import shlex
from pathlib import Path

from nt2vr.errors import CheckpointError, ConfigError
from nt2vr.files import read_with_schema, stored_json, with_schema, write_json
from nt2vr.models.card.card import Card, configured, stored_keys
from nt2vr.models.card.names import CARD, CONFIG
from nt2vr.models.card.sections import DifferenceSection
from nt2vr.models.framing import Configs


def write_card(folder: Path, card: Card) -> None:
    values = card.flat()
    stored = {key: values[key] for key in stored_keys()}
    write_json(folder / CARD, with_schema(stored), indent=2)


def read_card(folder: Path) -> Card:
    """Read the card of a checkpoint folder; unknown keys are ignored."""
    try:
        data = read_with_schema(folder / CARD, CheckpointError)
        values = {key: value for key, value in data.items() if key in stored_keys()}
        card = Card(**{"name": "", **values})
    except FileNotFoundError as error:
        raise CheckpointError(f"{folder} has no readable {CARD}. {remedy(folder)}") from error
    except ConfigError as error:
        raise CheckpointError(f"{folder / CARD} cannot be used. {error}") from error
    except (OSError, ValueError, AttributeError) as error:
        raise CheckpointError(
            f"{folder} has no readable {CARD} ({error}). Choose a checkpoint folder."
        ) from error
    try:
        return configured(card, *read_configs(folder))
    except (
        OSError,
        ValueError,
        LookupError,
        TypeError,
        AttributeError,
        RecursionError,
        CheckpointError,
    ):
        # Loading the model reports a configuration that cannot be used.
        return card


def read_configs(folder: Path) -> Configs:
    """Read open_clip's configurations of a model and of its preprocessing."""
    config = stored_json(folder / CONFIG)
    return config["model_cfg"], config.get("preprocess_cfg") or {}


def read_as_base(folder: Path) -> DifferenceSection:
    """Read only what `Card.as_base` tells, of a folder of which nothing is known; raises as `stored_json` does."""
    data = stored_json(folder / CARD)
    fingerprint = f"{data.get('visual_fingerprint')} {data.get('text_fingerprint')}"
    return DifferenceSection(model=str(data.get("name")), fingerprint=fingerprint)


def remedy(folder: Path) -> str:
    """Return the advice for a missing checkpoint folder: how to download it if its name is that of a download."""
    architecture, separator, tag = folder.name.partition("--")
    if folder.exists() or not separator or folder.parent.name != "models":
        return "Choose a checkpoint folder."
    flag = f"--data-dir {shlex.quote(str(folder.parent.parent))}"
    return f'Download it: nt2vr models add "{architecture}/{tag}" {flag}'
