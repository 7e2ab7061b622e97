"""Teaching any CLIP "not" by sentences alone: its config, how long that takes here, and the model that is left."""

import shutil
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nt2vr.errors import ConfigError, Nt2vrError, counted, quoted
from nt2vr.evaluation.metric_names import TEXT_KEPT
from nt2vr.files import atomic_folder, slug
from nt2vr.models.acquire import new_folder
from nt2vr.models.card import read_card, write_card
from nt2vr.models.catalog import Catalog, best_checkpoint
from nt2vr.models.checkpoint import read_configs
from nt2vr.presets import PRESETS
from nt2vr.progress import Progress, duration_text, silent
from nt2vr.settings import Settings
from nt2vr.world import NAME, WORLD
from trainer.config import TrainConfig, load_config
from trainer.config.encoder import EncoderSettings, text_layers
from trainer.runs.run_folder import RunFolder

if TYPE_CHECKING:
    from trainer.learner import Learner

PRESET = PRESETS / "teach-text.json"
WARM, TIMED = 2, 10  # steps
VALIDATION = 6  # steps that take as long as a validation
# A tower with fewer layers drops the unwanted part at best: docs/results.md has the measurements.
ENOUGH_LAYERS = 5
# New layers have everything to learn, from more captions, and at a rate at which those of a deep
# tower would forget.
FOR_NEW_LAYERS = {"learning_rate": 1e-3, "num_clips": 24_000}
BY_DEPTH = ("added_layers", *FOR_NEW_LAYERS)  # fields that depend on the base
CHANGED = ("name", "base", "data", "epochs", *BY_DEPTH)  # fields that a teaching sets itself
NUMBER_WORDS = ("none", "one", "two", "three", "four")


@dataclass(frozen=True)
class Estimate:
    """What a teaching takes on this machine.

    Attributes:
        seconds: from its start to its end.
        num_bytes: memory of the weights, their gradients and the optimizer's state, and of the
            frozen base, counted as if it had the added layers, too.
    """

    seconds: float
    num_bytes: int


def taught(name: str) -> str:
    return f"{name} taught"


def teaching(models: Catalog, name: str, data: str = WORLD) -> TrainConfig:
    """Return the config that teaches a model; a ConfigError refuses one without a text tower."""
    card = models.card(name)
    if not card.capabilities.has_text_tower:
        raise ConfigError(
            f"{quoted(name)} has no text tower that could be taught. Choose another model."
        )
    base = models.folder(name).resolve()
    changes = {"name": taught(card.name), "base": str(base), "data": data}
    return load_config(PRESET, {**changes, **changes_by_depth(base)})


def changes_by_depth(base: Path) -> dict[str, Any]:
    """Return what a base needs that is not in the preset: a shallow text tower gets the layers that it lacks."""
    try:
        num_layers = text_layers(read_configs(base)[0])
    except (OSError, ValueError, LookupError, TypeError):
        return {}  # refused when the training starts
    if num_layers >= ENOUGH_LAYERS:
        return {}
    return {"added_layers": ENOUGH_LAYERS - num_layers, **FOR_NEW_LAYERS}


def teachable(models: Catalog) -> list[str]:
    """List the models here that `teaching` takes and that were not taught so, without runs."""
    here = {
        name: models.card(name) for name, entry in models.entries().items() if entry.kind == "model"
    }
    return [
        name
        for name, card in here.items()
        if card.capabilities.has_text_tower and card.training.objective != "distill"
    ]


def announcement(config: TrainConfig, estimate: Estimate, steps_done: int = 0) -> str:
    """Return what a person reads before a teaching starts, or goes on after some steps."""
    sentences = []
    if config.encoder.added_layers:
        sentences.append(_added_layers_notice(config.encoder))
    steps = f"{config.total_steps:,} steps"
    if steps_done:
        steps = f"{config.total_steps - steps_done:,} of {steps} are left"
    time_here = f"about {duration_text(estimate.seconds)} here, less if it stops early"
    memory = f"{estimate.num_bytes / 1e6:,.0f} MB of memory for its weights"
    sentences.append(f"{config.encoder.name}: {steps}, {time_here}, and {memory}.")
    sentences.append("Only the text tower learns, so that every index stays.")
    return " ".join(sentences)


