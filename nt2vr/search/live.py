"""Loaded models with gallery embeddings, swapped atomically for newer checkpoints.

A newer checkpoint is loaded and its galleries embedded in the background, then one reference is
replaced; a search finishes with the LoadedModel it started with, and the last search to do so frees
it. A model is in memory once, however many galleries are searched with it.
"""

import logging
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import chain
from pathlib import Path
from threading import Event, Lock
from typing import Protocol
from weakref import WeakKeyDictionary

import numpy as np

from nt2vr.errors import CheckpointError, NotIndexedError, Nt2vrError
from nt2vr.files import stamp
from nt2vr.models.card import DIFFERENCE, WEIGHTS
from nt2vr.models.catalog import Catalog, CatalogEntry, checkpoint_epoch
from nt2vr.models.encoder import Encoder
from nt2vr.search.embedded_gallery import EmbeddedGallery

logger = logging.getLogger(__name__)
Stamp = tuple[object, ...]
# Interval between looks for newer checkpoints: a few stats per loaded model.
POLL_S = 0.1
# Interval after an unexpected error, so that the log stays readable.
FAILED_POLL_S = 10.0
# As many models as one search can compare; the least recently used is unloaded first.
MAX_LOADED = 8


class GalleryEmbedder(Protocol):
    """Embeds one gallery by any model, as a `Searcher` does."""

    def embedded(self, encoder: Encoder) -> EmbeddedGallery:
        """Return the gallery embedded by a model; safe to use from many threads at once."""


@dataclass(frozen=True, eq=False)
class LoadedModel:
    """A model with the galleries that were searched with it, as it embeds them.

    Attributes:
        stamp: state of its checkpoint folder.
        epoch: the epoch served, if the name denotes a run's newest or best; None otherwise.
        refused: why newer checkpoints are not served, by their stamps.
    """

    encoder: Encoder
    stamp: Stamp = ()
    epoch: int | None = None
    refused: Mapping[Stamp, str] = field(default_factory=dict)
    # By searcher, and weakly: after a change of a library, a search that began before it goes on
    # with the former searcher, and the embeddings of that are freed with it.
    _galleries: WeakKeyDictionary[GalleryEmbedder, EmbeddedGallery] = field(
        default_factory=WeakKeyDictionary, repr=False
    )

    @property
    def galleries(self) -> dict[GalleryEmbedder, EmbeddedGallery]:
        """The galleries embedded so far, by searcher."""
        galleries = {}
        for reference in self._galleries.keyrefs():
            searcher = reference()
            if searcher is not None:
                galleries[searcher] = self._galleries[searcher]
        return galleries

    def gallery_of(self, searcher: GalleryEmbedder) -> EmbeddedGallery:
        """Return a searcher's gallery as the model embeds it.

        The first call blocks, or raises a NotIndexedError.
        """
        gallery = self._galleries.get(searcher)
        if gallery is None:
            gallery = self._galleries.setdefault(searcher, searcher.embedded(self.encoder))
        return gallery

    @property
    def notice(self) -> str:
        """Sentence about the newer checkpoint that cannot be used; empty if there is none."""
        if not self.refused:
            return ""
        return f"A newer checkpoint was refused: {next(iter(self.refused.values()))}"


