"""What models there are: those in folders of checkpoint folders, and those of training runs; how one is read.

It keeps no model (see `bundles`). Importing this does not import torch.
"""

import logging
import os
import re
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Literal

from nt2vr.errors import CheckpointError
from nt2vr.models.card import CARD, Card, read_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.downloads import Progress, fetch, pretrained
from nt2vr.models.encoder import Encoder
from nt2vr.registry import pick

logger = logging.getLogger(__name__)

SETTLED_NS = 10**9  # a folder that changed a moment ago may change again within the resolution of its time of change
EPOCH = re.compile(r"epoch_(\d+)")  # a checkpoint of a run


@dataclass(frozen=True)
class Found:
    """What a model's name stands for now.

    Attributes:
        folders: its checkpoint folder; of a run those of all epochs, the newest first, of which the first that can be
            loaded is the model.
        kind: one of its own, a run's newest epoch, or one epoch of a run.
    """

    folders: tuple[Path, ...]
    kind: Literal["model", "run", "epoch"] = "model"


class Models:
    """The models in some folders of checkpoint folders, by the names on their cards, and the epochs of training runs.

    Args:
        folders: looked through in this order; downloads and imports go to the last.
        device: where models run.
        runs: the folder of run folders; RUN/checkpoints/epoch_003 is "RUN · epoch 3", the newest epoch also "RUN".
    """

    def __init__(self, folders: Sequence[Path], device: str = "cpu", runs: Path | None = None) -> None:
        """Load nothing."""
        self._folders = tuple(folders)
        self._device = device
        self._runs = runs
        self._cards: dict[Path, tuple[int, Card | None]] = {}  # by folder, with the time of change
        self._listed: dict[Path, tuple[int, dict[str, Found]]] = {}
        self._downloading = Lock()

    @property
    def home(self) -> Path:
        """Where new models go."""
        return self._folders[-1]

    def names(self) -> list[str]:
        """Names of the models that there are now; new ones appear, and deleted ones go, by themselves."""
        return list(self.found())

    def found(self) -> dict[str, Found]:
        """Name to what it stands for; a folder without a card that can be read is passed over."""
        found: dict[str, Found] = {}
        for parent in self._folders:
            for folder in sorted(_subfolders(parent)):
                if card := self._card(folder):
                    found.setdefault(card.name, Found((folder,)))
        taken = {name.casefold() for name in found}
        for run in sorted(_subfolders(self._runs), reverse=True) if self._runs else ():
            name = run.name if run.name.casefold() not in taken else f"{run.name} (run)"
            found |= {f"{name}{suffix}": each for suffix, each in self._epochs(run / "checkpoints").items()}
        return found

    def kept(self) -> list[str]:
        """Names of the models that are no run's."""
        return [name for name, found in self.found().items() if found.kind == "model"]

    def find(self, name: str) -> Found:
        """Return what a name stands for.

        Raises:
            ConfigError: if there is no such model.
        """
        return pick("model", name, self.found())

    def card(self, name: str) -> Card:
        """What is known of a model, without loading it; raises as `find` and `read_card` do."""
        return read_card(self.find(name).folders[0])

    def read(self, folder: Path, like: Encoder | None = None) -> Encoder:
        """Load a checkpoint folder anew, its visual fingerprint verified; see `read_checkpoint`."""
        return read_checkpoint(folder, self._device, verify=like is None, like=like)

    def load(self, name: str) -> Encoder:
        """Load the model that a name stands for; raises as `find` and `read_checkpoint` do."""
        return self.read(self.find(name).folders[0])

    def _card(self, folder: Path) -> Card | None:
        """Read a card once, until its file is another."""
        try:
            written = (folder / CARD).stat().st_mtime_ns
        except OSError:
            written = 0
        if folder not in self._cards or self._cards[folder][0] != written:
            try:
                self._cards[folder] = written, read_card(folder)
            except CheckpointError as error:
                logger.warning("%s", error)
                self._cards[folder] = written, None
        return self._cards[folder][1]

    def _epochs(self, checkpoints: Path) -> dict[str, Found]:
        """Return what a run offers, by what follows its name: the newest epoch, then each; no file is read."""
        try:
            changed = checkpoints.stat().st_mtime_ns
        except OSError:
            return {}
        if checkpoints not in self._listed or self._listed[checkpoints][0] != changed:
            settled = time.time_ns() - changed > SETTLED_NS
            numbered = ((EPOCH.fullmatch(folder.name), folder) for folder in _subfolders(checkpoints))
            epochs = sorted(((int(match[1]), folder) for match, folder in numbered if match), reverse=True)
            offered = {"": Found(tuple(folder for _, folder in epochs), "run")} if epochs else {}
            offered |= {f" · epoch {epoch}": Found((folder,), "epoch") for epoch, folder in epochs}
            self._listed[checkpoints] = changed if settled else 0, offered
        return self._listed[checkpoints][1]

    def download(self, name: str, progress: Progress | None = None) -> str:
        """Get one of open_clip's pre-trained models, and keep it as a checkpoint folder.

        Args:
            name: as open_clip lists them, "ViT-B-32/openai"; spaces do not matter.
            progress: called as bytes come in.

        Returns:
            Its name here.

        Raises:
            ConfigError: if open_clip has no such model, or it needs more than open_clip.
            DownloadError: if it cannot be reached (said within seconds), or the transfer breaks off.
        """
        architecture, tag = pretrained(name)
        full_name = f"{architecture} / {tag}"
        with self._downloading:
            if full_name not in self.found():
                fetch(self.home / f"{architecture}--{tag}", architecture, tag, progress or (lambda done, total: None))
        return full_name


def _subfolders(folder: Path) -> list[Path]:
    """Return the folders in a folder, without hidden ones (half-written); none where there is no folder."""
    try:
        with os.scandir(folder) as entries:
            return [Path(entry.path) for entry in entries if entry.name[0] != "." and entry.is_dir()]
    except (FileNotFoundError, NotADirectoryError):
        return []