def _added_layers_notice(encoder: EncoderSettings) -> str:
    added = encoder.added_layers
    before = text_layers(encoder.model_cfg) - added
    number = NUMBER_WORDS[added] if added < len(NUMBER_WORDS) else str(added)
    verb = "is" if added == 1 else "are"
    return (
        f"The text tower has {counted(before, 'layer')}; {number} {verb} added, "
        "which changes no embedding before training."
    )


def estimate(config: TrainConfig, progress: Progress = silent, steps_done: int = 0) -> Estimate:
    """Estimate what a teaching takes here, by ten steps on sentences of the built-in world.

    Of one that goes on, `steps_done` steps are done, but its captions are parsed again.
    """
    from trainer.data.batches import epoch_batches  # noqa: PLC0415  imports torch, as the others do
    from trainer.data.clips import caption_clips, world_captions  # noqa: PLC0415
    from trainer.learner import Learner  # noqa: PLC0415
    from trainer.loop import prepare  # noqa: PLC0415

    started = time.monotonic()
    captions = world_captions(
        "train", (WARM + TIMED + 1) * config.batches.batch_size, config.run.seed
    )
    clips = caption_clips(NAME, captions)
    num_prepared = config.dataset.num_clips + config.validation.validation_clips
    preparation_s = (time.monotonic() - started) / len(clips) * num_prepared

    timed_config = config.replace(data=WORLD, num_clips=len(clips), not_epochs=0)
    learner = Learner(timed_config)
    prepare(learner, clips, lambda: False)
    learner.start_epoch()
    batches = epoch_batches(clips, timed_config, 1, 0, learner.losses.inputs)
    for step in range(WARM + TIMED):
        progress(step, WARM + TIMED, "measuring ten steps")
        if step == WARM:
            started = time.monotonic()
        learner.step([next(batches)])
    step_s = (time.monotonic() - started) / TIMED

    total_steps = config.batches.epochs * (config.steps_per_epoch + VALIDATION)
    share_left = 1 - steps_done / config.total_steps
    return Estimate(preparation_s + total_steps * share_left * step_s, _num_bytes(learner))


def _num_bytes(learner: "Learner") -> int:
    """Return the bytes of a learner's weights, gradients and optimizer state, and of as large a frozen base."""
    num_bytes = 0
    for parameter in learner.model.parameters():
        copies = 2 if parameter.grad is None else 3  # its own and the base's; its gradient
        num_bytes += copies * parameter.nbytes
    for state in learner.optimizer.state.values():
        num_bytes += sum(value.nbytes for value in state.values() if hasattr(value, "nbytes"))
    return num_bytes


def run_of(runs: Path, config: TrainConfig) -> tuple[Path, bool]:
    """Return the folder of the unfinished run that teaches a model, by command or page; otherwise a new one, and True.

    A folder may be that of another model, since only ASCII letters and digits name it, or of other
    data.
    """
    for path in sorted(runs.glob("[!.]*/config.json")):
        with suppress(Nt2vrError):  # of another version
            own, status = load_config(path), RunFolder(path.parent).status()
            if _teaches(own) == _teaches(config) and not (status and status.state == "finished"):
                return path.parent, False
    names = (
        f"{slug(config.encoder.name)}{suffix}"
        for suffix in chain([""], (f"-{number}" for number in count(2)))
    )
    return next(runs / name for name in names if not (runs / name).exists()), True


def _teaches(config: TrainConfig) -> tuple[str, str, str]:
    """Return the name, the base and the data by which a teaching is found again."""
    return config.encoder.name, config.encoder.base, config.dataset.data


def add_model(run: Path) -> tuple[str, str]:
    """Add a finished run's best epoch to the models of its data folder; return its name, and a sentence that says so.

    If captions have changed too much, the name is empty, and the sentence says why.
    """
    from trainer.loop import KEPT  # noqa: PLC0415  imports torch

    models = Catalog.of(Settings.read(run.resolve().parents[1]))
    epoch = best_checkpoint(run / "checkpoints")
    card = read_card(epoch)
    if (kept := card.metrics.get(f"validation/{TEXT_KEPT}", 1.0)) < KEPT:
        reason = f"captions have changed (text/kept {kept:.3f}, below {KEPT}). Learn more slowly."
        return "", f"No model was added: {reason}"
    names = (taught(card.base) + (f" {number}" if number > 1 else "") for number in count(1))
    name = next(each for each in names if models.named(each) is None)
    with atomic_folder(new_folder(name, models.home)) as folder:
        shutil.copytree(epoch, folder, dirs_exist_ok=True)
        write_card(folder, card.replace(name=name))
    return name, f"{name} is among the models."
