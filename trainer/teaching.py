"""Teaching any CLIP "not" by sentences alone: its config, how long that takes here, and the model that is left."""

import shutil
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nt2vr.errors import ConfigError, Nt2vrError, counted, quoted
from nt2vr.evaluation.metric_names import TEXT_KEPT
from nt2vr.files import AnyPath, atomic_folder, expanded, slug
from nt2vr.models.acquire import new_folder
from nt2vr.models.card import read_card, read_configs, write_card
from nt2vr.models.catalog import Catalog, best_checkpoint
from nt2vr.presets import PRESETS
from nt2vr.progress import Progress, duration_text, silent
from nt2vr.settings import Settings
from nt2vr.world import NAME, WORLD
from trainer.config import TrainConfig, load_config, resolved
from trainer.config.encoder import EncoderSettings, text_layers
from trainer.runs.run_folder import RUNS, RunFolder

if TYPE_CHECKING:
    from trainer.data.batches import Batch
    from trainer.learner import Learner

PRESET = PRESETS / "teach-text.json"
# An estimate times some steps, after others that warm up.
WARM_UP_STEPS = 2
TIMED_STEPS = 10
# A validation takes as long as this many steps.
VALIDATION_STEPS = 6
# A tower with fewer layers drops the unwanted part at best: docs/lab/results.md has the measurements.
ENOUGH_LAYERS = 5
# New layers have everything to learn, from more captions, and at a rate at which those of a deep
# tower would forget.
FOR_NEW_LAYERS = {"learning_rate": 1e-3, "num_clips": 24_000}
# Fields that depend on the depth of the base's text tower.
BY_DEPTH = ("added_layers", *FOR_NEW_LAYERS)
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


def taught_name(name: str) -> str:
    return f"{name} taught"


def teaching(models: Catalog, name: str, data: str = WORLD) -> TrainConfig:
    """Return the config that teaches a model; a ConfigError refuses one without a text tower."""
    card = models.card(name)
    if not card.capabilities.has_text_tower:
        raise ConfigError(
            f"{quoted(name)} has no text tower that could be taught. Choose another model."
        )
    base = models.folder(name).resolve()
    changes = {"name": taught_name(card.name), "base": str(base), "data": data}
    return load_config(PRESET, {**changes, **changes_by_depth(base)})


def new_teaching(
    settings: Settings, model: str, captions: AnyPath | None
) -> tuple[TrainConfig, Path, bool]:
    """Return the config that teaches a model in a data folder, and its run's folder, see `run_of`.

    A ConfigError refuses a model that has been taught, or has no text tower.
    """
    models = Catalog.of(settings)
    data = str(expanded(captions)) if captions else WORLD
    config = resolved(teaching(models, model, data), settings.data_dir)
    if models.named(config.encoder.name):
        raise ConfigError(
            f"{config.encoder.name} is here already. To teach it again, remove it: "
            "nt2vr models remove."
        )
    folder, is_new = run_of(settings.data_dir / RUNS, config)
    return config, folder, is_new


def changes_by_depth(base: Path) -> dict[str, Any]:
    """Return what a base needs that is not in the preset.

    A shallow text tower gets the layers that it lacks.
    """
    try:
        model_cfg, _ = read_configs(base)
        num_layers = text_layers(model_cfg)
    # A base that cannot be read is refused when the training starts.
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    if num_layers >= ENOUGH_LAYERS:
        return {}
    return {"added_layers": ENOUGH_LAYERS - num_layers, **FOR_NEW_LAYERS}


def teachable(models: Catalog) -> list[str]:
    """List the models that `teaching` takes, except runs and models that have been taught."""
    names = []
    for name, entry in models.entries().items():
        if entry.kind != "model":
            continue
        card = models.card(name)
        if card.capabilities.has_text_tower and card.training.objective != "distill":
            names.append(name)
    return names


def announcement(config: TrainConfig, estimate: Estimate, steps_done: int = 0) -> str:
    """Return what a person reads before a teaching starts, or goes on after some steps."""
    encoder = config.encoder
    total_steps = config.total_steps
    steps = f"{total_steps:,} steps"
    if steps_done:
        steps = f"{total_steps - steps_done:,} of {steps} are left"
    duration = duration_text(estimate.seconds)
    megabytes = estimate.num_bytes / 1e6
    notice = (
        f"{encoder.name}: {steps}, about {duration} here, less if it stops early, and "
        f"{megabytes:,.0f} MB of memory for its weights. "
        "Only the text tower learns, so every index stays valid."
    )
    if encoder.added_layers:
        return f"{_added_layers_notice(encoder)} {notice}"
    return notice


def _added_layers_notice(encoder: EncoderSettings) -> str:
    added = encoder.added_layers
    layers_before = counted(text_layers(encoder.model_cfg) - added, "layer")
    number = str(added)
    if added < len(NUMBER_WORDS):
        number = NUMBER_WORDS[added]
    verb = "is" if added == 1 else "are"
    return (
        f"The text tower has {layers_before}; {number} {verb} added, "
        "which changes no embedding before training."
    )


