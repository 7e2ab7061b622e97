"""Loaded models with gallery embeddings, swapped atomically for newer checkpoints.

A LoadedModel is immutable. A newer one is loaded and its galleries embedded in the background, then one reference is
replaced; a search finishes with the model it started with, and the last search to do so frees it. A model is in memory
once, however many galleries are searched with it.
"""

import logging
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event, Lock

import numpy as np

from nt2vr.errors import CheckpointError, Nt2vrError
from nt2vr.models.catalog import EPOCH, Catalog, CatalogEntry
from nt2vr.models.checkpoint import WEIGHTS
from nt2vr.models.encoder import Encoder
from nt2vr.search.embedded import EmbeddedGallery

logger = logging.getLogger(__name__)
Stamp = tuple[object, ...]

POLL_S = 0.1  # interval between looks for newer checkpoints: a few stats per loaded model
FAILED_POLL_S = 10.0  # interval after an unexpected error, so that the log stays readable
MAX_LOADED = 8  # models, as many as one search can compare; the least recently used is unloaded first


@dataclass(frozen=True)
class LoadedModel:
    """A model with the galleries that were searched with it.

    Attributes:
        galleries: by key, each embedded by this model or one with an equal `Card.video_key`.
        stamp: state of its checkpoint folder.
        epoch: the epoch served, if the name denotes a run's newest or best; None otherwise.
        refused: why newer checkpoints are not served, by their stamps.
    """

    encoder: Encoder
    galleries: Mapping[str, EmbeddedGallery]
    stamp: Stamp
    epoch: int | None
    refused: Mapping[Stamp, str]

    @property
    def notice(self) -> str:
        """Sentence about the newer checkpoint that cannot be used; empty if there is none."""
        return f"A newer checkpoint was refused: {next(iter(self.refused.values()))}" if self.refused else ""


