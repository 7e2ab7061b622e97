"""Model catalog: discovers checkpoint folders and epochs of runs, and loads them; `search.live` keeps them."""

import logging
import os
import re
import shutil
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, Literal

from nt2vr.errors import CheckpointError, ConfigError, quoted
from nt2vr.files import AnyPath, stored_json
from nt2vr.models.acquire import (
    Added,
    Announce,
    CheckName,
    acquire,
    announce_nothing,
    any_name,
    is_download,
)
from nt2vr.models.card import CARD, DRAWINGS, Card, read_card
from nt2vr.models.checkpoint import read_checkpoint
from nt2vr.models.clip_encoder import MODEL, ClipModel
from nt2vr.models.composer import names_in
from nt2vr.models.encoder import Encoder
from nt2vr.models.options import AddOptions
from nt2vr.models.outside import check_encoder
from nt2vr.models.precomputed import EMBEDDINGS, PrecomputedEncoder
from nt2vr.progress import Progress, silent
from nt2vr.registry import pick
from nt2vr.settings import ASSETS, Settings

logger = logging.getLogger(__name__)

# Folder of a run's checkpoint.
EPOCH = re.compile(r"epoch_(\d+)")
# Next to them: {"epoch": 3}, the best epoch on validation.
BEST = "best.json"
# Of a run's name: its best epoch.
BEST_SUFFIX = " · best"
# Of an entry: what its folders hold.
EntryKind = Literal["model", "embeddings", "run", "epoch", "outside"]
NO_OPTIONS = AddOptions()


@dataclass(frozen=True)
class CatalogEntry:
    """The checkpoints that a name stands for now.

    Attributes:
        folders: of a run, its epochs, newest first: the first that can be loaded is served;
            otherwise one folder.
        kind: a model of its own, embeddings from a file, a run (its newest or best epoch), one
            epoch of a run, or a model from outside, an object in Python.
        composers: names of the composers that its folders have.
        make: returns a model from outside, which has no folders.
    """

    folders: tuple[Path, ...]
    kind: EntryKind = "model"
    composers: tuple[str, ...] = ()
    make: Callable[[], Encoder] | None = None


# By name.
Entries = Mapping[str, CatalogEntry]


