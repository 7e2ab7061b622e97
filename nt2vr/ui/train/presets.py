"""The presets of the form: shipped configs to begin with, and how long they take."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from nt2vr.files import stored_json
from nt2vr.models.device import gflops_per_second, resolve_device
from nt2vr.presets import preset_files
from nt2vr.progress import duration_text
from nt2vr.settings import resolve_path
from nt2vr.ui.train.fields import FieldValues
from nt2vr.ui.view import View
from trainer.config import TrainConfig
from trainer.teaching import changes_by_depth

# The preset whose settings depend on the depth of its base.
TEACHING = "teach-text"
# GFLOP per second of the two cores on which steps were timed.
BENCHMARKED = 70.0
# Begins the data of presets that need one's own.
OWN_DATA = "path/to"


class PresetCard(NamedTuple):
    """A preset to begin with: its title, what it does, and seconds per step on two cores and on a GPU."""

    title: str
    about: str
    on_cpu_s: float
    on_gpu_s: float


# The presets to begin with.
FIRST = {
    "stage": PresetCard(
        title="Watch it learn",
        about="The built-in CLIP learns “not” in minutes, and Search shows each of its checkpoints.",
        on_cpu_s=0.38,
        # It was not run on a GPU: CLIP-neg's steps, which do more.
        on_gpu_s=0.3,
    ),
    "teach-text": PresetCard(
        title="Teach it “not”",
        about="Any CLIP learns negation from sentences alone; ViT-B/32 takes about half an hour on two cores.",
        on_cpu_s=0.3,
        on_gpu_s=0.1,
    ),
    "own-videos": PresetCard(
        title="Your own videos",
        about="A CLIP learns what captioned videos or pictures show, and “not”. Enter their folder as data.",
        on_cpu_s=0.5,
        on_gpu_s=0.1,
    ),
    "clip-bnl": PresetCard(
        title="The paper's CLIP-bnl",
        about="The loss of the paper, on the built-in world.",
        on_cpu_s=0.7,
        on_gpu_s=0.1,
    ),
    "clip-neg": PresetCard(
        title="Strongest: CLIP-neg",
        about="Learns on the built-in world what each sentence excludes.",
        on_cpu_s=2.4,
        on_gpu_s=0.3,
    ),
}

ESTIMATE_NOTICE = "Times are estimates from steps timed on two cores or a GPU, scaled to this machine's present speed."


def presets() -> dict[str, dict[str, Any]]:
    """Return the shipped configs by model name, as form values: `FIRST`, then those that need no data of one's own."""
    configs = {name: stored_json(path) for name, path in preset_files().items()}
    teaching = configs[TEACHING]
    teaching |= changes_by_depth(resolve_path(teaching["base"]))
    own_data_last = sorted(configs, key=lambda stem: OWN_DATA in configs[stem].get("data", ""))
    order = dict.fromkeys([*FIRST, *own_data_last])
    defaults = TrainConfig().flat()
    return {configs[stem]["name"]: defaults | configs[stem] for stem in order}


def presets_view(presets: Mapping[str, FieldValues], chosen: str, device: str = "") -> View:
    """Show the presets to begin with, one perhaps chosen, with estimated times if there is a `device`.

    The time rests on the seconds per step of docs/lab/benchmarks.md: on a GPU as they are, on a CPU
    scaled by its speed.
    """
    cards = []
    for (name, config), card in zip(presets.items(), FIRST.values(), strict=False):
        cards.append(
            {
                "name": name,
                "title": card.title,
                "about": card.about,
                "chosen": name == chosen,
                "time": _time_text(config, card, device),
            }
        )
    return {
        "presets": cards,
        "chosen": chosen,
        "estimate_notice": ESTIMATE_NOTICE if device else "",
    }


def _time_text(config: FieldValues, card: PresetCard, device: str) -> str:
    """Say how long a preset takes on a device; without one, how many steps it has."""
    if OWN_DATA in config["data"]:
        return "depends on your data"

    steps_per_epoch = config["passes"] * (config["num_clips"] // config["batch_size"])
    steps = config["epochs"] * steps_per_epoch
    if not device:
        return f"{steps:,} steps"

    step_s = card.on_gpu_s
    if resolve_device(device) == "cpu":
        step_s = card.on_cpu_s * BENCHMARKED / gflops_per_second(device)
    return f"about {duration_text(steps * step_s)} here"