class LiveModels:
    """The loaded models, by name."""

    def __init__(self, models: Catalog) -> None:
        self._models = models
        # Least recently used first.
        self._loaded: dict[str, LoadedModel] = {}
        # Held only for moments.
        self._changing = Lock()
        # Held during the first load of a name.
        self._loading: defaultdict[str, Lock] = defaultdict(Lock)

    def get(self, name: str, *searchers: GalleryEmbedder) -> LoadedModel:
        """Return a model; only the first call blocks.

        It loads the newest checkpoint that can embed the galleries of these searchers.
        """
        loaded = self._mark_used(name)
        if loaded:
            return loaded
        with self._changing:
            loading = self._loading[name]
        with loading:
            # Another thread may have loaded it meanwhile.
            model = self._mark_used(name)
            if model is None:
                entry = self._models.find(name)
                model = self._newest(entry, served=None, searchers=searchers)
            with self._changing:
                self._loaded.setdefault(name, model)
                while len(self._loaded) > MAX_LOADED:
                    del self._loaded[next(iter(self._loaded))]
        return model

    def load_for(self, searcher: GalleryEmbedder, names: Iterable[str]) -> dict[str, LoadedModel]:
        """Return models with their embeddings of a searcher's gallery, by name.

        One NotIndexedError names all models that have not indexed it.
        """
        loaded = {}
        error_of_tower: dict[str, NotIndexedError] = {}
        for name in names:
            try:
                loaded[name] = self.get(name, searcher)
                loaded[name].gallery_of(searcher)
            except NotIndexedError as error:
                error_of_tower.setdefault(error.tower, error)
        if not error_of_tower:
            return loaded

        errors = error_of_tower.values()
        not_indexing = chain.from_iterable(error.models for error in errors)
        raise NotIndexedError(" ".join(map(str, errors)), *not_indexing)

    def encoder(self, name: str) -> Encoder:
        """Return a model, loaded on first use, without a view of any gallery."""
        return self.get(name).encoder

    @property
    def has_begun(self) -> bool:
        """Whether any model has been asked for."""
        return bool(self._loading)

    @property
    def loaded(self) -> tuple[LoadedModel, ...]:
        with self._changing:
            return tuple(self._loaded.values())

    def epoch(self, name: str) -> int | None:
        """Return the epoch served under a run's name; None if it is not loaded."""
        with self._changing:
            if name in self._loaded:
                return self._loaded[name].epoch
            return None

    def _mark_used(self, name: str) -> LoadedModel | None:
        """Mark a model as the most recently used, and return it; None if it is not loaded."""
        with self._changing:
            if name in self._loaded:
                self._loaded[name] = self._loaded.pop(name)
            return self._loaded.get(name)

    def refresh(self) -> None:
        """Swap in newer checkpoints of the loaded models; unload models whose folders are gone."""
        entries = self._models.entries() if self._loaded else {}
        for name, served in list(self._loaded.items()):
            galleries = served.galleries
            newest = None
            if name in entries:
                newest = self._newest(entries[name], served, searchers=galleries)
            with self._changing:
                was_unloaded = self._loaded.get(name) is not served
                has_new_gallery = served.galleries.keys() != galleries.keys()
                if was_unloaded or has_new_gallery:
                    # It changed in the meantime. The next refresh looks again.
                    continue
                if newest is None:
                    del self._loaded[name]
                else:
                    self._loaded[name] = newest

    def refresh_outside(self) -> None:
        """Unload the models that a program registered and has replaced by others of these names."""
        for name, entry in self._models.entries().items():
            served = self._loaded.get(name)
            if entry.make is None or served is None or served.encoder is entry.make():
                continue
            with self._changing:
                self._loaded.pop(name, None)

    def watch(self, stop: Event) -> None:
        """Refresh at intervals until stopped."""
        rest_s = POLL_S
        while not stop.wait(rest_s):
            try:
                self.refresh()
                rest_s = POLL_S
            # If this thread ended, old models would be served forever.
            except Exception:
                logger.exception("Newer checkpoints could not be looked for.")
                rest_s = FAILED_POLL_S

    def _newest(
        self,
        entry: CatalogEntry,
        served: LoadedModel | None,
        searchers: Iterable[GalleryEmbedder],
    ) -> LoadedModel:
        """Return the newest usable checkpoint with its galleries; the served one if none is newer."""
        if entry.make is not None:
            encoder = entry.make()
            if served is not None and served.encoder is encoder:
                return served
            return _with_galleries(LoadedModel(encoder), searchers)

        refused_before = served.refused if served else {}
        refused = {}
        for folder in entry.folders:
            folder_stamp = (folder, *stamp(folder, folder / WEIGHTS, folder / DIFFERENCE))
            if served is not None and folder_stamp == served.stamp:
                break
            if folder_stamp in refused_before:
                refused[folder_stamp] = refused_before[folder_stamp]
                continue
            try:
                encoder = self._read(folder, verify=served is None)
                model = LoadedModel(
                    encoder=encoder,
                    stamp=folder_stamp,
                    epoch=checkpoint_epoch(folder) if entry.kind == "run" else None,
                    refused=refused,
                )
                return _with_galleries(model, searchers)
            except CheckpointError as error:
                logger.warning("%s", error)
                # The epoch's folder name suffices.
                refused[folder_stamp] = str(error).replace(f"{folder.parent}/", "")
        if served is None:
            raise CheckpointError(next(iter(refused.values())))
        if refused == refused_before:
            return served
        return replace(served, refused=refused)

    def _read(self, folder: Path, verify: bool) -> Encoder:
        """Read a checkpoint; a CheckpointError if its embeddings are not finite."""
        encoder = self._models.read(folder, verify=verify)
        texts = [] if encoder.capabilities.given_queries_only else ["a dog"]
        # The embeddings of galleries are checked as they are made.
        if not np.isfinite(encoder.encode_text(texts)).all():
            raise CheckpointError(
                f"The embeddings of {folder} are not finite. Choose an earlier checkpoint."
            )
        return encoder


def _with_galleries(model: LoadedModel, searchers: Iterable[GalleryEmbedder]) -> LoadedModel:
    """Return a model after it has embedded the galleries of some searchers.

    If one fails for a reason other than the model, the next search will raise it.
    """
    for searcher in searchers:
        try:
            model.gallery_of(searcher)
        except CheckpointError:
            raise
        except Nt2vrError:
            continue
    return model