def estimate(config: TrainConfig, progress: Progress = silent, steps_done: int = 0) -> Estimate:
    """Estimate what a teaching takes here, by ten steps on sentences of the built-in world.

    `steps_done` steps of one that goes on are left out, but its captions are parsed again.
    """
    from trainer.data.batches import epoch_batches  # noqa: PLC0415  imports torch, as the others do
    from trainer.data.caption_clips import caption_clips, world_captions  # noqa: PLC0415
    from trainer.learner import Learner  # noqa: PLC0415
    from trainer.preparation import prepare  # noqa: PLC0415

    started_s = time.monotonic()
    num_timed = (WARM_UP_STEPS + TIMED_STEPS + 1) * config.batches.batch_size
    clips = caption_clips(NAME, world_captions("train", num_timed, config.run.seed))
    caption_s = (time.monotonic() - started_s) / len(clips)

    learner = Learner(config.replace(data=WORLD, num_clips=len(clips), not_epochs=0))
    prepare(learner, clips, lambda: False)
    learner.start_epoch()
    batches = epoch_batches(clips, learner.config, epoch=1, inputs=learner.losses.inputs)
    step_s = _time_step(learner, batches, progress)

    num_captions = config.dataset.num_clips + config.validation.validation_clips
    num_steps = config.batches.epochs * (config.steps_per_epoch + VALIDATION_STEPS)
    share_left = 1 - steps_done / config.total_steps
    seconds = num_captions * caption_s + num_steps * share_left * step_s
    return Estimate(seconds, _num_bytes(learner))


def _time_step(learner: "Learner", batches: Iterator["Batch"], progress: Progress) -> float:
    """Return the seconds of a step, after some that warm up."""
    num_steps = WARM_UP_STEPS + TIMED_STEPS
    for step in range(num_steps):
        progress(step, num_steps, "measuring ten steps")
        if step == WARM_UP_STEPS:
            started_s = time.monotonic()
        learner.step([next(batches)])
    return (time.monotonic() - started_s) / TIMED_STEPS


def _num_bytes(learner: "Learner") -> int:
    """Return the bytes of a learner's weights, gradients and state, and of as large a frozen base."""
    num_bytes = 0
    for parameter in learner.model.parameters():
        # The weight, the base's, and the gradient.
        copies = 2 if parameter.grad is None else 3
        num_bytes += copies * parameter.nbytes
    for state in learner.optimizer.state.values():
        for value in state.values():
            # A state may hold plain numbers, too.
            num_bytes += getattr(value, "nbytes", 0)
    return num_bytes


def run_of(runs: Path, config: TrainConfig) -> tuple[Path, bool]:
    """Return the folder of the run that teaches a model, and whether it is a new one.

    An unfinished run goes on, whether a command or the page started it. A new run gets a folder of
    its own: that of its name may belong to another model, since folders keep only ASCII letters and
    digits of a name, or to a run on other data.
    """
    for path in sorted(runs.glob("[!.]*/config.json")):
        # Runs of another version cannot be read.
        with suppress(Nt2vrError):
            is_same = _teaches(load_config(path)) == _teaches(config)
            if is_same and not RunFolder(path.parent).is_finished:
                return path.parent, False

    name = slug(config.encoder.name)
    folder = runs / name
    numbers = count(2)
    while folder.exists():
        folder = runs / f"{name}-{next(numbers)}"
    return folder, True


def _teaches(config: TrainConfig) -> tuple[str, str, str]:
    """Return the name, the base and the data by which a teaching is found again."""
    return config.encoder.name, config.encoder.base, config.dataset.data


def add_model(run: Path) -> tuple[str, str]:
    """Add a finished run's best epoch to the models of its data folder.

    Returns:
        The model's name, and a sentence that says so. If captions have changed too much, the name
        is empty, and the sentence says why.
    """
    from trainer.text_measures import KEPT  # noqa: PLC0415  imports torch

    data_dir = run.resolve().parents[1]
    models = Catalog.of(Settings.read(data_dir))
    epoch = best_checkpoint(run / "checkpoints")
    card = read_card(epoch)
    text_kept = card.metrics.get(f"validation/{TEXT_KEPT}", 1.0)
    if text_kept < KEPT:
        change = f"captions have changed (text/kept {text_kept:.3f}, below {KEPT})"
        return "", f"No model was added: {change}. Lower the learning rate."

    first_name = taught_name(card.base)
    name = first_name
    numbers = count(2)
    while models.named(name) is not None:
        name = f"{first_name} {next(numbers)}"
    with atomic_folder(new_folder(name, models.home)) as folder:
        shutil.copytree(epoch, folder, dirs_exist_ok=True)
        write_card(folder, card.replace(name=name))
    return name, f"{name} is among the models."
