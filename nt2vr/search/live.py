"""Models as searches use them: each with the gallery as it sees it; replaced whole when a newer checkpoint is there.

A bundle is never changed. A newer one is loaded and its gallery embedded off to the side, then one reference is
replaced; a search goes on with the bundle it began with, and the last that does frees it.
"""

import logging
from collections import defaultdict
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock

import numpy as np

from nt2vr.errors import CheckpointError
from nt2vr.models.catalog import EPOCH, Found, Models
from nt2vr.models.checkpoint import WEIGHTS
from nt2vr.models.encoder import Encoder
from nt2vr.search.embedded import EmbeddedGallery

logger = logging.getLogger(__name__)
Stamp = tuple[object, ...]

POLL_S = 0.1  # how often newer checkpoints are looked for: a few stats for each model in use
FAILED_POLL_S = 10.0  # how long the watch rests after what nobody foresaw, so that the log stays readable
KEPT = 8  # models kept loaded, as many as one search can compare; the one not asked for the longest goes first


@dataclass(frozen=True)
class Bundle:
    """A model and the gallery as it sees it.

    Attributes:
        encoder: the model.
        gallery: embedded by this very model, or by one with the same visual tower.
        stamp: of its checkpoint folder.
        epoch: which of a run, where the name stands for the newest; None for all else.
        refused: why newer checkpoints were not taken, by their stamps.
    """

    encoder: Encoder
    gallery: EmbeddedGallery
    stamp: Stamp
    epoch: int | None
    refused: Mapping[Stamp, str]

    @property
    def notice(self) -> str:
        """What a person should know: that a newer checkpoint is there and cannot be used."""
        return f"A newer checkpoint was refused: {next(iter(self.refused.values()))}" if self.refused else ""


class Bundles:
    """The bundles of the models in use, by name.

    Args:
        models: what there is, and how it is read.
        embed: returns the gallery as a model sees it.
    """

    def __init__(self, models: Models, embed: Callable[[Encoder], EmbeddedGallery]) -> None:
        """Load nothing yet."""
        self._models = models
        self._embed = embed
        self._bundles: dict[str, Bundle] = {}  # the longest unused first
        self._changing = Lock()  # held for moments
        self._loading: defaultdict[str, Lock] = defaultdict(Lock)  # held while a name is first loaded

    def get(self, name: str) -> Bundle:
        """Return a model's bundle; only the very first load is waited for.

        Raises:
            ConfigError: if there is no such model.
            CheckpointError: if it cannot be loaded.
        """
        if bundle := self._kept(name):
            return bundle
        with self._changing:
            loading = self._loading[name]
        with loading:
            if bundle := self._kept(name):
                return bundle
            bundle = self._newest(self._models.find(name), None)
            with self._changing:
                self._bundles[name] = bundle
                while len(self._bundles) > KEPT:
                    del self._bundles[next(iter(self._bundles))]
            return bundle

    def _kept(self, name: str) -> Bundle | None:
        with self._changing:
            if name in self._bundles:
                self._bundles[name] = self._bundles.pop(name)
            return self._bundles.get(name)

    def refresh(self) -> None:
        """Take up newer checkpoints of the models in use, and forget models that are gone."""
        found = self._models.found() if self._bundles else {}
        for name, bundle in list(self._bundles.items()):
            newest = self._newest(found[name], bundle) if name in found else None
            with self._changing:
                if self._bundles.get(name) is not bundle:
                    continue  # pushed out meanwhile
                if newest is None:
                    del self._bundles[name]
                else:
                    self._bundles[name] = newest

    def watch(self, stop: Event) -> None:
        """Refresh again and again, until told to stop."""
        rest_s = POLL_S
        while not stop.wait(rest_s):
            try:
                self.refresh()
                rest_s = POLL_S
            except Exception:  # without the watch, old models would stay for ever and nobody be told
                logger.exception("Newer checkpoints could not be looked for.")
                rest_s = FAILED_POLL_S

    def _newest(self, found: Found, served: Bundle | None) -> Bundle:
        """Return the bundle of the newest checkpoint that can be used: the served one itself where nothing is new."""
        refused: dict[Stamp, str] = {}
        for folder in found.folders:
            stamp = _stamp(folder)
            if served is not None and stamp == served.stamp:
                return served if refused == served.refused else replace(served, refused=refused)
            if served is not None and stamp in served.refused:
                refused[stamp] = served.refused[stamp]
                continue
            try:
                return self._bundle(folder, stamp, found, served, refused)
            except CheckpointError as error:
                logger.warning("%s", error)
                refused[stamp] = str(error).replace(f"{folder.parent}/", "")  # of a run, the epoch is enough
        if served is not None:  # its own checkpoint is gone, and no other can be used
            return replace(served, refused=refused)
        raise CheckpointError(next(iter(refused.values())))

    def _bundle(
        self, folder: Path, stamp: Stamp, found: Found, served: Bundle | None, refused: Mapping[Stamp, str]
    ) -> Bundle:
        encoder = self._models.read(folder, served.encoder if served else None)
        gallery = self._embed(encoder)
        if not (np.isfinite(gallery.frame_embeddings).all() and np.isfinite(encoder.encode_text(["a dog"])).all()):
            raise CheckpointError(f"What {folder} computes is not a number. Choose an earlier checkpoint.")
        epoch = EPOCH.fullmatch(folder.name) if found.kind == "run" else None
        return Bundle(encoder, gallery, stamp, int(epoch[1]) if epoch else None, refused)


def _stamp(folder: Path) -> Stamp:
    """Tell a checkpoint from what was, or will be, at its place: also from itself while it is still being copied."""
    stamp: list[object] = [folder]
    for path in (folder, folder / WEIGHTS):
        try:
            stat = path.stat()
            stamp.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
        except OSError:
            stamp.append(None)
    return tuple(stamp)