class LiveModels:
    """The loaded models, by name.

    Args:
        embed: returns a model's view of the gallery with a given key.
    """

    def __init__(self, models: Catalog, embed: Callable[[str, Encoder], EmbeddedGallery]) -> None:
        self._models = models
        self._embed = embed
        self._loaded: dict[str, LoadedModel] = {}  # least recently used first
        self._forgotten: Counter[str] = Counter()  # how often, by gallery: views opened before are not kept
        self._changing = Lock()  # held only for moments
        self._loading: defaultdict[str, Lock] = defaultdict(Lock)  # held during the first load of a name

    def get(self, name: str, gallery: str = "") -> LoadedModel:
        """Return a model with its view of a gallery, given its key; only the first call blocks.

        Raises:
            NotIndexedError: if the gallery is a library that the model has not indexed.
        """
        if (model := self._used(name)) and gallery in model.galleries:
            return model
        with self._loaded_as(name, (gallery,)) as model:  # kept also if the gallery turns out not to be indexed
            while gallery not in model.galleries:
                before = self._forgotten[gallery]
                view = self._embed(gallery, model.encoder)
                model = self._with_view(name, model, gallery, view, before)
            return model

    def encoder(self, name: str) -> Encoder:
        """Return a model, loaded on first use, without a view of any gallery; raises as `get` does."""
        if model := self._used(name):
            return model.encoder
        with self._loaded_as(name, ()) as model:
            return model.encoder

    @contextmanager
    def _loaded_as(self, name: str, galleries: Collection[str]) -> Iterator[LoadedModel]:
        """Yield a model, loaded with views of galleries on first use, while no other thread loads it."""
        with self._changing:
            loading = self._loading[name]
        with loading:
            with self._changing:
                before = self._forgotten.copy()
            model = self._used(name) or self._newest(self._models.find(name), None, galleries)
            with self._changing:
                self._loaded.setdefault(name, model)
                for gallery in self._forgotten - before:
                    self._drop_views(gallery)
                while len(self._loaded) > MAX_LOADED:
                    del self._loaded[next(iter(self._loaded))]
            yield model

    @property
    def loaded(self) -> tuple[LoadedModel, ...]:
        with self._changing:
            return tuple(self._loaded.values())

    def epoch(self, name: str) -> int | None:
        """Return the epoch served under a run's name; None if it is not loaded."""
        with self._changing:
            return self._loaded[name].epoch if name in self._loaded else None

    def _with_view(
        self, name: str, model: LoadedModel, gallery: str, view: EmbeddedGallery, before: int
    ) -> LoadedModel:
        """Add a view to a model; if the model was swapped in the meantime, return the newer one without the view.

        A view of a gallery that was forgotten in the meantime serves only the search that began before.
        """
        viewing = replace(model, galleries={**model.galleries, gallery: view})
        with self._changing:
            current = self._loaded.get(name)
            if current is not None and current.encoder is not model.encoder:
                return current
            if current is not None and self._forgotten[gallery] == before:
                viewing = self._loaded[name] = replace(current, galleries={**current.galleries, gallery: view})
        return viewing

    def forget(self, gallery: str) -> None:
        """Drop all views of a gallery that has changed or is no longer open."""
        with self._changing:
            self._forgotten[gallery] += 1
            self._drop_views(gallery)

    def _drop_views(self, gallery: str) -> None:
        for name, model in self._loaded.items():
            views = {key: view for key, view in model.galleries.items() if key != gallery}
            self._loaded[name] = replace(model, galleries=views)

    def _used(self, name: str) -> LoadedModel | None:
        """Return a model if it is loaded, marked as the most recently used."""
        with self._changing:
            if name in self._loaded:
                self._loaded[name] = self._loaded.pop(name)
            return self._loaded.get(name)

    def refresh(self) -> None:
        """Swap in newer checkpoints of the loaded models; unload models whose folders are gone."""
        entries = self._models.entries() if self._loaded else {}
        for name, served in list(self._loaded.items()):
            newest = self._newest(entries[name], served, served.galleries) if name in entries else None
            with self._changing:
                if self._loaded.get(name) is not served:
                    continue  # unloaded, or searched in another gallery, in the meantime: next time
                if newest is None:
                    del self._loaded[name]
                else:
                    self._loaded[name] = newest

    def refresh_outside(self) -> None:
        """Unload models from outside that were replaced by others of their names."""
        for name, entry in self._models.entries().items():
            served = self._loaded.get(name)
            if entry.make is not None and served is not None and served.encoder is not entry.make():
                with self._changing:
                    self._loaded.pop(name, None)

    def watch(self, stop: Event) -> None:
        """Refresh at intervals until stopped."""
        rest_s = POLL_S
        while not stop.wait(rest_s):
            try:
                self.refresh()
                rest_s = POLL_S
            except Exception:  # a dead watch would serve old models forever
                logger.exception("Newer checkpoints could not be looked for.")
                rest_s = FAILED_POLL_S

    def _newest(self, entry: CatalogEntry, served: LoadedModel | None, galleries: Collection[str]) -> LoadedModel:
        """Return the newest usable checkpoint with views of galleries; the served one if none is newer."""
        if entry.make is not None:
            encoder = entry.make()
            if served is not None and served.encoder is encoder:
                return served
            return LoadedModel(encoder, self._views(galleries, encoder), (), None, {})
        refused: dict[Stamp, str] = {}
        for folder in entry.folders:
            stamp = _stamp(folder)
            if served is not None and stamp == served.stamp:
                return served if refused == served.refused else replace(served, refused=refused)
            if served is not None and stamp in served.refused:
                refused[stamp] = served.refused[stamp]
                continue
            try:
                return self._load(folder, stamp, entry, served, refused, galleries)
            except CheckpointError as error:
                logger.warning("%s", error)
                refused[stamp] = str(error).replace(f"{folder.parent}/", "")  # the epoch's folder name suffices
        if served is not None:  # its own checkpoint is gone, and no other is usable
            return replace(served, refused=refused)
        raise CheckpointError(next(iter(refused.values())))

    def _load(
        self,
        folder: Path,
        stamp: Stamp,
        entry: CatalogEntry,
        served: LoadedModel | None,
        refused: Mapping[Stamp, str],
        galleries: Collection[str],
    ) -> LoadedModel:
        encoder = self._models.read(folder, served.encoder if served else None)
        views = self._views(galleries, encoder)
        probe = [] if encoder.card.queries else ["a dog"]
        if not np.isfinite(encoder.encode_text(probe)).all():  # the galleries' embeddings are
            raise CheckpointError(f"The embeddings of {folder} are not finite. Choose an earlier checkpoint.")
        epoch = EPOCH.fullmatch(folder.name) if entry.kind == "run" else None
        return LoadedModel(encoder, views, stamp, int(epoch[1]) if epoch else None, refused)

    def _views(self, galleries: Collection[str], encoder: Encoder) -> dict[str, EmbeddedGallery]:
        return {key: view for key in galleries if (view := self._view(key, encoder)) is not None}

    def _view(self, gallery: str, encoder: Encoder) -> EmbeddedGallery | None:
        """Embed a gallery; None if that fails for a reason other than the model: the next search will raise it."""
        try:
            return self._embed(gallery, encoder)
        except CheckpointError:
            raise
        except Nt2vrError:
            return None


def _stamp(folder: Path) -> Stamp:
    """Identify the state of a checkpoint folder, to notice one that is replaced or still being copied."""
    stamp: list[object] = [folder]
    for path in (folder, folder / WEIGHTS):
        try:
            stat = path.stat()
            stamp.append((stat.st_ino, stat.st_size, stat.st_mtime_ns))
        except OSError:
            stamp.append(None)
    return tuple(stamp)