class Catalog:
    """Models by name: checkpoint folders under the names on their cards, and the epochs of training runs.

    Args:
        folders: folders of checkpoint folders, searched in this order; models that are added go to
            the last.
        runs: the folder of run folders; RUN/checkpoints/epoch_003 is "RUN · epoch 3", the newest
            epoch also "RUN", and the best "RUN · best".

    Attributes:
        device: the setting of where models run; see `resolve_device`.
    """

    def __init__(
        self, folders: Sequence[Path], device: str = "cpu", runs: Path | None = None
    ) -> None:
        self._folders = tuple(folders)
        self.device = device
        self._runs = runs
        # By folder: the modification time of the file, and the card.
        self._cards: dict[Path, tuple[int, Card | None]] = {}
        self._downloading = Lock()
        self._outside: dict[str, CatalogEntry] = {}
        # Models from outside as they came, by name.
        self._objects: dict[str, object] = {}

    @classmethod
    def of(cls, settings: Settings) -> "Catalog":
        """Return the catalog of shipped, downloaded and imported models, and of training runs' checkpoints."""
        folders = [ASSETS / "models", settings.data_dir / "models"]
        return cls(folders, settings.device, settings.data_dir / "runs")

    # For child processes.
    def __reduce__(self) -> tuple[Any, ...]:
        return Catalog, (self._folders, self.device, self._runs)

    @property
    def home(self) -> Path:
        return self._folders[-1]

    def names(self) -> list[str]:
        return list(self.entries())

    def entries(self) -> Entries:
        """Map names to checkpoints; folders without a readable card are skipped."""
        entries: dict[str, CatalogEntry] = {}
        for parent in self._folders:
            for folder in sorted(_subfolders(parent)):
                card = self._card(folder)
                if card is not None:
                    entries.setdefault(card.name, _entry_of(folder, card))

        model_names = {name.casefold() for name in entries}
        for run in sorted(_subfolders(self._runs), reverse=True):
            name = run.name
            if name.casefold() in model_names:
                name = f"{name} (run)"
            for suffix, entry in epochs_of(run / "checkpoints").items():
                entries[name + suffix] = entry
        return {**self._outside, **entries}

    def add(
        self,
        source: AnyPath | Encoder,
        options: AddOptions = NO_OPTIONS,
        progress: Progress = silent,
        announce: Announce = announce_nothing,
        check_name: CheckName = any_name,
    ) -> Added:
        """Add a model: from a file, a folder, the Hub or embeddings, see `acquire`; or an object from outside.

        An object, an `Encoder` or one with its methods, is added for this catalog alone, under its
        own name. An object or a download that is here already is found.
        """
        if not isinstance(source, str | Path):
            return Added(self._add_encoder(source, check_name))
        if not isinstance(source, str) or not is_download(source):
            return acquire(source, self, options, progress, announce, check_name)
        # Two pages may ask for one model at once.
        with self._downloading:
            name = self.named(source)
            if name and not options.name:
                return Added(name, "It was here already.", was_here=True)
            return acquire(source, self, options, progress, announce, check_name)

    def _add_encoder(self, model: Any, check_name: CheckName) -> str:
        """Add a model from outside, and return its name; one that is here already is found."""
        for name, added in self._objects.items():
            if model is added:
                return name
        encoder = check_encoder(model)
        name = encoder.name
        check_name(name)
        if name in self.entries() and name not in self._outside:
            if self.card(name).embeds_like(encoder.card):
                return name
            raise ConfigError(f"There is a model {quoted(name)} already. Give yours another name.")
        self._objects[name] = model
        self._outside[name] = CatalogEntry((), "outside", make=lambda: encoder)
        return name

    def named(self, name: str) -> str | None:
        """Return a model's name as it is listed, given in any letter case and with any spaces; None if none has it."""
        names = self.names()
        if name in names:
            return name
        for listed_name in names:
            if _key(listed_name) == _key(name):
                return listed_name
        return None

    def find(self, name: str) -> CatalogEntry:
        """Return the checkpoints that a name stands for, given as for `named`."""
        entries = self.entries()
        # An empty drop-down gives None.
        if isinstance(name, str) and name not in entries:
            name = self.named(name) or name
        return pick("model", name, entries)

    def name_of_run(self, run: Path) -> str:
        """Return the name of the best model of a run's folder, otherwise of its newest; "" if it has none here."""
        checkpoints = (run / "checkpoints").resolve()
        newest = ""
        for name, entry in self.entries().items():
            if entry.kind == "run" and entry.folders[0].parent.resolve() == checkpoints:
                if name.endswith(BEST_SUFFIX):
                    return name
                newest = newest or name
        return newest

    def card(self, name: str, entries: Entries | None = None) -> Card:
        """Return the card of a model, without loading it; raises as `find` and `read_card` do."""
        entry = pick("model", name, entries) if entries else self.find(name)
        if entry.make:
            return entry.make().card
        folder = entry.folders[0]
        return self._card(folder) or read_card(folder)

    def knows_only_drawings(self, name: str, entries: Entries | None = None) -> bool:
        """Whether the built-in world is all that a model was trained on, as far as the cards of its bases tell."""
        entries = entries or self.entries()
        seen = set[str]()
        while name in entries and name not in seen:
            seen.add(name)
            folders = entries[name].folders
            card = self._card(folders[0]) if folders else None
            if card is None or DRAWINGS not in card.training.data:
                return False
            name = card.base
        return bool(seen)

    def library_models(self) -> list[str]:
        """List the models here that can index a library.

        Those that know more than drawings are first, training runs come after models of their own,
        and slow models come after those.
        """
        entries = self.entries()
        names = []
        for name, entry in entries.items():
            if entry.kind in ("model", "run") and self._card(entry.folders[0]):
                names.append(name)

        def order(name: str) -> tuple[bool, bool, bool]:
            is_run = entries[name].kind == "run"
            is_slow = self.card(name, entries).capabilities.is_slow
            return self.knows_only_drawings(name, entries), is_run, is_slow

        return sorted(names, key=order)

    def real_models(self) -> list[str]:
        """List the models of their own that can index a library and know more than drawings, the best default first.

        Training runs are not among them: who wants one names it.
        """
        entries = self.entries()
        models = [name for name in self.library_models() if entries[name].kind == "model"]
        return [name for name in models if not self.knows_only_drawings(name, entries)]

    def folder(self, name: str) -> Path:
        """Return the checkpoint folder of a model; a ConfigError refuses one from outside, which has none."""
        folders = self.find(name).folders
        if not folders:
            raise ConfigError(
                f"{quoted(name)} is not a checkpoint folder, but a model from outside. Choose another one."
            )
        return folders[0]

    def read(self, folder: Path, verify: bool = True) -> Encoder:
        """Load a checkpoint folder, and verify its fingerprints or that of the visual tower alone."""
        if (folder / EMBEDDINGS).is_file():
            return PrecomputedEncoder(folder)
        if (folder / MODEL).is_dir():
            return ClipModel(folder, self.device)
        return read_checkpoint(folder, self.device, verify)

    def load(self, name: str) -> Encoder:
        """Load the model of a name; raises as `find` and `read_checkpoint` do."""
        entry = self.find(name)
        return entry.make() if entry.make else self.read(entry.folders[0])

    def _card(self, folder: Path) -> Card | None:
        """Read a card, again only once its file has changed."""
        try:
            modified = (folder / CARD).stat().st_mtime_ns
        except OSError:
            modified = 0
        cached = self._cards.get(folder)
        if cached and cached[0] == modified:
            return cached[1]

        card = None
        try:
            card = read_card(folder)
        except CheckpointError as error:
            logger.warning("%s", error)
        self._cards[folder] = (modified, card)
        return card

    def remove(self, name: str, force: bool = False) -> None:
        """Delete a downloaded, imported or pulled model.

        A ConfigError refuses shipped ones and training runs, and, unless forced, a model that
        others stand on.
        """
        entry = self.find(name)
        folder = self.folder(name)
        if entry.kind in ("run", "epoch") or folder.parent != self.home:
            raise ConfigError(
                f"{quoted(name)} was not downloaded or imported, so it is not removed from here."
            )
        dependents = self._dependents(name)
        if dependents and not force:
            names = ", ".join(map(quoted, dependents))
            raise ConfigError(
                f"Without {quoted(name)}, {names} cannot be used any more. Remove or export them first, or add "
                "--force."
            )
        doomed = folder.with_name(f".{folder.name}.removed")
        # A process that was killed may have left one.
        shutil.rmtree(doomed, ignore_errors=True)
        # From here on, it is not a model any more.
        folder.rename(doomed)
        shutil.rmtree(doomed)

    def _dependents(self, name: str) -> list[str]:
        """List the models that hold only what differs from another."""
        base = self.card(name)
        dependents = []
        for dependent, entry in self.entries().items():
            if entry.kind in ("model", "run"):
                cards = map(self._card, entry.folders)
                if any(card and card.stands_on(base) for card in cards):
                    dependents.append(dependent)
        return dependents


def _entry_of(folder: Path, card: Card) -> CatalogEntry:
    has_given_queries = card.capabilities.given_queries_only
    kind: EntryKind = "embeddings" if has_given_queries else "model"
    return CatalogEntry((folder,), kind, tuple(card.composers.entries))


def _key(name: str) -> str:
    return "".join(name.casefold().split())


def checkpoint_epoch(checkpoint: Path) -> int | None:
    """Return the epoch of a run's checkpoint by its name; None if the name has none."""
    match = EPOCH.fullmatch(checkpoint.name)
    return int(match[1]) if match else None


def epochs_of(checkpoints: Path) -> Entries:
    """List a run's newest epoch, its best, and each epoch by what follows the run's name."""
    numbered = []
    for folder in _subfolders(checkpoints):
        epoch = checkpoint_epoch(folder)
        if epoch is not None:
            numbered.append((epoch, folder))
    if not numbered:
        return {}

    epochs = dict(sorted(numbered, reverse=True))
    composers = names_in(epochs.values())
    entries = {"": CatalogEntry(tuple(epochs.values()), "run", composers)}
    with suppress(OSError, ValueError, LookupError, TypeError):
        best = stored_json(checkpoints / BEST)
        entries[BEST_SUFFIX] = CatalogEntry((epochs[best["epoch"]],), "run", composers)
    of_epochs = {f" · epoch {epoch}": CatalogEntry((epochs[epoch],), "epoch") for epoch in epochs}
    return entries | of_epochs


def best_checkpoint(checkpoints: Path) -> Path:
    """Return the folder of a run's best epoch, or of the newest if none is noted; a run that has finished has one."""
    entries = epochs_of(checkpoints)
    return entries.get(BEST_SUFFIX, entries[""]).folders[0]


def _subfolders(folder: Path | None) -> list[Path]:
    """List the visible folders in a folder (partial ones are hidden); none if it does not exist."""
    folders = []
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder or "") as entries:
        for entry in entries:
            is_hidden = entry.name.startswith(".")
            if not is_hidden and entry.is_dir():
                folders.append(Path(entry.path))
    return folders
